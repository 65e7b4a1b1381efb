"""How to read a source of rows."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, ClassVar

from shoal.data._plural import counted
from shoal.data.domain import Kind
from shoal.errors import UnknownName, WrongUse

SHOWN = 5
"""So many names of columns are quoted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """What a file does not tell about itself, as plain data. Whatever is not given is found out.

    Parameters
    ----------
    separator
        The character between the cells of delimited text; by default, the one of ``,`` ``;`` tab ``|`` that splits
        the first lines evenly.
    names
        The names of the columns, for a file without a header, whose first line is data then; by default, the first
        line has them.
    missing
        Texts that mean that a value is missing, after blanks around them are taken away. The empty text is always
        one, because published files cannot tell an empty text from a missing one.
    drop_missing
        Leave incomplete rows out: those with a missing value in any column of the source, also one that is dropped.
        Otherwise missing is a value like any other.
    query
        What to ask a database, in SQL.
    sheet
        The sheet of an Excel file; the first one by default.
    kinds
        The kind of a column (nominal, ordinal, numeric, date) where the one found out is wrong: numbers that are
        names, for example. ``date`` takes the days of timestamps.
    orders
        The values of an ordinal column in ascending order. A column with an order is ordinal.
    normalize
        Columns in which values that differ in spelling alone are one: in case, in Unicode form (NFKC), in blanks and in
        characters that nobody sees, or as numbers in zeros. The most frequent spelling is published.
    published
        The quasi-identifiers are generalized already: cells such as ``*``, ``[25,31]`` and ``{a|b}`` are taken as they
        are and not refused. For methods that go on from an anonymous table.
    """

    __pydantic_config__: ClassVar[dict[str, Any]] = {"extra": "forbid"}
    """A recipe that holds a reading refuses what it does not know."""

    separator: str | None = None
    names: tuple[str, ...] | None = None
    missing: tuple[str, ...] = ("", "?", "NA")
    drop_missing: bool = False
    query: str | None = None
    sheet: str | None = None
    kinds: Mapping[str, str] = field(default_factory=dict)
    orders: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    normalize: tuple[str, ...] = ()
    published: bool = False

    def __post_init__(self) -> None:
        for column, kind in self.kinds.items():
            if kind not in set(Kind):
                raise UnknownName("kind of column", kind, [known.value for known in Kind])
            if kind == Kind.ORDINAL and column not in self.orders:
                raise WrongUse(f"The ordinal column {column!r} needs its values in order.")
            if kind != Kind.ORDINAL and column in self.orders:
                raise WrongUse(f"The column {column!r} has an order, so it is ordinal and not {kind}.")
        for column, order in self.orders.items():
            if not order:
                raise WrongUse(f"The order of column {column!r} must list its values.")
            if len(set(order)) != len(order):
                raise WrongUse(f"The order of column {column!r} lists a value twice.")

    def kind_of(self, column: str) -> Kind | None:
        """The kind that was given for a column, or None to find it out."""
        return (
            Kind.ORDINAL
            if column in self.orders
            else (Kind(kind) if (kind := self.kinds.get(column)) else None)
        )


def own_reading(path: str | Path) -> Reading:
    """How to read a table that was published here: its texts have commas, whatever its names and cells look like."""
    return Reading(separator="," if Path(path).suffix == ".csv" else None)


def header_hint(names: Iterable[str]) -> str:
    """What to say where the names of columns look like data: numbers, or nothing known; empty where they do not.

    >>> header_hint(["39", "State-gov", "?"]).strip()
    "The first line looks like data ('39', '?'): if there is no header, name the columns with --names."
    >>> header_hint(["age", "zip"])
    ''
    """
    like_data = [name for name in names if name == "?" or _is_number(name)]
    if not like_data:
        return ""
    shown = ", ".join(map(repr, like_data[:3]))
    return f" The first line looks like data ({shown}): if there is no header, name the columns with --names."


def first_line_like_data(names: Sequence[str], values: Mapping[str, Collection[str]]) -> list[str]:
    """What is said where the names of columns look like the first row: numbers, or values of their own columns.

    `names`: of all columns. `values`: the values of some of them.

    >>> first_line_like_data(["id", "milk"], {"milk": ["bread", "milk"]})[0][:54]
    "The first line ('id', 'milk') was taken for the names "
    >>> first_line_like_data(["id", "item"], {"item": ["bread", "milk"]})
    []
    """
    if not header_hint(names) and not any(name in found for name, found in values.items()):
        return []
    shown = ", ".join(map(repr, names[:SHOWN])) + (", …" if len(names) > SHOWN else "")
    return [
        f"The first line ({shown}) was taken for the names of the columns, and looks like data: if there is no header, "
        "name the columns with --names."
    ]


def refuse_wrong_names(names: Sequence[str], cells: Sequence[str]) -> None:
    """Refuse names for a text without a header whose first line has them, or another number of cells."""
    if tuple(cell.strip() for cell in cells) == tuple(names):
        raise WrongUse(
            "The first line has these very names, so that it is a header and no row: omit the names (--names)."
        )
    if cells and len(cells) != len(names):
        raise WrongUse(
            f"The lines have {counted(len(cells), 'cells')}, and {counted(len(names), 'names')} "
            f"{'is' if len(names) == 1 else 'are'} given (--names): name every column."
        )


def listed(names: Sequence[str]) -> tuple[str, ...]:
    """Names as texts; a text is one name."""
    return (names,) if isinstance(names, str) else tuple(map(str, names))


def with_names(reading: Reading | None, names: Sequence[str] | None) -> Reading:
    """A reading with the names of columns that are given beside it."""
    reading = reading or Reading()
    return reading if names is None else replace(reading, names=listed(names))


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return any(map(str.isdigit, text))
