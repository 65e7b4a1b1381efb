"""Interpret texts as numbers or dates, find the kind of a column, and encode a column by its distinct texts."""

from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING

import numpy as np

from shoal.arrays import Codes, Mask
from shoal.data._calendar import FORMS, MONTH, QUARTER, TIMESTAMP
from shoal.data.domain import Kind

if TYPE_CHECKING:
    import polars

_NUMBER = r"^-?(?:(?:0|[1-9][0-9]*)(?:\.[0-9]+)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?$"
_INTEGER = r"^-?[0-9]+$"
_EXACT = 2**53
_COMMA = r"^-?(?:[0-9]+|[0-9]{1,3}(?:\.[0-9]{3})+)(?:,[0-9]+)?$"
_OPEN = r"^(?:<=(-?[0-9].*)|(-?[0-9].*)\+)$"
_TIME = r"(?:[Tt]| +)[0-2]?[0-9]:[0-5][0-9].*$"
"""Patterns of numbers with a decimal comma, of coded ends, and of a time of day after a date."""

_DENSE = 4
"""Integers are looked up in an array over their range if its length is at most so many times the number of rows."""
_FIRST = 4096
"""The first rows of a column, which show whether equal texts are adjacent."""


@dataclass(frozen=True, slots=True, eq=False)
class Distinct:
    """A column encoded by its distinct values: ``texts[places[row]]`` is the cell, null if missing.

    The list may contain equal texts, because values may differ only in the blanks around them.
    """

    texts: "polars.Series"
    places: Codes

    @property
    def missing(self) -> Mask:
        """A mask of the rows without a value."""
        return self.texts.is_null().to_numpy()[self.places]

    def take(self, rows: Mask) -> "Distinct":
        """The rows for which the mask is true, without the values that only other rows have."""
        import polars as pl

        places = self.places[rows]
        used = np.bincount(places, minlength=len(self.texts)) > 0
        renumbered = (np.cumsum(used) - 1).astype(np.int32)
        return Distinct(self.texts.filter(pl.Series(used)), renumbered[places])


def places_of(series: "polars.Series") -> "tuple[polars.Series, Codes]":
    """The distinct values without nulls, and the position of each row's value among them; nulls get the next number."""
    import polars as pl

    if series.dtype == pl.String:
        return _text_places(series)
    if isinstance(series.dtype, pl.Categorical):
        return _category_places(series)
    if series.dtype.is_integer() and series.dtype not in (pl.Int128, pl.UInt64, pl.UInt128):
        low, high = series.min(), series.max()
        if isinstance(low, int) and isinstance(high, int) and high - low < _DENSE * len(series):
            return _dense_places(series, low, high)
    values = series.drop_nulls().unique()
    lookup = pl.DataFrame({"value": values, "place": np.arange(len(values), dtype=np.int32)})
    joined = series.to_frame("value").join(lookup, on="value", how="left", maintain_order="left")
    return values, joined["place"].fill_null(len(values)).to_numpy()


def _text_places(series: "polars.Series") -> "tuple[polars.Series, Codes]":
    """`places_of` for texts; if equal texts are adjacent, as in canonical order, each run is looked up once."""
    some = series.head(_FIRST)
    if len(some) < _FIRST or len(some.rle()) * 4 > _FIRST:
        return _categories(series)
    runs = series.rle().struct
    values, places = _categories(runs.field("value"))
    return values, np.repeat(places, runs.field("len").to_numpy())


def _categories(series: "polars.Series") -> "tuple[polars.Series, Codes]":
    import polars as pl

    # A separate set of categories is released together with the series.
    return _category_places(series.cast(pl.Categorical(pl.Categories.random())))


def _category_places(series: "polars.Series") -> "tuple[polars.Series, Codes]":
    """`places_of` for categories, most of whose numbers occur."""
    import polars as pl

    places = series.to_physical()
    highest = places.max()
    count = highest + 1 if isinstance(highest, int) else 0
    codes = places.fill_null(count).cast(pl.Int32).to_numpy()
    row_of = np.full(count + 1, -1, dtype=np.int64)
    row_of[codes] = np.arange(len(codes))
    used = row_of[:count] >= 0
    if not used.all():
        codes = np.append(np.cumsum(used) - 1, used.sum()).astype(np.int32)[codes]
    return series.gather(row_of[:count][used]).cast(pl.String), codes


