"""Rule hiding from the table to the published cells."""

from typing import Any

import numpy as np
import pytest
from tests.naive.rule_hiding import hidden
from tests.rule_hiding import people, published
from tests.tables import column, table, texts

import shoal
from shoal.data._hierarchy_builders import build
from shoal.data.role import Role
from shoal.data.table import Table
from shoal.errors import Infeasible, UnknownName, WrongUse
from shoal.measures import hidden_rules as measures
from shoal.measures._chosen import measure
from shoal.measures.measure import flat
from shoal.methods.mondrian.method import Mondrian
from shoal.methods.table_rule_hiding.method import TableRuleHiding
from shoal.models.hidden_rules import HiddenRules
from shoal.outcome import judge


@pytest.mark.parametrize("strategy", ["star", "decoy", "merge"])
@pytest.mark.parametrize("c", [0.6, 0.5])
def test_only_what_may_change_has_changed(strategy: str, c: float) -> None:
    data = people()
    rows, release, trace = published(data, k=4, confidence=c, strategy=strategy)
    originals = texts(data)
    assert sorted(trace.rows.tolist()) == list(range(data.rows))
    for row, place in zip(rows, trace.rows.tolist(), strict=True):
        original = originals[place]
        assert row["shift"] == original["shift"]
        assert "name" not in row
        for name in ("ill", "income"):
            assert row[name] in ((original[name],) if strategy == "merge" else (original[name], "*"))
    assert [promise["model"] for promise in release.promises] == ["k-anonymity", "hidden-rules"]
    for name in ("ill", "income"):
        assert hidden(rows, ("x", "y", "z"), name, c)


@pytest.mark.parametrize("strategy", ["star", "decoy", "merge"])
def test_the_order_of_the_input_leaves_no_mark(strategy: str) -> None:
    data = people()
    shuffled = data.take(np.random.default_rng(8).permutation(data.rows))
    parameters = {"k": 4, "confidence": 0.5, "strategy": strategy}
    assert published(data, **parameters)[0] == published(shuffled, **parameters)[0]


@pytest.mark.parametrize("strategy", ["star", "decoy", "merge"])
@pytest.mark.parametrize("keep", [False, True])
@pytest.mark.parametrize("method", ["samarati", "lattice"])
def test_full_domain_first(method: str, strategy: str, keep: bool) -> None:
    """Suppressed rows stay what they are, and hide no rule of others."""
    random = np.random.default_rng(4)
    ages = [*random.integers(20, 40, 80).tolist(), 90, 91]
    domain = column("x", ages).domain
    data = Table(
        (
            column("x", ages, hierarchy=build("intervals:5,10", domain, "x")),
            column("s", random.choice(list("uuuvw"), 82).tolist(), Role.SENSITIVE),
        )
    )
    options = {"suppression_limit": 0.05, "keep_suppressed": keep}
    rows, release, _ = published(
        data, k=4, confidence=0.65, strategy=strategy, anonymize_with=method, options=options
    )
    assert len(rows) == (82 if keep else 82 - release.suppressed)
    assert release.suppressed == 2
    shown = [row for row in rows if row["x"] != "*" or row["s"] != "*"]
    assert len(shown) == 80
    scores = flat(measure(data, release, (measures.HiddenRules(),)))
    assert scores["starred_cells"] == sum(row["s"] == "*" for row in shown)
    if strategy == "merge":
        assert all(row["s"] != "*" for row in shown)
        assert hidden(shown, ("x",), "s", 0.65)


def test_step_one_takes_options_and_promises() -> None:
    data = people()
    relaxed = published(data, k=4, confidence=0.6, options={"partitioning": "relaxed"})[0]
    strict = published(data, k=4, confidence=0.6)[0]
    assert [row["x"] for row in relaxed] != [row["x"] for row in strict]
    _, release, _ = published(data, k=4, l=2, confidence=0.75, column="income")
    assert [promise["model"] for promise in release.promises] == [
        "k-anonymity",
        "distinct-diversity",
        "distinct-diversity",
        "hidden-rules",
    ]
    with pytest.raises(UnknownName, match="parameter of mondrian 'partition'"):
        TableRuleHiding(k=4, confidence=0.6, options={"partition": "relaxed"}).anonymize(data)
    with pytest.raises(UnknownName, match="parameter of mondrian 'k'"):
        TableRuleHiding(k=4, confidence=0.6, options={"k": 3}).anonymize(data)
    with pytest.raises(WrongUse, match="mondrian: partitioning must be 'strict' or 'relaxed', not 'loose'"):
        TableRuleHiding(k=4, confidence=0.6, options={"partitioning": "loose"}).anonymize(data)


def test_a_promise_that_stars_break_is_refused() -> None:
    data = table({"x": list("aaaa"), "s": list("uuvv")}, sensitive=["s"])
    with pytest.raises(Infeasible, match="breaks distinct-diversity"):
        TableRuleHiding(l=2, k=2, confidence=0.2, values=("v",)).anonymize(data)


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"confidence": 0.5, "anonymize_with": "nothing"}, "anonymize_with must be a method of tables"),
        (
            {"confidence": 0.5, "anonymize_with": "table-rule-hiding"},
            "anonymize_with must be a method of tables",
        ),
        ({"confidence": 0}, "confidence must be above 0"),
        ({"confidence": 1.01}, "confidence must be at most 1"),
        ({"confidence": 0.5}, "nothing to promise"),
        ({"confidence": 0.5, "k": 2, "anonymize_with": "coherence"}, "publishes no table of classes"),
        (
            {"confidence": 0.5, "k": 2, "strategy": "decoy", "antecedent": "any", "fewer_than": 2},
            "whole classes only",
        ),
        ({"confidence": 0.5, "anonymize_with": "none", "options": {"a": 1}}, "there is none"),
        ({"confidence": 0.5, "k": 2, "column": "x"}, "give it the role sensitive"),
    ],
    ids=str,
)
def test_wrong_use(parameters: dict[str, Any], words: str) -> None:
    with pytest.raises(WrongUse, match=words):
        shoal.anonymize(people(20), "table-rule-hiding", **parameters)


def test_mondrian_can_keep_the_promise_alone() -> None:
    release, _ = Mondrian(k=3, promises=(HiddenRules(confidence=0.5, column="ill"),)).anonymize(people())
    assert all(verdict.holds for verdict in judge(release))


def test_a_value_that_nobody_has_is_refused() -> None:
    data = table({"x": ["a"] * 4, "s": ["Sales", "Sales", "Craft", "Craft"]}, sensitive=["s"])
    with pytest.raises(UnknownName, match="Did you mean 'Sales'"):
        TableRuleHiding(k=2, confidence=0.5, values=("Salez",)).anonymize(data, seed=1)
