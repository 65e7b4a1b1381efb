"""Rows that no vector can publish by themselves, joined to classes that are published."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from shoal.arrays import AnyArray, Counts, Floats, Mask, Rows
from shoal.data.group_statistics import GroupStatistics, Histogram
from shoal.methods._full_domain._facts import Facts
from shoal.methods._full_domain._losses import CellMeasure
from shoal.methods._full_domain._objective import Minimized
from shoal.methods._full_domain._problem import Problem
from shoal.methods._full_domain._recoding import Part
from shoal.methods._full_domain._tuples import Grouping, consecutive
from shoal.models._population import PopulationModel

CANDIDATES = (16, 64, 256)
"""How many classes are asked at a time whether they may take a row in, the cheapest first."""

MOST = 20_000
"""Tuples beyond which joining them one by one would take too long."""

CELLS = 20_000_000
"""Counts of sensitive values of classes that may be held at once."""


@dataclass(slots=True, eq=False)
class Classes:
    """The classes of a table in parts, while rows are joined to them.

    Parameters
    ----------
    of_tuple
        The class of each tuple; -1 for one that is not published.
    levels
        The level of each class (rows) in each column.
    first
        A tuple of each class.
    sizes
        The rows of each class.
    """

    of_tuple: Rows
    levels: Rows
    first: Rows
    sizes: Counts


@dataclass(frozen=True, slots=True, eq=False)
class Joining:
    """What it costs to join a tuple to each class, and the levels that both would be published on."""

    costs: Floats
    levels: Rows


class Absorption:
    """Joins tuples that are left to classes, each to the one where that costs least.

    The class moves as a whole to the finest levels on which it and the tuple look the same, so that no class loses
    rows and every other one stays as it is. Where a promise is kept by the union of a class that keeps it and one that
    does not (`absorbs`), the outcome is safe by that; every other promise is asked.

    Parameters
    ----------
    measure
        What is minimized.
    facts, overall
        The sensitive values of the tuples, and the distributions that classes are compared with.
    late
        Whether it is time to stop.
    """

    def __init__(
        self,
        problem: Problem,
        measure: Minimized,
        facts: Facts,
        overall: Mapping[str, Counts],
        late: Callable[[], bool],
    ) -> None:
        self._problem = problem
        self._facts = facts
        self._overall = overall
        self._late = late
        self._asked = tuple(model for model in problem.models if not (model.monotone and model.absorbs))
        self._gains = measure != "c_avg"
        by: CellMeasure = "lm" if measure == "discernibility" or measure == "c_avg" else measure
        lattice = problem.lattice
        self._losses = []
        for name, loss in zip(lattice.names, problem.losses[by], strict=True):
            weight = loss.weight * problem.weights.get(name, 1.0)
            self._losses.append((weight * loss.published, weight * loss.suppressed))
        self._nodes = [
            np.stack(nodes[: most + 1]) for nodes, most in zip(lattice.nodes, lattice.highest, strict=True)
        ]
        self._counted: dict[str, AnyArray] = {}

    @property
    def possible(self) -> bool:
        """Whether joining is safe: not where a missing cell matches classes that may move away from it.

        Nor where promises are asked about persons: counts of those who are in both a class and a tuple do not add up.
        """
        persons = self._problem.table.entity is not None and len(self._asked) > 0
        return not (
            persons
            or self._problem.wildcards
            or any(isinstance(model, PopulationModel) for model in self._asked)
        )

    def joined(self, parts: tuple[Part, ...], limit: int) -> tuple[Part, ...]:
        """The parts with tuples that are left joined to their classes.

        Every tuple is joined that loses less that way than suppressed, and then the cheapest others until no more than
        so many rows are left.
        """
        left = ~np.any([part.mask for part in parts], axis=0)
        waiting = np.flatnonzero(left)
        if not len(waiting) or len(waiting) > MOST or not self.possible:
            return parts
        classes = _classes(self._problem, parts)
        if not self._count(classes):
            return parts
        counts = self._problem.tuples.counts
        remaining = int(counts[waiting].sum())
        dear: list[tuple[float, int]] = []
        for place in waiting.tolist():
            cost = self._join(classes, place, 0.0 if self._gains else -np.inf)
            if cost is None:
                remaining -= int(counts[place])
            else:
                dear.append((cost / int(counts[place]), place))
        for _, place in sorted(dear):
            if remaining <= limit or self._late():
                break
            if self._join(classes, place, np.inf) is None:
                remaining -= int(counts[place])
        return _parts(parts, classes)

    def _join(self, classes: Classes, place: int, most: float) -> float | None:
        """Join a tuple to the cheapest class that may take it in, if that costs at most so much.

        Returns none where it is done; otherwise the least cost, which is infinite where no class can take it in.
        """
        if self._late():
            return np.inf
        joining = self._joining(classes, place)
        possible = int(np.isfinite(joining.costs).sum())
        begin = 0
        for width in CANDIDATES if self._asked else (1,):
            end = min(begin + width, possible)
            if begin >= end:
                break
            nearest = np.argpartition(joining.costs, end - 1)[:end]
            nearest = nearest[np.lexsort((nearest, joining.costs[nearest]))][begin:]
            good = np.flatnonzero(self._holds(classes, nearest, place))
            if len(good):
                chosen = int(nearest[good[0]])
                cost = float(joining.costs[chosen])
                if cost > most:
                    return cost
                self._take_in(classes, chosen, place, joining.levels[chosen])
                return None
            begin = end
        return np.inf

    def _joining(self, classes: Classes, place: int) -> Joining:
        """What it costs to join a tuple to each class, less what it costs to suppress it."""
        tuples = self._problem.tuples
        count = int(tuples.counts[place])
        costs = np.zeros(len(classes.sizes))
        levels = np.empty_like(classes.levels)
        for column, (nodes, (published, suppressed)) in enumerate(
            zip(self._nodes, self._losses, strict=True)
        ):
            code = int(tuples.codes[column][place])
            others = tuples.codes[column][classes.first]
            apart = (nodes[:, others] != nodes[:, code][:, None]).sum(axis=0)
            costs[apart == len(nodes)] = np.inf
            here = classes.levels[:, column]
            above = np.maximum(here, np.minimum(apart, len(nodes) - 1))
            levels[:, column] = above
            costs += classes.sizes * (published[above, others] - published[here, others])
            costs += count * (published[above, code] - suppressed[code])
        return Joining(costs, levels)

    def _count(self, classes: Classes) -> bool:
        """Count the sensitive values of the classes; False where there are too many to hold."""
        self._counted = {}
        for name in dict.fromkeys(name for model in self._asked for name in model.columns()):
            pairs, count = self._facts.sensitive[name], len(classes.sizes)
            width = len(pairs.domain)
            if (count + 1) * width > CELLS:
                return False
            of_pair = classes.of_tuple[pairs.tuples]
            told = of_pair >= 0
            keys = of_pair[told] * width + pairs.values[told]
            counted = np.bincount(keys, weights=pairs.counts[told], minlength=count * width)
            self._counted[name] = counted.reshape(count, width).astype(np.int64)
        return True

    def _holds(self, classes: Classes, some: Rows, place: int) -> Mask:
        """Which of some classes keep the promises with a tuple joined to them."""
        holds = np.ones(len(some), dtype=np.bool_)
        if not self._asked:
            return holds
        sizes = classes.sizes[some] + self._problem.tuples.counts[place]
        sensitive = {}
        for name, counted in self._counted.items():
            pairs = self._facts.sensitive[name]
            table = counted[some] + pairs.of(place)
            of, values = np.nonzero(table)
            indptr = np.concatenate(([0], np.cumsum(np.bincount(of, minlength=len(some))))).astype(np.int64)
            found = table[of, values]
            overall = self._overall[name]
            sensitive[name] = Histogram(indptr, values.astype(np.int32), found, overall, pairs.domain)
        statistics = GroupStatistics(sizes, sizes, sensitive)
        for model in self._asked:
            holds &= model.holds(statistics)
        return holds

    def _take_in(self, classes: Classes, chosen: int, place: int, levels: Rows) -> None:
        """Publish a tuple with a class."""
        for name, counted in self._counted.items():
            counted[chosen] += self._facts.sensitive[name].of(place)
        classes.of_tuple[place] = chosen
        classes.levels[chosen] = levels
        classes.sizes[chosen] += self._problem.tuples.counts[place]


def _classes(problem: Problem, parts: tuple[Part, ...]) -> Classes:
    """The classes of parts, those of each part by themselves."""
    grouping = Grouping(problem.lattice, problem.tuples)
    of_tuple = np.full(len(problem.tuples), -1, dtype=np.int64)
    levels, count = [], 0
    for part in parts:
        number, width = grouping.classes(part.levels)
        number, width = consecutive(number[part.mask], width)
        of_tuple[part.mask] = number + count
        levels.append(np.tile(np.array(part.levels, dtype=np.int64), (width, 1)))
        count += width
    told = np.flatnonzero(of_tuple >= 0)
    first = np.zeros(count, dtype=np.int64)
    first[of_tuple[told[::-1]]] = told[::-1]
    sizes = np.bincount(of_tuple[told], weights=problem.tuples.counts[told], minlength=count).astype(np.int64)
    return Classes(of_tuple, np.concatenate(levels), first, sizes)


def _parts(before: tuple[Part, ...], classes: Classes) -> tuple[Part, ...]:
    """Classes on the same levels together: those of the parts before first, then new ones in ascending order."""
    vectors, of_class = np.unique(classes.levels, axis=0, return_inverse=True)
    place = np.where(classes.of_tuple >= 0, of_class.ravel()[classes.of_tuple], -1)
    names = [tuple(int(level) for level in vector) for vector in vectors]
    rank = {levels: number for number, levels in reversed(list(enumerate(part.levels for part in before)))}
    order = sorted(range(len(names)), key=lambda one: (rank.get(names[one], len(before)), names[one]))
    return tuple(Part(names[one], place == one) for one in order)
