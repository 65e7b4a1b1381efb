"""Find clusters of similar baskets, from their items alone.

The clusters are determined by the contents of all baskets: whoever has all of them finds the same clusters, except for
which of several equal baskets is in which cluster. Ties are resolved by the orders that are given.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from shoal.arrays import AnyArray, Counts, Indptr, Items, Rows, indptr_of, owners, turns_of
from shoal.data._basket_orders import Distinct, orders_of

if TYPE_CHECKING:
    from shoal.kernels import near_clusters as kernel

UNIT = 840
"""The weight of the item in a basket of one, if weights fall with the square root of a basket's length."""

WINDOW = 8
"""How many clusters to each side, in each order, are considered when a cluster has to absorb others."""


@dataclass(frozen=True, slots=True)
class Search:
    """How thoroughly similar rows are searched for."""

    tables: int  # number of orders by MinHash values, in addition to Gray's
    window: int
    """Rows to each side, in each order but the first, among which a cluster looks for its next row."""
    passes: int  # how many times rows may be swapped between neighboring clusters
    reach: int
    most: int
    """`reach`, `most`: how near rows must be to make their clusters neighbors, and with how many neighbors a cluster
    swaps rows."""
    even: bool
    """Whether swaps give short and long baskets equal weight: by the cosine instead of the number of shared items."""


GROUPS = Search(tables=2, window=4, passes=2, reach=1, most=4, even=True)
"""The search for groups: they are small, and searching more does not help."""


def orders_for_clusters(distinct: Distinct, tables: int, supports: Counts | None = None) -> tuple[Rows, ...]:
    """The orders in which similar baskets are searched for: the first is Gray's, the others are by MinHash values.

    `tables`: the number of orders by MinHash values. `supports`: the supports that Gray's order is based on: those in
    all baskets, if these are only a part of them.
    """
    return (*orders_of("gray", distinct, supports), *orders_of("nearest", distinct, tables=tables))


def near_clusters(
    orders: tuple[Rows, ...], indptr: Indptr, items: Items, width: int, count: int, search: Search
) -> tuple[Rows, Rows]:
    """Divide rows into `count` clusters of similar rows, which differ in size by at most one row.

    `orders`: several orders of all rows; rows with the same items must be adjacent in each. Returns the rows cluster by
    cluster, and where each cluster begins.
    """
    from shoal.kernels import near_clusters as kernel

    # Rows that are read in succession are read several times as fast if they are adjacent in memory.
    rows = orders[0]
    tables, alike = _laid(rows, orders, indptr, items, width)
    members, starts = kernel.gather(tables, alike, count, search.window)
    if search.passes and len(starts) > 2:
        rows = rows[members]
        tables, alike = _laid(rows, orders, indptr, items, width)
        if not search.even:
            alike = alike._replace(worth=np.ones_like(alike.worth))
        members = np.arange(len(rows), dtype=np.uint32)
        kernel.swap_rows(tables, alike, members, starts, search.passes, search.reach, search.most)
    return rows[members], starts


def _laid(
    rows: Rows, orders: tuple[Rows, ...], indptr: Indptr, items: Items, width: int
) -> tuple[AnyArray, "kernel.Rows"]:
    """Copy the rows in another order, and express all orders in the new numbers of the rows."""
    from shoal.kernels.ragged import take_rows

    place = np.empty(len(rows), dtype=np.uint32)
    place[rows] = np.arange(len(rows), dtype=np.uint32)
    return np.stack([place[order] for order in orders]), _rows(*take_rows(indptr, items, rows), width)


def _rows(indptr: Indptr, items: Items, width: int) -> "kernel.Rows":
    """Rows in the form that the kernels take: in the narrowest integers, because the kernels are bound by memory.

    They are unsigned, because a signed index might be negative and would have to be checked.
    """
    from shoal.kernels import near_clusters as kernel

    places = np.uint32 if len(items) < 2**32 else np.int64
    kinds = np.uint16 if width <= 2**16 else np.uint32
    longest = int(np.diff(indptr).max(initial=0))
    return kernel.Rows(indptr.astype(places), items.astype(kinds), even_worth(longest), width)


def even_worth(longest: int) -> Counts:
    """The weight of each item of a row, by the number of items in the row, if similarity is the cosine."""
    return np.rint(UNIT / np.sqrt(np.maximum(np.arange(longest + 1), 1))).astype(np.int64)


@dataclass(frozen=True, slots=True, eq=False)
class Pairs:
    """Clusters in pairs. A reader of all public baskets can find them again, except for which equal one is where."""

    rows: Rows
    starts: Rows
    """`rows`, `starts`: the rows cluster by cluster, and where each cluster begins."""
    pair: Rows  # the pair of each cluster; a pair may have three clusters

    @property
    def cluster_of(self) -> Rows:
        """The cluster of each of `rows`."""
        return owners(self.starts)


