"""From codes to frames: labels return, and numbers and dates are numbers and dates where nothing is lost."""

from typing import TYPE_CHECKING

import polars as pl

from shoal.data._frames import to_series
from shoal.data.domain import Kind
from shoal.data.table import Column, Table
from shoal.io.tables.encode import to_texts

if TYPE_CHECKING:
    from polars._typing import PolarsDataType


def typed_frame(table: Table) -> pl.DataFrame:
    """A frame for formats with types: a column of numbers or dates that are written in the usual way has their type.

    All others are texts. A reader that turns cells into texts gets the labels back, exactly.
    """
    return pl.DataFrame([_typed(column) for column in table.columns])


def column_type(column: Column) -> "PolarsDataType":
    """The type of a column in formats with types: that of its numbers or dates, if they are written as usual."""
    values = _values(column)
    return pl.String() if values is None else values.dtype


def _typed(column: Column) -> pl.Series:
    values = _values(column)
    if values is None:
        return to_series(column)
    if column.domain.missing is not None:
        values = values.extend_constant(None, 1)
    return values.gather(pl.Series(column.codes)).alias(column.name)


def _values(column: Column) -> pl.Series | None:
    """The numbers or dates of a domain, if nothing is lost by writing them as such."""
    labels = pl.Series(column.domain.labels[: column.domain.present], dtype=pl.String)
    types: dict[Kind, tuple[PolarsDataType, ...]] = {
        Kind.NUMERIC: (pl.Int64, pl.Float64),
        Kind.DATE: (pl.Date,),
    }
    for dtype in types.get(column.domain.kind, ()):
        values = labels.str.to_date(strict=False) if dtype == pl.Date else labels.cast(dtype, strict=False)
        if not values.has_nulls() and to_texts(values).equals(labels):
            return values
    return None
