"""(α,k)-anonymity and confidence bounding."""

from fractions import Fraction

import pytest
from tests.tables import table

from shoal.errors import WrongUse
from shoal.models.alpha_k_anonymity import AlphaKAnonymity
from shoal.models.confidence_bounding import ConfidenceBounding


def test_a_share_of_exactly_alpha_is_kept() -> None:
    data = table({"x": ["a"] * 10, "s": ["hiv"] * 3 + ["flu"] * 7}, sensitive=["s"])
    assert AlphaKAnonymity(alpha=0.3, k=10, values=("hiv",)).verify(data).holds
    assert AlphaKAnonymity(alpha=0.7, k=10).verify(data).value == Fraction(7, 10)
    assert AlphaKAnonymity(alpha=0.7, k=10).verify(data).holds
    assert not AlphaKAnonymity(alpha=0.6999999999999999, k=10).verify(data).holds


def test_one_record_too_many() -> None:
    data = table({"x": ["a"] * 10, "s": ["hiv"] * 4 + ["flu"] * 6}, sensitive=["s"])
    verdict = AlphaKAnonymity(alpha=0.3, k=10, values=("hiv",)).verify(data)
    assert not verdict.holds
    assert verdict.offender_count == 1


def test_k_counts_too() -> None:
    data = table({"x": list("aab"), "s": list("uvu")}, sensitive=["s"])
    verdict = AlphaKAnonymity(alpha=1, k=2).verify(data)
    assert verdict.offender_count == 1
    assert "1 row where 2 are promised" in verdict.offenders[0].why


def test_k_counts_persons() -> None:
    data = table({"x": list("aa"), "s": list("uv"), "who": ["p", "p"]}, sensitive=["s"], entity="who")
    assert AlphaKAnonymity(alpha=1, k=2).verify(data).holds
    (model,) = AlphaKAnonymity(alpha=1, k=2).bound(data)
    assert model.entity == "who"
    assert not model.verify(data).holds


def test_least_size_of_a_share() -> None:
    assert AlphaKAnonymity(alpha=0.3, k=2).least_size() == 4
    assert AlphaKAnonymity(alpha=0.3, k=2, values=("hiv",)).least_size() == 2


def test_each_value_has_its_bound() -> None:
    data = table({"x": ["a"] * 4, "s": ["hiv", "flu", "flu", None]}, sensitive=["s"])
    assert ConfidenceBounding(bounds={"hiv": 0.25, "flu": 0.5}).verify(data).holds
    verdict = ConfidenceBounding(bounds={"hiv": 0.2, "flu": 0.5, "": 0.1}).verify(data)
    assert not verdict.holds
    assert verdict.offenders[0].why.count("where a share of") == 2
    assert ConfidenceBounding(bounds={"measles": 0}).verify(data).holds


def test_bounds_are_shares() -> None:
    with pytest.raises(WrongUse, match="between 0 and 1"):
        ConfidenceBounding(bounds={"hiv": 1.5})
    with pytest.raises(WrongUse):
        ConfidenceBounding(bounds={})
