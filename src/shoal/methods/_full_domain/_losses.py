"""The loss of each cell on each level by each measure, looked up from the measures themselves."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np

from shoal.arrays import Counts, Floats
from shoal.data.domain import nominal
from shoal.data.role import Role
from shoal.data.table import Column
from shoal.measures._cell_loss import Cells, read_cells
from shoal.measures.entropy import rows_meant
from shoal.measures.loss import counted_loss, loss, penalty
from shoal.methods._full_domain._levels import Texts

CellMeasure: TypeAlias = Literal["lm", "ncp", "granularity", "entropy", "precision"]
"""Measures that are a weighted sum of the losses of single cells."""

CELL_MEASURES: tuple[CellMeasure, ...] = ("lm", "ncp", "granularity", "entropy", "precision")


@dataclass(frozen=True, slots=True, eq=False)
class ColumnLoss:
    """The loss of the cells of one column by one measure."""

    published: Floats  # the loss of each code (columns) on each level (rows)
    suppressed: Floats  # the loss of each code where its row is suppressed
    weight: float  # how much the column counts in the measure


def column_losses(
    columns: tuple[Column, ...],
    texts: tuple[Texts, ...],
    measures: tuple[CellMeasure, ...] = CELL_MEASURES,
    times: Counts | None = None,
) -> Mapping[CellMeasure, tuple[ColumnLoss, ...]]:
    """The losses of all columns by several measures.

    Every text that a level can publish is parsed once, by the same reader that the measures use, so that what a search
    minimizes is what is measured in the end.

    `times`: how many rows each row of the columns stands for; one by default.
    """
    found: dict[CellMeasure, list[ColumnLoss]] = {measure: [] for measure in measures}
    for column, known in zip(columns, texts, strict=True):
        everything = np.arange(len(known.labels), dtype=np.int32)
        cells = read_cells(column, Column(column.name, Role.QUASI, nominal(known.labels), everything))
        height = max(len(known.places) - 1, 1)
        for measure in measures:
            weight = 1 - 1 / cells.size if measure == "granularity" else 1.0
            if measure == "entropy":
                found[measure].append(_bits_lost(column, known, times))
            else:
                published = _loss_of(measure, cells, height)[known.places]
                found[measure].append(ColumnLoss(published, np.ones(len(column.domain)), weight))
    if "granularity" in found:
        found["granularity"] = _normalized(found["granularity"])
    if "precision" in found:
        found["precision"] = _normalized(found["precision"])
    return {measure: tuple(losses) for measure, losses in found.items()}


def _loss_of(measure: CellMeasure, cells: Cells, height: int) -> Floats:
    if measure == "lm":
        return loss(cells)
    if measure == "ncp":
        return penalty(cells)
    if measure == "granularity":
        return counted_loss(cells)
    return np.where(cells.suppressed, 1.0, cells.levels / height)


def _bits_lost(column: Column, texts: Texts, times: Counts | None) -> ColumnLoss:
    """The entropy loss: log₂ of the rows that a cell's text may stand for, less log₂ of the rows with its value."""
    everything = np.arange(len(texts.labels), dtype=np.int32)
    held = np.bincount(column.codes, weights=times, minlength=len(column.domain))
    meant = rows_meant(column, Column(column.name, Role.QUASI, nominal(texts.labels), everything), held)
    bits = np.log2(np.maximum(meant, 1))
    own = np.log2(np.maximum(held, 1))
    return ColumnLoss(bits[texts.places] - own, np.log2(held.sum()) - own, 1.0)


def _normalized(losses: list[ColumnLoss]) -> list[ColumnLoss]:
    """Scale the weights so that they sum to 1; equal weights if all are zero."""
    total = sum(one.weight for one in losses)
    return [
        ColumnLoss(one.published, one.suppressed, one.weight / total if total else 1 / len(losses))
        for one in losses
    ]
