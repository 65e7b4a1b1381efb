"""Hiding rules against anonymizing the same table, and shared stars against rules hidden class by class."""

from typing import Any

import numpy as np

from benchmarks.case import in_child, show
from benchmarks.suite.mondrian import table
from shoal.data.domain import Domain, Kind
from shoal.data.role import Role
from shoal.data.table import Column, Table

VALUES = 14
SKEW = 0.7


def skewed(rows: int, columns: int) -> Table:
    """The table of Mondrian's benchmark with a secret that depends on the first column, so that there are rules."""
    plain = table(rows, columns)
    random = np.random.default_rng(9)
    likely = plain.quasi[0].codes // 40 % VALUES
    secret = np.where(random.random(rows) < SKEW / 2, likely, random.integers(0, VALUES, rows)).astype(
        np.int32
    )
    domain = Domain(Kind.NOMINAL, tuple("abcdefghijklmn"))
    return Table((*plain.quasi, Column("secret", Role.SENSITIVE, domain, secret)))


def case(
    rows: int, columns: int, strategy: str, confidence: float, size: int | None = None
) -> dict[str, Any]:
    """Seconds of both steps, and what was hidden."""
    from shoal.methods.table_rule_hiding.method import TableRuleHiding
    from shoal.models.hidden_rules import HiddenRules

    any_cells: dict[str, Any] = {} if size is None else {"antecedent": "any", "size": size}
    method = TableRuleHiding(k=10, confidence=confidence, strategy=strategy, **any_cells)  # type: ignore[arg-type]
    method.anonymize(skewed(20_000, columns))
    data = skewed(rows, columns)
    release, trace = method.anonymize(data, seed=1)
    assert HiddenRules(confidence=confidence, **any_cells).verify(release.data).holds
    notes = trace.notes["rules.secret"]
    return {
        "rows": rows,
        "columns": columns,
        "strategy": strategy,
        "c": confidence,
        "cells": size,
        "classes": trace.notes["classes"],
        "rules": notes["rules"],
        "stars": notes.get("stars", 0),
        "least": notes.get("least_stars"),
        "anonymize s": trace.timings["anonymize"],
        "hide s": trace.timings["hide"],
    }


def run() -> None:
    """Print the tables."""
    module = "benchmarks.suite.rule_hiding"
    print("\n## Rule hiding after Mondrian, k = 10, whole classes\n")
    show(
        [
            in_child(module, rows=rows, columns=5, strategy=strategy, confidence=0.5)
            for rows in (30_000, 1_000_000, 10_000_000)
            for strategy in ("star", "decoy", "merge")
        ]
    )
    print("\n## Rule hiding, antecedents of up to so many cells\n")
    show(
        [
            in_child(module, rows=rows, columns=5, strategy="star", confidence=0.5, size=size)
            for rows in (30_000, 200_000)
            for size in (1, 2)
        ]
    )
