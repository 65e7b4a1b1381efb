"""Finding out whether the texts of a column are numbers, dates or names."""

from collections.abc import Iterable
from decimal import Decimal
from shlex import quote
from typing import TYPE_CHECKING

import polars as pl

from shoal.data._calendar import FORMS, TIMESTAMP
from shoal.data.domain import Kind

if TYPE_CHECKING:
    from polars._typing import PolarsDataType

_NUMBER = r"^-?(?:(?:0|[1-9][0-9]*)(?:\.[0-9]+)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?$"
_INTEGER = r"^-?[0-9]+$"
_EXACT = 2**53


def find_kind(texts: pl.Series) -> Kind:
    """The kind of a column by its distinct texts, missing ones (null) left aside.

    Numbers
        if every text is a decimal number as programs write it: a leading zero (02263) or plus sign is the sign of
        a name, and so are infinity, NaN, whole numbers beyond 2**53 and decimals so long that two of them are equal
        as 64-bit numbers.
    Dates
        if every text is a day of the calendar, all in the same one of the forms 2024-02-29, 2024/02/29 and
        29.02.2024.
    Names
        otherwise.
    """
    texts = texts.drop_nulls()
    if not len(texts):
        return Kind.NOMINAL
    if texts.str.contains(_NUMBER).all():
        values = coordinates(texts, Kind.NUMERIC)
        whole = texts.filter(texts.str.contains(_INTEGER)).cast(pl.Int64, strict=False)
        inexact = whole.has_nulls() or (whole.abs() > _EXACT).any()
        if not (values.has_nulls() or inexact or _confused(texts, values)):
            return Kind.NUMERIC
    for form, pattern in FORMS.items():
        if texts.str.contains(pattern).all() and not texts.str.to_date(form, strict=False).has_nulls():
            return Kind.DATE
    return Kind.NOMINAL


def taken_as(columns: Iterable[tuple[str, "PolarsDataType", Kind]]) -> tuple[str, ...]:
    """The sentences on columns of a source with types that are taken for another thing than their type says.

    `columns`: name, type and kind of each column.

    >>> print(taken_as([("zip", pl.Categorical(), Kind.NUMERIC)])[0].partition(". ")[0])
    By what they hold, columns are taken otherwise than by their type: 'zip' (texts) as numbers
    """
    told, other, spans = [], "", []
    for name, dtype, kind in columns:
        if isinstance(dtype, pl.String | pl.Categorical | pl.Enum) and kind in (Kind.NUMERIC, Kind.DATE):
            told.append(f"{name!r} (texts) as {'numbers' if kind is Kind.NUMERIC else 'dates'}")
            other = other or f"--kind {quote(f'{name}=nominal')} for names"
        elif isinstance(dtype, pl.Datetime) and kind is Kind.NOMINAL:
            told.append(f"{name!r} (times) as names of exact moments")
            other = f"--kind {quote(f'{name}=date')} for days"
        elif isinstance(dtype, pl.Duration):
            spans.append(repr(name))
    found = (
        f"By what they hold, columns are taken otherwise than by their type: {', '.join(told)}. Say {other}."
    )
    lengths = (
        f"Lengths of time are taken as names, in the order of their texts: {', '.join(spans)}. Make them "
        "numbers, of days for example, where their order matters."
    )
    return ((found,) if told else ()) + ((lengths,) if spans else ())


def coordinates(texts: pl.Series, kind: Kind) -> pl.Series:
    """The number, or the days since 1970-01-01, that each text stands for; null where it stands for none."""
    if kind is Kind.NUMERIC:
        values = positive_zero(texts.cast(pl.Float64, strict=False))
        return values.set(~values.is_finite().fill_null(False), None)
    days = None
    for form, pattern in FORMS.items():
        fitting = texts.set(~texts.str.contains(pattern).fill_null(False), None)
        found = fitting.str.to_date(form, strict=False).to_physical()
        days = found if days is None else days.zip_with(days.is_not_null(), found)
    assert days is not None
    return days.cast(pl.Float64)


def without_times(texts: pl.Series) -> pl.Series:
    """The same texts with the time of day cut off timestamps: ``2011-10-31 14:41:00`` is ``2011-10-31``.

    The day is the one that is written, whatever the time zone.
    """
    return texts.str.replace(TIMESTAMP, "${1}")


def positive_zero(values: pl.Series) -> pl.Series:
    """The same numbers with -0 as 0."""
    return values.set((values == 0.0).fill_null(False), 0.0)


def _confused(texts: pl.Series, values: pl.Series) -> bool:
    """Whether two texts are different numbers but equal as floats."""
    shared = pl.DataFrame({"text": texts, "value": values}).filter(values.is_duplicated()).sort("value")
    exact = [Decimal(text) for text in shared["text"].to_list()]
    same = (shared["value"] == shared["value"].shift(1)).fill_null(False).to_list()
    return any(same[place] and exact[place] != exact[place - 1] for place in range(1, len(exact)))
