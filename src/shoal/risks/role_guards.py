"""Guards on roles: columns whose role gives persons away, whatever is promised.

A promise is about the quasi-identifiers that its owner named. A column that was called insensitive is published as it
is: a copy of a generalized column, one that determines it, or one that others know after all breaks no promise, and
gives persons away. What is said of these is counted in the data, whatever the columns are called.

Identifiers that were named as quasi-identifiers have nothing to group: where nearly every row has a value of its own,
the cell of a class lists the very values that name its persons. What is said of these follows from the domain of a
column and the number of rows, so that it is the same wherever the rows are.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from shoal.arrays import Counts, Rows
from shoal.data._equal_rows import row_classes
from shoal.data._suggested_role import (
    NAMED,
    NEARLY_ALL,
    called_quasi,
    names_persons,
    numbers_persons,
    share_of_lists,
)
from shoal.data.dataset import COUNT, Dataset
from shoal.data.domain import Kind
from shoal.data.profile import ColumnProfile, are_running, format_hint
from shoal.data.role import Role
from shoal.data.table import Column, Table
from shoal.errors import WrongUse

if TYPE_CHECKING:
    import polars

    Frame: TypeAlias = polars.DataFrame

WORST = 3
"""Columns whose knowledge is given in numbers; the others are listed by name."""

WORTH_A_WORD = 0.01
"""From this share of unique rows on, one more known column is worth a word."""

NEARLY = 0.95
"""A column that gives the value of another one in so many rows is nearly a function of it."""

CLOSED = 0.8
"""It must be right in so many of the rows that the published cell alone leaves open."""

VALUES_PER_ROW = 0.5
"""A column with more different values by rows determines all others, and is reported as one that names persons."""


@dataclass(frozen=True, slots=True)
class Known:
    """What is left of the classes where one more published column is known."""

    name: str  # the insensitive column
    unique: float  # the share of rows that are alone in their class then
    smallest: int  # rows of the smallest class


def determined(original: Table, published: Table) -> list[str]:
    """Sentences about insensitive columns that give away the values of generalized ones."""
    quasi, others = _chosen(original, published.names)
    coarse = [one for one in quasi if others and _is_coarser(one, published.column(one.name))]
    found = []
    for other in others:
        for one in coarse if _repeats(other, original.rows) else ():
            size = len(one.domain)
            keys, counts = np.unique(other.codes.astype(np.int64) * size + one.codes, return_counts=True)
            found += _determination(other.name, one.name, keys // size, keys % size, counts.astype(np.int64))
    return found


def determined_in_parts(original: Dataset, published: Iterable[str], coarse: Mapping[str, bool]) -> list[str]:
    """The same of rows in parts.

    `published`: the names of the columns that are published. `coarse`: whether each quasi-identifier is published
    otherwise than it was.
    """
    quasi, others = _chosen(original.schema, published)
    found = []
    for other in others:
        for one in quasi if _repeats(other, original.rows) else ():
            if coarse[one.name]:
                counted = original.parts.counts([other.name, one.name])
                pair = (counted[name].to_numpy().astype(np.int64) for name in (other.name, one.name, COUNT))
                found += _determination(other.name, one.name, *pair)
    return found


def known_too(published: Table) -> list[Known]:
    """What is left of the classes when one insensitive column is known beside the quasi-identifiers."""
    if not published.rows or not published.quasi or not published.with_role(Role.INSENSITIVE):
        return []
    classes = row_classes(published.quasi, published.rows).number
    found = []
    for other in published.with_role(Role.INSENSITIVE):
        keys = classes * len(other.domain) + other.codes
        counts = np.unique(keys, return_counts=True)[1]
        found.append(Known(other.name, int((counts == 1).sum()) / published.rows, int(counts.min())))
    return found


def known_too_in_parts(published: Dataset) -> list[Known]:
    """The same of a published table in parts."""
    schema = published.schema
    quasi = [column.name for column in schema.quasi]
    if not published.rows or not quasi:
        return []
    found = []
    for other in schema.with_role(Role.INSENSITIVE):
        counted = published.parts.distinct([*quasi, other.name]).fold(_alone, _joined)
        alone, smallest, rows = counted or (0, 0, 0)
        found.append(Known(other.name, alone / max(rows, 1), smallest))
    return found


def warned_of_names(columns: Sequence[Column], profiles: Sequence[ColumnProfile]) -> list[str]:
    """One sentence about insensitive columns that are called as quasi-identifiers are."""
    named = [
        repr(column.name)
        for column, profile in zip(columns, profiles, strict=True)
        if column.role is Role.INSENSITIVE and profile.role is Role.QUASI and profile.reason.startswith(NAMED)
    ]
    if not named:
        return []
    if len(named) == 1:
        return [
            f"The insensitive column {named[0]} is published unchanged, and its name says that others may know it. If "
            "they can, make it quasi."
        ]
    return [
        f"{len(named)} insensitive columns are published unchanged, and their names say that others may know them: "
        f"{', '.join(named)}. If they can, make them quasi."
    ]


def warned_of_known(found: Sequence[Known]) -> list[str]:
    """One sentence about what happens to the classes where an insensitive column is known after all."""
    ranked = sorted(found, key=lambda one: (-one.unique, one.smallest, one.name))
    worst = [one for one in ranked if one.unique >= WORTH_A_WORD][:WORST]
    if not worst:
        return []
    shares = "; ".join(f"with {one.name!r} also known, {one.unique:.1%} of rows are unique" for one in worst)
    rest = [repr(one.name) for one in ranked if one not in worst]
    others = f" Also published without being generalized: {', '.join(rest)}." if rest else ""
    return [
        f"The promise holds for whoever knows the quasi-identifiers alone; {shares}. If others can know such a column, "
        f"make it quasi.{others}"
    ]


def _chosen(table: Table, published: Iterable[str]) -> tuple[list[Column], list[Column]]:
    """The quasi-identifiers and the insensitive columns that are published."""
    names = set(published)
    kept = [column for column in table.columns if column.name in names]
    return (
        [column for column in kept if column.role is Role.QUASI],
        [column for column in kept if column.role is Role.INSENSITIVE],
    )


def _repeats(column: Column, rows: int) -> bool:
    """Whether a column has values that could determine others: more than one, and not one for each row."""
    return 1 < column.domain.present <= VALUES_PER_ROW * rows


def _is_coarser(original: Column, published: Column) -> bool:
    """Whether a column is published otherwise than it was."""
    labels = {published.domain.labels[code] for code in published.occurring.tolist()}
    return not labels <= set(original.domain.labels)


def _determination(other: str, one: str, codes: Rows, values: Rows, counts: Counts) -> list[str]:
    """Say it where a column gives away another one, from how often each pair of their values occurs.

    A value that one row has determines nothing: only values that repeat are looked at, where most rows have such.
    """
    _, place = np.unique(codes, return_inverse=True)
    most = np.zeros(place.max() + 1, dtype=np.int64)
    np.maximum.at(most, place, counts)
    sizes = np.bincount(place, weights=counts).astype(np.int64)
    rows, repeating = int(counts.sum()), int(sizes[sizes > 1].sum())
    usual = int(np.bincount(np.unique(values, return_inverse=True)[1], weights=counts).max()) / rows
    right = int(most[sizes > 1].sum()) / max(repeating, 1)
    if repeating < rows / 2 or right < NEARLY or right - usual < CLOSED * (1 - usual):
        return []
    how = "gives its exact value" if right == 1 else f"gives its exact value in {right:.1%} of rows"
    return [
        f"The insensitive column {other!r} is published unchanged and undoes the generalization of {one!r}: it {how}. "
        "Make it quasi, or drop it."
    ]


def _alone(frame: "Frame") -> tuple[int, int, int]:
    """Combinations that one row has, the rows of the smallest one, and all rows."""
    counts = frame[COUNT]
    return int((counts == 1).sum()), int(counts.min() or 0), int(counts.sum())  # type: ignore[arg-type]


def _joined(one: tuple[int, int, int], other: tuple[int, int, int]) -> tuple[int, int, int]:
    return one[0] + other[0], min(one[1], other[1]), one[2] + other[2]


OWN = (1 + NEARLY_ALL) / 2
"""With so many different values by rows, nearly all rows have a value of their own: never suggested."""

LEAST = 20
"""With fewer rows it is nothing special that each has a value of its own."""


def refuse_identifiers(table: Table, rows: int, insisted: Collection[str] = ()) -> None:
    """Refuse quasi-identifiers that look like identifiers, unless they are insisted on.

    `table`: the columns with their roles and hierarchies; their rows may be elsewhere. Raises `WrongUse`.
    """
    for name in insisted:
        if not any(column.name == name and column.role is Role.QUASI for column in table.every_column):
            raise WrongUse(f"--insist {name} has no effect: the column is not a quasi-identifier. Omit it.")
    for column in table.every_column:
        count = rows if column in table.columns else len(column.codes)
        if column.role is Role.QUASI and column.name not in insisted and (why := identifier(column, count)):
            raise WrongUse(
                f"The quasi-identifier {column.name!r} looks like an identifier: {why}. Its classes would be published "
                f"as lists of identifiers. Make it identifying (--identifying {column.name}), or say "
                f"--insist {column.name} if others know it and it may be published."
            )


def identifier(column: Column, rows: int) -> str:
    """Why a column looks like an identifier of persons; empty where it does not."""
    name, domain = column.name, column.domain
    like_text = not format_hint(name, domain)
    if column.hierarchy is None and like_text and (share := share_of_lists(domain, rows)):
        return f"{share:.0%} of its values are lists of numbers, each of which stands in few other cells"
    if not rows or domain.present < OWN * rows or domain.present < 2:
        return ""
    own = f"{domain.present:,} different values in {rows:,} rows"
    if names_persons(name):
        return f"its name says that it names persons, and it has {own}"
    if numbers_persons(name):
        return f"its name says that it numbers persons, and it has {own}"
    if rows < LEAST or column.hierarchy is not None or called_quasi(name):
        return ""
    if domain.kind is Kind.NOMINAL and like_text:
        return f"it has {own}, which are names"
    if domain.kind is Kind.NUMERIC and are_running(domain):
        return f"it has {own}, which are numbered one after the other"
    return ""
