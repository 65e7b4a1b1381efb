"""Published tables as frames of other libraries: labels return here."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np

from shoal.data.dataset import Dataset
from shoal.data.table import Column, Table
from shoal.errors import MissingExtra, WrongUse

if TYPE_CHECKING:
    import pandas
    import polars


def named(names: "Iterable[str] | str") -> "polars.Expr":
    """Columns by exactly these names, in this order: polars takes a bare name such as ``*`` or ``^b$`` for a pattern.

    >>> import polars as pl
    >>> pl.DataFrame({"^b$": [1], "b": [2], "*": [3]}).select(named(["*", "^b$"])).columns
    ['*', '^b$']
    """
    from polars import selectors

    return selectors.by_name(*([names] if isinstance(names, str) else names))


def unnamed(series: "polars.Series") -> "polars.Series":
    """A series without its name, which polars takes for a pattern in many methods of series too."""
    return series.alias("")


def to_series(column: Column) -> "polars.Series":
    """The texts of a column; missing cells are null."""
    import polars as pl

    labels: list[str | None] = list(column.domain.labels)
    if column.domain.missing is not None:
        labels[column.domain.missing] = None
    texts = pl.Series(labels, dtype=pl.String)
    return texts.gather(pl.Series(np.asarray(column.codes, dtype=np.uint32))).alias(column.name)


def to_polars(data: object) -> "polars.DataFrame":
    """A table as a polars frame of texts."""
    import polars as pl

    if isinstance(data, Dataset):
        raise WrongUse(
            "The rows of this release are in parts, and not here: release.data.parts.collect() brings them into "
            "memory where they fit, or write the release and read its files."
        )
    if not isinstance(data, Table):
        raise WrongUse(
            f"Only a table can become a frame, not {type(data).__name__}; write the release and read its file."
        )
    return pl.DataFrame([to_series(column) for column in data.columns])


def to_pandas(data: object) -> "pandas.DataFrame":
    """A table as a pandas frame of texts."""
    frame = to_polars(data)
    try:
        return frame.to_pandas()
    except ImportError as error:
        raise MissingExtra("A pandas frame", "pandas") from error
