"""Rules that a release hides."""

import pytest
from tests.basket_cases import baskets_of
from tests.contract.data import people
from tests.tables import table

import shoal
from shoal.data.release import Release
from shoal.report.page import render
from shoal.report.rules import rules_of


def test_stars_and_confidences_of_a_column() -> None:
    original = table({"x": ["a"] * 4, "s": ["u", "u", "u", "v"]}, ["s"])
    published = table({"x": ["a"] * 4, "s": ["u", "u", "*", "v"]}, ["s"])
    facts = {"rules": 1, "stars": 1, "confidence_before": 0.75, "confidence_after": 0.5, "unheard_of": 3}
    found = rules_of(original, Release(published, "by hand", {}, ()), {"rules.s": facts, "rules.gone": {}})
    assert found is not None
    (column,) = found.columns
    assert column.column == "s"
    assert dict(column.facts) == {
        "rules found": "1",
        "cells starred": "1",
        "highest confidence before": "75.0\xa0%",
        "… as published": "50.0\xa0%",
    }
    assert column.values == (("u", 3, 2), ("v", 1, 1))


def test_support_and_confidence_of_rules_between_items() -> None:
    original = baskets_of(["ab", "ab", "a", "b"])
    published = baskets_of(["ab", "a", "a", "b"])
    promise = {"model": "hidden-associations", "rules": ["a => b", "z => b"]}
    found = rules_of(original, Release(published, "by hand", {}, (promise,)), {})
    assert found is not None
    first, second = found.rules
    assert first.rule == "a → b"
    assert (first.support_before, first.support_after) == (0.5, 0.25)
    assert (first.confidence_before, first.confidence_after) == pytest.approx((2 / 3, 1 / 3))
    assert (second.support_before, second.confidence_after) == (0, 0)


def test_where_no_rules_are_hidden_nothing_is_told() -> None:
    data = table({"x": ["a"]})
    assert rules_of(data, Release(data, "by hand", {}, ()), {"classes": 3}) is None
    sets = baskets_of(["ab"])
    assert rules_of(sets, Release(sets, "by hand", {}, ({"model": "km-anonymity"},)), {}) is None


def test_the_page_shows_them() -> None:
    page = render(shoal.anonymize(people(), "table-rule-hiding", k=3, confidence=0.5))
    assert 'id="rules"' in page
    assert "cells starred" in page
    assert "of the sensitive cells are starred" in page
