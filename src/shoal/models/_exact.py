"""Thresholds as fractions, and comparisons of counts with them that no rounding can turn."""

from fractions import Fraction
from math import ceil, floor

import numpy as np

from shoal.arrays import AnyArray, Counts, Indptr, Mask

LARGEST = 2**62
"""Whole numbers below this fit into arrays of 64-bit integers with room for one addition."""

ROUNDING = 2.0**-50
"""More than what a handful of floating-point operations can be wrong by, relative to what they are made of."""


def fraction(threshold: float) -> Fraction:
    """The number that was written: 0.2 is one fifth, and not the nearest binary number.

    >>> fraction(0.2), fraction(3)
    (Fraction(1, 5), Fraction(3, 1))
    """
    return Fraction(str(threshold))


def rounded_up(value: Fraction, digits: int = 4) -> float:
    """The least decimal number with so many digits that is not below a fraction.

    >>> rounded_up(Fraction(1, 3)), rounded_up(Fraction(1, 4))
    (0.3334, 0.25)
    """
    return float(Fraction(ceil(value * 10**digits), 10**digits))


def rounded_down(value: float, digits: int = 4) -> float:
    """The largest decimal number with so many digits that is clearly not above a value.

    >>> rounded_down(2.99999999), rounded_down(3.0)
    (2.9999, 3.0)
    """
    near = round(value)
    return float(near) if value == near else floor(value * 10**digits) / 10**digits


def times(left: AnyArray, right: AnyArray | int) -> AnyArray:
    """Products of whole numbers: 64-bit integers where they fit, Python's integers where they do not."""
    largest = int(np.max(np.abs(left), initial=0)) * int(np.max(np.abs(right), initial=0))
    if largest < LARGEST:
        return np.asarray(left * right)
    return np.asarray(np.asarray(left, dtype=object) * np.asarray(right, dtype=object))


def at_most(left: AnyArray, right: AnyArray, ratio: Fraction) -> Mask:
    """Where ``left <= right * ratio``, for whole numbers that are not negative, exactly."""
    return ~_above(left, right, ratio)


def below(left: AnyArray, right: AnyArray, ratio: Fraction) -> Mask:
    """Where ``left < right * ratio``, for whole numbers that are not negative, exactly."""
    return _above(right, left, 1 / ratio) if ratio else np.zeros(len(left), dtype=np.bool_)


def _above(left: AnyArray, right: AnyArray, ratio: Fraction) -> Mask:
    """Where ``left > right * ratio``, by whole numbers; where they are long, by floating point if that is certain."""
    up, down = ratio.numerator, ratio.denominator
    if max(int(np.max(left, initial=0)) * down, int(np.max(right, initial=0)) * up) < LARGEST:
        return np.asarray(left * down > right * up, dtype=np.bool_)
    one, other = (
        np.asarray(left, dtype=np.float64) * float(down),
        np.asarray(right, dtype=np.float64) * float(up),
    )
    above: Mask = one > other
    for place in np.flatnonzero(np.abs(one - other) <= ROUNDING * (one + other)).tolist():
        above[place] = int(left[place]) * down > int(right[place]) * up
    return above


def group_sums(indptr: Indptr, numbers: AnyArray) -> AnyArray:
    """The sum over each group of numbers in compressed rows; an empty group has the sum 0.

    >>> group_sums(np.array([0, 2, 2, 3]), np.array([1, 2, 5])).tolist()
    [3, 0, 5]
    """
    sums = np.zeros(len(indptr) - 1, dtype=numbers.dtype)
    filled = np.flatnonzero(indptr[1:] > indptr[:-1])
    if len(filled):
        sums[filled] = np.add.reduceat(numbers, indptr[filled])
    return sums


def group_maxima(indptr: Indptr, numbers: AnyArray) -> AnyArray:
    """The largest of each group of numbers in compressed rows; an empty group has 0."""
    maxima = np.zeros(len(indptr) - 1, dtype=numbers.dtype)
    filled = np.flatnonzero(indptr[1:] > indptr[:-1])
    if len(filled):
        maxima[filled] = np.maximum.reduceat(numbers, indptr[filled])
    return maxima


def group_of(indptr: Indptr) -> Counts:
    """The group of each entry of compressed rows."""
    return np.repeat(np.arange(len(indptr) - 1), np.diff(indptr))
