"""The cells that any class would be published with, and their losses, as arrays for the kernels."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from shoal.arrays import Codes, Floats, Rows
from shoal.data.domain import nominal
from shoal.data.published_syntax import range_text
from shoal.data.role import Role
from shoal.data.table import Column, Table
from shoal.measures._cell_loss import read_cells
from shoal.measures.loss import counted_loss, mean_over
from shoal.methods._full_domain._levels import texts_of
from shoal.methods._full_domain._losses import CellMeasure, column_losses
from shoal.methods.mondrian._publish import Form, axis_of

if TYPE_CHECKING:
    from shoal.kernels.annealing import Cells


@dataclass(frozen=True, slots=True, eq=False)
class Lossy:
    """A column with the loss of every cell that it can be published with."""

    place: Codes  # the place of each code in the order of the kernels
    form: Form  # how its classes are published
    nodes: Codes
    losses: Floats
    """`nodes`, `losses`: as in the kernels' `Cells`; one row per level."""
    missing: int  # the place of the missing value if mixing it with others loses everything; otherwise -1


def lossy(column: Column, form: Form, measure: CellMeasure, highest: int | None = None) -> Lossy:
    """The cells that a column can be published with, and their losses.

    `measure`: the measure of the losses of nodes; ranges and sets are measured by granularity. `highest`: the coarsest
    level of nodes that is allowed; by default, every level is.
    """
    place = axis_of(column, form).place
    if form == "nodes":
        return _by_nodes(column, place, measure, highest)
    by_place = np.argsort(place)
    present = int(column.domain.present)
    missing = -1 if column.domain.missing is None else int(place[column.domain.missing])
    if form == "ranges":
        labels = column.domain.labels
        first = labels[by_place[0]]
        texts = tuple(range_text(first, labels[code]) for code in by_place[:present].tolist())
        losses = np.zeros((1, len(place)))
        losses[0, :present] = _counted(column, texts)
    else:
        size = read_cells(column, column).size
        losses = (np.maximum(np.arange(len(place) + 1) - 1, 0) / max(size - 1, 1))[np.newaxis]
    return Lossy(place, form, np.zeros(losses.shape, dtype=np.int32), losses, missing)


def _by_nodes(column: Column, place: Codes, measure: CellMeasure, highest: int | None) -> Lossy:
    from shoal.kernels.annealing import FORBIDDEN

    assert column.hierarchy is not None
    tree = column.hierarchy
    by_place = np.argsort(place)
    leaves = tree.leaf_of(column.domain)[by_place]
    nodes = np.stack([tree.nodes_at(level)[leaves] for level in range(tree.height + 1)])
    known = column_losses((column,), (texts_of(column),), (measure,))[measure][0]
    losses = known.published[:, by_place].copy()
    if highest is not None:
        losses[highest + 1 :] = FORBIDDEN
    return Lossy(place, "nodes", nodes.astype(np.int32), losses, -1)


def _counted(column: Column, texts: tuple[str, ...]) -> Floats:
    """The loss of published texts, from the number of values that each may stand for."""
    everything = np.arange(len(texts), dtype=np.int32)
    return counted_loss(read_cells(column, Column(column.name, Role.QUASI, nominal(texts), everything)))


def importance(columns: Sequence[Column], measure: CellMeasure, weights: Mapping[str, float]) -> Floats:
    """How much the loss of each column counts: its weight in the measure times the given weight, scaled to sum to 1."""
    sizes = np.array([read_cells(column, column).size for column in columns])
    own = 1 - 1 / sizes if measure == "granularity" else np.ones(len(sizes))
    if not own.any():
        own = np.ones(len(sizes))
    counts: Floats = own * [weights.get(column.name, 1.0) for column in columns]
    shares: Floats = counts / counts.sum()
    return shares


def granularity_of(original: Table, published: Table) -> float:
    """The granularity of a published table: how much detail it keeps."""
    lost = [
        mean_over(original.rows, cells, counted_loss(cells))
        for cells in (read_cells(column, published.column(column.name)) for column in original.quasi)
    ]
    return 1 - float(importance(original.quasi, "granularity", {}) @ lost)


def kernel_cells(columns: Sequence[Column], known: Sequence[Lossy], counts: Floats, rows: Rows) -> "Cells":
    """The kernels' arrays for some rows of a table; `counts` says how much the loss of each column counts."""
    from shoal.kernels import annealing

    kinds = {"nodes": annealing.NODES, "ranges": annealing.RANGES, "sets": annealing.SETS}
    sizes = np.array([one.losses.size for one in known])
    codes = np.stack(
        [one.place[column.codes[rows]] for one, column in zip(known, columns, strict=True)], axis=1
    )
    facts: tuple[Any, ...] = (
        [kinds[one.form] for one in known],
        1 + np.concatenate([[0], np.cumsum(sizes + 1)[:-1]]),
        [one.losses.shape[1] for one in known],
        [len(one.losses) for one in known],
        [one.missing for one in known],
    )
    losses = [np.append(count, count * one.losses.ravel()) for count, one in zip(counts, known, strict=True)]
    return annealing.Cells(
        codes=np.ascontiguousarray(codes, dtype=np.int32),
        columns=np.ascontiguousarray(np.transpose(facts), dtype=np.int64),
        sets=np.array([place for place, one in enumerate(known) if one.form == "sets"], dtype=np.int64),
        nodes=np.concatenate([np.append(np.int32(0), one.nodes) for one in known]),
        losses=np.concatenate(losses),
    )
