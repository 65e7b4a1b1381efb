"""Sets of items that many baskets hold.

::

    found = frequent_itemsets(baskets, least=36)            # every set that 36 baskets or more hold
    found = frequent_itemsets(baskets, least=36, size=3)    # of at most three items
    found = top_itemsets(baskets, 1000)                     # the 1000 most frequent ones
    found.supports, found.sizes                             # one number a set
    indptr, items = found.members()                         # the items of each set, ascending codes
    supports_of(baskets, indptr, items)                     # how many (other) baskets hold each of these sets
    found.places_of(indptr, items)                          # where each of these sets stands in `found`, -1 if nowhere

The sets and their order depend on the baskets alone, never on their order.
"""

import os
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from fractions import Fraction
from heapq import heapify, heappop, heappush
from itertools import pairwise
from math import ceil
from typing import TypeVar

import numpy as np

from shoal.arrays import (
    AnyArray,
    Codes,
    Counts,
    Indptr,
    Items,
    Mask,
    Rows,
    freeze,
    frozen,
    indptr_of,
    owners,
    turns_of,
)
from shoal.data.baskets import Baskets, ragged_order
from shoal.errors import WrongUse
from shoal.kernels._compiling import is_eager

Result = TypeVar("Result")

LIMIT = 50_000_000
"""Sets that are found at most: more would fill the memory, and nobody would read them."""

ROOM = 100
"""Sets that are looked at all at once for each of the most frequent ones that is asked for, at most."""

CROWD = 4
"""Where sets that one in so many baskets holds are not among the most frequent ones, there are too many of them."""

PAIRED = 2048
"""Items of which all pairs are counted, at most."""

DENSE = 512
"""Bits of all baskets that can be looked at while one walks through two items of a basket."""

BLOCKS = 16
"""Parts of the work for each thread: the sets lie unevenly."""

SMALL = 500_000
"""Baskets times items that are tried without kernels, at the most: sooner done than a kernel is loaded."""

FEW = 100_000
"""Sets that are looked at without kernels, at the most; where there are more, kernels begin anew."""


@dataclass(frozen=True, slots=True, eq=False)
class Itemsets:
    """Frequent sets, each written as the set without its most frequent item, and that item."""

    rows: int  # the number of baskets they were found in
    least: int  # the least support that was asked for
    parents: Rows  # The place of the set without its last item; -1 for a single item. It comes earlier.
    lasts: Items  # the code of the last item of each set: the most frequent one
    supports: Counts  # the number of baskets that hold each set
    ranks: Codes
    """The rank of each item of the vocabulary by ascending support, which says which item is the last."""
    sizes: Counts = field(init=False)

    def __post_init__(self) -> None:
        freeze(self, np.int64, "parents", "supports")
        freeze(self, np.int32, "lasts", "ranks")
        sizes = np.ones(len(self.parents), dtype=np.int64)
        above = self.parents.copy()
        while (inner := above >= 0).any():
            sizes[inner] += 1
            above[inner] = self.parents[above[inner]]
        object.__setattr__(self, "sizes", frozen(sizes))

    def __len__(self) -> int:
        return len(self.parents)

    def columns(self, places: Rows, size: int) -> Items:
        """The items of sets of one size, a row a set, by ascending rank."""
        table = np.empty((len(places), size), dtype=np.int32)
        here = places
        for column in range(size - 1, -1, -1):
            table[:, column] = self.lasts[here]
            here = self.parents[here]
        return table

    def members(self, places: Rows | None = None) -> tuple[Indptr, Items]:
        """The items of all sets, or of some: set i is ``items[indptr[i]:indptr[i + 1]]``, codes ascending."""
        chosen = np.arange(len(self)) if places is None else places
        sizes = self.sizes[chosen]
        indptr = indptr_of(sizes)
        items = np.empty(indptr[-1], dtype=np.int32)
        for size in np.unique(sizes).tolist():
            those = np.flatnonzero(sizes == size)
            table = np.sort(self.columns(chosen[those], size), axis=1)
            items[indptr[those][:, None] + np.arange(size)] = table
        return indptr, items

    def texts(
        self, vocabulary: tuple[str, ...], places: Iterable[int] | None = None
    ) -> list[tuple[str, ...]]:
        """The items of all sets, or of some, as texts."""
        chosen = np.arange(len(self)) if places is None else np.array(list(places), dtype=np.int64)
        indptr, items = self.members(chosen)
        plain = [vocabulary[item] for item in items.tolist()]
        return [tuple(plain[begin:end]) for begin, end in pairwise(indptr.tolist())]

    def places_of(self, indptr: Indptr, items: Items) -> Rows:
        """Where given sets, of codes of the same vocabulary, stand among these; -1 if nowhere, as the empty set."""
        children = Children.of(self)
        sizes = np.diff(indptr)
        places = np.full(len(sizes), -1, dtype=np.int64)
        for size in np.unique(sizes[sizes > 0]).tolist():
            those = np.flatnonzero(sizes == size)
            table = np.sort(self.ranks[items[indptr[those][:, None] + np.arange(size)]], axis=1)
            here = np.full(len(those), TOP, dtype=np.int64)
            for column in range(size):
                here = children.below(here, table[:, column])
            places[those] = np.maximum(here, -1)
        return places


