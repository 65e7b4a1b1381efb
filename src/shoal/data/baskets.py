"""One set of items a person."""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from shoal.arrays import (
    MOST_BITS,
    AnyArray,
    Counts,
    Indptr,
    Items,
    Mask,
    Rows,
    ascending,
    distinct,
    freeze,
    indptr_by,
    indptr_of,
    taken,
)
from shoal.data._plural import counted
from shoal.data.hierarchy import Hierarchy
from shoal.errors import UnknownName


@dataclass(frozen=True, slots=True, eq=False)
class Baskets:
    """Sets of items in compressed rows: basket i is ``items[indptr[i]:indptr[i + 1]]``.

    Parameters
    ----------
    indptr, items
        The baskets. Items of a basket ascend and do not repeat. An empty basket is a person too.
    vocabulary
        The text of each item, in ascending code-point order, so that ascending codes are ascending texts.
    sensitive
        Codes of the items that must not be learned about a person, ascending.
    insensitive
        Codes of the items that are neither known to an adversary nor secret, ascending. All others are public: an
        adversary may know them.
    layout
        The file format they came in and go out in: ``lines`` (``lines:,`` where a comma separates the items), ``spmf``,
        ``long:ID,ITEM``, ``matrix`` or ``column:NAME``.
    hierarchy
        A tree of ever coarser names for the items, where there is one. Its leaves are found by their texts.
    unsorted
        The first of the baskets whose items did not ascend, or repeated, where they were read. Published ones never do.
    misnumbered
        The first of the baskets that had another number than their place where they were read, in a long table.
        Published ones never have.
    """

    indptr: Indptr
    items: Items
    vocabulary: tuple[str, ...]
    sensitive: Items = field(default_factory=lambda: np.empty(0, dtype=np.int32))
    insensitive: Items = field(default_factory=lambda: np.empty(0, dtype=np.int32))
    layout: str = "lines"
    hierarchy: Hierarchy | None = None
    unsorted: Rows = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    misnumbered: Rows = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    _supports: Counts | None = field(default=None, init=False, repr=False)
    kept: dict[str, Any] = field(default_factory=dict, init=False, repr=False)  # found once, asked for again

    def __post_init__(self) -> None:
        freeze(self, np.int64, "indptr", "unsorted", "misnumbered")
        freeze(self, np.int32, "items", "sensitive", "insensitive")

    def __len__(self) -> int:
        return len(self.indptr) - 1

    def __iter__(self) -> Iterator[tuple[str, ...]]:
        """The texts of the items of each basket."""
        return map(self.basket, range(len(self)))

    def __repr__(self) -> str:
        roles = f"{len(self.sensitive):,} sensitive, {len(self.insensitive):,} insensitive"
        return (
            f"<Baskets: {counted(len(self), 'baskets')} of {counted(len(self.vocabulary), 'items')}, {roles}>"
        )

    @property
    def lengths(self) -> Counts:
        """The number of items of each basket."""
        return np.diff(self.indptr)

    @property
    def supports(self) -> Counts:
        """The number of baskets that hold each item."""
        if self._supports is None:
            counts = np.bincount(self.items, minlength=len(self.vocabulary)).astype(np.int64)
            object.__setattr__(self, "_supports", counts)
        assert self._supports is not None
        return self._supports.copy()

    @property
    def public(self) -> Items:
        """Codes of the items that an adversary may know, ascending."""
        hidden = np.union1d(self.sensitive, self.insensitive)
        return np.setdiff1d(np.arange(len(self.vocabulary), dtype=np.int32), hidden)

    def code(self, item: str) -> int:
        """The code of an item by its text."""
        place = int(np.searchsorted(np.array(self.vocabulary, dtype=object), item)) if self.vocabulary else 0
        if place == len(self.vocabulary) or self.vocabulary[place] != item:
            raise UnknownName("item", item, self.vocabulary)
        return place

    def basket(self, row: int) -> tuple[str, ...]:
        """The texts of the items of one basket."""
        return tuple(self.vocabulary[item] for item in self.items[self.indptr[row] : self.indptr[row + 1]])

    def keep(self, wanted: Mask) -> "Baskets":
        """The same baskets with only the items for which the mask (one entry an item) is true.

        Items that go leave the vocabulary too; baskets that become empty stay.
        """
        if wanted.all():
            return self
        stays = wanted[self.items]
        indptr = indptr_of(stays)[self.indptr]
        renamed = np.cumsum(wanted, dtype=np.int32) - 1
        return replace(
            self,
            indptr=indptr,
            items=renamed[self.items[stays]],
            vocabulary=tuple(label for label, kept in zip(self.vocabulary, wanted, strict=True) if kept),
            sensitive=renamed[self.sensitive[wanted[self.sensitive]]],
            insensitive=renamed[self.insensitive[wanted[self.insensitive]]],
            unsorted=self.unsorted[:0],
            misnumbered=self.misnumbered[:0],
        )

    def take(self, rows: Rows) -> "Baskets":
        """The same baskets in the given order."""
        indptr, places = taken(self.indptr, rows)
        none = self.unsorted[:0]
        return replace(self, indptr=indptr, items=self.items[places], unsorted=none, misnumbered=none)

    def canonical_order(self) -> Rows:
        """The baskets in ascending order of their lists of items, the empty ones first.

        So the order of the input is gone, as it is from a table (`data/table.py`).
        """
        return ragged_order(self.indptr, self.items)


