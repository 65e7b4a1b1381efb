"""How to read a source of rows."""

import codecs
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from typing import Any, ClassVar

from shoal.data._plain_text import counted
from shoal.data.domain import Kind
from shoal.errors import UnknownName, WrongUse

MISSING = ("", "?", "NA")
"""Texts that mean a missing value by default."""

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
        one, because published files cannot tell an empty text from a missing one. ``age=999`` is one in a single
        column, in addition to the others; a ``=`` that belongs to a text has a backslash before it.
    drop_missing
        Leave incomplete rows out: those with a missing value in any column of the source, also one that is dropped.
        Otherwise missing is a value like any other.
    encoding
        The encoding of a text file, such as ``latin-1``, ``cp1252`` or ``utf-16``; UTF-8 by default.
    decimal
        The decimal sign of texts, ``.`` or ``,``. With a comma, ``1.234,5`` is 1234.5, in columns all of whose values
        are such numbers; they are published with a point.
    date_formats
        How the days of a column are written: ``DD/MM/YYYY``, ``MM/DD/YY``, ``D. MMM YYYY`` and so on, or ``%d/%m/%Y``;
        several where a column mixes them. They are published as ``YYYY-MM-DD``.
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
    missing: tuple[str, ...] = MISSING
    drop_missing: bool = False
    encoding: str | None = None
    decimal: str = "."
    date_formats: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
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
        if self.decimal not in (".", ","):
            raise WrongUse(f"The decimal sign (--decimal) is . or , and not {self.decimal!r}.")
        try:
            codecs.lookup(self.encoding or "utf-8")
        except LookupError:
            raise WrongUse(
                f"There is no encoding {self.encoding!r} (--encoding); there are utf-8, latin-1, cp1252, utf-16 and "
                "others."
            ) from None
        for column, formats in self.date_formats.items():
            if self.kinds.get(column, Kind.DATE) != Kind.DATE or column in self.orders:
                raise WrongUse(f"The column {column!r} has a date format, so it has no other kind.")
            for one in formats:
                strptime_form(one)

    def kind_of(self, column: str) -> Kind | None:
        """The kind that was given for a column, or None to find it out."""
        if column in self.orders:
            return Kind.ORDINAL
        if column in self.date_formats:
            return Kind.DATE
        return Kind(kind) if (kind := self.kinds.get(column)) else None

    def missing_in(self, column: str) -> tuple[str, ...]:
        """The texts that mean a missing value in a column.

        >>> Reading(missing=("age=999",)).missing_in("age"), Reading(missing=("-",)).missing_in("age")
        (('', '?', 'NA', '999'), ('-',))
        """
        pairs = [(_column_and_text(one), one) for one in self.missing]
        everywhere = tuple(one.replace("\\=", "=") for pair, one in pairs if pair is None)
        own = tuple(pair[1] for pair, _ in pairs if pair is not None and pair[0] == column)
        return (everywhere or MISSING) + own

    @property
    def named(self) -> tuple[str, ...]:
        """The columns that are named in it, all of which a source must have."""
        coded = [pair[0] for one in self.missing if (pair := _column_and_text(one)) is not None]
        return (*self.kinds, *self.orders, *self.normalize, *self.date_formats, *coded)


def missing_column(entry: str) -> str | None:
    """The column that a text for missing values is about; None where it is about all.

    >>> missing_column("age=999"), missing_column("-")
    ('age', None)
    """
    pair = _column_and_text(entry)
    return None if pair is None else pair[0]


def _column_and_text(entry: str) -> tuple[str, str] | None:
    """The column and the text of an entry such as ``age=999``; None where it is a text for all columns."""
    column, sign, text = re.sub(r"\\=", "\0", entry).partition("=")
    if not sign or not column.strip():
        return None
    return column.strip().replace("\0", "="), text.strip().replace("\0", "=")


def strptime_form(spec: str) -> str:
    """A way to write days as programs spell it.

    >>> strptime_form("DD/MM/YYYY"), strptime_form("D.M.YY"), strptime_form("%d-%b-%Y")
    ('%d/%m/%Y', '%d.%m.%y', '%d-%b-%Y')

    Raises `WrongUse` if it does not say day, month and year.
    """
    form = spec.strip()
    if "%" not in form:
        words = {
            "YYYY": "%Y",
            "YY": "%y",
            "MMMM": "%B",
            "MMM": "%b",
            "MM": "%m",
            "M": "%m",
            "DD": "%d",
            "D": "%d",
        }
        form = re.sub(r"YYYY|YY|M{1,4}|DD?", lambda found: words[found[0]], form)
    if not all(re.search(f"%[{signs}]", form) for signs in ("d", "mbB", "Yy")):
        raise WrongUse(
            f"A date format says day, month and year once each, such as DD/MM/YYYY or %d/%m/%Y, and {spec!r} does not."
        )
    return form


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
    >>> first_line_like_data(["age", "married"], {"age": ["39", "40"], "married": ["married", "single"]})
    []
    """
    own = any(name in found for name, found in values.items())
    if not header_hint(names) and (not own or any(map(_of_numbers, values.values()))):
        return []
    shown = ", ".join(map(repr, names[:SHOWN])) + (", …" if len(names) > SHOWN else "")
    return [
        f"The first line ({shown}) was taken for the names of the columns, and looks like data: if there is no header, "
        "name the columns with --names."
    ]


def _of_numbers(values: Collection[str]) -> bool:
    """Whether the first values of a column are numbers: a name that is none is a header then."""
    some = [value for value in islice(values, 100) if value]
    return bool(some) and all(map(_is_number, some))


def refuse_wrong_names(names: Sequence[str], cells: Sequence[str]) -> None:
    """Refuse names for a text without a header whose first line has them, or another number of cells."""
    if tuple(cell.strip() for cell in cells) == tuple(names):
        raise WrongUse(
            "The first line has exactly these names, so it is a header and not a row: omit the names (--names)."
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
