"""How a table is finally generalized: parts of its tuples, each on its own vector, and the measures of the result."""

from dataclasses import dataclass, replace
from math import fsum
from typing import Any, TypeAlias

import numpy as np

from shoal.arrays import Codes, Counts, Mask, Rows
from shoal.data.domain import Domain, Kind, nominal
from shoal.data.published_syntax import SUPPRESSED
from shoal.data.role import Role
from shoal.data.table import Column, Table
from shoal.methods._full_domain._levels import Levels
from shoal.methods._full_domain._losses import CellMeasure
from shoal.methods._full_domain._table_to_generalize import Problem
from shoal.methods._full_domain._tuples import ROOM, consecutive
from shoal.methods.table_method import published


@dataclass(frozen=True, slots=True, eq=False)
class Part:
    """The tuples that are published on one vector."""

    levels: Levels
    mask: Mask


@dataclass(frozen=True, slots=True, eq=False)
class Placed:
    """The levels on which each tuple is published."""

    level: Rows  # for each column, the level of each tuple
    shown: Mask  # the tuples that are published


@dataclass(frozen=True, slots=True, eq=False)
class Published(Placed):
    """The levels of each tuple, and its class by the texts that are published for it."""

    number: Rows
    count: int
    """`number`, `count`: the class of each tuple that is published, and the number of classes."""


def shown_by(problem: Problem, parts: tuple[Part, ...]) -> Mask:
    """The tuples that some part publishes."""
    shown = np.zeros(len(problem.tuples), dtype=np.bool_)
    for part in parts:
        shown |= part.mask
    return shown


Recoding: TypeAlias = tuple[Part, ...] | Placed
"""How a table is generalized: in parts with one vector each, or with levels for each tuple."""


def placed(problem: Problem, parts: Recoding) -> Placed:
    """The levels of each tuple of a recoding."""
    if isinstance(parts, Placed):
        return parts
    vectors = np.zeros((len(problem.lattice.names), len(parts) + 1), dtype=np.int64)
    place = np.full(len(problem.tuples), len(parts), dtype=np.int64)
    for number, part in enumerate(parts):
        vectors[:, number] = part.levels
        place[part.mask] = number
    return Placed(vectors[:, place], shown_by(problem, parts))


def vectors_of(problem: Problem, parts: Recoding) -> list[tuple[Levels, int]]:
    """The vectors of a recoding, and the number of rows that are published on each."""
    counts = problem.tuples.counts
    if not isinstance(parts, Placed):
        return [(part.levels, int(counts[part.mask].sum())) for part in parts]
    vectors, place = np.unique(parts.level[:, parts.shown], axis=1, return_inverse=True)
    rows = np.bincount(place.ravel(), weights=counts[parts.shown]).astype(np.int64)
    return list(zip(map(tuple, vectors.T.tolist()), rows.tolist(), strict=True))


def published_classes(problem: Problem, parts: Recoding) -> Published:
    """The classes of a recoding; tuples with the same texts are one class, whatever vectors they are on."""
    tuples, where = problem.tuples, placed(problem, parts)
    numbers = np.zeros(int(where.shown.sum()), dtype=np.int64)
    count = 1
    for place, texts in enumerate(problem.texts):
        size = len(texts.labels)
        if count * size >= 2**ROOM:
            numbers, count = consecutive(numbers, count)
        numbers *= size
        numbers += texts.places[where.level[place], tuples.codes[place]][where.shown]
        count *= size
    numbers, count = consecutive(numbers, count)
    return Published(where.level, where.shown, numbers, count)


def scores(problem: Problem, parts: Recoding) -> dict[str, float]:
    """Every measure of a recoding, equal to what `shoal.measures` gives for the release."""
    published = published_classes(problem, parts)
    found = {measure: loss_of(problem, measure, published) for measure in problem.losses}
    plain: dict[str, float] = {str(name): value for name, value in found.items()}
    for name in ("granularity", "precision"):
        if name in plain:
            plain[name] = 1 - plain[name]
    sizes = class_sizes(problem, published)
    suppressed = problem.tuples.rows - int(sizes.sum())
    plain["discernibility"] = int(np.dot(sizes, sizes)) + suppressed * problem.tuples.rows
    if problem.k is not None and len(sizes):
        plain["c_avg"] = int(sizes.sum()) / len(sizes) / problem.k
    plain["classes"] = len(sizes)
    plain["suppressed_rows"] = suppressed
    return plain


def solution_note(problem: Problem, parts: Recoding) -> dict[str, Any]:
    """Every measure of a solution, with its levels; with several vectors, their number and ranges of levels."""
    vectors = vectors_of(problem, parts)
    if len(vectors) == 1 and not isinstance(parts, Placed):
        return {"levels": problem.lattice.named(vectors[0][0]), **scores(problem, parts)}
    used = [(min(levels), max(levels)) for levels in zip(*(levels for levels, _ in vectors), strict=True)]
    ranges = [low if low == high else f"{low} to {high}" for low, high in used]
    levels = dict(zip(problem.lattice.names, ranges, strict=True))
    return {"levels": levels, "parts": len(vectors), **scores(problem, parts)}