TOP, NOWHERE = -1, -2
"""Places of the empty set, and of sets that are not there."""


@dataclass(frozen=True, slots=True, eq=False)
class Children:
    """A way to find the set that has one more item, a more frequent one than all others."""

    keys: Rows
    order: Rows
    width: int

    @classmethod
    def of(cls, itemsets: Itemsets) -> "Children":
        """Sort the sets by what they were found from."""
        width = len(itemsets.ranks) + 1
        keys = (itemsets.parents + 1) * width + itemsets.ranks[itemsets.lasts]
        order = np.argsort(keys, kind="stable")
        return cls(keys[order], order, width)

    def below(self, places: Rows, ranks: Codes) -> Rows:
        """The places of the sets at some places with one more item each, by its rank; `NOWHERE` if not there."""
        if not len(self.keys):
            return np.full(len(places), NOWHERE, dtype=np.int64)
        wanted = (places + 1) * self.width + ranks
        at = np.minimum(np.searchsorted(self.keys, wanted), len(self.keys) - 1)
        there = (self.keys[at] == wanted) & (places != NOWHERE)
        return np.where(there, self.order[at], NOWHERE)


def least_count(rows: int, share: float) -> int:
    """The least number of baskets that is at least a share of all, and at least 1.

    >>> least_count(59602, 0.001), least_count(10, 0.2), least_count(10, 0)
    (60, 2, 1)
    """
    return max(1, ceil(Fraction(str(share)) * rows))


def frequent_itemsets(
    baskets: Baskets,
    least: int,
    size: int | None = None,
    *,
    threads: int | None = None,
    limit: int = LIMIT,
) -> Itemsets:
    """Every set of items that at least so many baskets hold.

    `least`: the least support, a number of baskets; `least_count` makes it from a share. The lower it is, the more sets
    there are, and that quickly. `size`: the largest number of items of a set; any by default. `threads`: all of this
    machine by default. `limit`: more sets than this are refused. Raises `WrongUse` if the least support or the size is
    below 1, or there are too many sets.

    >>> from shoal.io.baskets.load import read_baskets
    >>> baskets = read_baskets([["beer", "nuts"], ["beer", "nuts", "wine"], ["wine"]])
    >>> found = frequent_itemsets(baskets, least=2)
    >>> sorted(zip(found.texts(baskets.vocabulary), found.supports.tolist()))
    [(('beer',), 2), (('beer', 'nuts'), 2), (('nuts',), 2), (('wine',), 2)]
    """
    if least < 1:
        raise WrongUse(f"The least support of a frequent itemset must be at least 1, not {least}.")
    if size is not None and size < 1:
        raise WrongUse(f"The largest size of an itemset must be at least 1, not {size}.")
    return _mined(baskets, least, size, threads=threads, limit=limit)


