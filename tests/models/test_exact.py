"""Comparisons that no rounding can turn."""

from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from shoal.models._exact import (
    at_most,
    below,
    compare_logarithm,
    fraction,
    rounded_up,
    sign_of_logarithms,
    times,
)

numbers = st.one_of(st.integers(0, 20), st.integers(0, 10**17))
ratios = st.one_of(st.fractions(0, 3, max_denominator=9), st.fractions(0, 3, max_denominator=10**17))


@given(st.lists(st.tuples(numbers, numbers), min_size=1, max_size=5), ratios)
def test_comparisons_are_those_of_fractions(pairs: list[tuple[int, int]], ratio: Fraction) -> None:
    left = np.array([one for one, _ in pairs], dtype=np.int64)
    right = np.array([other for _, other in pairs], dtype=np.int64)
    assert at_most(left, right, ratio).tolist() == [one <= other * ratio for one, other in pairs]
    assert below(left, right, ratio).tolist() == [one < other * ratio for one, other in pairs]


@given(st.integers(1, 10**17), ratios.filter(bool))
def test_borders_are_met(right: int, ratio: Fraction) -> None:
    left = int(right * ratio)
    for near in (left - 1, left, left + 1):
        if near >= 0:
            pair = np.array([near]), np.array([right])
            assert at_most(*pair, ratio)[0] == (near <= right * ratio)
            assert below(*pair, ratio)[0] == (near < right * ratio)


@given(st.lists(st.integers(0, 2**40), min_size=1), st.integers(0, 2**40))
def test_products_do_not_overflow(left: list[int], right: int) -> None:
    assert times(np.array(left), right).tolist() == [one * right for one in left]


@given(st.lists(st.tuples(st.integers(-6, 6), st.integers(1, 40)), max_size=5))
def test_signs_are_those_of_products(terms: list[tuple[int, int]]) -> None:
    product = Fraction(1)
    for weight, number in terms:
        product *= Fraction(number) ** weight
    assert sign_of_logarithms(terms) == (product > 1) - (product < 1)


@given(st.integers(2, 10**9), st.integers(1, 10**6))
def test_sums_that_are_zero(number: int, weight: int) -> None:
    assert sign_of_logarithms([(2 * weight, number), (-weight, number**2)]) == 0
    assert sign_of_logarithms([(2 * weight, number), (-weight, number**2), (1, 2)]) == 1


@given(
    st.fractions(Fraction(1, 100), 100, max_denominator=1000).filter(lambda ratio: ratio != 1),
    st.integers(10, 60),
)
def test_logarithms_beside_their_own_digits(ratio: Fraction, digits: int) -> None:
    """A bound that agrees with the logarithm in all but its last digits."""
    with localcontext(prec=digits + 20):
        exact = (Decimal(ratio.numerator) / Decimal(ratio.denominator)).ln()
        step = Decimal(1).scaleb(-digits)
        assert compare_logarithm(ratio, Fraction(exact - step)) == 1
        assert compare_logarithm(ratio, Fraction(exact + step)) == -1


def test_fractions_are_what_was_written() -> None:
    assert fraction(0.1) == Fraction(1, 10)
    assert fraction(1e-05) == Fraction(1, 10**5)
    assert rounded_up(Fraction(2, 3)) == 0.6667
