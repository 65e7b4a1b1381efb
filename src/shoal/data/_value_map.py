"""The value map: how each value of the original is published, for the owner of the data alone."""

import numpy as np
import polars as pl

from shoal.arrays import Rows
from shoal.data.table import Column, Table

LEFT_OUT = "(row left out)"


def value_map(original: Table, published: Table, rows: Rows) -> pl.DataFrame:
    """For each column and value: what is published instead, and in how many rows; unchanged columns are omitted.

    `rows`: for each published row, the row of the original it stands for. Other rows of the original were left out.
    """
    known = set(original.names)
    frames = [
        _mapped(original.column(column.name), column, rows)
        for column in published.columns
        if column.name in known and _changed(original.column(column.name), column, rows)
    ]
    schema = {"column": pl.String, "value": pl.String, "published": pl.String, "rows": pl.Int64}
    return pl.concat([pl.DataFrame(schema=schema), *frames])


def _changed(original: Column, published: Column, rows: Rows) -> bool:
    before = np.array(original.domain.labels, dtype=object)[original.codes]
    after = np.array(published.domain.labels, dtype=object)[published.codes]
    return len(rows) < len(before) or bool((before[rows] != after).any())


def _mapped(original: Column, published: Column, rows: Rows) -> pl.DataFrame:
    left_out = len(published.domain.labels)
    cells = np.full(len(original.codes), left_out, dtype=np.int64)
    cells[rows] = published.codes
    pairs, counts = np.unique(np.stack((original.codes, cells)), axis=1, return_counts=True)
    labels = (*published.domain.labels, LEFT_OUT)
    return pl.DataFrame(
        {
            "column": [original.name] * len(counts),
            "value": [original.domain.labels[code] for code in pairs[0].tolist()],
            "published": [labels[code] for code in pairs[1].tolist()],
            "rows": counts,
        }
    )
