"""Hidden rules: confidences as published and in the worst case, antecedents of every length."""

from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.naive.rule_hiding import hidden, rules
from tests.tables import table

from shoal.data.table import Table
from shoal.errors import WrongUse
from shoal.models.hidden_rules import HiddenRules

QUASI = ("x", "y", "z")

CELLS = {"x": "ab*", "y": "pq*", "z": "r*", "s": "uvw*"}

PROMISES: list[dict[str, Any]] = [
    {"confidence": 0.5},
    {"confidence": 1},
    {"confidence": 0.3334, "values": ("u", "w")},
    {"confidence": 0.5, "fewer_than": 1},
    {"confidence": 0.6, "fewer_than": 2},
    {"confidence": 0.5, "antecedent": "any"},
    {"confidence": 0.5, "antecedent": "any", "size": 1},
    {"confidence": 0.6667, "antecedent": "any", "size": 2, "values": ("u",)},
    {"confidence": 0.5, "antecedent": "any", "fewer_than": 2},
    {"confidence": 0.7, "antecedent": "any", "size": 2, "fewer_than": 2},
]


@st.composite
def published(draw: st.DrawFn, most: int = 12) -> list[dict[str, str]]:
    count = draw(st.integers(1, most))
    return [{name: draw(st.sampled_from(list(cells))) for name, cells in CELLS.items()} for _ in range(count)]


def as_table(rows: list[dict[str, str]]) -> Table:
    return table({name: [row[name] for row in rows] for name in CELLS}, sensitive=["s"])


def size_of(promise: dict[str, Any]) -> int | None:
    return promise.get("size", len(QUASI)) if promise.get("antecedent") == "any" else None


@pytest.mark.parametrize("promise", PROMISES, ids=str)
@given(rows=published())
def test_agrees_with_its_twin(promise: dict[str, Any], rows: list[dict[str, str]]) -> None:
    verdict = HiddenRules(**promise).verify(as_table(rows))
    named, size = promise.get("values", ()), size_of(promise)
    expected = hidden(rows, QUASI, "s", promise["confidence"], promise.get("fewer_than"), size, named)
    assert verdict.holds == expected
    assert verdict.holds == (not verdict.offenders)
    shares = [
        Fraction(shown, among)
        for _, value, shown, _, among in rules(rows, QUASI, "s", size)
        if not named or value in named
    ]
    assert verdict.value == max(shares, default=0)
    verdict.as_dict()


def test_the_verdict_tells_both_confidences_and_the_support() -> None:
    data = table({"x": list("aaab"), "s": ["u", "u", "*", "v"]}, sensitive=["s"])
    verdict = HiddenRules(confidence=0.6).verify(data)
    assert verdict.remark == (
        "largest confidence 1 as published, and 1 in the worst case, if all stars of a class hide one value"
    )
    assert [(one.where, one.why) for one in verdict.offenders] == [
        (
            "x b: s v",
            "1 of 1 row shows it (confidence 1, in the worst case 1; support 1 of 4) where 0.6 is promised",
        ),
        (
            "x a: s u",
            "2 of 3 rows show it (confidence 0.6667, in the worst case 1; support 2 of 4) where 0.6 is promised",
        ),
    ]


def test_a_class_of_stars_has_the_worst_case_one() -> None:
    data = table({"x": list("aabb"), "s": ["*", "*", "u", "v"]}, sensitive=["s"])
    verdict = HiddenRules(confidence=0.5, fewer_than=1).verify(data)
    assert verdict.holds
    assert "1 in the worst case" in verdict.remark


def test_rows_that_share_one_cell_make_a_rule() -> None:
    """No class of two cells is longer than one row, but all rows with the cell p are u."""
    data = table({"x": list("abcd"), "y": list("ppqq"), "s": list("uuvw")}, sensitive=["s"])
    short = HiddenRules(confidence=0.5, antecedent="any", size=1, values=("u",)).verify(data)
    assert {one.where for one in short.offenders} == {"y p: s u", "x a: s u", "x b: s u"}


def test_a_column_of_stars_tells_nothing() -> None:
    """Whoever knows nothing learns the share in the whole table, and that is no rule."""
    data = table({"x": list("****"), "y": list("aabb"), "s": list("uvuw")}, sensitive=["s"])
    assert HiddenRules(confidence=0.5, antecedent="any", size=1, values=("u",)).verify(data).holds
    assert not HiddenRules(confidence=0.4, antecedent="any", size=1, values=("u",)).verify(data).holds


@pytest.mark.parametrize("c", [0, -0.1, 1.1])
def test_confidence_is_a_share_above_zero(c: float) -> None:
    with pytest.raises(WrongUse):
        HiddenRules(confidence=c)


def test_thresholds_are_exact() -> None:
    data = table({"x": ["a"] * 10, "s": list("uuuuuuuvvv")}, sensitive=["s"])
    assert HiddenRules(confidence=0.7).verify(data).holds
    assert not HiddenRules(confidence=0.6999999).verify(data).holds


def test_rows_that_tell_nothing_are_no_worst_case() -> None:
    """Suppressed rows that are kept are in no class, so their stars hide nothing about anybody."""
    data = table({"x": ["a", "a", "*", "*"], "s": ["u", "v", "*", "*"]}, sensitive=["s"])
    assert "0.5 in the worst case" in HiddenRules(confidence=0.5).verify(data).remark
