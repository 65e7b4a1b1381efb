"""Convert between baskets as arrays and as a frame with a column of lists of codes."""

from dataclasses import replace

import numpy as np
import polars as pl

from shoal.arrays import AnyArray, Counts, Indptr, Items, indptr_of
from shoal.data.baskets import Baskets
from shoal.data.dataset import Dataset


def rows_of(cells: pl.Series) -> tuple[Indptr, Items]:
    """Convert a column of lists of codes to ragged rows; a missing list is empty."""
    lengths = cells.list.len().fill_null(0).to_numpy()
    items = cells.explode(empty_as_null=False, keep_nulls=False)
    return indptr_of(lengths), items.to_numpy().astype(np.int32)


def cells_of(name: str, indptr: Indptr, items: AnyArray) -> pl.Series:
    """Convert ragged rows of codes to a column of lists.

    >>> cells_of("items", np.array([0, 2, 2]), np.array([3, 4])).to_list()
    [[3, 4], []]
    """
    lengths = np.diff(indptr)
    rows = pl.Series("row", np.repeat(np.arange(len(lengths)), lengths)).set_sorted()
    filled = lengths > 0
    lists = (
        # If polars knows that rows ascend, it cuts the column where they change, which is ten times as fast.
        pl.DataFrame([rows, pl.Series(name, items[indptr[0] : indptr[-1]].astype(np.int32))])
        .group_by("row", maintain_order=True)
        .agg(name)[name]
    )
    if filled.all():
        return lists
    places = pl.Series(np.cumsum(filled) - 1).set(pl.Series(~filled), None)
    empty = pl.Series(name, [[]], dtype=pl.List(pl.Int32))
    return (
        lists.gather(places).fill_null(pl.lit(empty)) if len(lists) else empty.new_from_index(0, len(lengths))
    )


def baskets_in(frame: pl.DataFrame, schema: Baskets) -> Baskets:
    """The baskets of a frame with the column ``items``."""
    indptr, items = rows_of(frame["items"])
    return replace(schema, indptr=indptr, items=items)


def supports_in(data: Dataset) -> Counts:
    """The number of baskets that hold each item, for baskets in parts."""
    width = len(data.schema.vocabulary)

    def work(frame: pl.DataFrame) -> Counts:
        return np.bincount(rows_of(frame["items"])[1], minlength=width).astype(np.int64)

    counts = data.parts.fold(work, lambda one, other: one + other)
    return np.zeros(width, dtype=np.int64) if counts is None else counts
