"""The judges of the soak, tried on releases that are broken by hand: a blind judge would find nothing."""

from typing import Any

import pytest
from tests.soak.cells import covers
from tests.soak.judges import PublishedTable, judge
from tests.soak.published import Published
from tests.soak.set_judges import PublishedSets
from tests.soak.set_judges import judge as judge_sets

FLU = {"q": "1", "s": "flu", "who": "1"}
HIV = {"q": "1", "s": "hiv", "who": "1"}
STARS = {"q": "*", "s": "*", "who": "9"}


def two_persons_with_both() -> PublishedTable:
    rows = [FLU, HIV, {**FLU, "who": "2"}, {**HIV, "who": "2"}]
    return PublishedTable(rows, ["q"], ["s"], "who")


@pytest.mark.parametrize(
    "promise",
    [
        {"model": "alpha-k-anonymity", "alpha": 0.5, "k": 2, "values": []},
        {"model": "confidence-bounding", "bounds": {"hiv": 0.9}},
        {"model": "hidden-rules", "confidence": 0.9, "antecedent": "class"},
        {"model": "distinct-diversity", "l": 2},
        {"model": "t-closeness", "t": 1, "distance": "equal"},
        {"model": "k-anonymity", "k": 3},
        {"model": "reidentification-risk", "risk": 0.4, "over": "average"},
    ],
)
def test_persons_are_judged_and_not_rows(promise: dict[str, Any]) -> None:
    assert judge(promise, two_persons_with_both())


def test_rows_of_stars_are_in_no_class() -> None:
    release = PublishedTable([FLU, HIV, STARS], ["q"], ["s"])
    for promise in (
        {"model": "k-anonymity", "k": 2},
        {"model": "alpha-k-anonymity", "alpha": 0.5, "k": 2, "values": []},
        {"model": "t-closeness", "t": 0, "distance": "equal"},
    ):
        assert not judge(promise, release)
    assert judge({"model": "k-anonymity", "k": 2}, PublishedTable([FLU, {**STARS, "s": "flu"}], ["q"], ["s"]))


def test_rows_that_are_starred_in_some_columns_are_counted_there() -> None:
    rows = [{"a": "1", "b": "*"}, {"a": "1", "b": "2"}]
    promise = {"model": "k-anonymity", "k": 2, "m": 1}
    assert judge(promise, PublishedTable(rows, ["a", "b"], []))
    assert not judge({**promise, "stars_match_all": True}, PublishedTable(rows, ["a", "b"], []))


def test_chances_of_presence_are_summed() -> None:
    people = [{"q": "1"}, {"q": "2"}]
    release = PublishedTable([{"q": "1"}, {"q": "[1,1]"}], ["q"], [], population=people * 2)
    assert judge({"model": "delta-presence", "delta_max": 0.5}, release)
    assert not judge({"model": "delta-presence", "delta_max": 1}, release)
    assert judge({"model": "delta-presence", "delta_max": 1, "delta_min": 0.1}, release)
    assert judge({"model": "k-map", "k": 3}, release)


@pytest.mark.parametrize(
    ("cell", "value", "covered"),
    [
        ("*", "x", True),
        ("[1,3]", "2.0", True),
        ("[1,3)", "3", False),
        ("[2020-01-01,2020-02-01]", "2020-01-15", True),
        (r"{a\|b|c}", "a|b", True),
        (r"{a\|b|c}", "a", False),
        ("[1,3]", "", False),
        ("node", "x", True),
        ("node", "y", False),
        ("[low,high]", "mid", True),
    ],
)
def test_cells(cell: str, value: str, covered: bool) -> None:
    order = ["low", "mid", "high"] if "low" in cell else None
    assert covers(cell, value, {"x": ("node", "*")}, order) == covered


@pytest.mark.parametrize(
    ("promise", "content"),
    [
        ({"model": "privacy-degree", "p": 2}, {"lines": [{"baskets": [["a"]], "sensitive": {"s": 1}}]}),
        ({"model": "privacy-degree", "p": 2}, {"lines": [{"baskets": [["s"], []], "sensitive": {}}]}),
        ({"model": "km-anonymity", "k": 2, "m": 1}, {"baskets": [frozenset("a")]}),
        (
            {"model": "hkp-coherence", "h": 0.5, "k": 2, "p": 1},
            {"baskets": [frozenset("as"), frozenset("as")]},
        ),
        (
            {"model": "hidden-associations", "support": 0.5, "confidence": 0.5, "rules": ["a => s"]},
            {"baskets": [frozenset("as")]},
        ),
        ({"model": "disassociation", "k": 2, "m": 1}, {"lines": [{"size": 1, "chunks": [], "terms": ["a"]}]}),
        (
            {"model": "disassociation", "k": 2, "m": 1},
            {"lines": [{"size": 2, "chunks": [[["s"], ["s"]]], "terms": []}]},
        ),
    ],
)
def test_sets(promise: dict[str, Any], content: dict[str, Any]) -> None:
    empty: dict[str, Any] = {"facts": {}, "names": [], "rows": [], "baskets": [], "lines": [], "text": ""}
    assert judge_sets(promise, PublishedSets(Published(**{**empty, **content}), {"s"}, set()))
