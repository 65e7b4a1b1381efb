"""Exact answers about logarithms of whole numbers, for promises whose border lies on one."""

from collections.abc import Iterable
from decimal import Context, Decimal
from fractions import Fraction
from math import gcd

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
