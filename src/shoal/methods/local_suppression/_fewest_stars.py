"""Which cells to star so that every row falls into a class that keeps the promises."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from shoal.arrays import AnyArray, Counts, Mask, Rows

Holds = Callable[[Rows, Rows, int], Mask]
"""Says which groups keep the promises; takes rows, the group of each, and the number of groups."""


@dataclass(frozen=True, slots=True, eq=False)
class Cells:
    """The quasi-identifiers of all rows, in the order in which ties are decided."""

    codes: Counts  # one line per row, one column per quasi-identifier
    sizes: tuple[int, ...]  # how many values each quasi-identifier has

    @property
    def width(self) -> int:
        """How many quasi-identifiers there are."""
        return len(self.sizes)

    def masks(self, stars: int) -> Iterator[int]:
        """All choices of `stars` columns to star, each as the bits of a number."""
        for chosen in combinations(range(self.width), stars):
            yield sum(1 << column for column in chosen)

    def groups(self, rows: Rows, mask: int) -> Rows:
        """The group of each of some rows; rows of a group agree on all columns that are not starred."""
        group = np.zeros(len(rows), dtype=np.int64)
        for column, size in enumerate(self.sizes):
            if not mask >> column & 1:
                group = np.unique(group * size + self.codes[rows, column], return_inverse=True)[1]
        return group


def starred_columns(mask: AnyArray, column: int) -> Mask:
    """Which rows have a star in a column."""
    found: Mask = (mask >> column & 1).astype(np.bool_)
    return found


def stars_of(masks: AnyArray) -> Counts:
    """How many stars each row has."""
    return np.bitwise_count(masks.astype(np.uint64)).astype(np.int64)


def turns(groups: Rows) -> Rows:
    """For each entry, how many entries of the same group come before it."""
    order = np.argsort(groups, kind="stable")
    turn = np.empty(len(order), dtype=np.int64)
    turn[order] = np.arange(len(order)) - np.searchsorted(groups[order], groups[order])
    return turn


class Search:
    """Greedy search for the fewest stars, improved step by step.

    A row is open as long as it is in no class that keeps the promises.

    `holds`: the promises. `least`: the fewest rows of a class that keeps them. `size_alone`: whether a class keeps them
    as soon as it has that many rows, so that one class may lend rows to another.
    """

    def __init__(self, cells: Cells, holds: Holds, least: int, size_alone: bool) -> None:
        self.cells, self.holds, self.least, self.size_alone = cells, holds, least, size_alone
        self.masks = np.zeros(len(cells.codes), dtype=np.int64)
        everybody = np.arange(len(cells.codes))
        self.open = ~self._kept(everybody, 0)

    def _kept(self, rows: Rows, mask: int) -> Mask:
        """Which of some rows are in a class that keeps the promises if all of them are starred by `mask`."""
        if not len(rows):
            return np.zeros(0, dtype=np.bool_)
        group = self.cells.groups(rows, mask)
        return self.holds(rows, group, int(group.max()) + 1)[group]

    def run(self) -> None:
        """Star as few cells as possible: one more per row only if fewer are not enough."""
        for stars in range(1, self.cells.width + 1):
            for mask in self._by_gain(stars):
                self._close(mask)
            if self.size_alone:
                for mask in self.cells.masks(stars):
                    self._lend(mask, stars)
            if not self.open.any():
                break
        self._close_rest()
        if self.size_alone:
            self._unstar()

    def _by_gain(self, stars: int) -> list[int]:
        """The choices of `stars` columns, first those that close the most rows."""
        rows = np.flatnonzero(self.open)
        if not len(rows):
            return []
        gains = {mask: int(self._kept(rows, mask).sum()) for mask in self.cells.masks(stars)}
        return sorted(gains, key=lambda mask: -gains[mask])

    def _close(self, mask: int) -> None:
        """Star the open rows that keep the promises with this mask, together with rows that have it already."""
        rows = np.flatnonzero(self.open | (self.masks == mask))
        if not self.open.any():
            return
        done = rows[self._kept(rows, mask)]
        # Existing classes keep their promises only as a whole: none of their rows may drop out.
        old = rows[self.masks[rows] == mask]
        if np.isin(old, done).all():
            self.masks[done], self.open[done] = mask, False

    def _lend(self, mask: int, stars: int) -> None:
        """Also star rows of large classes, where that is cheaper than one more star for the open rows of a group."""
        rows = np.flatnonzero(self.open)
        if not len(rows):
            return
        plain = self._spare()
        every = np.concatenate([rows, plain])
        group = self.cells.groups(every, mask)
        number, open_rows = int(group.max()) + 1, len(rows)
        wanted = np.bincount(group[:open_rows], minlength=number)
        spare = np.bincount(group[open_rows:], minlength=number)
        lacking = self.least - wanted
        worth = (wanted > 0) & (lacking > 0) & (lacking <= spare) & (lacking * stars <= wanted)
        if not worth.any():
            return
        place = group[open_rows:]
        lent = plain[worth[place] & (turns(place) < lacking[place])]
        taken = rows[worth[group[:open_rows]]]
        self.masks[lent] = self.masks[taken] = mask
        self.open[taken] = False

    def _spare(self) -> Rows:
        """The rows without stars that their classes can spare."""
        rows = np.flatnonzero(~self.open & (self.masks == 0))
        if not len(rows):
            return rows
        return rows[turns(self.cells.groups(rows, 0)) >= self.least]

    def _close_rest(self) -> None:
        """Star all cells of the remaining rows and, if these are too few, of classes with the most stars as well."""
        everything = (1 << self.cells.width) - 1
        rest = np.flatnonzero(self.open)
        if not len(rest):
            return
        self.masks[rest], self.open[rest] = everything, False
        while not self._kept(rows := np.flatnonzero(self.masks == everything), everything).all():
            others = np.flatnonzero(self.masks != everything)
            if not len(others):
                return
            most = stars_of(self.masks[others])
            mask = int(self.masks[others[np.argmax(most)]])
            alike = others[self.masks[others] == mask]
            group = self.cells.groups(alike, mask)
            smallest = int(np.argmin(np.bincount(group)))
            chosen = alike[group == smallest]
            if self.size_alone:
                needed = self.least - len(rows)
                chosen = chosen[:needed] if len(chosen) - needed >= self.least else chosen
            self.masks[chosen] = everything

    def _unstar(self) -> None:
        """Move rows to classes with fewer stars, from classes that can spare them or that all their rows leave."""
        for _ in range(4):
            before = int(stars_of(self.masks).sum())
            for target in sorted(set(self.masks.tolist()), key=lambda mask: (mask.bit_count(), mask)):
                self._move_to(target)
            if int(stars_of(self.masks).sum()) == before:
                break

    def _move_to(self, target: int) -> None:
        """Move rows to the classes that have this mask."""
        there = np.flatnonzero(self.masks == target)
        finer = (self.masks & target == target) & (self.masks != target)
        rows = np.flatnonzero(finer)
        if not len(rows) or not len(there):
            return
        group = self.cells.groups(np.concatenate([there, rows]), target)
        fits = np.isin(group[len(there) :], group[: len(there)])
        classes = self._classes(rows)
        sizes = np.bincount(classes)
        can = np.bincount(classes[fits], minlength=len(sizes))
        allowed = np.where(can == sizes, sizes, np.maximum(sizes - self.least, 0))
        moving, place = rows[fits], classes[fits]
        self.masks[moving[turns(place) < allowed[place]]] = target

    def _classes(self, rows: Rows) -> Rows:
        """The published class of each of some rows."""
        keys = np.unique(self.masks[rows], return_inverse=True)[1].astype(np.int64)
        for column, size in enumerate(self.cells.sizes):
            cell = np.where(starred_columns(self.masks[rows], column), size, self.cells.codes[rows, column])
            keys = np.unique(keys * (size + 1) + cell, return_inverse=True)[1]
        return keys


def fewest(cells: Cells, rows: Mask, least: int) -> int:
    """A lower bound on the number of stars of any release.

    Each of the given rows, which cannot stay as they are, must be in a class of `least` rows that agree on all cells
    that are not starred. So it needs as many stars as it takes until that many rows of the table agree.
    """
    everybody = np.arange(len(cells.codes))
    waiting, bound = rows.copy(), 0
    for stars in range(1, cells.width + 1):
        enough = np.zeros(len(waiting), dtype=np.bool_)
        if not waiting.any():
            break
        for mask in cells.masks(stars):
            group = cells.groups(everybody, mask)
            enough |= (np.bincount(group) >= least)[group]
        bound += stars * int((waiting & enough).sum())
        waiting &= ~enough
    return bound
