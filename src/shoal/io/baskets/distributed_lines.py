"""Baskets in parts as the lines of a file: each basket a line, or several in a long table."""

from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from shoal.arrays import Rows
from shoal.data._basket_frames import baskets_in, rows_of
from shoal.data._range_partition import KEY, RANGE, ranges_of
from shoal.data.baskets import Baskets
from shoal.data.dataset import Dataset
from shoal.errors import WrongUse
from shoal.io.baskets.layouts import parse_layout, refuse_unwritable
from shoal.io.baskets.write import spelling_of

if TYPE_CHECKING:
    from shoal.data.dataset import Parts

LINE = "line"
"""The column of lines."""

NUMBERED = 1 << 17
"""Baskets that are numbered together."""


def published_baskets(schema: Baskets, parts: "Parts", rows: int) -> Dataset:
    """Baskets in parts as they are published: in canonical order, in their layout, a line a row.

    Parameters
    ----------
    schema
        The baskets without rows; every item of the vocabulary occurs.
    parts
        A column ``items`` of ascending codes, in any order.
    rows
        How many baskets there are.
    """
    layout = parse_layout(schema.layout)
    refuse_unwritable(schema.vocabulary, layout)
    if layout.form == "matrix":
        raise WrongUse("A matrix is not written in parts; convert it to lines first (shoal convert).")
    broken = next((item for item in schema.vocabulary if "\n" in item), None)
    if broken is not None:
        raise WrongUse(f"The item {broken!r} holds a line break, and parts are files of lines; rename it.")
    if layout.form == "long":
        lines = _numbered_lines(schema, parts, rows)
    else:
        lines = parts.sort(["items"]).map(lambda frame: _spelled(frame, schema), {LINE: pl.String})
    return Dataset(schema, lines, rows)


def header_of(schema: Baskets) -> str | None:
    """The first line of each file of baskets, in layouts that have one."""
    layout = parse_layout(schema.layout)
    if layout.form == "long":
        return ",".join(map(_cell, layout.columns or ("basket", "item")))
    return '"{}"'.format(layout.columns[0].replace('"', '""')) if layout.form == "column" else None


def _spelled(frame: pl.DataFrame, schema: Baskets) -> pl.DataFrame:
    """Baskets as lines."""
    baskets = baskets_in(frame, schema)
    spelling, labels = spelling_of(schema.vocabulary, parse_layout(schema.layout))
    text = "".join(spelling.texts(labels, baskets.indptr, baskets.items))
    return pl.DataFrame({LINE: text.split("\n")[:-1]}, schema={LINE: pl.String})


def _numbered_lines(schema: Baskets, parts: "Parts", rows: int) -> "Parts":
    """The rows of a long table: the number of the basket in canonical order, and the item."""
    keyed = parts.map(
        lambda frame: frame.with_columns(pl.col("items").alias(KEY)),
        {"items": pl.List(pl.Int32), KEY: pl.List(pl.Int32)},
    )
    ranges = ranges_of(keyed, rows, NUMBERED)
    begins = ranges.begins()
    types = {"basket": pl.Int64, "place": pl.Int64, LINE: pl.String}
    lines = ranges.parts.group(RANGE, lambda frame: _long_lines(frame, schema, begins), types)
    return lines.sort(["basket", "place"]).map(lambda frame: frame.select(LINE), {LINE: pl.String})


def _long_lines(frame: pl.DataFrame, schema: Baskets, begins: Rows) -> pl.DataFrame:
    """The rows of the baskets of one range; an empty basket has a row with an empty item."""
    begin = int(begins[frame[RANGE][0]])
    indptr, items = rows_of(frame.sort("items")["items"])
    lengths = np.diff(indptr)
    basket = begin + 1 + np.repeat(np.arange(len(lengths)), np.maximum(lengths, 1))
    codes = np.insert(items.astype(np.int64), indptr[:-1][lengths == 0], len(schema.vocabulary))
    labels = pl.Series([*map(_cell, schema.vocabulary), ""], dtype=pl.String)
    return pl.DataFrame(
        {"basket": basket, "place": codes, LINE: labels.gather(pl.Series(codes))}
    ).with_columns(pl.format("{},{}", "basket", LINE).alias(LINE))


def _cell(text: str) -> str:
    """A cell of delimited text."""
    return '"' + text.replace('"', '""') + '"' if set(text) & set('",\r\n') else text
