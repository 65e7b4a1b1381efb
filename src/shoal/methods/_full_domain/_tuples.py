"""The distinct combinations of raw quasi-identifiers, and the classes that they form on a vector of the lattice."""

from dataclasses import dataclass, field

import numpy as np

from shoal.arrays import AnyArray, Codes, Counts, Mask, Rows
from shoal.data.table import Column
from shoal.methods._full_domain._levels import Lattice, Levels

ROOM = 62
"""The most bits of a key that combines several codes."""


@dataclass(frozen=True, slots=True, eq=False)
class Tuples:
    """The distinct combinations of raw values, with the number of rows that have each.

    Vectors of the lattice are evaluated on these, never on the rows. They are in the order of their codes, so that no
    result depends on the order of the rows.
    """

    codes: tuple[Rows, ...]  # for each column, the code of each tuple
    counts: Counts  # the number of rows of each tuple
    number: Rows  # the tuple of each row
    times: Counts | None = None
    """How many rows each row stands for, if the table holds distinct rows only; one by default."""

    def __len__(self) -> int:
        return len(self.counts)

    @property
    def rows(self) -> int:
        """The number of rows."""
        return len(self.number) if self.times is None else int(self.times.sum())

    def part(self, mask: Mask) -> tuple["Tuples", Rows]:
        """A subset of the tuples, and the rows that have them."""
        place = np.where(mask, np.cumsum(mask) - 1, -1)[self.number]
        rows = np.flatnonzero(place >= 0)
        times = None if self.times is None else self.times[rows]
        return Tuples(tuple(codes[mask] for codes in self.codes), self.counts[mask], place[rows], times), rows


def distinct_tuples(columns: tuple[Column, ...], rows: int, times: Counts | None = None) -> Tuples:
    """The distinct tuples of a table, whose rows may each stand for several, as `times` says."""
    keys: Rows = np.zeros(rows, dtype=np.int64)
    width = 1
    for column in columns:
        size = max(len(column.domain), 1)
        if width * size >= 2**ROOM:
            kinds, keys = np.unique(keys, return_inverse=True)
            width = len(kinds)
        keys = keys * size + column.codes
        width *= size
    _, first, number, counts = np.unique(keys, return_index=True, return_inverse=True, return_counts=True)
    codes = tuple(column.codes[first].astype(np.int64) for column in columns)
    if times is not None:
        counts = np.bincount(number, weights=times, minlength=len(counts))
    return Tuples(codes, counts.astype(np.int64), number, times)


@dataclass(frozen=True, slots=True, eq=False)
class Grouping:
    """Finds the classes of any vector of a lattice.

    The node of each tuple on each level of each column is looked up once and kept, so that a vector costs one
    multiplication and one addition per column and tuple, and one sort.
    """

    lattice: Lattice
    tuples: Tuples
    _looked_up: dict[tuple[int, int], Codes] = field(default_factory=dict)

    def nodes(self, column: int, level: int) -> Codes:
        """The node of each tuple on one level of a column."""
        known = self._looked_up.get((column, level))
        if known is None:
            known = self.lattice.nodes[column][level][self.tuples.codes[column]]
            self._looked_up[column, level] = known
        return known

    def classes(self, levels: Levels) -> tuple[Rows, int]:
        """Number the classes of a vector: the class of each tuple, and a bound above all numbers.

        The numbers are not always consecutive: if the bound is small, the keys themselves serve as numbers.
        """
        keys: Rows = np.zeros(len(self.tuples), dtype=np.int64)
        width = 1
        for column, level in enumerate(levels):
            size = self.lattice.sizes[column][level]
            if size == 1:
                continue
            if width * size >= 2**ROOM:
                keys, width = consecutive(keys, width)
            keys *= size
            keys += self.nodes(column, level)
            width *= size
        return (keys, width) if width <= 2 * len(keys) else consecutive(keys, width)


def consecutive(keys: Rows, width: int) -> tuple[Rows, int]:
    """Renumber keys below `width` as 0, 1, 2, … in ascending order; also returns how many numbers there are.

    The place of a key is packed into its low bits if there is room, because sorting plain integers is several times
    faster than sorting places by them.
    """
    count = len(keys)
    shift = max(count - 1, 1).bit_length()
    numbers = np.empty(count, dtype=np.int64)
    if width.bit_length() + shift > ROOM:
        kinds, numbers = np.unique(keys, return_inverse=True)
        return numbers, len(kinds)
    packed = keys << shift
    packed |= np.arange(count)
    packed.sort()
    places = packed & ((1 << shift) - 1)
    packed >>= shift
    changes: AnyArray = np.empty(count, dtype=np.int64)
    changes[:1] = 0
    np.not_equal(packed[1:], packed[:-1], out=changes[1:], casting="unsafe")
    np.cumsum(changes, out=changes)
    numbers[places] = changes
    return numbers, int(changes[-1]) + 1 if count else 0
