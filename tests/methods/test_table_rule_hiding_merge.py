"""Rule hiding that joins classes instead of starring cells."""

import datetime
from collections import Counter
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.naive.rule_hiding import hidden
from tests.rule_hiding import QUASI, published, small_tables
from tests.tables import column, table, texts

from shoal.data._hierarchy_builders import build
from shoal.data.published_syntax import set_members
from shoal.data.role import Role
from shoal.data.table import Table
from shoal.errors import Infeasible, WrongUse
from shoal.methods.table_rule_hiding.method import TableRuleHiding
from shoal.models.k_anonymity import KAnonymity


def test_sets_of_published_sets_can_be_read_back() -> None:
    data = table({"x": ["{a|b}", "{a|b}", "c", "c"], "s": list("uuvv")}, sensitive=["s"])
    rows, _, _ = published(data, confidence=0.5, strategy="merge", anonymize_with="none")
    assert {row["x"] for row in rows} == {r"{c|\{a\|b\}}"}
    assert set_members(rows[0]["x"]) == ["c", "{a|b}"]


def test_rules_of_persons_are_refused() -> None:
    """Of the four rows of a joined class two are u, and of its three persons two have it."""
    data = Table(
        (
            column("x", [1, 1, 2, 2, 9, 9]),
            column("s", list("uuvvuv"), Role.SENSITIVE),
            column("who", list("pqprst"), Role.ENTITY),
        )
    )
    with pytest.raises(WrongUse, match=r"says nothing about how many persons have a value\. Promise `alpha`"):
        TableRuleHiding(k=2, confidence=0.5, strategy="merge").anonymize(data)


def test_merge_refuses_what_the_whole_table_breaks() -> None:
    data = table({"x": [1, 2, 3, 4, 5, 6, 7, 8], "s": list("uuuuuvvw")}, sensitive=["s"])
    with pytest.raises(
        Infeasible, match=r"u of s has a share of 0.625.*least confidence is 0.625"
    ) as refusal:
        TableRuleHiding(k=2, confidence=0.6, strategy="merge").anonymize(data)
    assert refusal.value.best == 0.625
    rows, _, _ = published(data, k=2, confidence=0.625, strategy="merge")
    assert all(row["s"] != "*" for row in rows)


@given(data=small_tables(4, 30), c=st.sampled_from([0.5, 0.6, 0.75, 0.9]))
def test_merge_hides_all_rules_or_says_why_not(data: Table, c: float) -> None:
    top = max(Counter(row["s"] for row in texts(data)).values())
    try:
        rows, _, trace = published(data, confidence=c, strategy="merge", anonymize_with="none")
    except Infeasible:
        assert Fraction(top, data.rows) > Fraction(str(c))
        return
    assert Fraction(top, data.rows) <= Fraction(str(c))
    assert hidden(rows, QUASI, "s", c)
    originals = texts(data)
    for row, place in zip(rows, trace.rows.tolist(), strict=True):
        for name in QUASI:
            cell, original = row[name], originals[place][name]
            assert cell in (original, "*") or original in cell[1:-1].split("|")


def test_joined_cells_cover_what_they_join() -> None:
    days = [datetime.date(1960 + place, 1, 1) for place in range(8)]
    tree = build("order:2,4", column("z", list("abcdefgh")).domain, "z")
    data = Table(
        (
            column("when", days),
            column("z", list("abcdefgh"), hierarchy=tree),
            column("n", [1.5, 2.5, 3, 4, 5, 6, 7, None]),
            column("s", list("uvuuvvuv"), Role.SENSITIVE),
        )
    )
    rows, _, _ = published(data, confidence=0.5, strategy="merge", anonymize_with="none")
    for row in rows:
        if row["when"].startswith("["):
            low, high = row["when"][1:-1].split(",")
            assert low < high
        assert row["z"] in {"*", "{a|b}", "{c|d}", "{e|f}", "{g|h}", "{a|b|c|d}", "{e|f|g|h}"}
    assert "*" in {row["n"] for row in rows}


def test_joined_classes_and_missing_cells_that_match_all_are_refused_up_front() -> None:
    rows = {"age": ["1", "1", "2", None], "illness": ["flu", "flu", "cold", "gout"]}
    data = table(rows, sensitive=["illness"])
    ways: tuple[dict[str, Any], ...] = (
        {"k": 2, "anonymize_with": "lattice", "options": {"missing-matches-all": True}},
        {"anonymize_with": "none", "promises": (KAnonymity(k=2, missing_matches_all=True),)},
    )
    for way in ways:
        with pytest.raises(WrongUse, match="merge' does not go with missing-matches-all"):
            TableRuleHiding(confidence=0.5, strategy="merge", **way).anonymize(data)