def _mined(
    baskets: Baskets,
    least: int,
    size: int | None,
    *,
    threads: int | None = None,
    limit: int = LIMIT,
    top: int = 0,
) -> Itemsets:
    """Every frequent set; or some of them, among which the most frequent ones are, where so many are asked for."""
    supports = baskets.supports
    order = np.argsort(supports, kind="stable").astype(np.int32)
    frequent = order[supports[order] >= least]
    ranks = _ranks(frequent, len(supports))
    if size == 1 or len(frequent) < 2:
        parents = np.full(len(frequent), -1)
        return Itemsets(len(baskets), least, parents, frequent, supports[frequent], ranks)
    if not top and _is_small(baskets):
        found = _found_plainly(_dense(baskets, ranks, len(frequent)), least, size or len(frequent))
        if found is not None and len(found) <= limit:
            plain = np.array(found)
            return Itemsets(len(baskets), least, plain[:, 0], frequent[plain[:, 1]], plain[:, 2], ranks)
    indptr, items, item_indptr, holders = _by_rank(baskets, frequent)
    from shoal.kernels.eclat import ENTRY, mine_roots, rows_of_bits

    longest = int(np.diff(indptr).max(initial=0))
    deepest = min(size or longest, max(longest, 1))
    keys = np.zeros(top, dtype=np.int64)
    rows = np.empty((0, 0), dtype=np.uint64)
    if len(frequent) ** 2 * len(baskets) < DENSE * int((np.diff(indptr) ** 2).sum()):
        rows = rows_of_bits(item_indptr, holders, len(baskets))
    counts: list[int] = []

    def work(block: tuple[int, int]) -> tuple[AnyArray, int]:
        rest = limit - sum(counts)
        part, count = mine_roots(
            *block, indptr, items, item_indptr, holders, least, deepest, rest, keys, rows
        )
        counts.append(count)
        return part, count

    # Where the most frequent ones are wanted, those that were found say what need not be looked for.
    parts = [work((0, len(frequent)))] if top else _in_threads(work, len(frequent), threads)
    begins = indptr_of([count for _, count in parts])
    if begins[-1] > limit:
        raise WrongUse(
            f"More than {limit} itemsets are held by {least} baskets or more; ask for a higher support or a size."
        )
    table = np.concatenate([part.reshape(-1, ENTRY) for part, _ in parts])
    moved = np.repeat(begins[:-1], np.diff(begins))
    parents = np.where(table[:, 0] < 0, -1, table[:, 0] + moved)
    return Itemsets(len(baskets), least, parents, frequent[table[:, 1]], table[:, 2], ranks)


def _is_small(baskets: Baskets) -> bool:
    """Whether there is too little to load kernels for."""
    return len(baskets) * len(baskets.vocabulary) <= SMALL and not is_eager()


def _dense(baskets: Baskets, ranks: Codes, count: int) -> Mask:
    """Which baskets hold each item that has a rank below a count: a row for each basket."""
    held = np.zeros((len(baskets), count + 1), dtype=np.bool_)
    held[owners(baskets.indptr), ranks[baskets.items]] = True
    return held[:, :count]


def _bits(held: Mask) -> list[int]:
    """The baskets that hold each item, as the bits of a number."""
    return [int.from_bytes(column.tobytes()) for column in np.packbits(held.T, axis=1)]


