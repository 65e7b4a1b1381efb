"""Rules that a release hides: what was starred or changed, and what the rules were worth before and after."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from shoal.arrays import Codes, indptr_of
from shoal.data.baskets import Baskets
from shoal.data.published_syntax import SUPPRESSED
from shoal.data.release import Release
from shoal.data.table import Column, Table
from shoal.mining.association_rules import parse_rule, rule_text
from shoal.report.wording import count, percent, shown

SHOWN = 40
"""Rules and values that are listed."""

MODEL = "hidden-associations"

SHARES = ("confidence_before", "confidence_after", "confidence_worst", "confidence_among_stars")
"""Facts about the rules of a column that are shares."""

FACTS = {
    "rules": "rules found",
    "stars": "cells starred",
    "least_stars": "stars needed, at least",
    "decoys": "of these, decoys",
    "classes_starred_whole": "classes starred as a whole",
    "confidence_before": "highest confidence before",
    "confidence_after": "… as published",
    "confidence_worst": "… at worst, if all stars of a class hide the same value",
    "confidence_among_stars": "… of what a star hides",
}
"""What is reported about the rules of a column, by the names of the notes."""


@dataclass(frozen=True, slots=True)
class HiddenColumn:
    """A sensitive column whose rules are hidden."""

    column: str  # its name
    facts: tuple[tuple[str, str], ...]  # names and values
    values: tuple[tuple[str, int, int], ...]
    """Each of its values: the text, rows of the original and rows that still show it."""
    value_count: int  # how many values it has


@dataclass(frozen=True, slots=True)
class HiddenRule:
    """A rule between items: its support and confidence before and after."""

    rule: str
    support_before: float
    support_after: float
    confidence_before: float
    confidence_after: float


@dataclass(frozen=True, slots=True)
class Rules:
    """What is reported about hidden rules."""

    columns: tuple[HiddenColumn, ...] = ()
    rules: tuple[HiddenRule, ...] = ()
    rule_count: int = 0


def rules_of(original: Table | Baskets, release: Release, notes: Mapping[str, Any]) -> Rules | None:
    """What was hidden; None where the release hides no rules."""
    data = release.data
    if isinstance(original, Table) and isinstance(data, Table):
        columns = tuple(
            _column(original, data, key.removeprefix("rules."), facts)
            for key, facts in notes.items()
            if key.startswith("rules.") and isinstance(facts, Mapping) and key[6:] in data.names
        )
        return Rules(columns) if columns else None
    if isinstance(original, Baskets) and isinstance(data, Baskets):
        texts = [
            str(text)
            for promise in release.promises
            if promise.get("model") == MODEL
            for text in promise.get("rules", ())
        ]
        rules = tuple(_rule(original, data, text) for text in texts[:SHOWN])
        return Rules((), rules, len(texts)) if texts else None
    return None


def _column(original: Table, published: Table, name: str, facts: Mapping[str, Any]) -> HiddenColumn:
    found = tuple(
        (words, percent(float(facts[key])) if key in SHARES else count(int(facts[key])))
        for key, words in FACTS.items()
        if isinstance(facts.get(key), int | float)
    )
    before, after = _rows(original.column(name)), _rows(published.column(name))
    gone = sorted(
        ((text, rows, after.get(text, 0)) for text, rows in before.items()), key=lambda row: row[2] - row[1]
    )
    return HiddenColumn(
        name, found, tuple((shown(text), rows, left) for text, rows, left in gone[:SHOWN]), len(gone)
    )


def _rows(column: Column) -> dict[str, int]:
    rows = np.bincount(column.codes, minlength=len(column.domain)).tolist()
    return {
        label: number
        for label, number in zip(column.domain.labels, rows, strict=True)
        if label != SUPPRESSED and number
    }


def _rule(original: Baskets, published: Baskets, text: str) -> HiddenRule:
    antecedent, consequent = parse_rule(text)
    pairs = []
    for baskets in (original, published):
        rows = max(len(baskets), 1)
        both, first = _support(baskets, (*antecedent, *consequent)), _support(baskets, antecedent)
        pairs.append((both / rows, both / first if first else 0.0))
    before, after = pairs
    return HiddenRule(
        shown(rule_text(antecedent, consequent), 120).replace("=>", "→"),
        before[0],
        after[0],
        before[1],
        after[1],
    )


def _support(baskets: Baskets, items: Sequence[str]) -> int:
    """The number of baskets that hold all of some items."""
    wanted = set(items)
    codes: Codes = np.array(
        [code for code, text in enumerate(baskets.vocabulary) if text in wanted], dtype=np.int32
    )
    if len(codes) < len(wanted):
        return 0
    held = indptr_of(np.isin(baskets.items, codes))
    return int((held[baskets.indptr[1:]] - held[baskets.indptr[:-1]] == len(codes)).sum())