_last: tuple[Distinct, int, Counts | None, Pairs] | None = None


def clusters_of(distinct: Distinct, p: int, supports: Counts | None = None) -> Pairs:
    """The paired clusters of all rows, numbered in the order of their baskets.

    The last result is cached: after groups were published by these clusters, the measure `pivot` needs them again.

    `supports`: how many of all rows hold each item, if these rows are only a part of them.
    """
    from shoal.kernels.ragged import take_rows

    global _last
    if _last is None or not _same(_last[:3], (distinct, p, supports)):
        begins = indptr_of(distinct.counts)
        orders = orders_for_clusters(distinct, GROUPS.tables, supports)
        indptr, items = take_rows(distinct.indptr, distinct.items, owners(begins))
        numbers = np.arange(begins[-1], dtype=np.int32)
        rows = tuple(take_rows(begins, numbers, order)[1].astype(np.int64) for order in orders)
        _last = distinct, p, supports, _paired(rows, indptr, items, distinct.width, p)
    return _last[3]


def _same(one: tuple[Distinct, int, Counts | None], other: tuple[Distinct, int, Counts | None]) -> bool:
    """Whether two calls ask for the same clusters."""
    (baskets, p, supports), (others, q, held) = one, other
    if (p, baskets.width, supports is None) != (q, others.width, held is None):
        return False
    return (
        np.array_equal(baskets.indptr, others.indptr)
        and np.array_equal(baskets.items, others.items)
        and np.array_equal(baskets.counts, others.counts)
        and (supports is None or held is None or np.array_equal(supports, held))
    )


def _paired(orders: tuple[Rows, ...], indptr: Indptr, items: Items, width: int, p: int) -> Pairs:
    """Clusters of p rows or a few more, in pairs; rows without items form a single cluster if there are at least p.

    They are similar to no other rows, and all of them may hold something sensitive, so that each of several such
    clusters would have to absorb many others.
    """
    some = np.diff(indptr) > 0
    filled, bare = np.flatnonzero(some), np.flatnonzero(~some)
    if min(len(filled), len(bare)) < p:
        return _like_pairs(orders, indptr, items, width, p)
    number = turns_of(filled, len(some))
    rest = tuple(number[order[some[order]]] for order in orders)
    found = _like_pairs(rest, np.append(indptr[filled], indptr[-1]), items, width, p)
    rows = np.concatenate((bare, filled[found.rows]))
    return Pairs(rows, np.append(0, found.starts + len(bare)), np.append(0, found.pair + 1))


def _like_pairs(orders: tuple[Rows, ...], indptr: Indptr, items: Items, width: int, p: int) -> Pairs:
    """Clusters of p rows or a few more, and which of them are paired in case one alone is not enough."""
    from shoal.kernels import near_clusters as kernel

    count = max((len(indptr) - 1) // p, 1)
    rows, starts = near_clusters(orders, indptr, items, width, count, GROUPS)
    if count == 1:
        return Pairs(rows, starts, np.zeros(1, dtype=np.int64))
    core_indptr, core, _ = cores(indptr, items, width, rows, starts)
    tables = np.stack(orders_of_units(core_indptr, core, width)).astype(np.uint32)
    alike = _rows(core_indptr, core, width)
    members, begins = kernel.gather(tables, alike, count // 2, GROUPS.window)
    pair = np.empty(count, dtype=np.int64)
    pair[members] = owners(begins)
    return Pairs(rows, starts, pair)


def cores(
    indptr: Indptr, items: Items, width: int, rows: Rows, starts: Rows
) -> tuple[Indptr, Items, tuple[Indptr, Items, Counts]]:
    """For each cluster, the items that at least a third of its rows hold; also how many of its rows hold each item."""
    from shoal.kernels._jit import fitting
    from shoal.kernels.near_clusters import count_items

    begins, held, counts = fitting(count_items, len(items))(indptr, items, width, rows, starts)
    often = 3 * counts >= np.repeat(np.diff(starts), np.diff(begins))
    return indptr_of(often)[begins], held[often], (begins, held, counts)


def orders_of_units(indptr: Indptr, items: Items, width: int) -> tuple[Rows, ...]:
    """Orders of clusters by their core items; ties keep the order of their numbers."""
    count = len(indptr) - 1
    each = Distinct(indptr, items, width, np.ones(count, dtype=np.int64), np.arange(count))
    return orders_for_clusters(each, GROUPS.tables)