def _dense_places(series: "polars.Series", low: int, high: int) -> "tuple[polars.Series, Codes]":
    import polars as pl

    offsets = (series.cast(pl.Int64) - low).fill_null(high - low + 1).to_numpy()
    used = np.zeros(high - low + 2, dtype=np.bool_)
    used[offsets] = True
    used[-1] = False
    place = (np.cumsum(used) - 1).astype(np.int32)
    place[-1] = used.sum()
    return pl.Series(np.flatnonzero(used) + low), place[offsets]


def find_kind(texts: "polars.Series") -> Kind:
    """The kind of a column, found from its distinct texts; missing ones (null) are ignored.

    Numbers
        if every text is a decimal number as programs write it. A leading zero (02263) or plus sign makes the column
        one of names, and so do infinity, NaN, whole numbers beyond 2**53, and decimals so long that two of them are
        equal as 64-bit numbers.
    Dates
        if every text is a valid date, all in the same one of the forms 2024-02-29, 2024/02/29 and 29.02.2024.
    Names
        otherwise.
    """
    import polars as pl

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


def coordinates(texts: "polars.Series", kind: Kind) -> "polars.Series":
    """The number, or the days since 1970-01-01, that each text means; null for other texts.

    A coded end (``90+``, ``<=20``) means its number, a month or quarter (``2024-02``, ``2024-Q1``) its first day.
    """
    import polars as pl

    if kind is Kind.NUMERIC:
        plain = texts.str.replace(_OPEN, "${1}${2}")
        values = positive_zero(plain.cast(pl.Float64, strict=False))
        return values.set(~values.is_finite().fill_null(False), None)
    days = None
    for form, pattern in FORMS.items():
        fitting = texts.set(~texts.str.contains(pattern).fill_null(False), None)
        found = fitting.str.to_date(form, strict=False).to_physical()
        days = found if days is None else days.zip_with(days.is_not_null(), found)
    assert days is not None
    first = texts.str.replace(MONTH, "${1}-01").str.replace(QUARTER, "${1}-0${2}Q")
    for quarter, month in enumerate(("01", "04", "07", "10"), 1):
        first = first.str.replace(f"-0{quarter}Q$", f"-{month}-01")
    coarse = first.set(~texts.str.contains(f"{MONTH}|{QUARTER}").fill_null(False), None)
    days = days.zip_with(days.is_not_null(), coarse.str.to_date("%Y-%m-%d", strict=False).to_physical())
    return days.cast(pl.Float64)


def written_days(texts: "polars.Series", form: str) -> "polars.Series":
    """Parse dates in a form such as ``%d/%m/%Y``, with or without a time of day; null for other texts."""
    return texts.str.replace(_TIME, "").str.to_date(form, strict=False)


def with_points(texts: "polars.Series") -> "polars.Series":
    """Replace decimal commas by points, if all texts are numbers with decimal commas.

    >>> import polars as pl
    >>> with_points(pl.Series(["1.061,5", "-3,25", "70"])).to_list(), with_points(pl.Series(["1,5", "a"])).to_list()
    (['1061.5', '-3.25', '70'], ['1,5', 'a'])
    """
    if not texts.drop_nulls().str.contains(_COMMA).all():
        return texts
    return texts.str.replace_all(".", "", literal=True).str.replace(",", ".", literal=True)


def plain_number(number: float | Decimal) -> str:
    """Format a number without an exponent and without superfluous zeros.

    >>> plain_number(90), plain_number(0.5), plain_number(1e6), plain_number(Decimal("-0.00"))
    ('90', '0.5', '1000000', '0')
    """
    text = format(Decimal(str(number)), "f")
    text = text.rstrip("0").rstrip(".") if "." in text else text
    return "0" if text in ("-0", "") else text


def without_times(texts: "polars.Series") -> "polars.Series":
    """Cut the time of day off timestamps: ``2011-10-31 14:41:00`` becomes ``2011-10-31``.

    The date is the one that is written, whatever the time zone.
    """
    return texts.str.replace(TIMESTAMP, "${1}")


def positive_zero(values: "polars.Series") -> "polars.Series":
    """Replace -0 by 0."""
    return values.set((values == 0.0).fill_null(False), 0.0)


def _confused(texts: "polars.Series", values: "polars.Series") -> bool:
    """Whether two of the texts are different numbers but equal as floats."""
    import polars as pl

    shared = pl.DataFrame({"text": texts, "value": values}).filter(values.is_duplicated()).sort("value")
    exact = [Decimal(text) for text in shared["text"].to_list()]
    same = (shared["value"] == shared["value"].shift(1)).fill_null(False).to_list()
    return any(same[place] and exact[place] != exact[place - 1] for place in range(1, len(exact)))