def baskets_of_pairs(rows: Rows, items: AnyArray, count: int, vocabulary: tuple[str, ...]) -> Baskets:
    """Baskets of pairs of a row and an item, in any order; a pair that stands twice counts once."""
    width = max(len(vocabulary), 1)
    pairs = distinct(rows * width + items)
    return Baskets(indptr_by(pairs // width, count), (pairs % width).astype(np.int32), vocabulary)


def ragged_order(indptr: Indptr, items: Items) -> Rows:
    """Sort ragged rows of non-negative integers as Python sorts lists; equal rows keep their order."""
    return ascending(ragged_ranks(indptr, items))


def ragged_ranks(indptr: Indptr, items: Items | Rows) -> Rows:
    """The number of ragged rows of non-negative integers that come before each as Python sorts lists.

    Equal rows have equal ranks. Rows are refined by their first items, as many as one integer holds, then by those that
    follow, and so on; a row leaves when no other row shares its beginning, so the work is proportional to the shared
    beginnings and not to the longest row times the rows.
    """
    rows = len(indptr) - 1
    lengths = np.diff(indptr)
    rank = np.zeros(rows, dtype=np.int64)
    active: Rows = np.arange(rows if len(items) else 0, dtype=np.int64)
    width = int(items.max(initial=0)) + 2
    position = 0
    while len(active):
        base = rank[active]
        # Ranks ascend here: their numbers among the different ones leave more room for items.
        tied: Rows = np.cumsum(np.diff(base, prepend=base[:1]) > 0, dtype=np.int64)
        key, ended, step = beginnings(
            tied, indptr[active] + position, lengths[active] - position, items, width
        )
        by_key = ascending(key)
        active, base, key, ended = active[by_key], base[by_key], key[by_key], ended[by_key]
        first = np.flatnonzero(np.concatenate(([True], key[1:] != key[:-1])))
        sizes = np.diff(np.append(first, len(active)))
        start_of_base = np.concatenate(([True], base[1:] != base[:-1]))
        place = np.arange(len(active))
        offset = place - np.maximum.accumulate(np.where(start_of_base, place, 0))
        rank[active] = base + np.repeat(offset[first], sizes)
        active = active[np.repeat(sizes > 1, sizes) & ~ended]
        position += step
    return rank


def descents(indptr: Indptr, items: Items | Rows) -> Rows:
    """The ragged rows that come before the one ahead of them as Python sorts lists.

    >>> descents(np.array([0, 1, 1, 3, 4]), np.array([5, 2, 7, 2]))
    array([1, 3])
    """
    return fallen(indptr[:-1], np.diff(indptr), items)


def fallen(begins: Rows, lengths: Counts, items: Items | Rows) -> Rows:
    """As `descents`, of rows that lie anywhere."""
    here: Rows = np.arange(1, max(len(lengths), 1), dtype=np.int64)
    return here[compared(begins, lengths, items, here, here - 1)[0]]


def compared(
    begins: Rows, lengths: Counts, items: Items | Rows, here: Rows, ahead: Rows
) -> tuple[Rows, Rows]:
    """Which of some ragged rows come before others as Python sorts lists, and which are equal: two lists of places.

    `here`, `ahead`: the rows, and the one that each is compared with.
    """
    tied: Rows = np.arange(len(here), dtype=np.int64)
    own, other, left, right = begins[here], begins[ahead], lengths[here], lengths[ahead]
    before, same = [tied[:0]], [tied[:0]]
    position = 0
    while len(tied):
        ended, ahead_ended = left <= position, right <= position
        if ended.any() or ahead_ended.any():
            before.append(tied[ended & ~ahead_ended])
            same.append(tied[ended & ahead_ended])
            both = ~ended & ~ahead_ended
            tied, own, other, left, right = tied[both], own[both], other[both], left[both], right[both]
        one, two = items[own + position], items[other + position]
        before.append(tied[one < two])
        both = one == two
        tied, own, other, left, right = tied[both], own[both], other[both], left[both], right[both]
        position += 1
    return np.sort(np.concatenate(before)), np.sort(np.concatenate(same))


def beginnings(
    base: Rows, places: Rows, left: Counts, items: Items | Rows, width: int
) -> tuple[Rows, Mask, int]:
    """One integer for the rank of each row so far and its next items, which sorts as they do.

    `width`: above all items by 2. Returns the integers, which rows have no more items than they tell, and how many
    items that are: as many as leave room for the number of a row, by which such integers are sorted fast.
    """
    step, longest, ranks = 1, int(left.max(initial=0)), int(base.max(initial=0)) + 1
    room = 2 ** (MOST_BITS - len(base).bit_length())
    while step <= longest and ranks * width ** (step + 1) < room:
        step += 1
    key = base.copy()
    for ahead in range(step if len(items) else 0):
        there = left > ahead
        item = items.take(places + ahead, mode="clip")
        item *= there
        key *= width
        key += item
        key += there  # a row that has ended is below all that go on
    return key, left < step, step
