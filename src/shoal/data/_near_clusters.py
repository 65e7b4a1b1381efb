"""Clusters of baskets that are alike, found from their items alone.

Which rows come together follows from the contents of all baskets: whoever has them all finds the same clusters again,
but for which of equal baskets is in which. Rows that tie come in the order in which the given orders have them.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from shoal.arrays import AnyArray, Counts, Indptr, Items, Rows, indptr_of, owners, turns_of
from shoal.data._basket_orders import Distinct, orders_of

if TYPE_CHECKING:
    from shoal.kernels import near_clusters as kernel

UNIT = 840
"""What the items of a basket with one of them are worth, if worth falls with the square root of the length."""

WINDOW = 8
"""Clusters to each side, in each order, among which one that must takes in others."""


@dataclass(frozen=True, slots=True)
class Search:
    """How far like rows are looked for."""

    tables: int  # orders by MinHash values, beside Gray's
    window: int
    """Rows to each side, in each order but the first, among which a cluster looks for its next one."""
    passes: int  # how often rows may change places between neighboring clusters
    reach: int
    most: int
    """`reach`, `most`: how near rows make clusters neighbors, and with how many neighbors a cluster exchanges rows."""
    even: bool
    """Whether short and long baskets count alike when they do: by the cosine, and not by the items they share."""


GROUPS = Search(tables=2, window=4, passes=2, reach=1, most=4, even=True)
"""For groups: they are small, and more is not better."""


def orders_for_clusters(distinct: Distinct, tables: int, supports: Counts | None = None) -> tuple[Rows, ...]:
    """The orders in which like baskets are looked for: the first is Gray's, the others are by MinHash values.

    `tables`: how many of those there are. `supports`: those that Gray's goes by; of all baskets, where these are a part
    of them.
    """
    return (*orders_of("gray", distinct, supports), *orders_of("nearest", distinct, tables=tables))


def near_clusters(
    orders: tuple[Rows, ...], indptr: Indptr, items: Items, width: int, count: int, search: Search
) -> tuple[Rows, Rows]:
    """Put rows into so many clusters, which differ in size by at most one row.

    `orders`: all rows, several times; those with the same items side by side. Returns the rows cluster by cluster, and
    where each cluster begins.
    """
    from shoal.kernels import near_clusters as kernel

    # Rows that are looked at one after the other are read several times as fast where they lie side by side in memory.
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
    """Rows in another order, numbered by it."""
    from shoal.kernels.ragged import take_rows

    place = np.empty(len(rows), dtype=np.uint32)
    place[rows] = np.arange(len(rows), dtype=np.uint32)
    return np.stack([place[order] for order in orders]), _rows(*take_rows(indptr, items, rows), width)


def _rows(indptr: Indptr, items: Items, width: int) -> "kernel.Rows":
    """Rows as the kernels take them: the shorter the numbers are, the less is waited for memory.

    Numbers without a sign are looked up at once; with one, each could count from the end.
    """
    from shoal.kernels import near_clusters as kernel

    places = np.uint32 if len(items) < 2**32 else np.int64
    kinds = np.uint16 if width <= 2**16 else np.uint32
    longest = int(np.diff(indptr).max(initial=0))
    return kernel.Rows(indptr.astype(places), items.astype(kinds), even_worth(longest), width)


def even_worth(longest: int) -> Counts:
    """What each item of a row is worth, by the number of its items, if likeness is the cosine."""
    return np.rint(UNIT / np.sqrt(np.maximum(np.arange(longest + 1), 1))).astype(np.int64)


@dataclass(frozen=True, slots=True, eq=False)
class Pairs:
    """Clusters in pairs: what a reader of all public baskets finds again, but for which of equal ones is where."""

    rows: Rows
    starts: Rows
    """`rows`, `starts`: the rows cluster by cluster, and where each cluster begins."""
    pair: Rows  # the pair of each cluster; a pair may have three

    @property
    def cluster_of(self) -> Rows:
        """The cluster of each of `rows`."""
        return owners(self.starts)


_last: tuple[Distinct, int, Counts | None, Pairs] | None = None


def clusters_of(distinct: Distinct, p: int, supports: Counts | None = None) -> Pairs:
    """The paired clusters of all rows, numbered in the order of their baskets.

    What was found last is kept: whoever publishes groups by them may want to know what a reader finds who replays it.

    `supports`: how many of all rows hold each item, where these are a part of them.
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
    """Whether both ask for the same clusters."""
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
    """Clusters of p rows or a few more, in pairs; the rows without items are one cluster, if they are p or more.

    Nothing is like them, and all of them may hold something sensitive: of several such clusters each would take in many
    others.
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
    """Clusters of p rows or a few more, and which of them go together where one alone will not do."""
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
    """The items that at least a third of a cluster's rows hold, for each cluster; and how many rows hold each item."""
    from shoal.kernels._jit import fitting
    from shoal.kernels.near_clusters import count_items

    begins, held, counts = fitting(count_items, len(items))(indptr, items, width, rows, starts)
    often = 3 * counts >= np.repeat(np.diff(starts), np.diff(begins))
    return indptr_of(often)[begins], held[often], (begins, held, counts)


def orders_of_units(indptr: Indptr, items: Items, width: int) -> tuple[Rows, ...]:
    """Clusters by what most of their rows hold; those that tie stay as they are numbered."""
    count = len(indptr) - 1
    each = Distinct(indptr, items, width, np.ones(count, dtype=np.int64), np.arange(count))
    return orders_for_clusters(each, GROUPS.tables)
