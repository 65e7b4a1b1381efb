"""Number equivalence classes: rows that agree on some columns."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from shoal.arrays import Codes, Counts, Rows, grouped, indptr_of
from shoal.data.baskets import ragged_ranks
from shoal.data.table import Column, Table

ROOM = 2**62
"""Upper bound of combined codes, so that they fit into 63 bits."""


@dataclass(frozen=True, slots=True, eq=False)
class RowClasses:
    """Equivalence classes of rows that agree on some columns, numbered in the order of their codes."""

    number: Rows  # the class of each row
    first: Rows  # the first row of each class
    sizes: Counts  # the rows of each class

    def __len__(self) -> int:
        return len(self.first)


def row_classes(columns: Sequence[Column], rows: int) -> RowClasses:
    """Number the distinct combinations of codes.

    Runs of adjacent equal rows, as in canonical order, are processed as one.
    """
    starts = runs([column.codes for column in columns], rows)
    lengths = np.diff(np.append(starts, rows))
    keys = mixed_codes([(column.codes[starts], len(column.domain)) for column in columns], len(starts))
    first, number, _ = grouped(keys)
    sizes = np.bincount(number, weights=lengths, minlength=len(first)).astype(np.int64)
    return RowClasses(np.repeat(number, lengths), starts[first], sizes)


def person_sizes(table: Table, columns: Sequence[Column]) -> Counts:
    """The number of persons in each class of persons whose rows agree.

    Each row is a person, unless there is an entity column: then all rows of a person are compared together.
    """
    classes = row_classes(columns, table.rows)
    entity = table.entity
    if entity is None:
        return classes.sizes
    order = np.lexsort((classes.number, entity.codes))
    rows = np.bincount(entity.codes, minlength=len(entity.domain))
    indptr = indptr_of(rows[rows > 0])
    kinds = ragged_ranks(indptr, classes.number[order])
    return np.unique(kinds, return_counts=True)[1].astype(np.int64)


def mixed_codes(columns: Sequence[tuple[Codes, int]], rows: int) -> Rows:
    """Combine the codes of several columns into one number per row, the first column first.

    `columns`: the codes of each column, and the number of different codes it may have.
    """
    mixed = np.zeros(rows, dtype=np.int64)
    width = 1
    for codes, size in columns:
        if width * max(size, 1) >= ROOM:
            kinds, mixed = np.unique(mixed, return_inverse=True)
            width = len(kinds)
        mixed *= max(size, 1)
        mixed += codes
        width *= max(size, 1)
    return mixed


def runs(columns: Sequence[Codes], rows: int) -> Rows:
    """The rows that differ from their predecessor."""
    changed = np.zeros(rows, dtype=np.bool_)
    changed[:1] = True
    for codes in columns:
        changed[1:] |= codes[1:] != codes[:-1]
    return np.flatnonzero(changed)
