"""What the report shows of groups: the matrix before and after it was ordered, and the degrees of the groups."""

from dataclasses import asdict
from typing import Any

import numpy as np

from shoal.arrays import AnyArray, Indptr, Items, Rows
from shoal.data.basket_orders import band_of, taken
from shoal.data.groups import Groups
from shoal.methods.cahd.sheet import Sheet

ROWS, COLUMNS = 96, 64
"""Cells of a picture, at most."""

DEGREES = 20
"""Bars of the histogram of degrees; the largest ones share the last."""


def matrix(title: str, caption: str, indptr: Indptr, items: Items, width: int) -> dict[str, Any]:
    """A sparse matrix as a picture of few cells: how many entries each of them covers."""
    rows = len(indptr) - 1
    high, wide = min(ROWS, rows), min(COLUMNS, width)
    row = np.repeat(np.arange(rows, dtype=np.int64), np.diff(indptr))
    cells = np.bincount(
        (row * high // rows) * wide + items.astype(np.int64) * wide // width, minlength=high * wide
    )
    return {
        "kind": "matrix",
        "title": title,
        "caption": caption,
        "rows": rows,
        "columns": width,
        "cells": cells.reshape(high, wide).tolist(),
    }


def before_and_after(sheet: Sheet, rows: Rows, name: str) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """The matrix of baskets and public items in the order of the input, and in that of the method.

    Items stand, from left to right, by the mean place of the baskets that hold them, in both pictures.

    Returns
    -------
    Bandwidth and profile before and after, and the pictures.
    """
    distinct = sheet.distinct
    after_indptr, places = taken(distinct.indptr, distinct.of_row[rows])
    after: AnyArray = distinct.items[places]
    before_indptr, places = taken(distinct.indptr, distinct.of_row)
    before: AnyArray = distinct.items[places]
    bands = {
        "before": asdict(band_of(before_indptr, before, distinct.width)),
        "after": asdict(band_of(after_indptr, after, distinct.width)),
    }
    if not len(distinct.items):
        return bands, []
    place = np.repeat(np.arange(len(rows), dtype=np.float64), np.diff(after_indptr))
    held = np.bincount(after, minlength=distinct.width)
    means = np.bincount(after, place, distinct.width) / np.maximum(held, 1)
    column = np.empty(distinct.width, dtype=np.int32)
    column[np.argsort(means, kind="stable")] = np.arange(distinct.width, dtype=np.int32)
    words = "A cell is the darker, the more baskets (down) of it hold the items (across) of it."
    return bands, [
        matrix("Baskets in the order of the input", words, before_indptr, column[before], distinct.width),
        matrix(f"Baskets in the order {name}", words, after_indptr, column[after], distinct.width),
    ]


def degrees(groups: Groups, promised: int) -> list[dict[str, Any]]:
    """How many groups reach which degree: their size over the largest count of a sensitive item."""
    filled = np.flatnonzero(np.diff(groups.sensitive_indptr))
    if not len(filled):
        return []
    most = np.maximum.reduceat(groups.sensitive_counts, groups.sensitive_indptr[:-1][filled])
    reached = groups.sizes[filled] // most
    bars = np.bincount(np.minimum(reached - promised, DEGREES), minlength=DEGREES + 1)
    last = int(np.flatnonzero(bars)[-1])
    labels = [str(promised + place) for place in range(DEGREES)] + [f"{promised + DEGREES}+"]
    return [
        {
            "kind": "histogram",
            "title": "Degree of the groups",
            "caption": "Groups with a sensitive item, by the degree that they reach, rounded down; "
            f"{promised} is promised.",
            "unit": "group",
            "labels": labels[: last + 1],
            "counts": bars[: last + 1].tolist(),
        }
    ]
