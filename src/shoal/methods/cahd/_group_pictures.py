"""Pictures of groups for the report: the matrix before and after ordering, and the degrees of the groups."""

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import numpy as np

from shoal.arrays import Items, Rows
from shoal.data._basket_orders import Distinct, spread_of
from shoal.data.groups import Groups
from shoal.methods.cahd._split_baskets import Sheet

if TYPE_CHECKING:
    from shoal.kernels.band import Placed

ROWS, COLUMNS = 96, 64
"""The most cells of a picture, down and across."""

DEGREES = 20
"""How many bars the histogram of degrees has before the last, which counts all larger degrees."""


def before_and_after(sheet: Sheet, rows: Rows, name: str) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """The matrix of baskets and public items in the order of the input, and in the order of the method.

    In both pictures, items are ordered from left to right by the mean place of the baskets that hold them.

    Returns bandwidth and profile before and after, and the pictures.
    """
    from shoal.kernels.band import placed

    distinct = sheet.distinct
    before, after = (placed(order, len(distinct)) for order in (distinct.of_row, distinct.of_row[rows]))
    band_before, _ = spread_of(distinct, before)
    band_after, means = spread_of(distinct, after)
    bands = {"before": asdict(band_before), "after": asdict(band_after)}
    if not len(distinct.items):
        return bands, []
    column = np.empty(distinct.width, dtype=np.int32)
    column[np.argsort(means, kind="stable")] = np.arange(distinct.width, dtype=np.int32)
    return bands, [
        _matrix("Baskets in the order of the input", distinct, before, column),
        _matrix(f"Baskets in the order {name}", distinct, after, column),
    ]


def _matrix(title: str, distinct: Distinct, order: "Placed", column: Items) -> dict[str, Any]:
    """A sparse matrix as a picture with few cells, each of which counts the entries that it covers."""
    from shoal.kernels.band import binned

    rows = len(order.places)
    high, wide = min(ROWS, rows), min(COLUMNS, distinct.width)
    cells = binned(distinct.indptr, distinct.items, order, column, high, wide)
    return {
        "kind": "matrix",
        "title": title,
        "caption": "The stronger the color of a cell, the more of its baskets (down) hold its items (across).",
        "rows": rows,
        "columns": distinct.width,
        "cells": cells.tolist(),
    }


def degrees(groups: Groups, promised: int) -> list[dict[str, Any]]:
    """The picture of the groups' degrees: their sizes over their largest counts of a sensitive item."""
    return histogram(degree_bars(groups, promised), promised)


def degree_bars(groups: Groups, promised: int) -> list[int]:
    """How many groups with a sensitive item reach each degree from the promised one on."""
    filled = np.flatnonzero(np.diff(groups.sensitive_indptr))
    if not len(filled):
        return [0] * (DEGREES + 1)
    most = np.maximum.reduceat(groups.sensitive_counts, groups.sensitive_indptr[:-1][filled])
    reached = groups.sizes[filled] // most
    bars: list[int] = np.bincount(np.minimum(reached - promised, DEGREES), minlength=DEGREES + 1).tolist()
    return bars


def histogram(bars: list[int], promised: int) -> list[dict[str, Any]]:
    """The histogram of degree bars; no picture if no group has a sensitive item."""
    if not any(bars):
        return []
    last = max(place for place, bar in enumerate(bars) if bar)
    labels = [str(promised + place) for place in range(DEGREES)] + [f"{promised + DEGREES}+"]
    return [
        {
            "kind": "histogram",
            "title": "Degree of the groups",
            "caption": "Groups with a sensitive item, by the degree that they reach, rounded down; "
            f"{promised} is promised.",
            "unit": "group",
            "labels": labels[: last + 1],
            "counts": bars[: last + 1],
        }
    ]
