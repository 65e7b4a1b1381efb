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

MOST_BITS = 63
"""Of a number without a sign in an integer of 64 bits."""


def frozen(array: Array) -> Array:
    """A read-only view of an array: its holder can share it without fear."""
    view = np.ascontiguousarray(array).view()
    view.flags.writeable = False
    return view  # type: ignore[return-value]


def freeze(holder: object, kind: type[np.generic], *names: str) -> None:
    """Make fields of a frozen holder read-only arrays of a kind."""
    for name in names:
        object.__setattr__(holder, name, frozen(np.asarray(getattr(holder, name), dtype=kind)))


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


def taken(indptr: Indptr, rows: Rows | Items) -> tuple[Indptr, Rows]:
    """Ragged rows in another order: where they begin then, and which entries they hold."""
    return ranges(indptr[rows], np.diff(indptr)[rows])


def flagged(places: AnyArray | Sequence[int] | slice, count: int) -> Mask:
    """Which of so many places are named.

    >>> flagged([0, 2], 4).tolist()
    [True, False, True, False]
    """
    flags = np.zeros(count, dtype=np.bool_)
    flags[places] = True
    return flags


def turns_of(places: AnyArray, count: int) -> Rows:
    """The turn of each of so many places in a list of some; -1 where it is not there.

    >>> turns_of(np.array([2, 0]), 4).tolist()
    [1, -1, 0, -1]
    """
    turns = np.full(count, -1, dtype=np.int64)
    turns[places] = np.arange(len(places))
    return turns


def summed(groups: AnyArray, numbers: AnyArray, count: int) -> Counts:
    """The sums of whole numbers over so many groups, exactly."""
    sums = np.zeros(count, dtype=np.int64)
    np.add.at(sums, groups, numbers)
    return sums


def distinct(values: Array) -> Array:
    """The different numbers, ascending. numpy alone hashes them, which takes many times as long where most differ.

    >>> distinct(np.array([5, 0, 5, 2])).tolist()
    [0, 2, 5]
    """
    ordered = np.sort(values)
    first = np.ones(len(ordered), dtype=np.bool_)
    np.not_equal(ordered[1:], ordered[:-1], out=first[1:])
    return ordered[first]  # type: ignore[return-value]


def grouped(keys: AnyArray) -> tuple[Rows, Rows, Counts]:
    """The different numbers, ascending, none below 0: where each stands first, which of them each entry is, and counts.

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
    """The places of entries in ascending order of keys, none below 0: by the first, then the next, then as they come.

    Keys that fit into one number together with the place are sorted as numbers, which is many times as fast.

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
    """A number for each number that looks random (SplitMix64)."""
    state = numbers.astype(np.uint64) + np.uint64(0x9E3779B97F4A7C15)
    state = (state ^ (state >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    state = (state ^ (state >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return state ^ (state >> np.uint64(31))
