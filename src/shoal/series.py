"""Several releases about the same people, one after the other: what they tell together.

::

    shoal.series.invariance([("out1", "may.csv"), ("out2", "june.csv")], person="id", m=2)
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from shoal.arrays import indptr_by
from shoal.attacks._class_view import class_view
from shoal.data.linked import Linked
from shoal.data.release import Release
from shoal.data.role import Roles
from shoal.data.table import Column, Table
from shoal.data.verdict import Verdict
from shoal.errors import BadData, WrongUse
from shoal.measuring import read_original
from shoal.models.m_invariance import Appearances, MInvariance
from shoal.recipe import Recipe
from shoal.risks.learned_secrets import alike_pairs
from shoal.sources import read_roles


def invariance(
    releases: Sequence[tuple[str | Path | Release[Any], Any]],
    person: str,
    m: int = 2,
    column: str | None = None,
) -> Verdict:
    """Judge a series of releases by m-invariance.

    Parameters
    ----------
    releases
        In the order of publication: the folder of a release with its run.json, or a release, and what it was made from.
    person
        The column of the originals that says who is who. It is never published; give it the role identifying.
    m
        Least number of different secrets of a class.
    column
        The sensitive column; by default, the only one.

    Raises
    ------
    WrongUse
        If there are fewer than two releases, or no single sensitive column is named.
    BadData
        If a person is twice in one original.
    """
    if len(releases) < 2:
        raise WrongUse("A series has at least two releases; give them in the order of publication.")
    found = []
    for source, original in releases:
        if isinstance(source, Release):
            release, table = source, original
        else:
            release, table, plan = read_original(source, original)
            assert isinstance(table, Table)
            table = _with_person(table, original, person, plan)
        found.append(appearances(release, table, person, column))
    return MInvariance(m=m, column=column).verify_series(found)


def _with_person(table: Table, original: Any, person: str, plan: Recipe) -> Table:
    """The original with the column that says who is who, which a run need not have read."""
    if person in table.names:
        return table
    quasi = tuple(column.name for column in table.quasi)
    roles = Roles(quasi=quasi, insensitive=(person,), others="drop")
    who = read_roles(original, roles, plan.source.reading, {})
    if who.rows != table.rows:
        raise BadData("the original cannot be read with its persons; give the file itself.", column=person)
    return Table((*table.columns, who.column(person)))


def appearances(
    release: Release[Any], original: Table, person: str, column: str | None = None
) -> Appearances:
    """Which classes of a release fit each person of its original."""
    data = release.data
    if not isinstance(data, Table | Linked) or not isinstance(original, Table):
        raise WrongUse("m-invariance is about published tables.")
    who = original.column(person)
    if len(np.unique(who.codes)) < original.rows:
        raise BadData(
            "a person stands twice in the original; m-invariance takes one row a person.", column=person
        )
    if isinstance(data, Linked):
        secret = _secret(data.secrets, column)
        group, count = data.secret_groups, len(data)
        rows, alike = alike_pairs(original, data)
        places = data.groups[alike]
    else:
        view = class_view(data, original)
        secret = _secret(view.classes.table, column)
        group, count = view.classes.number, len(view.classes)
        rows, places = view.fits.nonzero()
    order = np.argsort(group, kind="stable")
    indptr = indptr_by(group, count)
    return Appearances(
        secret.domain.labels,
        indptr,
        secret.codes[order].astype(np.int64),
        who.domain.labels,
        who.codes[rows].astype(np.int64),
        places.astype(np.int64),
    )


def _secret(table: Table, column: str | None) -> Column:
    if column is not None:
        return table.column(column)
    if len(table.sensitive) != 1:
        raise WrongUse("Name the sensitive column that m-invariance is about.")
    return table.sensitive[0]
