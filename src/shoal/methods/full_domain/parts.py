"""How a table is generalised in the end: parts of its tuples, each by a vector of its own, and the measures of that."""

from dataclasses import dataclass
from math import fsum

import numpy as np

from shoal.arrays import Counts, Mask, Rows
from shoal.methods.full_domain.lattice import Levels
from shoal.methods.full_domain.losses import CellMeasure
from shoal.methods.full_domain.problem import Problem
from shoal.methods.full_domain.tuples import consecutive


@dataclass(frozen=True, slots=True, eq=False)
class Part:
    """Tuples that are published on one vector."""

    levels: Levels
    mask: Mask


@dataclass(frozen=True, slots=True, eq=False)
class Published:
    """Classes of tuples by the texts under which they are published.

    Parameters
    ----------
    level
        For each column, the level of each tuple.
    told
        The tuples that are published.
    number, count
        The class of each tuple that is published, and the number of classes.
    """

    level: Rows
    told: Mask
    number: Rows
    count: int


def published_classes(problem: Problem, parts: tuple[Part, ...]) -> Published:
    """The classes of a table in parts; tuples under the same texts are one class, whatever vector made them."""
    tuples = problem.tuples
    level = np.zeros((len(problem.lattice.names), len(tuples)), dtype=np.int64)
    told = np.zeros(len(tuples), dtype=np.bool_)
    for part in parts:
        level[:, part.mask] = np.array(part.levels)[:, None]
        told |= part.mask
    numbers = np.zeros(int(told.sum()), dtype=np.int64)
    count = 1
    for place, texts in enumerate(problem.texts):
        cells = texts.places[level[place][told], tuples.codes[place][told]]
        numbers, count = consecutive(numbers * len(texts.labels) + cells, count * len(texts.labels))
    return Published(level, told, numbers, count if len(numbers) else 0)


def scores(problem: Problem, parts: tuple[Part, ...]) -> dict[str, float]:
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


def loss_of(problem: Problem, measure: CellMeasure, published: Published, *, weighted: bool = False) -> float:
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
    """What a search minimises, of a table in parts."""
    if measure in problem.losses:
        return loss_of(problem, measure, published_classes(problem, parts), weighted=True)  # type: ignore[arg-type]
    return scores(problem, parts).get(measure, float("inf"))
