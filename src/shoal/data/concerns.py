"""What an owner should hear before publishing a table, although every promise is kept.

Promises are about the roles that columns were given. A name among the insensitive columns breaks none of them.
"""

import numpy as np

from shoal.data.groups import Groups
from shoal.data.profile import ColumnProfile, profile_column
from shoal.data.role import Role
from shoal.data.suggested_role import names_persons, numbers_persons
from shoal.data.table import Column, Table

TELLING = 0.5
"""From this share of unique rows on, an insensitive column is worth a word."""


def concerns(original: Table, published: Table) -> tuple[str, ...]:
    """Plain sentences about columns that may give persons away, in the order of the columns.

    Parameters
    ----------
    original
        What was read.
    published
        The table of the release.
    """
    known = set(published.names)
    found = []
    for column in original.columns:
        if column.role in (Role.ENTITY, Role.IDENTIFYING) or column.name not in known:
            continue
        profile = profile_column(column)
        if column.role is Role.INSENSITIVE and (why := _telling(profile)):
            found.append(
                f"The insensitive column {column.name!r} is published as it is, and {why}. If it can name a person, "
                "make it identifying."
            )
        if column.role is Role.QUASI and profile.role in (Role.IDENTIFYING, Role.ENTITY):
            raw = _raw_rows(column, published.column(column.name))
            if raw:
                found.append(
                    f"The quasi-identifier {column.name!r} looks like one that names persons, and {raw:,} "
                    f"row{'s publish' if raw != 1 else ' publishes'} it as it is. If it names persons, make it "
                    "identifying."
                )
        if column.role is Role.QUASI and profile.note:
            found.append(f"The quasi-identifier {column.name!r} {profile.note}.")
        if original.entity is None and profile.role is Role.ENTITY:
            found.append(rows_are_counted(column.name, profile.distinct, original.rows))
    return tuple(found)


def rows_are_counted(name: str, persons: int, rows: int) -> str:
    """The sentence for a table without an entity column that has a number of persons which repeats."""
    return (
        f"Rows, not persons, are counted: {name!r} looks like the number of a person, and has {persons:,} "
        f"value{'s' * (persons != 1)} in {rows:,} rows. If rows with the same number are one person, say --entity."
    )


def _telling(profile: ColumnProfile) -> str:
    """Why an insensitive column may name persons; empty if nothing says so."""
    if names_persons(profile.name) or numbers_persons(profile.name):
        return "its name says that it tells persons apart"
    if profile.unique >= TELLING:
        return f"{profile.unique:.0%} of the rows have a value of their own in it"
    return profile.reason if profile.role is Role.IDENTIFYING else ""


def _raw_rows(original: Column, published: Column) -> int:
    """How many published cells are values of the original as they were."""
    values = set(original.domain.labels) - {""}
    raw = np.array([label in values for label in published.domain.labels], dtype=np.bool_)
    return int(raw[published.codes].sum()) if raw.any() else 0


def empty_baskets(groups: Groups) -> tuple[str, ...]:
    """Warn of baskets that are published without an item, in groups with sensitive items.

    Whoever is known to have bought something holds a sensitive item for certain if her basket is empty.
    """
    told = np.repeat(np.diff(groups.sensitive_indptr) > 0, groups.sizes)
    empty = int(((np.diff(groups.basket_indptr) == 0) & told).sum())
    if not empty:
        return ()
    return (
        f"{empty:,} baskets are published without a public item, in groups with sensitive ones: whoever is known to "
        "have a basket that is not empty holds a sensitive item for certain. Leave such baskets out if that matters.",
    )
