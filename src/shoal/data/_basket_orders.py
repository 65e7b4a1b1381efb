"""Orders of baskets that put similar ones next to each other.

Every order is a function of the baskets' contents alone. It is computed on the distinct baskets, numbered in
canonical order, and ties go to the smaller number, so that neither the order of the input nor anything outside of
the baskets can influence it.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias, get_args

import numpy as np

from shoal.arrays import (
    AnyArray,
    Counts,
    Floats,
    Indptr,
    Items,
    Mask,
    Rows,
    ascending,
    flagged,
    indptr_by,
    indptr_of,
    owners,
    taken,
)
from shoal.data.baskets import Baskets, ragged_ranks

if TYPE_CHECKING:
    from shoal.kernels.band import Placed

Order: TypeAlias = Literal["rcm", "bipartite", "gray", "lexicographic", "nearest", "sum"]
ORDERS: tuple[str, ...] = get_args(Order)

SORTABLE = ("gray", "lexicographic")
"""Orders that can be computed by sorting baskets by a key of each: see `sort_keys`."""

TABLES = 4
"""The number of orders of `nearest`: similar rows are likely to be adjacent in at least one of them."""

HASHES = 3
"""The number of MinHash values that each of these orders sorts by."""


@dataclass(frozen=True, slots=True, eq=False)
class Distinct:
    """The distinct baskets of many rows, in canonical order."""

    indptr: Indptr
    items: Items
    """`indptr`, `items`: the distinct baskets."""
    width: int  # the number of different items
    counts: Counts  # how many rows have each distinct basket
    of_row: Rows  # the distinct basket of each row

    def __len__(self) -> int:
        return len(self.counts)

    @property
    def supports(self) -> Counts:
        """The number of rows that hold each item."""
        each = np.bincount(self.items, minlength=self.width)
        again = np.flatnonzero(self.counts > 1)
        if not len(again):
            return each
        indptr, places = taken(self.indptr, again)
        weights = np.repeat(self.counts[again] - 1, np.diff(indptr))
        return each + np.bincount(self.items[places], weights, self.width).astype(np.int64)


@dataclass(frozen=True, slots=True)
class Band:
    """How far the entries of an ordered matrix are from its diagonal."""

    bandwidth: int  # the largest distance of two rows that share an item
    profile: int  # the sum over all rows of the distance to the first row that shares an item


def distinct_baskets(indptr: Indptr, items: Items, width: int) -> Distinct:
    """Find the distinct baskets of all rows."""
    from shoal.kernels.ragged import take_rows

    of_row = numbered(ragged_ranks(indptr, items))
    counts = np.bincount(of_row).astype(np.int64)
    some = np.empty(len(counts), dtype=np.int64)
    some[of_row] = np.arange(len(of_row))
    return Distinct(*take_rows(indptr, items, some), width, counts, of_row)


def public_baskets(baskets: Baskets) -> Distinct:
    """The distinct baskets without sensitive items; items are renumbered without those that occur in no basket.

    The result is cached: after groups of these baskets were published, it is needed again to judge what they disclose.
    """
    if "public" not in baskets.kept:
        known = ~flagged(baskets.sensitive, len(baskets.vocabulary)) & (baskets.supports > 0)
        baskets.kept["public"] = baskets_among(baskets, known)
    found: Distinct = baskets.kept["public"]
    return found


def baskets_among(baskets: Baskets, known: Mask) -> Distinct:
    """The distinct baskets with only the items for which a mask is true; these are renumbered."""
    return distinct_baskets(*kept_items(baskets, turns_among(known)), int(known.sum()))


def kept_items(baskets: Baskets, number: Items) -> tuple[Indptr, Items]:
    """Renumber the items of baskets, and drop those whose number is below 0: the `Indptr` and items that remain."""
    from shoal.kernels.ragged import keep_items

    return keep_items(baskets.indptr, baskets.items, number)


def sensitive_items(baskets: Baskets) -> tuple[Indptr, Items]:
    """The sensitive items of each basket, as ragged rows of codes. The result is cached too."""
    if "sensitive" not in baskets.kept:
        secret = flagged(baskets.sensitive, len(baskets.vocabulary))
        codes = np.where(secret, np.arange(len(secret), dtype=np.int32), np.int32(-1))
        baskets.kept["sensitive"] = kept_items(baskets, codes)
    found: tuple[Indptr, Items] = baskets.kept["sensitive"]
    return found


def turns_among(known: Mask) -> Items:
    """Number the items for which a mask is true; -1 for the others.

    >>> turns_among(np.array([True, False, True])).tolist()
    [0, -1, 1]
    """
    return np.where(known, np.cumsum(known, dtype=np.int32), np.int32(0)) - np.int32(1)


def numbered(ranks: Rows) -> Rows:
    """Renumber ranks without gaps, in ascending order."""
    numbers: Rows = (np.cumsum(np.bincount(ranks) > 0) - 1)[ranks]
    return numbers


def used_items(items: Items, width: int) -> tuple[Items, int]:
    """Renumber items without those that do not occur; also how many are left."""
    there = np.bincount(items, minlength=width) > 0
    return (np.cumsum(there, dtype=np.int32) - np.int32(1))[items], int(there.sum())


def orders_of(
    name: str, distinct: Distinct, supports: Counts | None = None, tables: int = TABLES
) -> tuple[Rows, ...]:
    """The distinct baskets in the order of that name; `nearest` gives several orders, the others one.

    `supports`: the supports that a sortable order is based on: those in all baskets, if these are only a part of them.
    `tables`: how many orders `nearest` gives.
    """
    if name in SORTABLE:
        held = distinct.supports if supports is None else supports
        return (ascending(ragged_ranks(*sort_keys(name, distinct.indptr, distinct.items, held))),)
    match name:
        case "rcm":
            return (_row_graph(distinct),)
        case "bipartite":
            return (_bipartite(distinct),)
        case "nearest":
            return _nearest(distinct, tables)
        case "sum":
            return (_sum(distinct),)
        case _:
            raise AssertionError(name)


def sort_keys(name: str, indptr: Indptr, items: Items, supports: Counts) -> tuple[Indptr, Items]:
    """Sort keys of baskets for a sortable order: lists of integers, compared as lists; equal baskets have equal keys.

    A key depends only on its basket and the supports, so that baskets can be sorted wherever they are. Lexicographic
    keys are the items, the most frequent first. Keys of the order ``gray`` are the digits of a Gray code whose first
    digit is the most frequent item: baskets that agree so far are ordered by their next item. After an even number of
    items, those with the later item (or none) come first; after an odd number, those with the earlier item come first
    (and those with none last).
    """
    from shoal.kernels.ragged import gray_digits, rank_rows

    width = len(supports)
    number = np.empty(width, dtype=np.int32)
    number[np.argsort(-supports, kind="stable")] = np.arange(width, dtype=np.int32)
    if name == "lexicographic":
        return indptr, rank_rows(indptr, items, number)
    return gray_digits(indptr, items, number)


def spread_of(distinct: Distinct, places: "Placed") -> tuple[Band, Floats]:
    """The band of the graph of rows that share an item, and the mean place of each item.

    `places`: the places of the rows that have each distinct basket.
    """
    from shoal.kernels.band import spread

    bandwidth, profile, means = spread(distinct.indptr, distinct.items, distinct.width, places)
    return Band(bandwidth, profile), means


def holders_of(indptr: Indptr, items: Items, width: int) -> tuple[Indptr, Rows]:
    """The rows that hold each item, ascending: those of item i are at ``indptr[i]:indptr[i + 1]``."""
    rows = owners(indptr)
    begin = indptr_by(items, width)
    # 16-bit integers are sorted in one pass, by counting.
    narrow = items.astype(np.uint16) if width <= 1 << 16 else items
    return begin, rows[np.argsort(narrow, kind="stable")]


def _row_graph(distinct: Distinct) -> Rows:
    """Reverse Cuthill-McKee on the graph of rows that share an item.

    The degree of a row is the sum of the supports of its items: the number of its neighbors, each counted once for
    every item that it shares. The exact number of neighbors would cost as much as building the graph.
    """
    from shoal.kernels.band import row_order

    holder_indptr, holders = holders_of(distinct.indptr, distinct.items, distinct.width)
    sums = indptr_of(distinct.supports[distinct.items])
    degrees = sums[distinct.indptr[1:]] - sums[distinct.indptr[:-1]]
    by_degree = np.argsort(degrees, kind="stable")
    order: Rows = row_order(distinct.indptr, distinct.items, holder_indptr, holders, degrees, by_degree)
    return order


def _bipartite(distinct: Distinct) -> Rows:
    """Reverse Cuthill-McKee on the graph of rows and items."""
    from shoal.kernels.band import graph_order

    rows = len(distinct)
    holder_indptr, holders = holders_of(distinct.indptr, distinct.items, distinct.width)
    indptr = np.concatenate((distinct.indptr, distinct.indptr[-1] + holder_indptr[1:]))
    neighbors = np.concatenate((distinct.items.astype(np.int64) + rows, holders))
    by_degree = np.argsort(np.diff(indptr), kind="stable")
    order: Rows = graph_order(indptr, neighbors, by_degree)
    return order[order < rows]


def _sum(distinct: Distinct) -> Rows:
    """Reverse Cuthill-McKee on A + Aᵀ, with the matrix padded to a square: row i and item i are one vertex.

    Row i and item i are unrelated, so this graph has no meaning. It is here because some programs use it.
    """
    from shoal.kernels.band import graph_order

    rows = owners(distinct.indptr)
    items = distinct.items.astype(np.int64)
    size = max(len(distinct), distinct.width)
    edges = np.unique(np.concatenate((rows * size + items, items * size + rows)))
    edges = edges[edges // size != edges % size]
    indptr = np.searchsorted(edges, np.arange(size + 1) * size).astype(np.int64)
    by_degree = np.argsort(np.diff(indptr), kind="stable")
    order: Rows = graph_order(indptr, edges % size, by_degree)
    return order[order < len(distinct)]


def _nearest(distinct: Distinct, count: int) -> tuple[Rows, ...]:
    """Orders by MinHash values: rows that share a large part of their items agree in many of the values."""
    from shoal.kernels.ragged import least_ranks

    if not len(distinct.items):
        return (np.arange(len(distinct)),) * count
    # Ranks of the hashes are enough to compare them, and take less room.
    ranks = np.empty((distinct.width, count * HASHES), dtype=np.int32)
    for value in range(count * HASHES):
        mixed = _mixed(np.arange(distinct.width, dtype=np.uint64), value + 1)
        ranks[:, value] = np.unique(mixed, return_inverse=True)[1] + 1
    keys = least_ranks(distinct.indptr, distinct.items, ranks).T
    return tuple(ascending(*keys[first : first + HASHES]) for first in range(0, len(keys), HASHES))


def _mixed(numbers: AnyArray, key: int) -> AnyArray:
    """Hash each number to one that looks random, and differs for each key (SplitMix64)."""
    state = numbers + np.uint64((key * 0x9E3779B97F4A7C15) % 2**64)
    state = (state ^ (state >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    state = (state ^ (state >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return state ^ (state >> np.uint64(31))
