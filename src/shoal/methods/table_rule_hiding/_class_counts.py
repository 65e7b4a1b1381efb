"""The classes of a table that is about to be published, and the sensitive values they hold."""

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from shoal.arrays import AnyArray, Codes, Counts, Mask, Rows, turns_of
from shoal.data._equal_rows import mixed_codes
from shoal.data.published_syntax import SUPPRESSED
from shoal.data.table import Column, Table


@dataclass(frozen=True, slots=True, eq=False)
class Classes:
    """Rows that agree on all published quasi-identifiers, in canonical order of those cells."""

    of_row: Rows  # the class of each row
    sizes: Counts  # rows of each class, suppressed ones left aside
    cells: Codes  # the published code of each class (row) in each quasi-identifier (column)
    blank: Mask  # which of those cells are ``*``
    suppressed: Mask
    """Rows that are ``*`` in all quasi-identifiers and all sensitive cells: they belong to no class."""

    @classmethod
    def of(cls, table: Table) -> "Classes":
        """Number the classes by the texts of their cells, so that no order of the input is left in the numbers."""
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
        """Some of the classes; rows of others have no class."""
        number = turns_of(kept, len(self))
        return Classes(
            number[self.of_row], self.sizes[kept], self.cells[kept], self.blank[kept], self.suppressed
        )


@dataclass(frozen=True, slots=True, eq=False)
class Values:
    """How often each class holds each sensitive value: one entry for each class and value that meet."""

    column: Column  # the sensitive column
    classes: Rows
    codes: Codes
    counts: Counts
    """`classes`, `codes`, `counts`: the class, the value and the number of rows of each entry; ascending by class, then
    by value."""
    stars: Counts
    """Rows of each class, suppressed ones left aside, that have no value before anything is hidden."""
    guarded: Mask  # entries of values whose rules are hidden

    @classmethod
    def of(cls, column: Column, classes: Classes, named: tuple[str, ...]) -> "Values":
        """Count the values of a column; only the named ones are guarded, or all where none is named."""
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
        """The entries of some classes, which are numbered anew."""
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
        """Different values of the whole column that are published."""
        return len(np.unique(self.codes))


def is_star(column: Column) -> Mask:
    """Which values of a column are ``*``."""
    return np.array([label == SUPPRESSED for label in column.domain.labels], dtype=np.bool_)


def shares(sizes: Counts, c: Fraction) -> Counts:
    """The largest whole number of rows that is at most a share c of each size, exactly."""
    distinct, place = np.unique(sizes, return_inverse=True)
    floors = [size * c.numerator // c.denominator for size in distinct.tolist()]
    return np.array(floors, dtype=np.int64)[place]


def maxima(groups: AnyArray, numbers: AnyArray, count: int) -> Counts:
    """The largest of whole numbers of each group; 0 where a group is empty."""
    most = np.zeros(count, dtype=np.int64)
    np.maximum.at(most, groups, numbers)
    return most
