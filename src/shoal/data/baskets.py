"""Baskets: one set of items per person."""

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
from shoal.data._plain_text import counted
from shoal.data.hierarchy import Hierarchy
from shoal.errors import UnknownName


@dataclass(frozen=True, slots=True, eq=False)
class Baskets:
    """Sets of items in compressed rows: basket i is ``items[indptr[i]:indptr[i + 1]]``.

    Parameters
    ----------
    indptr, items
        The baskets. The items of a basket ascend and do not repeat. An empty basket is a person too.
    vocabulary
        The text of each item, in ascending code-point order, so that ascending codes are ascending texts.
    sensitive
        Codes of the items that must not be learned about a person, ascending.
    insensitive
        Codes of the items that are neither known to an adversary nor secret, ascending. All other items that are not
        sensitive are public: an adversary may know them.
    layout
        The file format in which they were read and will be written: ``lines`` (``lines:,`` if a comma separates the
        items), ``spmf``, ``long:ID,ITEM``, ``matrix`` or ``column:NAME``.
    hierarchy
        A generalization hierarchy of the items, if there is one. Its leaves are matched by their texts.
    unsorted
        The first baskets whose items did not ascend, or repeated, in the file. In a release there are none.
    misnumbered
        The first baskets whose number in the file, a long table, was not their position. In a release there are none.
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
    kept: dict[str, Any] = field(default_factory=dict, init=False, repr=False)  # cached results

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
        """The same baskets with only the items for which the mask is true.

        Other items are removed from the vocabulary too; baskets that become empty stay.
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
        """The given baskets, in the given order."""
        indptr, places = taken(self.indptr, rows)
        none = self.unsorted[:0]
        return replace(self, indptr=indptr, items=self.items[places], unsorted=none, misnumbered=none)

    def canonical_order(self) -> Rows:
        """The baskets in ascending order of their lists of items, empty ones first.

        This removes all traces of the input's order, as for a table (`data/table.py`).
        """
        return ragged_order(self.indptr, self.items)


def baskets_of_pairs(rows: Rows, items: AnyArray, count: int, vocabulary: tuple[str, ...]) -> Baskets:
    """Build baskets from pairs of a row and an item, in any order; repeated pairs count once."""
    width = max(len(vocabulary), 1)
    pairs = distinct(rows * width + items)
    return Baskets(indptr_by(pairs // width, count), (pairs % width).astype(np.int32), vocabulary)


def ragged_order(indptr: Indptr, items: Items) -> Rows:
    """The order that sorts ragged rows of non-negative integers as Python sorts lists; equal rows keep their order."""
    return ascending(ragged_ranks(indptr, items))


def ragged_ranks(indptr: Indptr, items: Items | Rows) -> Rows:
    """The rank of each ragged row of non-negative integers: how many rows come before it as Python sorts lists.

    Equal rows have equal ranks. Rows are compared by their first items, as many as fit into one integer, then by the
    next ones, and so on. A row is done when no other row has the same beginning, so the work is proportional to the
    lengths of common beginnings, not to the number of rows times the longest.
    """
    rows = len(indptr) - 1
    lengths = np.diff(indptr)
    rank = np.zeros(rows, dtype=np.int64)
    active: Rows = np.arange(rows if len(items) else 0, dtype=np.int64)
    width = int(items.max(initial=0)) + 2
    position = 0
    while len(active):
        base = rank[active]
        # Ranks ascend here. Renumbering the distinct ones leaves more room for items in the integer.
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
    """The ragged rows that are less than their predecessor, compared as Python compares lists.

    >>> descents(np.array([0, 1, 1, 3, 4]), np.array([5, 2, 7, 2]))
    array([1, 3])
    """
    return fallen(indptr[:-1], np.diff(indptr), items)


def fallen(begins: Rows, lengths: Counts, items: Items | Rows) -> Rows:
    """The same as `descents`, for rows given by where they begin and their lengths."""
    here: Rows = np.arange(1, max(len(lengths), 1), dtype=np.int64)
    return here[compared(begins, lengths, items, here, here - 1)[0]]


def compared(
    begins: Rows, lengths: Counts, items: Items | Rows, here: Rows, ahead: Rows
) -> tuple[Rows, Rows]:
    """Compare pairs of ragged rows as Python compares lists: the positions of pairs that are less, and that are equal.

    `here`, `ahead`: the rows, and the row that each is compared with.
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
    """Pack the rank of each row so far and its next items into one integer that sorts as they do.

    `width`: the largest item plus 2. Returns the integers, a mask of the rows that have no items beyond those packed,
    and how many items are packed: as many as leave room for the number of a row, which makes sorting fast.
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
        key += there  # a row that has ended sorts before all that continue
    return key, left < step, step
