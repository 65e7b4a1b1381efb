"""Reading persons and their records: two sources that are joined by a key."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from shoal.data._plain_text import counted
from shoal.data.related import Related
from shoal.data.role import Roles
from shoal.errors import BadData, UnknownName, WrongUse
from shoal.io.reading import Reading, missing_column
from shoal.io.source import STANDARD_INPUT
from shoal.io.tables.encode import to_texts
from shoal.preparation.transform import Transform

if TYPE_CHECKING:
    from shoal.io.tables.encode import EncodedTable
    from shoal.io.tables.input import Input

NAMED = ("quasi", "sensitive", "identifying", "insensitive")


def load_related(
    source: Any, roles: Roles, reading: Reading, columns: Iterable[str], steps: Sequence[Transform]
) -> "EncodedTable":
    """Read persons and the records that ``FILE:KEY`` names; every column has the role that is given to its name.

    Raises `WrongUse` if a name stands in both tables, the key is named for something else, or roles do not go with a
    second table. Raises `BadData` if a key of a person is missing or stands in several rows, or no record has one.
    """
    from shoal.io.tables.load import load_table, open_input

    assert roles.link is not None
    path, key = split_link(roles.link)
    if roles.entity is not None or roles.items is not None or roles.items_from is not None:
        raise WrongUse("--link joins records to persons, a row each: omit --entity and --items.")
    if reading.drop_missing or str(source) == STANDARD_INPUT:
        raise WrongUse("With --link, name a file, and leave rows with missing values in it.")
    opened, other = open_input(source, reading), open_input(path, of_records(path, reading))
    persons, visits = roles_apart(roles, key, opened, other)
    there = set(other.names) - {key}
    changed = {name for step in steps for name in step.columns_changed}
    own = {*reading.named, *columns, *changed} - there
    first = load_table(
        source,
        persons,
        _named_in(reading, own),
        [name for name in columns if name in own],
        _steps_of(steps, own),
    )
    second = load_table(
        path, visits, _named_in(of_records(path, reading), there), steps=_steps_of(steps, there)
    )
    owners, remarks = _owners(opened, other, key)
    records = second.table.take(np.flatnonzero(owners >= 0))
    table = Related(first.table.columns, records, owners[owners >= 0], key)
    if clash := sorted({key} & {*table.names, *records.names}):
        raise WrongUse(
            f"The key {clash[0]!r} is published under its own name; rename the column of that name."
        )
    return replace(first, table=table, taken=(*first.taken, *second.taken, *remarks))


def roles_apart(roles: Roles, key: str, opened: "Input", other: "Input") -> tuple[Roles, Roles]:
    """The roles of the columns of persons, and of those of records; the key is identifying in both.

    Raises `WrongUse` if a name stands in both tables, or the key is named for something else.
    """
    for one in (opened, other):
        if key not in one.names:
            raise UnknownName("column", key, one.names, one.path)
    if both := sorted(set(opened.names) & set(other.names) - {key}):
        raise WrongUse(
            f"Both tables have a column {both[0]!r}: rename one of them, so that a role is for one."
        )
    if key in (*roles.quasi, *roles.sensitive, *roles.insensitive):
        raise WrongUse(f"{key} joins the tables and names persons: give it no role; it is not published.")
    there = set(other.names) - {key}
    named = {role: getattr(roles, role) for role in NAMED}
    inside = {role: tuple(name for name in names if name in there) for role, names in named.items()}
    outside = {role: tuple(name for name in names if name not in there) for role, names in named.items()}
    first, second = (
        roles.model_copy(update={**own, "link": None, "identifying": _with(own["identifying"], key)})
        for own in (outside, inside)
    )
    return first, second


def split_link(spec: str) -> tuple[str, str]:
    """The file and the key that ``FILE:KEY`` names.

    >>> split_link("visits.csv:patient")
    ('visits.csv', 'patient')
    """
    path, _, key = spec.rpartition(":")
    if not path or not key.strip() or "," in key:
        raise WrongUse(
            f"Records are named by their file and the key, visits.csv:patient, and not by {spec!r}."
        )
    return path, key.strip()


def _with(names: tuple[str, ...], key: str) -> tuple[str, ...]:
    return names if key in names else (*names, key)


def of_records(path: str, reading: Reading) -> Reading:
    """How to read the records: as the persons, but for what each file tells of itself."""
    from shoal.io.tables.load import is_delimited

    return replace(
        reading,
        separator=None,
        names=None,
        query=None,
        sheet=None,
        encoding=reading.encoding if is_delimited(path) else None,
    )


def _named_in(reading: Reading, names: Collection[str]) -> Reading:
    """The reading with what it says of these columns alone, and of all."""
    return replace(
        reading,
        missing=tuple(one for one in reading.missing if (own := missing_column(one)) is None or own in names),
        normalize=_only(reading.normalize, names),
        kinds=_only(reading.kinds, names),
        orders=_only(reading.orders, names),
        date_formats=_only(reading.date_formats, names),
    )


def _steps_of(steps: Sequence[Transform], names: Collection[str]) -> list[Transform]:
    """The steps of these columns; one that names others as well is done to these alone.

    Raises `WrongUse` if a step takes columns of both tables together.
    """
    found = []
    for step in steps:
        mine = [name for name in step.columns_changed if name in names]
        if not mine:
            continue
        if len(mine) < len(step.columns_changed) and step.whole_table:
            raise WrongUse(
                f"--{step.option} takes columns of one table together: name {mine[0]!r} apart from those of the other."
            )
        given = {
            name: _only(value, mine)
            for name, value in step
            if isinstance(value, Mapping) or name == "columns"
        }
        found.append(step.model_copy(update=given))
    return found


def _only(value: Any, names: Collection[str]) -> Any:
    if isinstance(value, Mapping):
        return {name: one for name, one in value.items() if name in names}
    return tuple(name for name in value if name in names)


def _owners(opened: "Input", other: "Input", key: str) -> tuple[Any, tuple[str, ...]]:
    """The person of each record, -1 where there is none."""
    own, theirs = (to_texts(one.frame([key])[key]).str.strip_chars().fill_null("") for one in (opened, other))
    if (own == "").any():
        raise BadData("somebody has no key, so that no record can be hers.", opened.path, column=key)
    if own.is_duplicated().any():
        raise BadData(
            f"the key {own.filter(own.is_duplicated())[0]!r} stands in several rows; a row a person is needed.",
            opened.path,
            column=key,
        )
    places = pl.DataFrame({"key": own, "row": np.arange(len(own), dtype=np.int64)})
    found = pl.DataFrame({"key": theirs}).join(places, on="key", how="left", maintain_order="left")["row"]
    unknown = int(found.null_count())
    if unknown == len(found):
        raise BadData(
            f"no {key} of it is one of the table, so that nobody has a record: the first is {theirs[0]!r}, and that "
            f"of the table {own[0]!r}.",
            other.path,
            column=key,
        )
    said = (
        (
            f"{counted(unknown, 'records')} of {other.path} belong to a {key} that no row has; they are left out.",
        )
        if unknown
        else ()
    )
    return found.fill_null(-1).to_numpy().astype(np.int64), said
