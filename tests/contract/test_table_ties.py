"""Rows whose public cells are equal tie: their other cells must not decide which of them are published together."""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest
from tests.contract.data import with_hierarchy
from tests.tables import column, texts

from shoal import registry
from shoal.data.role import Role
from shoal.data.table import Table
from shoal.methods.mondrian.method import Mondrian

ROWS = 240

METHODS: dict[str, list[dict[str, Any]]] = {
    "lattice": [
        {"k": 12, "suppression_limit": 0.2},
        {"k": 12, "l": 3, "t": 0.4, "suppression_limit": 0.2},
        {"k": 30, "local": True, "suppression_limit": 0.1},
        {"k": 5, "local": True, "suppression_limit": 0.1, "improve_steps": 4000},
    ],
    "mondrian": [
        {"k": 5},
        {"k": 5, "l": 3, "t": 0.4},
        {"k": 5, "improve_steps": 4000},
        {"k": 5, "publish": "sets", "improve_steps": 4000},
        {"k": 5, "partitioning": "relaxed"},
        {"k": 5, "partitioning": "relaxed", "split": "random"},
        {"k": 5, "partitioning": "relaxed", "split": "loss", "publish": "sets"},
    ],
    "table-rule-hiding": [
        {"k": 5, "confidence": 0.3},
        {"k": 5, "confidence": 0.3, "strategy": "decoy"},
        {"k": 5, "confidence": 0.4, "strategy": "merge"},
        {"k": 5, "confidence": 0.3, "options": {"partitioning": "relaxed"}},
        {"k": 5, "confidence": 0.3, "options": {"improve_steps": 4000}},
    ],
    "local-suppression": [{"k": 5}, {"k": 5, "stars_match_all": True}],
    "pram": [{"gamma": 3}],
    "samarati": [
        {"k": 12, "max_suppressed": 20},
        {"k": 12, "max_suppressed": 20, "keep_suppressed": True},
        {"k": 12, "max_suppressed": 20, "improve_steps": 4000},
    ],
}
"""Every method of tables, with its options that separate, join or leave out rows."""

BY_SECRETS = {"anatomy"}

DRAWN = {"local-suppression", "pram"}
"""Methods that star or change one of several equal rows, drawn at random, whatever their options."""

CASES = [(name, options) for name, every in METHODS.items() for options in every]
each_case = pytest.mark.parametrize(("name", "options"), CASES, ids=[f"{name} {how}" for name, how in CASES])


@cache
def tied() -> Table:
    """A table with secrets, harmless values, and few distinct quasi-identifiers, so that many rows tie."""
    random = np.random.default_rng(7)

    def drawn(values: list[Any], odds: list[float]) -> list[Any]:
        return [values[place] for place in random.choice(len(values), ROWS, p=odds)]

    return Table(
        (
            with_hierarchy(
                column("age", drawn([20, 30, 31, 50, None], [0.3, 0.3, 0.2, 0.17, 0.03])), "intervals:20"
            ),
            with_hierarchy(column("city", drawn(["a", "b", "c"], [0.6, 0.35, 0.05])), "suppress"),
            column(
                "illness",
                drawn(["cold", "flu", "gout", "hiv", None], [0.3, 0.3, 0.2, 0.1, 0.1]),
                Role.SENSITIVE,
            ),
            column("shift", drawn(["day", "late", "night"], [0.4, 0.3, 0.3]), Role.INSENSITIVE),
        )
    )


def dealt_anew(data: Table, name: str) -> Table:
    """The same table with the values of a column shuffled among the rows that tie."""
    random = np.random.default_rng(8)
    ties = defaultdict(list)
    for row in range(data.rows):
        ties[tuple(int(one.codes[row]) for one in data.quasi)].append(row)
    codes = data.column(name).codes.copy()
    for rows in ties.values():
        codes[rows] = codes[random.permutation(rows)]
    assert (codes != data.column(name).codes).any()
    return Table(tuple(replace(one, codes=codes) if one.name == name else one for one in data.columns))


def grouped(data: Table, name: str, options: Mapping[str, Any]) -> set[frozenset[int]]:
    """The rows of the input that are published in one class, class by class."""
    release, trace = registry.load("method", name)(**options).anonymize(data, seed=3)
    groups = defaultdict(set)
    for row, cells in zip(trace.rows.tolist(), texts(release.data), strict=True):
        groups[tuple(cells[one.name] for one in data.quasi)].add(row)
    return {frozenset(rows) for rows in groups.values()}


def test_every_method_of_tables_is_asked() -> None:
    """Except those that draw groups by the secrets themselves and publish everything else as it is.

    Those that take items, or a second table, are asked in tests of their own (tests/methods).
    """
    kinds = registry.load_all("method")
    tables = {
        name
        for name, kind in kinds.items()
        if kind.accepts is Table and not kind.needs_items and not kind.needs_link
    }
    assert set(METHODS) == tables - BY_SECRETS


@pytest.mark.parametrize("dealt", ["illness", "shift"])
@each_case
def test_values_that_are_not_public_decide_no_tie(name: str, options: dict[str, Any], dealt: str) -> None:
    before = grouped(tied(), name, options)
    assert len(before) > 1
    assert grouped(dealt_anew(tied(), dealt), name, options) == before


@each_case
def test_public_cells_tell_nothing_of_the_order_of_the_input(name: str, options: dict[str, Any]) -> None:
    shuffled = tied().take(np.random.default_rng(9).permutation(ROWS))
    published = []
    for data in (tied(), shuffled):
        release, _ = registry.load("method", name)(**options).anonymize(data, seed=3)
        published.append(sorted(tuple(row[one.name] for one in data.quasi) for row in texts(release.data)))
    assert published[0] == published[1]


def test_a_method_says_whether_it_parts_rows_that_tie() -> None:
    for name, options in CASES:
        parting = name in DRAWN or "relaxed" in str(options) or "improve" in str(options)
        assert registry.load("method", name)(**options).splits_ties is parting


def test_relaxed_halves_are_drawn_and_not_sorted() -> None:
    """With random secrets hardly any class has only one; where secrets decide ties, one row in ten is in one."""
    random = np.random.default_rng(1)
    secrets = column("s", [f"s{value}" for value in random.integers(0, 5, 2000)], Role.SENSITIVE)
    public = [column(name, random.integers(0, 5, 2000).tolist()) for name in "xyz"]
    release, _ = Mondrian(k=4, partitioning="relaxed").anonymize(Table((secrets, *public)))
    classes = defaultdict(list)
    for row in texts(release.data):
        classes[row["x"], row["y"], row["z"]].append(row["s"])
    assert sum(len(held) for held in classes.values() if len(set(held)) == 1) < 40


def test_a_fresh_secret_parts_ties_otherwise() -> None:
    releases = [Mondrian(k=5, partitioning="relaxed").anonymize(tied())[0] for _ in range(2)]
    assert texts(releases[0].data) != texts(releases[1].data)
