"""Names for the arrays that travel through Shoal, and what is done with ragged ones."""

from collections.abc import Sequence
from typing import Any, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

Codes: TypeAlias = NDArray[np.int32]
"""One small integer a row: the place of its value in the column's domain."""

Indptr: TypeAlias = NDArray[np.int64]
"""Row i of a ragged array lies at ``indptr[i]:indptr[i + 1]``."""

Items: TypeAlias = NDArray[np.int32]
"""The items of all baskets, one basket after the other, ascending inside a basket."""

Counts: TypeAlias = NDArray[np.int64]
Rows: TypeAlias = NDArray[np.int64]
Mask: TypeAlias = NDArray[np.bool_]
Floats: TypeAlias = NDArray[np.float64]
AnyArray: TypeAlias = NDArray[Any]


Array = TypeVar("Array", bound=AnyArray)


def frozen(array: Array) -> Array:
    """A read-only view of an array: its holder can share it without fear."""
    view = np.ascontiguousarray(array).view()
    view.flags.writeable = False
    return view  # type: ignore[return-value]


def indptr_of(lengths: AnyArray | Sequence[int]) -> Indptr:
    """Where each ragged row of those lengths begins, and where the last ends."""
    return np.concatenate(([0], np.cumsum(np.asarray(lengths, dtype=np.int64))))


def indptr_by(rows: AnyArray, count: int) -> Indptr:
    """Where each of so many ragged rows begins, of entries in the order of their rows, and where the last ends."""
    return indptr_of(np.bincount(rows, minlength=count))


def owners(indptr: Indptr) -> Rows:
    """The ragged row of each entry."""
    return np.repeat(np.arange(len(indptr) - 1), np.diff(indptr))


def ranges(begins: Rows, lengths: Counts) -> tuple[Indptr, Rows]:
    """Ranges one after the other: where each starts, and the numbers in them.

    >>> ranges(np.array([5, 0]), np.array([2, 3]))[1].tolist()
    [5, 6, 0, 1, 2]
    """
    indptr = indptr_of(lengths)
    return indptr, np.repeat(begins - indptr[:-1], lengths) + np.arange(indptr[-1])


def taken(indptr: Indptr, rows: Rows) -> tuple[Indptr, Rows]:
    """Ragged rows in another order: where they begin then, and which entries they hold."""
    return ranges(indptr[rows], np.diff(indptr)[rows])
