"""Identifiers that were named as quasi-identifiers: generalized, they would be published as lists of identifiers.

A column in which nearly every row has a value of its own has nothing to group: the cell of a class lists the very
values that name its persons. What is said here follows from the domain of a column and the number of rows, so that it
is the same wherever the rows are.
"""

import re
from collections import Counter
from collections.abc import Collection

import numpy as np

from shoal.data._suggested_role import (
    NEARLY_ALL,
    called_quasi,
    names_persons,
    numbers_persons,
)
from shoal.data.domain import Domain, Kind
from shoal.data.profile import format_hint
from shoal.data.role import Role
from shoal.data.table import Column, Table
from shoal.errors import WrongUse

OWN = (1 + NEARLY_ALL) / 2
"""With so many different values by rows, nearly all rows have a value of their own: never suggested."""

LEAST = 20
"""With fewer rows it is nothing special that each has a value of its own."""

RUNNING = 1.05
"""Whole numbers are running ones where their range is at most so many times as long as their number."""

LISTS = 0.5
"""From this share of lists among the values on, a column holds lists."""

_BETWEEN = re.compile(r"\s*[;,|]\s*|\s+")
_NUMBERED = re.compile(r"[^\W_]*[0-9][\w-]*")


def refuse_identifiers(table: Table, rows: int, insisted: Collection[str] = ()) -> None:
    """Refuse quasi-identifiers that look like identifiers, unless they are insisted on.

    `table`: the columns with their roles and hierarchies; their rows may be elsewhere. Raises `WrongUse`.
    """
    for name in insisted:
        if not any(column.name == name for column in table.quasi):
            raise WrongUse(f"--insist {name} has no effect: the column is no quasi-identifier. Omit it.")
    for column in table.columns:
        if column.role is Role.QUASI and column.name not in insisted and (why := identifier(column, rows)):
            raise WrongUse(
                f"The quasi-identifier {column.name!r} looks like an identifier: {why}. Its classes would be published "
                f"as lists of identifiers. Make it identifying (--identifying {column.name}), or say "
                f"--insist {column.name} if others know it and it may be published."
            )


def identifier(column: Column, rows: int) -> str:
    """Why a column looks like an identifier of persons; empty where it does not."""
    name, domain = column.name, column.domain
    if not rows or domain.present < OWN * rows or domain.present < 2:
        return ""
    if column.hierarchy is None and (share := _share_of_lists(domain)) >= LISTS:
        return f"{share:.0%} of its values are lists of numbers, hardly one of which stands in another cell"
    own = f"{domain.present:,} different values in {rows:,} rows"
    if names_persons(name):
        return f"its name says that it names persons, and it has {own}"
    if numbers_persons(name):
        return f"its name says that it numbers persons, and it has {own}"
    if rows < LEAST or column.hierarchy is not None or called_quasi(name):
        return ""
    if domain.kind is Kind.NOMINAL and not format_hint(name, domain):
        return f"it has {own}, which are names"
    if domain.kind is Kind.NUMERIC and _running(domain):
        return f"it has {own}, which are numbered one after the other"
    return ""


def _running(domain: Domain) -> bool:
    assert domain.values is not None
    values = domain.values[: domain.present]
    whole = bool((values == np.floor(values)).all())
    return whole and float(values[-1] - values[0]) < RUNNING * domain.present


def _share_of_lists(domain: Domain) -> float:
    """The share of values that are lists of numbers of their own, such as ``P103; P208``."""
    labels = domain.labels[: domain.present]
    if domain.kind is not Kind.NOMINAL or len(labels) < LEAST or format_hint("", domain):
        return 0.0
    lists = [parts for parts in map(_parts, labels) if parts]
    met = Counter(part for parts in lists for part in parts)
    if not lists or sum(met.values()) > len(met) / NEARLY_ALL:
        return 0.0
    return len(lists) / len(labels)


def _parts(label: str) -> list[str]:
    """The numbers of a list; none where a text is something else.

    >>> _parts("P103; P208"), _parts("12 Main Street"), _parts("P103")
    (['P103', 'P208'], [], [])
    """
    parts = _BETWEEN.split(label.strip("[](){} "))
    several = len(parts) > 1 and all(map(_NUMBERED.fullmatch, parts))
    return parts if several else []
