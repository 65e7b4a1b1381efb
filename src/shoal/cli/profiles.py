"""Show the profile of data in the terminal."""

import shlex
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from shoal.cli import show
from shoal.data._column_kinds import doubt_sentences
from shoal.data._plain_text import counted
from shoal.data._spellings import pair_text
from shoal.recommendation.command_line import typed_option

NUMBERS = ("identifying", "entity")
"""Roles of columns whose values are codes, so that doubts about their kind are not shown."""

K = 10
"""The k of the suggested command, if there are that many persons."""

if TYPE_CHECKING:
    from shoal.data.profile import BasketsProfile, TableProfile


def table_profile(found: "TableProfile", begin: str | None) -> None:
    """Show the columns of a table, notes about them, and a command to begin with."""
    show.line(f"{counted(found.rows, 'rows')}, {counted(len(found.columns), 'columns')}")
    show.line()
    head = ("column", "taken as", "distinct", "missing", "unique", "role", "because", "examples")
    show.grid(
        [
            (
                column.name,
                f"{column.taken}: {column.taken_because}",
                column.distinct,
                column.missing,
                f"{column.unique:.1%}",
                str(column.role),
                column.reason,
                ", ".join(map(quoted, column.examples)),
            )
            for column in found.columns
        ],
        head,
    )
    show.line()
    notes = list(found.notes)
    notes += [f"{column.name}: {column.note}." for column in found.columns if column.note]
    notes += doubt_sentences(
        (column.name, column.doubt) for column in found.columns if column.role not in NUMBERS
    )
    notes += [
        f"{column.name}: {pair_text(list(column.alike))} differ in spelling alone; --normalize makes such values one."
        for column in found.columns
        if column.alike
    ]
    for note in notes:
        show.line(f"NOTE    {note}")
    if notes:
        show.line()
    if found.quasi:
        show.line(
            f"Together, {', '.join(found.quasi)} make {counted(found.classes, 'classes')}; the smallest has "
            f"{counted(found.smallest, 'rows')}, and {found.unique:.1%} of the rows are unique."
        )
    if begin is None:
        show.line("No column looks like one that others may know: name those with --quasi.")
    else:
        show.line()
        show.line("To begin with (roles are guesses: decide yourself):", "bold")
        show.line(f"  {begin}")


def likely_baskets(layout: str, begin: str | None) -> None:
    """Say that a table may hold baskets, and how to read it as such."""
    show.line()
    form = "a matrix of baskets and items" if layout == "matrix" else "baskets, an item in each row"
    show.line(f"NOTE    This looks like {form}: --baskets {shlex.quote(layout)} reads it so.")
    if begin is not None:
        show.line("If it is, begin with:", "bold")
        show.line(f"  {begin}")


def quoted(value: str) -> str:
    """A value in a list: in quotes if it contains a comma, a quote, or blanks at its ends.

    >>> [quoted(value) for value in ("61.5", "61,5", 'a "b" c')]
    ['61.5', '"61,5"', '"a ""b"" c"']
    """
    if value and not set(value) & {",", '"'} and value == value.strip():
        return value
    doubled = value.replace('"', '""')
    return f'"{doubled}"'


def suggestion(
    found: "TableProfile", source: str, method: str, reading: list[str], quasi: Sequence[str] = ()
) -> str | None:
    """A command with the suggested roles, ready to be pasted; None if it could not run.

    `reading`: the options that say how to read the source, as they were given. `quasi`: the quasi-identifiers, if they
    were given; other columns that look like quasi-identifiers are then dropped.
    """
    from shoal.data.role import Role

    if quasi:
        found = replace(
            found,
            columns=tuple(
                replace(column, role=Role.QUASI) if column.name in quasi else column
                for column in found.columns
                if column.name in quasi or column.role is not Role.QUASI
            ),
        )
    entity = next((column for column in found.columns if column.role is Role.ENTITY), None)
    persons = found.rows if entity is None else entity.distinct + (entity.missing > 0)
    if persons < 2 or not any(column.role is Role.QUASI for column in found.columns):
        return None
    parts = ["shoal", "anonymize", method, source, "--k", str(min(K, persons)), *reading]
    for role in dict.fromkeys(column.role for column in found.columns):
        names = [column.name for column in found.columns if column.role is role]
        # Only one column can be the entity, so its name is not read as a list.
        listed = names if role is Role.ENTITY else [name.replace(",", "\\,") for name in names]
        parts += typed_option(f"--{role}", ",".join(listed))
    parts += ["--others", "drop"] if quasi else []
    return " ".join(map(shlex.quote, [*parts, "-o", "out"]))


def baskets_profile(found: "BasketsProfile", begin: str | None) -> None:
    """Show how many baskets there are, their lengths, and how many of them known items single out."""
    show.line(
        f"{counted(found.baskets, 'baskets')}, {counted(found.items, 'items')}, density {found.density:.2%}, "
        f"{found.empty:,} empty; read as {found.layout}"
    )
    for note in found.notes:
        show.line(f"NOTE    {note}")
    show.line()
    spreads = [("items of a basket", found.lengths), ("baskets of an item", found.supports)]
    quantiles = list(found.lengths.quantiles)
    show.grid(
        [
            (
                name,
                spread.least,
                *(spread.quantiles.get(part) for part in quantiles),
                spread.most,
                spread.mean,
            )
            for name, spread in spreads
        ],
        ("", "least", *(f"{float(part):.0%}" for part in quantiles), "most", "mean"),
    )
    show.line()
    show.line(f"Most popular: {', '.join(f'{item} ({support:,})' for item, support in found.top)}")
    show.line()
    show.grid(
        [(part.known, part.baskets, f"{part.unique:.1%}", f"{part.probability:.1%}") for part in found.known],
        ("known items", "baskets with so many", "unique", "mean chance to find one"),
    )
    if begin is not None:
        show.line()
        show.line("To begin with:", "bold")
        show.line(f"  {begin}")
