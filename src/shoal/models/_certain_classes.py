"""Sensitive values that are certain, counted in published classes: in all of them, or in some that are joined later."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from shoal.arrays import Codes, Mask, Rows, owners, summed
from shoal.data.published_syntax import SUPPRESSED
from shoal.data.release import Release
from shoal.data.role import Role
from shoal.data.table import Column, Table
from shoal.models._equivalence_classes import Excerpt, PublishedClasses
from shoal.models.k_anonymity import KAnonymity
from shoal.models.model import Evidence
from shoal.risks.role_guards import WORTH_A_WORD

CERTAIN = "certain"
"""Begins the names of the sums that are about certain values."""

NAMING = ("values", "bounds", "guard")
"""Fields of promises that say which values of a column are secret: then the others are none."""

ALONE = ("stars_match_all", "m")
"""Fields of k-anonymity that nothing else can be promised beside."""

COMMON = 0.9
"""A value of so many rows is no news where it is certain: the class is within a distance of 0.1 of the whole."""


@dataclass(frozen=True, slots=True)
class Certain:
    """The classes of a release in which a sensitive column has a single value."""

    column: str  # the sensitive column
    rows: Mapping[str, int]
    """By value: the rows of the classes that have no other, or their persons where somebody may have several rows."""
    total: int  # the rows, or persons, of all classes
    noun: str = "rows"  # what is counted: rows, or persons


@dataclass(frozen=True, slots=True)
class CertainValues:
    """Counts the rows whose sensitive value is certain, because all rows of their class have it."""

    entity: str | None = (
        None  # the column that says which rows belong to one person: then persons are counted
    )

    def examine(self, published: Excerpt) -> Evidence:
        """The sums over some classes. A star may hide any value: where one is, nothing is certain."""
        classes = PublishedClasses.of(published)
        sizes = classes.persons(self.entity)
        noun = "rows" if self.entity is None else "persons"
        sums: dict[str, int] = {}
        for column in classes.table.sensitive:
            alone, values = self._alone(classes, column)
            rows = summed(values, sizes[alone], len(column.domain))
            sums[_name(column.name, noun)] = int(sizes.sum())
            for code in np.flatnonzero(rows).tolist():
                sums[_name(column.name, noun, column.domain.labels[code])] = int(rows[code])
        return Evidence(sums=sums)

    def _alone(self, classes: PublishedClasses, column: Column) -> tuple[Rows, Codes]:
        """The classes all of whose rows, or persons, have one value, and which it is."""
        if self.entity is None:
            value = column.codes[classes.first]
            other = classes.number[column.codes != value[classes.number]]
            shown: Mask = np.array([label != SUPPRESSED for label in column.domain.labels], dtype=np.bool_)
            alone = np.flatnonzero((np.bincount(other, minlength=len(classes)) == 0) & shown[value])
            return alone, value[alone]
        tally = classes.tally(column, self.entity)
        held_by_all = np.flatnonzero(tally.counts == classes.persons(self.entity)[owners(tally.indptr)])
        # Persons may share several values: their class counts once.
        alone, first = np.unique(owners(tally.indptr)[held_by_all], return_index=True)
        return alone, tally.values[held_by_all[first]]


def warned_of_table(release: Release[Any], published: Table) -> tuple[str, ...]:
    """Warn the owner of a release whose table is in memory: see `certain_warnings`."""
    if not published.sensitive:
        return ()

    def counts(name: str) -> Mapping[str, int]:
        column = published.column(name)
        held = np.bincount(column.codes, minlength=len(column.domain)).tolist()
        return dict(zip(column.domain.labels, held, strict=True))

    entity = None if published.entity is None else published.entity.name
    sums = CertainValues(entity).examine(Excerpt(published.class_table)).sums
    return certain_warnings(release, published, sums, counts)


def certain_warnings(
    release: Release[Any],
    schema: Table,
    sums: Mapping[str, int],
    counts: Callable[[str], Mapping[str, int]],
) -> tuple[str, ...]:
    """Warn the owner of a release of values that are certain.

    Not of a column that is perturbed, or of which a promise says what is secret; and of none where the columns that
    make classes are perturbed.

    `schema`: the columns; the rows may be elsewhere. `sums`: what `CertainValues` counted. `counts`: how many published
    rows have each value of a column.
    """
    perturbed = {str(name) for name in release.details.get("perturbed", ())}
    if any(column.role is Role.QUASI and column.name in perturbed for column in schema.columns):
        return ()
    settled = {promise.get("column") for promise in release.promises if any(map(promise.get, NAMING))}
    if None in settled:
        return ()
    found = [one for one in _of_sums(sums) if one.column not in perturbed | settled]
    sizes = [promise for promise in release.promises if promise.get("model") == KAnonymity.name]
    alone = [f"--{name.replace('_', '-')}" for name in ALONE if any(one.get(name) for one in sizes)]
    return warned_of_certain(found, counts, perturbed=bool(perturbed), alone=alone)


def _name(*parts: str) -> str:
    return json.dumps([CERTAIN, *parts])


def _of_sums(sums: Mapping[str, int]) -> list[Certain]:
    """What the sums say of each column."""
    totals: dict[tuple[str, str], int] = {}
    rows: dict[str, dict[str, int]] = {}
    for name, count in sums.items():
        if not name.startswith("["):
            continue
        _, column, noun, *value = json.loads(name)
        if value:
            rows.setdefault(column, {})[value[0]] = count
        else:
            totals[column, noun] = count
    return [Certain(column, rows.get(column, {}), total, noun) for (column, noun), total in totals.items()]


def warned_of_certain(
    found: Sequence[Certain],
    counts: Callable[[str], Mapping[str, int]],
    *,
    perturbed: bool = False,
    alone: Sequence[str] = (),
) -> tuple[str, ...]:
    """One sentence about sensitive columns of which a share of the rows that is worth a word has a certain value.

    `counts`: how many published rows have each value of a column; it is not asked without need. `perturbed`: whether
    other columns are perturbed, so that nothing else can be promised. `alone`: options that must be left out before
    more can be promised.
    """
    told = []
    for one in found:
        if sum(one.rows.values()) < WORTH_A_WORD * one.total or not one.total:
            continue
        held = counts(one.column)
        every = sum(held.values())
        common = [value for value in one.rows if held.get(value, 0) >= COMMON * every]
        share = sum(count for value, count in one.rows.items() if value not in common) / one.total
        if share >= WORTH_A_WORD:
            told.append((one, share, common))
    if not told:
        return ()
    told.sort(key=lambda entry: (-entry[1], entry[0].column))
    (first, share, common), noun = told[0], told[0][0].noun
    why = f"in their classes all {noun} have one value, and whoever finds the class learns it"
    if len(told) == 1:
        of = f"{share:.1%} of the {noun}{_beside(common)}"
        said = f"The sensitive column {first.column!r} is certain for {of}: {why}."
    else:
        shares = ", ".join(f"{one.column!r} ({share:.1%}{_beside(common)})" for one, share, common in told)
        said = f"{len(told)} sensitive columns are certain for some {noun}: {why}: {shares}."
    return (f"{said} {_advice(noun, perturbed, alone)}",)


def _beside(common: Sequence[str]) -> str:
    """What was not counted, in words."""
    values = " and ".join(value or "a missing value" for value in common)
    return f", not counting {values}, which nearly all have" if common else ""


def _advice(noun: str, perturbed: bool, alone: Sequence[str]) -> str:
    if perturbed:
        return "Perturb such a column too."
    without = f"leave {' and '.join(alone)} out, and " if alone else ""
    if noun == "persons":
        bound = "an --alpha below 1 too, or --l 2 where each person has one value"
    else:
        bound = "--l 2 too, so that every class has two values, or a small --t"
    return f"k-anonymity does not prevent that: {without}promise {bound}."
