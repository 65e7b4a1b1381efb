"""Maximal and average risk of re-identification."""

from fractions import Fraction
from itertools import combinations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from tests.tables import table

from shoal.data.group_statistics import group_statistics
from shoal.models.k_anonymity import KAnonymity
from shoal.models.reidentification_risk import ReidentificationRisk


def test_maximal_risk_is_k_anonymity() -> None:
    data = table({"x": list("aaabbbbb")})
    for k in (2, 3, 4):
        risk = ReidentificationRisk(risk=round(1 / k + 0.00005, 4))
        assert risk.verify(data).holds == KAnonymity(k=k).verify(data).holds
    assert ReidentificationRisk(risk=0.3334).verify(data).value == Fraction(1, 3)
    assert (
        ReidentificationRisk(risk=0.2).verify(data).offenders[0].why == "a risk of 1/3 where 0.2 is promised"
    )


def test_average_risk_is_classes_over_persons() -> None:
    data = table({"x": list("abbbbbbb")})
    model = ReidentificationRisk(risk=0.25, over="average")
    assert model.verify(data).value == Fraction(2, 8)
    assert model.verify(data).holds
    assert not ReidentificationRisk(risk=0.2499, over="average").verify(data).holds


def test_groups_together_may_keep_what_one_of_them_breaks() -> None:
    data = table({"x": list("abbbbbbb")})
    statistics = group_statistics(data, np.array([0, 1, 1, 1, 1, 1, 1, 1]), 2)
    model = ReidentificationRisk(risk=0.25, over="average")
    assert model.holds(statistics).tolist() == [False, True]
    assert model.hold_together(statistics)
    assert not ReidentificationRisk(risk=0.25).hold_together(statistics)


def test_persons_are_counted() -> None:
    data = table({"x": list("aaaa"), "who": list("ppqq")}, entity="who")
    (model,) = ReidentificationRisk(risk=0.25).bound(data)
    assert model.verify(data).value == Fraction(1, 2)
    assert ReidentificationRisk(risk=0.25).least_size() == 4


@given(st.lists(st.integers(1, 9), min_size=1, max_size=8), st.sampled_from([0.15, 0.25, 0.34, 0.5]))
def test_the_fewest_persons_go_for_an_average(sizes: list[int], risk: float) -> None:
    """Whoever tries every set of classes loses no fewer persons."""
    codes = np.repeat(np.arange(len(sizes)), sizes)
    statistics = group_statistics(table({"x": codes.tolist()}), codes.astype(np.int64), len(sizes))
    keepable = ReidentificationRisk(risk=risk, over="average").keepable(statistics)
    limit = Fraction(str(risk))
    best = max(
        sum(kept)
        for count in range(len(sizes) + 1)
        for kept in combinations(sizes, count)
        if len(kept) <= limit * sum(kept)
    )
    assert sum(np.array(sizes)[keepable]) == best
