"""The distinct values of a column, and where each row has its own among them."""

import numpy as np
import polars as pl

from shoal.arrays import Codes

_DENSE = 4
"""Whole numbers are looked up in an array of their range if that is at most so many times the rows long."""
_FIRST = 4096
"""Rows of a column by which it is seen whether equal texts stand together."""


def places_of(series: pl.Series) -> tuple[pl.Series, Codes]:
    """The distinct values, nulls left aside, and the place of each row among them; nulls are placed last."""
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


def _text_places(series: pl.Series) -> tuple[pl.Series, Codes]:
    """The places of texts; where equal ones stand together, as in canonical order, one of them is looked up for all."""
    some = series.head(_FIRST)
    if len(some) < _FIRST or len(some.rle()) * 4 > _FIRST:
        return _categories(series)
    runs = series.rle().struct
    values, places = _categories(runs.field("value"))
    return values, np.repeat(places, runs.field("len").to_numpy())


def _categories(series: pl.Series) -> tuple[pl.Series, Codes]:
    # Categories of a space of their own are forgotten with the series.
    return _category_places(series.cast(pl.Categorical(pl.Categories.random())))


def _category_places(series: pl.Series) -> tuple[pl.Series, Codes]:
    """The same of categories, nearly all of whose numbers are used."""
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


def _dense_places(series: pl.Series, low: int, high: int) -> tuple[pl.Series, Codes]:
    offsets = (series.cast(pl.Int64) - low).fill_null(high - low + 1).to_numpy()
    used = np.zeros(high - low + 2, dtype=np.bool_)
    used[offsets] = True
    used[-1] = False
    place = (np.cumsum(used) - 1).astype(np.int32)
    place[-1] = used.sum()
    return pl.Series(np.flatnonzero(used) + low), place[offsets]
