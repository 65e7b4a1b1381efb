"""The classes of a table that is about to be published, and the counts of their sensitive values."""

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from shoal.arrays import AnyArray, Codes, Counts, Mask, Rows, turns_of
from shoal.data._equal_rows import mixed_codes
from shoal.data.published_syntax import SUPPRESSED
from shoal.data.table import Column, Table


@dataclass(frozen=True, slots=True, eq=False)
class Classes:
    """Classes: rows that agree on all published quasi-identifiers, in canonical order of those cells."""

    of_row: Rows  # the class of each row
    sizes: Counts  # the number of rows of each class, not counting suppressed ones
    cells: Codes  # the published code of each class (row) in each quasi-identifier (column)
    blank: Mask  # which of those cells are ``*``
    suppressed: Mask
    """Rows that are ``*`` in all quasi-identifiers and all sensitive cells: they belong to no class."""

    @classmethod
    def of(cls, table: Table) -> "Classes":
        """Number the classes by the texts of their cells, so that the numbers do not depend on the input's order."""
        ranks = [(column.domain.ranks()[column.codes], len(column.domain)) for column in table.quasi]
        keys = mixed_codes(ranks, table.rows)
        _, first, number = np.unique(keys, return_index=True, return_inverse=True)
        cells = np.stack([column.codes[first] for column in table.quasi], axis=1)
        blank = np.stack([is_star(column)[column.codes[first]] for column in table.quasi], axis=1)
        suppressed: Mask = np.logical_and.reduce(blank, axis=1)[number]
        for column in table.sensitive:
            suppressed &= is_star(column)[column.codes]
        sizes = np.bincount(number[~suppressed], minlength=len(first)).astype(np.int64)
        return cls(number, sizes, cells, blank, suppressed)

    def __len__(self) -> int:
        return len(self.sizes)

    def only(self, kept: Rows) -> "Classes":
        """A subset of the classes; rows of other classes get the number -1."""
        number = turns_of(kept, len(self))
        return Classes(
            number[self.of_row], self.sizes[kept], self.cells[kept], self.blank[kept], self.suppressed
        )


@dataclass(frozen=True, slots=True, eq=False)
class Values:
    """How often each class has each sensitive value: one entry for each class and value that occur together."""

    column: Column  # the sensitive column
    classes: Rows
    codes: Codes
    counts: Counts
    """`classes`, `codes`, `counts`: the class, the value and the number of rows of each entry; ascending by class, then
    by value."""
    stars: Counts
    """How many rows of each class, not counting suppressed ones, are stars before anything is hidden."""
    guarded: Mask  # the entries whose value is guarded: rules about it are hidden

    @classmethod
    def of(cls, column: Column, classes: Classes, named: tuple[str, ...]) -> "Values":
        """Count the values of a column; only named values are guarded, or all if none is named."""
        labels = column.domain.labels
        starred = is_star(column)[column.codes]
        keys = classes.of_row[~starred] * len(labels) + column.codes[~starred]
        pairs, counts = np.unique(keys, return_counts=True)
        codes = (pairs % len(labels)).astype(np.int32)
        guarded = np.array([not named or label in named for label in labels], dtype=np.bool_)[codes]
        rows = classes.of_row[starred & ~classes.suppressed]
        stars = np.bincount(rows, minlength=len(classes)).astype(np.int64)
        return cls(column, pairs // len(labels), codes, counts.astype(np.int64), stars, guarded)

    def only(self, kept: Rows) -> "Values":
        """The entries of a subset of the classes, which are renumbered."""
        number = turns_of(kept, len(self.stars))
        entries = number[self.classes] >= 0
        return Values(
            self.column,
            number[self.classes[entries]],
            self.codes[entries],
            self.counts[entries],
            self.stars[kept],
            self.guarded[entries],
        )

    @property
    def distinct(self) -> int:
        """How many distinct values the column publishes."""
        return len(np.unique(self.codes))


def is_star(column: Column) -> Mask:
    """Which values of a column are ``*``."""
    return np.array([label == SUPPRESSED for label in column.domain.labels], dtype=np.bool_)


def shares(sizes: Counts, c: Fraction) -> Counts:
    """A share c of each size, rounded down to a whole number and computed exactly."""
    distinct, place = np.unique(sizes, return_inverse=True)
    floors = [size * c.numerator // c.denominator for size in distinct.tolist()]
    return np.array(floors, dtype=np.int64)[place]


def maxima(groups: AnyArray, numbers: AnyArray, count: int) -> Counts:
    """The largest number of each group; 0 if a group is empty."""
    most = np.zeros(count, dtype=np.int64)
    np.maximum.at(most, groups, numbers)
    return most
