"""β-likeness and δ-disclosure: what a class tells beyond the whole."""

from collections import Counter
from fractions import Fraction
from math import e, exp, log

import pytest
from tests.tables import table

from shoal.data.table import Table
from shoal.models.beta_likeness import BetaLikeness
from shoal.models.delta_disclosure import DeltaDisclosure


def halves(first: str, second: str) -> Table:
    return table({"x": ["a"] * len(first) + ["b"] * len(second), "s": list(first + second)}, sensitive=["s"])


def test_basic_gain() -> None:
    """u: 2 of 8 in all and 2 of 4 in a class, a gain of 1."""
    data = halves("uuvv", "vvvv")
    assert BetaLikeness(beta=1, form="basic").verify(data).value == 1
    assert BetaLikeness(beta=1, form="basic").verify(data).holds
    assert not BetaLikeness(beta=0.999, form="basic").verify(data).holds


def test_frequent_values_may_gain_less_by_the_enhanced_form() -> None:
    """v: 6 of 8 in all and 4 of 4 in a class, a gain of 1/3, more than -ln(3/4) = 0.288."""
    data = halves("uuvv", "vvvv")
    assert not BetaLikeness(beta=1).verify(data).holds
    assert "(missing)" not in BetaLikeness(beta=1).verify(data).offenders[0].why
    assert log(4 / 3) < 1 / 3


def test_losses_are_no_gains() -> None:
    assert BetaLikeness(beta=0.34, form="basic").verify(halves("uvvvw", "uvvvv" * 3)).offender_count == 1


def test_one_value_gives_nothing_away() -> None:
    assert BetaLikeness(beta=0.01).verify(halves("uu", "uu")).holds


def test_disclosure_is_strict_on_both_sides() -> None:
    """u: 1/4 in all, 1/2 and 1/6 in the classes: |ln| of 0.693 and 0.405."""
    data = halves("uv", "uvvvvv")
    assert DeltaDisclosure(delta=0.6932).verify(data).holds
    assert not DeltaDisclosure(delta=0.6931).verify(data).holds
    assert DeltaDisclosure(delta=0.6931471805599454).verify(data).holds
    assert not DeltaDisclosure(delta=0.6931471805599453).verify(data).holds
    assert DeltaDisclosure(delta=1).verify(data).value is not None
    assert exp(1) == e


@pytest.mark.parametrize("delta", [0.1, 0.3, 0.5, 0.7, 1.0])
def test_one_record_too_many_discloses(delta: float) -> None:
    """Rows are added to a class, one after the other, until a share has changed too much in one of the classes."""
    for more in range(60):
        classes = (Counter("uv" * 3), Counter("u" * 3 + "v" * (3 + more)))
        whole = classes[0] + classes[1]
        kept = all(
            abs(log(here[value] / here.total() * whole.total() / whole[value])) < delta
            for here in classes
            for value in whole
        )
        data = halves(*("".join(here.elements()) for here in classes))
        assert DeltaDisclosure(delta=delta).verify(data).holds == kept
        if not kept:
            assert more > 0
            return
    raise AssertionError("nothing was disclosed")


def test_an_absent_value_discloses() -> None:
    """Pycanon leaves absent values out, and reports 0.69."""
    verdict = DeltaDisclosure(delta=100).verify(halves("uv", "uu"))
    assert not verdict.holds
    assert verdict.value is None
    assert "1 of the 2 values" in verdict.offenders[0].why


def test_gain_is_a_fraction() -> None:
    assert BetaLikeness(beta=1, form="basic").verify(halves("uv", "uvv")).value == Fraction(1, 4)
