"""Profile data before anything is done to it: its columns or items, uniqueness, and suggested roles."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from shlex import quote
from typing import Any

import numpy as np

from shoal.arrays import Counts
from shoal.data._calendar import TIMESTAMP
from shoal.data._column_kinds import taken
from shoal.data._equal_rows import row_classes
from shoal.data._item_adversary import KnownItems, known_items
from shoal.data._spellings import alike_in
from shoal.data._suggested_role import share_of_lists, suggest_role
from shoal.data.baskets import Baskets
from shoal.data.domain import Domain, Kind
from shoal.data.role import Role
from shoal.data.table import Column, Table

_TIMESTAMP = re.compile(TIMESTAMP)
_SLASHED = re.compile(r"([0-9]{1,2})/([0-9]{1,2})/((?:[0-9]{2}){1,2})(?:[ T].*)?")
_COMMA = re.compile(r"-?(?:[0-9]+|[0-9]{1,3}(?:\.[0-9]{3})+)(?:,[0-9]+)?")

RUNNING = 1.05
"""Whole numbers count as consecutive if their range is at most this many times as long as there are numbers."""

MONTHS, DAYS = 12, 31
"""The largest numbers of a month and of a day."""


def format_hint(name: str, domain: Domain) -> str:
    """A hint what else the names in a column look like, and how to have them read so; empty if they are just names.

    They are not converted without being asked: ``03/04/2024`` may be in March or in April, and ``1,234`` may be above a
    thousand.

    >>> from shoal.data.domain import nominal
    >>> format_hint("weight", nominal(("61,5", "70")))
    'looks like numbers with a decimal comma; --decimal , takes numbers and ranges of them'
    """
    labels = domain.labels[: domain.present]
    if domain.kind is not Kind.NOMINAL or not labels:
        return ""
    if all(map(_TIMESTAMP.fullmatch, labels)):
        return f"looks like timestamps; --kind {quote(name + '=date')} takes the days"
    if forms := _slashed_forms(labels):
        unclear = " but day and month cannot be distinguished (MM/DD or DD/MM?)," if len(forms) > 1 else ""
        options = " or ".join(quote(f"{name}={form}") for form in forms)
        return (
            f"looks like dates,{unclear}".rstrip(",")
            + f"; --date-format {options} takes dates and ranges of them"
        )
    if all(map(_COMMA.fullmatch, labels)) and any("," in label for label in labels):
        return "looks like numbers with a decimal comma; --decimal , takes numbers and ranges of them"
    return ""


def _slashed_forms(labels: Sequence[str]) -> list[str]:
    """The forms in which dates with slashes may be written; empty if the texts are not such dates.

    >>> _slashed_forms(("03/04/2024", "25/12/2024")), _slashed_forms(("3/14/24",)), _slashed_forms(("13/13/2024",))
    (['DD/MM/YYYY'], ['MM/DD/YY'], [])
    """
    found = [_SLASHED.fullmatch(label) for label in labels]
    if not labels or not all(found):
        return []
    first, second = (max(int(one[place]) for one in found if one) for place in (1, 2))
    year = "YY" if all(one and len(one[3]) == 2 for one in found) else "YYYY"
    monthly = {"DD/MM/": second <= MONTHS, "MM/DD/": first <= MONTHS}
    return [form + year for form, fits in monthly.items() if fits and max(first, second) <= DAYS]


def without_hints(sentences: Iterable[str]) -> tuple[str, ...]:
    """Drop sentences on columns that look like timestamps, if other sentences say that these columns hold times.

    >>> without_hints(["Taken: 'x' (times) as names.", "The quasi-identifier 'x' looks like timestamps; …"])
    ("Taken: 'x' (times) as names.",)
    """
    said = tuple(sentences)
    found = [
        (sentence, re.match(r"The quasi-identifier (.+) looks like timestamps", sentence))
        for sentence in said
    ]
    return tuple(
        sentence
        for sentence, look in found
        if look is None or not any(f"{look[1]} (times)" in other for other in said)
    )


EXAMPLES, TOP = 3, 10
QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)


@dataclass(frozen=True, slots=True)
class ColumnProfile:
    """The profile of a column: what it holds, how identifying it is, and its likely role."""

    name: str
    kind: str
    """`name`, `kind`: the name of the column, and how its values relate."""
    distinct: int  # number of different values, without the missing one
    missing: int  # number of missing cells
    unique: float  # the share of rows whose value nobody else has
    examples: tuple[str, ...]  # the most frequent values
    role: Role
    reason: str
    """`role`, `reason`: a suggested role, and the reason. It is only a guess from the name and the numbers above."""
    note: str = ""  # what else the values look like, and how to have them read so
    taken: str = ""
    taken_because: str = ""
    """`taken`, `taken_because`: how the column is interpreted (number, category, ordered category, date or code), and
    why."""
    doubt: str = ""  # why numbers look like codes, if they do
    alike: tuple[str, ...] = ()
    """The first values that differ only in spelling, if there are any."""


@dataclass(frozen=True, slots=True)
class TableProfile:
    """The profile of a table: its columns, and how identifying the quasi-identifiers are together."""

    rows: int  # the number of rows
    columns: tuple[ColumnProfile, ...]  # the columns in order
    quasi: tuple[str, ...]
    """The columns that an adversary may know: those with that role, or the suggested ones if no column has it."""
    unique: float  # the share of rows whose values in these columns nobody else has
    smallest: int  # rows of the smallest class; 0 for a table without rows
    classes: int  # the number of classes: rows that agree on all of these columns
    notes: tuple[str, ...] = ()  # remarks of the reader on how columns were interpreted

    def as_dict(self) -> dict[str, Any]:
        """The same as plain data."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class Spread:
    """The distribution of some numbers: smallest, mean and largest, and quantiles by their share."""

    least: int
    mean: float
    most: int
    quantiles: dict[str, float]