def _found_plainly(held: Mask, least: int, size: int) -> list[tuple[int, int, int]] | None:
    """All frequent sets as kernels find them: the place of the set above, the item and the support. None if too many.

    The baskets that hold a set are the bits of a number.
    """
    found: list[tuple[int, int, int]] = []
    left = FEW

    def go_on(above: int, depth: int, candidates: list[tuple[int, int, int]]) -> None:
        nonlocal left
        for place, (item, holders, support) in enumerate(candidates, 1):
            found.append((above, item, support))
            left -= len(candidates) - place
            if depth < size and left >= 0:
                both = ((other, holders & those) for other, those, _ in candidates[place:])
                counted = ((other, those, those.bit_count()) for other, those in both)
                go_on(len(found) - 1, depth + 1, [one for one in counted if one[2] >= least])

    go_on(-1, 1, [(item, holders, holders.bit_count()) for item, holders in enumerate(_bits(held))])
    return found if left >= 0 else None


def top_itemsets(baskets: Baskets, count: int, size: int | None = None) -> Itemsets:
    """The most frequent sets of items.

    Of sets with equal support the smaller ones come first, then the one whose items come first in the vocabulary: who
    asks for a hundred gets a hundred, and the same hundred each time. Sets stand in that order. Every part of a set is
    among them too, for it has as much support and fewer items.

    `count`: how many; fewer if there are not so many. `size`: the largest number of items of a set; any by default.
    """
    if count < 1:
        raise WrongUse(f"The number of itemsets must be at least 1, not {count}.")
    found, bound, _ = enough_itemsets(baskets, count, size)
    return best_of(found, count, bound)


def enough_itemsets(baskets: Baskets, count: int, size: int | None = None) -> tuple[Itemsets, int, bool]:
    """Sets among which the most frequent ones are, as many as are asked for.

    Returns the sets, the least support of the most frequent ones, and whether all sets of that support or more are
    there.
    """
    supports = np.sort(baskets.supports)[::-1]
    bound = 1 if len(supports) < count else max(1, int(supports[count - 1]))
    bound = _bound_by_pairs(baskets, count, bound, size)
    if _is_small(baskets):
        bound = _bound_plainly(baskets, count, bound, size)
    if bound * CROWD <= len(baskets):
        try:
            # All of them, where they are not too many.
            found = frequent_itemsets(baskets, bound, size, limit=ROOM * count)
            return found, _least_of(found, count, bound), True
        except WrongUse:
            pass
    found = _mined(baskets, bound, size, top=count)
    return found, _least_of(found, count, bound), False


def _least_of(found: Itemsets, count: int, bound: int) -> int:
    """The least support of so many sets that have most of it."""
    if len(found) < count:
        return bound
    return int(np.partition(found.supports, len(found) - count)[len(found) - count])


def _bound_by_pairs(baskets: Baskets, count: int, bound: int, size: int | None) -> int:
    """A support that so many items and pairs of them have: the most frequent sets have no less."""
    supports = baskets.supports
    frequent = np.flatnonzero(supports >= bound)
    work = int((baskets.lengths**2).sum())
    if size == 1 or not 1 < len(frequent) <= PAIRED or work > PAIRED * len(baskets.items):
        return bound
    ranks = _ranks(frequent.astype(np.int32), len(supports))
    if _is_small(baskets):
        held = _dense(baskets, ranks, len(frequent)).astype(np.float32)
        pairs = (held.T @ held)[np.triu_indices(len(frequent), 1)].astype(np.int64)
    else:
        from shoal.kernels.postings import pair_supports

        pairs = pair_supports(baskets.indptr, baskets.items, ranks, len(frequent))
    both = np.concatenate((pairs[pairs >= bound], supports[frequent]))
    return bound if len(both) < count else int(np.partition(both, len(both) - count)[len(both) - count])


def _bound_plainly(baskets: Baskets, count: int, bound: int, size: int | None) -> int:
    """The support that so many sets have, found without kernels: the most frequent set is made longer first."""
    supports = baskets.supports
    order = np.argsort(supports, kind="stable").astype(np.int32)
    frequent = order[supports[order] >= bound]
    bits = _bits(_dense(baskets, _ranks(frequent, len(supports)), len(frequent)))
    waiting = [(-holders.bit_count(), 1, item, holders) for item, holders in enumerate(bits)]
    heapify(waiting)
    for _ in range(count):
        if not waiting:
            return bound
        support, depth, last, holders = heappop(waiting)
        if depth < (size or len(bits)):
            for item in range(last + 1, len(bits)):
                both = holders & bits[item]
                held = both.bit_count()
                if held >= bound:
                    heappush(waiting, (-held, depth + 1, item, both))
    return -support


