"""Rows that agree on some columns, numbered."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from shoal.arrays import Codes, Counts, Rows, grouped, indptr_of
from shoal.data.baskets import ragged_ranks
from shoal.data.table import Column, Table

ROOM = 2**62
"""Mixed codes stay below this, so that they fit 63 bits."""


@dataclass(frozen=True, slots=True, eq=False)
class RowClasses:
    """Rows that agree on some columns are one class; classes are numbered in the order of their codes."""

    number: Rows  # the class of each row
    first: Rows  # the first row of each class
    sizes: Counts  # the rows of each class

    def __len__(self) -> int:
        return len(self.first)


def row_classes(columns: Sequence[Column], rows: int) -> RowClasses:
    """Number the distinct combinations of codes.

    Equal rows that stand one after the other, as they do in canonical order, are looked at once.
    """
    starts = runs([column.codes for column in columns], rows)
    lengths = np.diff(np.append(starts, rows))
    keys = mixed_codes([(column.codes[starts], len(column.domain)) for column in columns], len(starts))
    first, number, _ = grouped(keys)
    sizes = np.bincount(number, weights=lengths, minlength=len(first)).astype(np.int64)
    return RowClasses(np.repeat(number, lengths), starts[first], sizes)


def person_sizes(table: Table, columns: Sequence[Column]) -> Counts:
    """How many persons each class of persons has whose rows agree.

    A row is a person, unless a column tells persons: then all rows of a person are known together.
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
    """One number for each row, by codes and the number of codes there are, the first column first."""
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
    """The rows that differ from the one before them."""
    changed = np.zeros(rows, dtype=np.bool_)
    changed[:1] = True
    for codes in columns:
        changed[1:] |= codes[1:] != codes[:-1]
    return np.flatnonzero(changed)
