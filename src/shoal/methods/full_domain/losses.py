"""What each cell loses on each level, by each measure: the numbers of the measures themselves, looked up."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np

from shoal.arrays import Floats
from shoal.data.domain import nominal
from shoal.data.role import Role
from shoal.data.table import Column
from shoal.measures.cells import Cells, read_cells
from shoal.measures.entropy import Meanings
from shoal.measures.loss import counted_loss, loss, penalty
from shoal.methods.full_domain.texts import Texts

CellMeasure: TypeAlias = Literal["lm", "ncp", "granularity", "entropy", "precision"]
"""Measures that are a weighted sum of what single cells lose."""

CELL_MEASURES: tuple[CellMeasure, ...] = ("lm", "ncp", "granularity", "entropy", "precision")


@dataclass(frozen=True, slots=True, eq=False)
class ColumnLoss:
    """The loss of the cells of one column by one measure.

    Parameters
    ----------
    published
        The loss of each code (columns) on each level (rows).
    suppressed
        The loss of each code where its row is suppressed.
    weight
        How much the column counts in the measure.
    """

    published: Floats
    suppressed: Floats
    weight: float


def column_losses(
    columns: tuple[Column, ...], texts: tuple[Texts, ...], measures: tuple[CellMeasure, ...] = CELL_MEASURES
) -> Mapping[CellMeasure, tuple[ColumnLoss, ...]]:
    """The losses of all columns by several measures.

    Every text that a level can publish is read by the reader that the measures use, once, so that what a search
    minimises is what is measured at the end.
    """
    found: dict[CellMeasure, list[ColumnLoss]] = {measure: [] for measure in measures}
    for column, known in zip(columns, texts, strict=True):
        everything = np.arange(len(known.labels), dtype=np.int32)
        cells = read_cells(column, Column(column.name, Role.QUASI, nominal(known.labels), everything))
        height = max(len(known.places) - 1, 1)
        for measure in measures:
            weight = 1 - 1 / cells.size if measure == "granularity" else 1.0
            if measure == "entropy":
                found[measure].append(_bits_lost(column, known))
            else:
                published = _loss_of(measure, cells, height)[known.places]
                found[measure].append(ColumnLoss(published, np.ones(len(column.domain)), weight))
    if "granularity" in found:
        found["granularity"] = _normalised(found["granularity"])
    if "precision" in found:
        found["precision"] = _normalised(found["precision"])
    return {measure: tuple(losses) for measure, losses in found.items()}


def _loss_of(measure: CellMeasure, cells: Cells, height: int) -> Floats:
    if measure == "lm":
        return loss(cells)
    if measure == "ncp":
        return penalty(cells)
    if measure == "granularity":
        return counted_loss(cells)
    return np.where(cells.suppressed, 1.0, cells.levels / height)


def _bits_lost(column: Column, texts: Texts) -> ColumnLoss:
    """A cell loses log₂ of the rows that its text may stand for, less log₂ of the rows of its value."""
    meanings = Meanings(column)
    rows = [max(meanings.rows_of(text), 1) for text in texts.labels]
    told = np.log2(np.array(rows, dtype=np.float64))
    own = np.log2(np.maximum(meanings.counts, 1))
    return ColumnLoss(told[texts.places] - own, np.log2(len(column.codes)) - own, 1.0)


def _normalised(losses: list[ColumnLoss]) -> list[ColumnLoss]:
    """Weights that sum to 1; equal ones where none has any."""
    total = sum(one.weight for one in losses)
    return [
        ColumnLoss(one.published, one.suppressed, one.weight / total if total else 1 / len(losses))
        for one in losses
    ]
