"""Rows, or persons, that agree on some columns."""

from collections.abc import Sequence

import numpy as np

from shoal.arrays import Counts, Rows
from shoal.data.baskets import ragged_ranks
from shoal.data.table import Column, Table

_ROOM = 2**62


def class_numbers(columns: Sequence[Column], rows: int) -> Rows:
    """The number of each row's equivalence class: rows that agree on all columns have equal numbers, from 0 on."""
    numbers = np.zeros(rows, dtype=np.int64)
    width = 1
    for column in columns:
        size = max(len(column.domain), 1)
        if width * size >= _ROOM:
            numbers = np.unique(numbers, return_inverse=True)[1].astype(np.int64)
            width = int(numbers.max(initial=-1)) + 1
        numbers = numbers * size + column.codes
        width *= size
    return np.unique(numbers, return_inverse=True)[1].astype(np.int64)


def person_classes(table: Table, columns: Sequence[Column]) -> Rows:
    """The number of each person's equivalence class: persons whose rows agree have equal numbers.

    A row is a person, unless a column tells persons: then all rows of a person are known together.
    """
    numbers = class_numbers(columns, table.rows)
    entity = table.entity
    if entity is None:
        return numbers
    order = np.lexsort((numbers, entity.codes))
    persons = np.bincount(entity.codes, minlength=len(entity.domain))
    indptr = np.concatenate(([0], np.cumsum(persons[persons > 0])))
    ranks = ragged_ranks(indptr, numbers[order])
    return np.unique(ranks, return_inverse=True)[1].astype(np.int64)


def class_sizes(numbers: Rows) -> Counts:
    """How many members each class has."""
    return np.bincount(numbers).astype(np.int64)
