"""Missing cells that match every value."""

from itertools import product

import numpy as np

from shoal.arrays import Counts, Rows
from shoal.data.table import Column


def matching_rows(columns: tuple[Column, ...], first: Rows, sizes: Counts) -> Counts:
    """How many rows match each class, if a missing cell matches every cell and every cell a missing one.

    Classes are compared kind by kind, a kind being the columns in which a class has missing cells: two classes
    match if they agree on the columns that neither of them misses.

    `first`: one row of each class. `sizes`: the rows of each class.
    """
    if not columns:
        return np.full(len(first), sizes.sum())
    cells = np.stack([column.codes[first] for column in columns], axis=1)
    missing = np.stack(
        [
            np.array([not label for label in column.domain.labels], dtype=np.bool_)[column.codes[first]]
            for column in columns
        ],
        axis=1,
    )
    found = np.zeros(len(first), dtype=np.int64)
    kinds, kind = np.unique(missing, axis=0, return_inverse=True)
    for one, other in product(range(len(kinds)), repeat=2):
        here, there = np.flatnonzero(kind == one), np.flatnonzero(kind == other)
        shared = np.flatnonzero(~(kinds[one] | kinds[other]))
        both = np.concatenate((cells[here][:, shared], cells[there][:, shared]))
        _, same = np.unique(both, axis=0, return_inverse=True)
        rows = np.bincount(same[len(here) :], weights=sizes[there], minlength=len(both))
        found[here] += rows[same[: len(here)]].astype(np.int64)
    return found
