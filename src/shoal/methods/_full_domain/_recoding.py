"""How a table is generalized in the end: parts of its tuples, each by a vector of its own, and the measures of that."""

from dataclasses import dataclass
from math import fsum
from typing import TypeAlias

import numpy as np

from shoal.arrays import Counts, Mask, Rows
from shoal.methods._full_domain._levels import Levels
from shoal.methods._full_domain._losses import CellMeasure
from shoal.methods._full_domain._problem import Problem
from shoal.methods._full_domain._tuples import ROOM, consecutive


@dataclass(frozen=True, slots=True, eq=False)
class Part:
    """Tuples that are published on one vector."""

    levels: Levels
    mask: Mask


@dataclass(frozen=True, slots=True, eq=False)
class Placed:
    """Where tuples are published."""

    level: Rows  # for each column, the level of each tuple
    told: Mask  # the tuples that are published


@dataclass(frozen=True, slots=True, eq=False)
class Published(Placed):
    """Classes of tuples by the texts under which they are published."""

    number: Rows
    count: int
    """`number`, `count`: the class of each tuple that is published, and the number of classes."""


def told_by(problem: Problem, parts: tuple[Part, ...]) -> Mask:
    """The tuples that are published."""
    told = np.zeros(len(problem.tuples), dtype=np.bool_)
    for part in parts:
        told |= part.mask
    return told


Recoding: TypeAlias = tuple[Part, ...] | Placed
"""How a table is generalized: parts of its tuples with a vector each, or tuples with levels of their own."""


def placed(problem: Problem, parts: Recoding) -> Placed:
    """The levels of the tuples of a table in parts."""
    if isinstance(parts, Placed):
        return parts
    vectors = np.zeros((len(problem.lattice.names), len(parts) + 1), dtype=np.int64)
    place = np.full(len(problem.tuples), len(parts), dtype=np.int64)
    for number, part in enumerate(parts):
        vectors[:, number] = part.levels
        place[part.mask] = number
    return Placed(vectors[:, place], told_by(problem, parts))


def vectors_of(problem: Problem, parts: Recoding) -> list[tuple[Levels, int]]:
    """The vectors of levels, and the rows that are published on each."""
    counts = problem.tuples.counts
    if not isinstance(parts, Placed):
        return [(part.levels, int(counts[part.mask].sum())) for part in parts]
    vectors, place = np.unique(parts.level[:, parts.told], axis=1, return_inverse=True)
    rows = np.bincount(place.ravel(), weights=counts[parts.told]).astype(np.int64)
    return list(zip(map(tuple, vectors.T.tolist()), rows.tolist(), strict=True))


def published_classes(problem: Problem, parts: Recoding) -> Published:
    """The classes of a table in parts; tuples under the same texts are one class, whatever vector made them."""
    tuples, where = problem.tuples, placed(problem, parts)
    numbers = np.zeros(int(where.told.sum()), dtype=np.int64)
    count = 1
    for place, texts in enumerate(problem.texts):
        size = len(texts.labels)
        if count * size >= 2**ROOM:
            numbers, count = consecutive(numbers, count)
        numbers *= size
        numbers += texts.places[where.level[place], tuples.codes[place]][where.told]
        count *= size
    numbers, count = consecutive(numbers, count)
    return Published(where.level, where.told, numbers, count)


def scores(problem: Problem, parts: Recoding) -> dict[str, float]:
    """Every measure of a table in parts: what `shoal.measures` gives for the release."""
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


def class_sizes(problem: Problem, published: Published) -> Counts:
    """The rows of each class."""
    counts = problem.tuples.counts[published.told]
    return np.bincount(published.number, weights=counts, minlength=published.count).astype(np.int64)


def loss_of(problem: Problem, measure: CellMeasure, published: Placed, *, weighted: bool = False) -> float:
    """The mean over all rows of what the cells lose by a measure, summed over the columns."""
    tuples = problem.tuples
    parts = []
    for place, (name, loss) in enumerate(zip(problem.lattice.names, problem.losses[measure], strict=True)):
        codes = tuples.codes[place]
        cells = loss.published[published.level[place], codes]
        lost = np.where(published.told, cells, loss.suppressed[codes]) * tuples.counts
        weight = problem.weights.get(name, 1.0) if weighted else 1.0
        parts.append(weight * loss.weight * float(lost.sum()) / tuples.rows)
    return fsum(parts)


def value_of(problem: Problem, measure: str, parts: tuple[Part, ...]) -> float:
    """What a search minimizes, of a table in parts."""
    if measure in problem.losses:
        lost = (lost_of(problem, measure, part) for part in parts)  # type: ignore[arg-type]
        return nothing_published(problem, measure) + fsum(lost)  # type: ignore[arg-type]
    return scores(problem, parts).get(measure, float("inf"))


def nothing_published(problem: Problem, measure: CellMeasure) -> float:
    """What a table loses by a measure whose rows are all suppressed."""
    lost = []
    for place, (name, loss) in enumerate(zip(problem.lattice.names, problem.losses[measure], strict=True)):
        gone = float((loss.suppressed[problem.tuples.codes[place]] * problem.tuples.counts).sum())
        lost.append(problem.weights.get(name, 1.0) * loss.weight * gone)
    return fsum(lost) / problem.tuples.rows


def lost_of(problem: Problem, measure: CellMeasure, part: Part) -> float:
    """How much more a table loses by a measure if a part of it is published instead of suppressed; mostly below 0."""
    some = np.flatnonzero(part.mask)
    counts = problem.tuples.counts[some].astype(np.float64)
    lost = []
    for place, (name, loss) in enumerate(zip(problem.lattice.names, problem.losses[measure], strict=True)):
        change = (loss.published[part.levels[place]] - loss.suppressed)[problem.tuples.codes[place][some]]
        lost.append(problem.weights.get(name, 1.0) * loss.weight * float((change * counts).sum()))
    return fsum(lost) / problem.tuples.rows