def frequent_among(found: Itemsets, least: int, size: int | None = None) -> Itemsets:
    """Those of all sets of some support that have more of it, and no more items."""
    kept = found.supports >= least
    if size is not None:
        kept &= found.sizes <= size
    return _chosen(found, np.flatnonzero(kept), least)


def best_of(found: Itemsets, count: int, bound: int) -> Itemsets:
    """The first so many sets by support, size and items; `bound` is a support that none of them is below."""
    places = np.flatnonzero(found.supports >= bound)
    indptr, items = found.members(places)
    rank = turns_of(ragged_order(indptr, items), len(places))
    order = places[np.lexsort([rank, found.sizes[places], -found.supports[places]])][:count]
    least = int(found.supports[order].min(initial=found.least)) if len(order) else found.least
    return _chosen(found, order, least)


def _chosen(found: Itemsets, order: Rows, least: int) -> Itemsets:
    """Some of the sets, among them every part of each, in a given order."""
    renamed = turns_of(order, len(found) + 1)
    return Itemsets(
        found.rows,
        least,
        renamed[found.parents[order]],
        found.lasts[order],
        found.supports[order],
        found.ranks,
    )


def supports_of(baskets: Baskets, indptr: Indptr, items: Items, *, threads: int | None = None) -> Counts:
    """The number of baskets that hold each of some sets of codes of their vocabulary; all hold the empty set."""
    if not len(items):
        return np.full(len(indptr) - 1, len(baskets), dtype=np.int64)
    asked = np.unique(items)
    order = asked[np.argsort(baskets.supports[asked], kind="stable")].astype(np.int32)
    ranks = _ranks(order, len(baskets.vocabulary))
    _, _, item_indptr, holders = _by_rank(baskets, order)
    sizes = np.diff(indptr)
    of_set = np.repeat(np.arange(len(sizes)), sizes)
    by_rank = ranks[items]
    sets = by_rank[np.lexsort((by_rank, of_set))]
    out = np.full(len(sizes), len(baskets), dtype=np.int64)
    held = np.flatnonzero(sizes > 0)
    begins = indptr_of(sizes[held])
    counts = np.zeros(len(held), dtype=np.int64)
    from shoal.kernels.eclat import count_sets

    _in_threads(
        lambda block: count_sets(block[0], block[1], begins, sets, item_indptr, holders, counts),
        len(held),
        threads,
    )
    out[held] = counts
    return out


def _ranks(order: Items, size: int) -> Codes:
    """The rank of each code; those that are not in the order come last, all alike."""
    ranks = np.full(size, len(order), dtype=np.int32)
    ranks[order] = np.arange(len(order), dtype=np.int32)
    return ranks


def _by_rank(baskets: Baskets, order: Items) -> tuple[Indptr, Items, Indptr, Items]:
    """The items of baskets as ascending ranks, less those without one; and the baskets of each rank, ascending."""
    from shoal.kernels.postings import turned

    ranks = _ranks(order, len(baskets.vocabulary))
    return turned(baskets.indptr, baskets.items, ranks, len(order))


def _in_threads(work: Callable[[tuple[int, int]], Result], count: int, threads: int | None) -> list[Result]:
    """Do the work on blocks of ``0 … count - 1``; results in order."""
    number = threads or os.cpu_count() or 1
    edges = np.unique(np.linspace(0, count, min(count, number * BLOCKS) + 1).astype(np.int64)).tolist()
    blocks = list(pairwise(edges))
    if number == 1 or len(blocks) < 2:
        return [work(block) for block in blocks]
    with ThreadPoolExecutor(number) as pool:
        return list(pool.map(work, blocks))