@dataclass(frozen=True, slots=True)
class BasketsProfile:
    """The profile of baskets: their number and lengths, how frequent items are, and how identifying a few items are."""

    baskets: int
    items: int
    occurrences: int
    """`baskets`, `items`, `occurrences`: the number of baskets, of different items, and of items in all baskets
    together."""
    empty: int  # baskets without items
    density: float  # the mean share of the items that a basket holds
    lengths: Spread  # items of a basket
    supports: Spread  # baskets that hold an item
    top: tuple[tuple[str, int], ...]  # the most popular items and their supports
    known: tuple[KnownItems, ...]  # what an adversary finds who knows 1, 2, 3 or 4 items
    layout: str = "lines"  # the layout in which they were read
    notes: tuple[str, ...] = ()  # remarks of the reader on how they were interpreted

    def as_dict(self) -> dict[str, Any]:
        """The same as plain data."""
        return asdict(self)


def profile_table(
    table: Table, quasi: Iterable[str] | None = None, notes: tuple[str, ...] = ()
) -> TableProfile:
    """Profile a table: each column alone, and the quasi-identifiers together.

    `table`: its columns need no roles. `quasi`: the columns to examine together; by default those with that role, or
    else the suggested ones. `notes`: remarks of its reader.
    """
    looked = []
    for column in table.columns:
        alike = tuple(next(iter(alike_in(column.domain)), ()))
        looked.append(replace(profile_column(column), alike=alike))
    profiles = _one_entity(tuple(looked))
    if quasi is not None:
        names = tuple(column.name for column in table.select(quasi))
    else:
        names = tuple(column.name for column in table.quasi)
        names = names or tuple(profile.name for profile in profiles if profile.role is Role.QUASI)
    sizes = row_classes(table.select(names), table.rows).sizes
    return TableProfile(
        table.rows,
        profiles,
        names,
        float((sizes == 1).sum() / table.rows) if table.rows else 0.0,
        int(sizes.min(initial=table.rows)),
        len(sizes),
        notes,
    )