def class_sizes(problem: Problem, published: Published) -> Counts:
    """The number of rows of each class."""
    counts = problem.tuples.counts[published.shown]
    return np.bincount(published.number, weights=counts, minlength=published.count).astype(np.int64)


def loss_of(problem: Problem, measure: CellMeasure, published: Placed, *, weighted: bool = False) -> float:
    """The loss by a measure: a mean over all rows of the loss of their cells, summed over the columns."""
    tuples = problem.tuples
    parts = []
    for place, (name, loss) in enumerate(zip(problem.lattice.names, problem.losses[measure], strict=True)):
        codes = tuples.codes[place]
        cells = loss.published[published.level[place], codes]
        lost = np.where(published.shown, cells, loss.suppressed[codes]) * tuples.counts
        weight = problem.weights.get(name, 1.0) if weighted else 1.0
        parts.append(weight * loss.weight * float(lost.sum()) / tuples.rows)
    return fsum(parts)


def value_of(problem: Problem, measure: str, parts: tuple[Part, ...]) -> float:
    """The value that a search minimizes, for a table in parts."""
    if measure in problem.losses:
        lost = (lost_of(problem, measure, part) for part in parts)  # type: ignore[arg-type]
        return nothing_published(problem, measure) + fsum(lost)  # type: ignore[arg-type]
    return scores(problem, parts).get(measure, float("inf"))


def nothing_published(problem: Problem, measure: CellMeasure) -> float:
    """The loss by a measure of a table whose rows are all suppressed."""
    lost = []
    for place, (name, loss) in enumerate(zip(problem.lattice.names, problem.losses[measure], strict=True)):
        gone = float((loss.suppressed[problem.tuples.codes[place]] * problem.tuples.counts).sum())
        lost.append(problem.weights.get(name, 1.0) * loss.weight * gone)
    return fsum(lost) / problem.tuples.rows


def lost_of(problem: Problem, measure: CellMeasure, part: Part) -> float:
    """The change in a table's loss if a part is published instead of suppressed; usually negative."""
    some = np.flatnonzero(part.mask)
    counts = problem.tuples.counts[some].astype(np.float64)
    lost = []
    for place, (name, loss) in enumerate(zip(problem.lattice.names, problem.losses[measure], strict=True)):
        change = (loss.published[part.levels[place]] - loss.suppressed)[problem.tuples.codes[place][some]]
        lost.append(problem.weights.get(name, 1.0) * loss.weight * float((change * counts).sum()))
    return fsum(lost) / problem.tuples.rows


def publish(problem: Problem, parts: Recoding, *, keep_suppressed: bool) -> tuple[Table, Rows, int]:
    """Make the published table of a recoding.

    `keep_suppressed`: publish suppressed rows too, with ``*`` in every cell, including insensitive ones: readers can
    tell which rows were suppressed, so that nothing may distinguish these from each other. Otherwise they are left
    out. Returns the table in canonical order, the original row of each published one, and the number of suppressed
    rows.
    """
    tuples = problem.tuples
    classes = published_classes(problem, parts)
    kept: Mask = classes.shown[tuples.number]
    rows = np.arange(tuples.rows) if keep_suppressed else np.flatnonzero(kept)
    table = problem.table.take(rows)
    here, shown = tuples.number[rows], kept[rows]
    quasi = {}
    for place, (column, texts) in enumerate(zip(problem.table.quasi, problem.texts, strict=True)):
        cells = texts.places[classes.level[place], tuples.codes[place]][here]
        labels = texts.labels
        if not shown.all():
            labels = labels if SUPPRESSED in labels else (*labels, SUPPRESSED)
            cells = np.where(shown, cells, labels.index(SUPPRESSED))
        quasi[column.name] = published_column(column, labels, cells)
    if not shown.all():
        table = Table(
            tuple(
                _starred(column, shown) if column.role in (Role.SENSITIVE, Role.INSENSITIVE) else column
                for column in table.columns
            )
        )
    made, order = published(table, quasi)
    return made, rows[order], int((~kept).sum())


def published_column(column: Column, labels: tuple[str, ...], cells: Rows) -> Column:
    """A published column whose domain has the texts that occur; the missing value comes last, as in every domain."""
    used = np.flatnonzero(np.bincount(cells, minlength=len(labels)))
    kept = [int(place) for place in used if labels[place]]
    missing = [int(place) for place in used if not labels[place]]
    code = np.zeros(len(labels), dtype=np.int32)
    code[kept + missing] = np.arange(len(used), dtype=np.int32)
    texts = tuple(labels[place] for place in kept + missing)
    domain = Domain(Kind.NOMINAL, texts, missing=len(texts) - 1) if missing else nominal(texts)
    return replace(column, domain=domain, codes=code[cells], hierarchy=None)


def _starred(column: Column, shown: Mask) -> Column:
    """A column with ``*`` where a row is suppressed."""
    labels = (*column.domain.labels, SUPPRESSED)
    cells: Codes = np.where(shown, column.codes, len(labels) - 1)
    return published_column(column, labels, cells.astype(np.int64))
