"""Thresholds as fractions, and comparisons with them that no rounding can turn: of counts and of logarithms."""

from collections.abc import Iterable
from decimal import Context, Decimal
from fractions import Fraction
from math import ceil, floor, gcd

import numpy as np

from shoal.arrays import AnyArray, Indptr, Mask

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


DIGITS = 40
"""Where the search for a sign begins; the digits double until it is certain."""


def sign_of_logarithms(terms: Iterable[tuple[int, int]]) -> int:
    """The sign of a sum of weights times natural logarithms of positive whole numbers: -1, 0 or 1, never a guess.

    Whether the sum is zero is decided on whole numbers alone: the logarithms of numbers that share no divisor are
    independent of each other. Where it is not zero, enough digits show on which side it lies.

    >>> sign_of_logarithms([(2, 2), (-1, 4)]), sign_of_logarithms([(1, 3), (-1, 2)])
    (0, 1)
    """
    weighted = [(weight, number) for weight, number in terms if weight and number > 1]
    digits = DIGITS
    while True:
        context = Context(prec=digits)
        total = size = Decimal(0)
        for weight, number in weighted:
            term = context.multiply(Decimal(weight), context.ln(Decimal(number)))
            total, size = context.add(total, term), context.add(size, abs(term))
        if abs(total) > context.multiply(size, Decimal(len(weighted) + 8).scaleb(1 - digits)):
            return 1 if total > 0 else -1
        if digits == DIGITS and _is_zero(weighted):
            return 0
        digits *= 2


def compare_logarithm(ratio: Fraction, bound: Fraction) -> int:
    """The sign of ``ln(ratio) - bound`` for a positive ratio, never a guess.

    The logarithm of a fraction other than 1 is no fraction (Lindemann), so that enough digits always decide.

    >>> compare_logarithm(Fraction(2), Fraction(7, 10)), compare_logarithm(Fraction(1), Fraction(0))
    (-1, 0)
    """
    if ratio == 1 or bound == 0:
        difference = (ratio > 1) - (ratio < 1) if bound == 0 else (bound < 0) - (bound > 0)
        return int(difference)
    digits = DIGITS
    while True:
        context = Context(prec=digits)
        parts = [
            context.ln(Decimal(ratio.numerator)),
            -context.ln(Decimal(ratio.denominator)),
            -context.divide(Decimal(bound.numerator), Decimal(bound.denominator)),
        ]
        total = context.add(context.add(parts[0], parts[1]), parts[2])
        size = sum(abs(part) for part in parts)
        if abs(total) > context.multiply(Decimal(size), Decimal(8).scaleb(1 - digits)):
            return 1 if total > 0 else -1
        digits *= 2


def _is_zero(terms: list[tuple[int, int]]) -> bool:
    """Whether the powers of each of the parts that the numbers are made of cancel out."""
    for part in _parts_without_common_divisor({number for _, number in terms}):
        if sum(weight * _times_divisible(number, part) for weight, number in terms):
            return False
    return True


def _parts_without_common_divisor(numbers: set[int]) -> list[int]:
    """Numbers, none sharing a divisor with another, of whose powers all the given ones are products."""
    parts: list[int] = []
    waiting = sorted(numbers)
    while waiting:
        number = waiting.pop()
        for place, part in enumerate(parts):
            common = gcd(number, part)
            if common > 1:
                del parts[place]
                waiting += [piece for piece in (common, number // common, part // common) if piece > 1]
                break
        else:
            parts.append(number)
    return parts


def _times_divisible(number: int, part: int) -> int:
    count = 0
    while number % part == 0:
        number //= part
        count += 1
    return count
