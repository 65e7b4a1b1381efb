"""Promises about perturbed values, judged from matrices: the papers' examples, and beliefs tried one by one."""

from fractions import Fraction
from itertools import permutations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.naive.models import exact
from tests.tables import column

from shoal.data.role import Role
from shoal.data.table import Table
from shoal.errors import BadData, WrongUse
from shoal.models._matrices import MatrixModel, posterior
from shoal.models.amplification import Amplification
from shoal.models.d_gamma_privacy import DGammaPrivacy
from shoal.models.rho_privacy import RhoPrivacy

VALUES = "abc"


def table(values: str = "ab") -> Table:
    return Table((column("age", list(range(len(values)))), column("ill", list(values), Role.SENSITIVE)))


def diagonal(kept: int, other: int, size: int = 3) -> dict[str, list[int]]:
    return {VALUES[place]: [kept if place == one else other for one in range(size)] for place in range(size)}


MATRICES = st.lists(
    st.lists(st.integers(0, 6), min_size=3, max_size=3).filter(any), min_size=3, max_size=3
).map(lambda lines: dict(zip(VALUES, lines, strict=True)))


def beliefs(matrix: dict[str, list[int]], prior: Fraction) -> list[Fraction]:
    """What is believed of a value after each published one, where another value has the rest of the belief before."""
    lines = [[Fraction(one, sum(line)) for one in line] for line in matrix.values()]
    found = []
    for mine, other in permutations(lines, 2):
        for here, there in zip(mine, other, strict=True):
            seen = prior * here + (1 - prior) * there
            if seen:
                found.append(prior * here / seen)
    return found


def test_the_papers_operator() -> None:
    """Evfimievski et al. 2003: with γ = 19 what is believed with 5 % stays below 50 %, and not with a little more."""
    kept = RhoPrivacy(rho1=0.05, rho2=0.5).of("ill", diagonal(18, 1))
    broken = RhoPrivacy(rho1=0.05, rho2=0.5).of("ill", diagonal(19, 1))
    assert kept.verify(table()).holds
    assert not broken.verify(table()).holds
    assert broken.verify(table()).value == Fraction(1, 2)
    assert posterior(Fraction(1, 20), Fraction(19)) == Fraction(1, 2)


def test_a_bound_of_odds() -> None:
    model = Amplification(gamma=5)
    assert model.of("ill", diagonal(5, 1)).verify(table()).holds
    assert model.of("ill", diagonal(5, 1)).verify(table()).value == 5
    assert not model.of("ill", diagonal(51, 10)).verify(table()).holds
    certain = model.of("ill", {"a": [1, 0, 0], "b": [1, 1, 1], "c": [1, 1, 1]}).verify(table())
    assert not certain.holds
    assert certain.value is None


def test_values_that_the_matrix_does_not_publish() -> None:
    verdict = Amplification(gamma=5).of("ill", diagonal(5, 1)).verify(table("abz"))
    assert not verdict.holds
    assert "z" in verdict.offenders[0].where
    for wrong in ({"a": [1], "b": [1, 1]}, {"a": [0, 0], "b": [1, 1]}, {"a": [-1, 2], "b": [1, 1]}):
        assert not Amplification(gamma=5).of("ill", wrong).verify(table()).holds


def test_who_can_promise_it() -> None:
    with pytest.raises(WrongUse, match="publish by pram"):
        Amplification(gamma=5).bound(table())
    with pytest.raises(BadData, match="matrix"):
        Amplification(gamma=5).refuse_vague()
    with pytest.raises(BadData, match="perturbed"):
        Amplification(gamma=5).of("ill", diagonal(5, 1)).refuse_vacuous(table(), {})
    with pytest.raises(WrongUse, match="rho2 must be above"):
        RhoPrivacy(rho1=0.5, rho2=0.5)
    with pytest.raises(WrongUse, match="gamma must be above"):
        DGammaPrivacy(d=0.5, gamma=0.4)


SHARES = st.sampled_from([0.05, 0.1, 0.2, 0.3, 0.5])
MORE = st.sampled_from([0.25, 0.4, 0.6, 0.8, 0.9])


@settings(max_examples=250, deadline=None)
@given(MATRICES, SHARES, MORE)
def test_beliefs_are_as_the_definitions_say(matrix: dict[str, list[int]], low: float, high: float) -> None:
    if low >= high:
        return
    after = beliefs(matrix, exact(low))
    rising = max(after)
    rho = RhoPrivacy(rho1=low, rho2=high).of("ill", matrix).verify(table("a"))
    falling = min(beliefs(matrix, exact(high)))
    assert rho.holds == (rising < exact(high) and falling > exact(low))
    assert rho.value == rising
    tiny = Fraction(1, 10**9)
    least = min(beliefs(matrix, tiny)) / tiny
    private = DGammaPrivacy(d=low, gamma=high).of("ill", matrix).verify(table("a"))
    # The least relative belief is approached as the belief goes to zero: a billionth is near enough for such matrices.
    assert private.holds == (
        rising <= exact(high) and least >= exact(low) / exact(high) * (1 - Fraction(1, 10**6))
    )


@settings(max_examples=100, deadline=None)
@given(SHARES, MORE, st.integers(2, 3))
def test_the_largest_factor_keeps_the_promise(low: float, high: float, size: int) -> None:
    if low >= high:
        return
    models: list[MatrixModel] = [RhoPrivacy(rho1=low, rho2=high), DGammaPrivacy(d=low, gamma=high)]
    for model in models:
        factor = model.largest()
        assert model.allows(factor)
        assert not model.allows(factor * Fraction(1001, 1000))
        matrix = diagonal(factor.numerator, factor.denominator, size)
        assert model.of("ill", matrix).verify(table("a")).holds
