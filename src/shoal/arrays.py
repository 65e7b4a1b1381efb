"""Type names of the arrays that Shoal passes around, and operations on arrays, ragged ones among them."""

from collections.abc import Sequence
from typing import Any, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

Codes: TypeAlias = NDArray[np.int32]
"""One small integer per row: the position of its value in the column's domain."""

Indptr: TypeAlias = NDArray[np.int64]
"""Where the rows of a ragged array begin and end: row i is ``indptr[i]:indptr[i + 1]``."""

Items: TypeAlias = NDArray[np.int32]
"""The items of all baskets, one basket after another, in ascending order within a basket."""

Counts: TypeAlias = NDArray[np.int64]
Rows: TypeAlias = NDArray[np.int64]
Mask: TypeAlias = NDArray[np.bool_]
Floats: TypeAlias = NDArray[np.float64]
AnyArray: TypeAlias = NDArray[Any]


Array = TypeVar("Array", bound=AnyArray)

MOST_BITS = 63
"""Bits of a signed 64-bit integer that are left for a number that is not negative."""


def frozen(array: Array) -> Array:
    """A read-only view of an array, which its holder can share safely."""
    view = np.ascontiguousarray(array).view()
    view.flags.writeable = False
    return view  # type: ignore[return-value]


def freeze(holder: object, kind: type[np.generic], *names: str) -> None:
    """Turn the named fields of a frozen dataclass into read-only arrays of the given dtype."""
    for name in names:
        object.__setattr__(holder, name, frozen(np.asarray(getattr(holder, name), dtype=kind)))


def indptr_of(lengths: AnyArray | Sequence[int]) -> Indptr:
    """The `Indptr` of ragged rows of these lengths: where each begins, and where the last ends."""
    return np.concatenate(([0], np.cumsum(np.asarray(lengths, dtype=np.int64))))


def indptr_by(rows: AnyArray, count: int) -> Indptr:
    """The `Indptr` of `count` ragged rows, from the row of each entry; entries are in the order of their rows."""
    return indptr_of(np.bincount(rows, minlength=count))


def owners(indptr: Indptr) -> Rows:
    """The number of the ragged row that each entry belongs to."""
    return np.repeat(np.arange(len(indptr) - 1), np.diff(indptr))


def ranges(begins: Rows, lengths: Counts) -> tuple[Indptr, Rows]:
    """Concatenate ranges of integers: where each range starts in the result, and the integers themselves.

    >>> ranges(np.array([5, 0]), np.array([2, 3]))[1].tolist()
    [5, 6, 0, 1, 2]
    """
    indptr = indptr_of(lengths)
    return indptr, np.repeat(begins - indptr[:-1], lengths) + np.arange(indptr[-1])


def taken(indptr: Indptr, rows: Rows | Items) -> tuple[Indptr, Rows]:
    """Select ragged rows in a given order: their new `Indptr`, and the positions of their entries."""
    return ranges(indptr[rows], np.diff(indptr)[rows])


def flagged(places: AnyArray | Sequence[int] | slice, count: int) -> Mask:
    """A mask of length `count` that is true at the given places.

    >>> flagged([0, 2], 4).tolist()
    [True, False, True, False]
    """
    flags = np.zeros(count, dtype=np.bool_)
    flags[places] = True
    return flags


def turns_of(places: AnyArray, count: int) -> Rows:
    """For each of `count` places, its position in the list `places`; -1 where it is not in the list.

    >>> turns_of(np.array([2, 0]), 4).tolist()
    [1, -1, 0, -1]
    """
    turns = np.full(count, -1, dtype=np.int64)
    turns[places] = np.arange(len(places))
    return turns


def summed(groups: AnyArray, numbers: AnyArray, count: int) -> Counts:
    """The exact sums of integers in each of `count` groups."""
    sums = np.zeros(count, dtype=np.int64)
    np.add.at(sums, groups, numbers)
    return sums


def distinct(values: Array) -> Array:
    """The distinct numbers in ascending order. numpy's `unique` hashes, which is far slower where most numbers differ.

    >>> distinct(np.array([5, 0, 5, 2])).tolist()
    [0, 2, 5]
    """
    ordered = np.sort(values)
    first = np.ones(len(ordered), dtype=np.bool_)
    np.not_equal(ordered[1:], ordered[:-1], out=first[1:])
    return ordered[first]  # type: ignore[return-value]


def grouped(keys: AnyArray) -> tuple[Rows, Rows, Counts]:
    """Group equal numbers, none below 0, in ascending order.

    Returns where each distinct number occurs first, the group of each entry, and the sizes of the groups.

    >>> [found.tolist() for found in grouped(np.array([5, 0, 5]))]
    [[1, 0], [1, 0, 1], [1, 2]]
    """
    order = ascending(keys)
    values = keys[order]
    new = np.ones(len(values), dtype=np.bool_)
    np.not_equal(values[1:], values[:-1], out=new[1:])
    begins = np.flatnonzero(new)
    number = np.empty(len(keys), dtype=np.int64)
    number[order] = np.cumsum(new) - 1
    return order[begins], number, np.diff(begins, append=len(keys))


def ascending(*keys: AnyArray) -> Rows:
    """The positions of entries in ascending order of several keys, none below 0; ties keep their order.

    Entries are compared by the first key, then by the next. Keys that fit into one integer together with the position
    are sorted as integers, which is many times as fast.

    >>> ascending(np.array([1, 0, 1]), np.array([2, 5, 0])).tolist()
    [1, 2, 0]
    """
    count = len(keys[0])
    widths = [int(key.max(initial=0)).bit_length() for key in keys]
    place = max(count - 1, 0).bit_length()
    if sum(widths) + place > MOST_BITS:
        return np.lexsort(keys[::-1])
    packed: Rows = np.zeros(count, dtype=np.int64)
    for key, width in zip(keys, widths, strict=True):
        packed <<= width
        packed |= key.astype(np.int64, copy=False)
    packed <<= place
    packed |= np.arange(count)
    packed.sort()
    packed &= (1 << place) - 1
    return packed


def mixed(numbers: AnyArray) -> AnyArray:
    """Hash each number to one that looks random (SplitMix64)."""
    state = numbers.astype(np.uint64) + np.uint64(0x9E3779B97F4A7C15)
    state = (state ^ (state >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    state = (state ^ (state >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return state ^ (state >> np.uint64(31))
