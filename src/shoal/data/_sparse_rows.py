"""Sparse matrices in numpy alone, because loading scipy takes longer than most computations on them."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from shoal.arrays import Counts, Floats, Indptr, Rows, indptr_of, owners, taken


@dataclass(frozen=True, slots=True, eq=False)
class SparseRows:
    """A sparse matrix by rows: row i has the values ``values[indptr[i]:indptr[i + 1]]``, in its part of `columns`."""

    indptr: Indptr
    columns: Rows
    values: Floats
    width: int  # the number of columns

    @classmethod
    def of(cls, rows: Any, columns: Any, values: Any, shape: tuple[int, int]) -> "SparseRows":
        """The matrix with these entries; entries in the same cell are added up."""
        keys = np.asarray(rows, dtype=np.int64) * shape[1] + columns
        values = np.broadcast_to(np.asarray(values, dtype=np.float64), keys.shape)
        if not (keys[1:] > keys[:-1]).all():
            keys, place = np.unique(keys, return_inverse=True)
            values = np.bincount(place, values, len(keys))
        row = keys // max(shape[1], 1)
        return cls(indptr_of(np.bincount(row, minlength=shape[0])), keys % max(shape[1], 1), values, shape[1])

    def __len__(self) -> int:
        return len(self.indptr) - 1

    @property
    def rows(self) -> Rows:
        """The row of each entry."""
        return owners(self.indptr)

    @property
    def held(self) -> Counts:
        """How many rows have an entry in each column."""
        return np.bincount(self.columns, minlength=self.width)

    def take(self, rows: Rows) -> "SparseRows":
        """The given rows, in their order."""
        indptr, places = taken(self.indptr, rows)
        return SparseRows(indptr, self.columns[places], self.values[places], self.width)

    def weighed(self, weights: Any) -> Floats:
        """The weighted sum of each row, with a weight for each column."""
        weighed = self.values * np.asarray(weights)[self.columns]
        return np.bincount(self.rows, weighed, len(self)).astype(np.float64, copy=False)

    def dense(self) -> Floats:
        """The matrix as a dense array."""
        cells = np.zeros((len(self), self.width))
        cells[self.rows, self.columns] = self.values
        return cells

    def times(self, other: "SparseRows") -> Floats:
        """The product with another matrix, as a dense array."""
        indptr, places = taken(other.indptr, self.columns)
        each = np.diff(indptr)
        keys = np.repeat(self.rows, each) * other.width + other.columns[places]
        summed = np.bincount(
            keys, np.repeat(self.values, each) * other.values[places], len(self) * other.width
        )
        return summed.astype(np.float64, copy=False).reshape(len(self), other.width)

    def turned_times(self, cells: Floats) -> Floats:
        """The product of the transposed matrix with a dense one, as a dense array."""
        of_row, product = self.rows, np.empty((self.width, cells.shape[1]))
        for place in range(cells.shape[1]):
            product[:, place] = np.bincount(self.columns, self.values * cells[of_row, place], self.width)
        return product

    def among(self, other: "SparseRows") -> "SparseRows":
        """The matrix with only those entries for which another matrix of this shape has an entry in the same cell."""
        here = np.isin(self.rows * self.width + self.columns, other.rows * other.width + other.columns)
        kept = indptr_of(np.bincount(self.rows[here], minlength=len(self)))
        return SparseRows(kept, self.columns[here], self.values[here], self.width)