def profile_baskets(baskets: Baskets, notes: tuple[str, ...] = ()) -> BasketsProfile:
    """Profile baskets: lengths, supports, and what a few known items disclose. `notes`: remarks of their reader."""
    lengths, supports = baskets.lengths, baskets.supports
    order = np.lexsort((np.arange(len(supports)), -supports))[:TOP]
    cells = len(baskets) * len(baskets.vocabulary)
    return BasketsProfile(
        baskets=len(baskets),
        items=len(baskets.vocabulary),
        occurrences=len(baskets.items),
        empty=int((lengths == 0).sum()),
        density=len(baskets.items) / cells if cells else 0.0,
        lengths=_spread(lengths),
        supports=_spread(supports),
        top=tuple((baskets.vocabulary[item], int(supports[item])) for item in order),
        known=known_items(baskets),
        layout=baskets.layout,
        notes=notes,
    )


def profile_column(column: Column, counts: Counts | None = None) -> ColumnProfile:
    """Profile a column. `counts`: how many rows have each of its values, if its rows are not in memory."""
    if counts is None:
        counts = np.bincount(column.codes, minlength=len(column.domain)).astype(np.int64)
    rows = int(counts.sum())
    missing = 0 if column.domain.missing is None else int(counts[column.domain.missing])
    present = counts if column.domain.missing is None else counts[:-1]
    frequent = np.lexsort((np.arange(len(present)), -present))[:EXAMPLES]
    distinct = int((present > 0).sum())
    unique = float((counts == 1).sum() / rows) if rows else 0.0
    measured = _are_amounts(column.domain, rows - missing)
    note = format_hint(column.name, column.domain)
    listed = not note and share_of_lists(column.domain, rows) > 0
    role, reason = suggest_role(
        column.name, distinct, rows, unique, missing=missing, measured=measured, listed=listed
    )
    examples = tuple(column.domain.labels[code] for code in frequent if present[code])
    how = taken(column.name, column.domain)
    return ColumnProfile(
        column.name,
        str(column.domain.kind),
        distinct,
        missing,
        unique,
        examples,
        role,
        reason,
        note=note,
        taken=how.kind,
        taken_because=how.why,
        doubt=how.doubt,
    )


def _are_amounts(domain: Domain, cells: int) -> bool:
    """Whether numbers cannot be ids of persons: they have decimals, or are neither consecutive nor all different."""
    if domain.kind is not Kind.NUMERIC or domain.values is None:
        return False
    present = domain.values[: domain.present]
    return bool((present != np.floor(present)).any()) or (len(present) < cells and not are_running(domain))


def are_running(domain: Domain) -> bool:
    """Whether the numbers of a domain are consecutive integers, with few gaps."""
    assert domain.values is not None
    values = domain.values[: domain.present]
    whole = bool((values == np.floor(values)).all())
    return whole and float(np.ptp(values)) < RUNNING * len(values)


def _one_entity(profiles: tuple[ColumnProfile, ...]) -> tuple[ColumnProfile, ...]:
    """Leave the role of the entity to one column, that with the fewest values: there are fewer persons than visits."""
    numbers = [profile for profile in profiles if profile.role is Role.ENTITY]
    chosen = min(numbers, key=lambda profile: profile.distinct, default=None)
    return tuple(
        replace(profile, role=Role.IDENTIFYING, reason="an id, but not that of the persons")
        if profile.role is Role.ENTITY and profile is not chosen
        else profile
        for profile in profiles
    )


def _spread(numbers: Counts) -> Spread:
    if not len(numbers):
        return Spread(0, 0.0, 0, {})
    quantiles = dict(zip(map(str, QUANTILES), np.quantile(numbers, QUANTILES).tolist(), strict=True))
    return Spread(int(numbers.min()), float(numbers.mean()), int(numbers.max()), quantiles)
