"""Frames of polars, pandas and Arrow as sources."""

from typing import Any

import polars as pl

from shoal.errors import BadData, MissingExtra, WrongUse
from shoal.io.tables.input import FrameInput, check_names

_SPANS = ("PeriodDtype", "IntervalDtype")
"""Types of pandas whose values Arrow does not know."""

SEEN = 100
"""Cells of a column that are looked at for sets."""


def is_frame(source: Any) -> bool:
    """Whether a source is a frame, or a column, of polars, pandas or Arrow."""
    return (
        isinstance(source, pl.LazyFrame | pl.Series)
        or _is_pandas(source, "columns")
        or _is_pandas(source, "to_frame")
        or hasattr(source, "__arrow_c_stream__")
        or hasattr(source, "__arrow_c_array__")
    )


def sparse_frame(source: Any) -> Any:
    """The sparse matrix of a pandas frame all of whose columns are sparse and mostly 0; None for anything else."""
    if not _is_pandas(source, "columns") or not len(source.columns):
        return None
    if not all(_is_sparse(kind) and not kind.fill_value for kind in source.dtypes):
        return None
    return source.sparse.to_coo()


def _is_pandas(source: Any, attribute: str) -> bool:
    return type(source).__module__.partition(".")[0] == "pandas" and hasattr(source, attribute)


def _is_sparse(kind: Any) -> bool:
    return type(kind).__name__ == "SparseDtype"


def open_frame(source: Any) -> FrameInput:
    """Open a frame in memory: of polars, of pandas (its index is no column), or anything that speaks Arrow.

    Raises `BadData` if a column mixes types, or two columns have one name. Raises `WrongUse` if it is not a frame.
    """
    if isinstance(source, pl.LazyFrame):
        source = source.collect()
    elif isinstance(source, pl.Series) or (
        _is_pandas(source, "to_frame") and not _is_pandas(source, "columns")
    ):
        source = source.to_frame(source.name or "items")
    if isinstance(source, pl.DataFrame):
        return FrameInput(source)
    if _is_pandas(source, "columns"):
        return FrameInput(_from_pandas(source), orders=_orders(source))
    if hasattr(source, "__arrow_c_stream__") or hasattr(source, "__arrow_c_array__"):
        if (names := getattr(source, "column_names", None)) is not None:
            check_names([str(name) for name in names], None)
        try:
            return FrameInput(pl.DataFrame(source))
        except (pl.exceptions.PolarsError, TypeError) as error:
            why = str(error).partition(". Detail:")[0].partition("\n")[0].removesuffix(".")
            raise BadData(f"the Arrow data cannot be read: {why}.") from error
    raise WrongUse(
        f"A table is read from a path, an address of a database, or a frame of polars, pandas or Arrow, "
        f"not from {type(source).__name__}."
    )


def _from_pandas(source: Any) -> pl.DataFrame:
    names = [str(name) for name in source.columns]
    check_names(names, None)
    columns = []
    for place, name in enumerate(names):
        try:
            columns.append(pl.Series(name, pl.from_pandas(_plain(source.iloc[:, place]))))
        except ImportError as error:
            raise MissingExtra("Reading a pandas frame", "pandas") from error
        except Exception as error:
            # The error comes from Arrow, which need not be installed.
            if type(error).__module__.partition(".")[0] not in ("pyarrow", "polars", "builtins"):
                raise
            raise BadData(
                "the cells of the pandas frame mix types; turn the column into one type, for example by .astype(str).",
                column=name,
            ) from error
    return pl.DataFrame(columns)


def _orders(source: Any) -> dict[str, tuple[str, ...]]:
    """The values of ordered categories, ascending; numbers and dates have an order of their own."""
    orders = {}
    for place, name in enumerate(source.columns):
        column = _plain(source.iloc[:, place])
        categories = list(column.cat.categories) if getattr(column.dtype, "ordered", False) else []
        values = tuple(value.strip() for value in categories if isinstance(value, str))
        if categories and len(set(values)) == len(categories):
            orders[str(name)] = values
    return orders


def _plain(column: Any) -> Any:
    """A column as Arrow knows it: sparse ones filled, sets as lists, periods and intervals as texts."""
    categories = getattr(column.dtype, "categories", None)
    if categories is not None and type(categories.dtype).__name__ in _SPANS:
        return column.cat.rename_categories(list(map(str, categories)))
    if type(column.dtype).__name__ in _SPANS:
        return column.astype(object).map(str, na_action="ignore")
    if _is_sparse(column.dtype):
        return column.sparse.to_dense()
    if column.dtype == object and any(isinstance(cell, set | frozenset) for cell in column.head(SEEN)):
        return column.map(lambda cell: list(cell) if isinstance(cell, set | frozenset) else cell)
    return column
