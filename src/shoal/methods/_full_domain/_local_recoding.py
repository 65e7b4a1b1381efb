"""Local recoding: rows that one vector of levels cannot publish are published on other vectors."""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from shoal.arrays import AnyArray, Counts, Floats, Mask, Rows, indptr_by
from shoal.data._plain_text import counted
from shoal.data.group_statistics import GroupStatistics, Histogram
from shoal.methods._full_domain._class_facts import Facts, first_tuples
from shoal.methods._full_domain._levels import Levels
from shoal.methods._full_domain._losses import CELL_MEASURES, CellMeasure
from shoal.methods._full_domain._objective import Minimized, Objective
from shoal.methods._full_domain._recoding import (
    Part,
    class_sizes,
    lost_of,
    published_classes,
    shown_by,
    value_of,
)
from shoal.methods._full_domain._search import Descent, Progress
from shoal.methods._full_domain._suppressed_classes import Outcome
from shoal.methods._full_domain._table_to_generalize import Judge, Problem
from shoal.methods._full_domain._tuples import Grouping, consecutive
from shoal.models._exact import rounded_up
from shoal.models._matching import PopulationModel
from shoal.models.model import TableModel, columns_of, kept_by

CANDIDATES = (16, 64, 256)
"""How many classes are tried at a time for taking in a tuple, the cheapest first."""

MOST = 20_000
"""With more tuples left than this, joining them one by one would take too long."""

CELLS = 20_000_000
"""The most counts of sensitive values per class that are kept in memory at once."""


@dataclass(slots=True, eq=False)
class Classes:
    """The published classes of all parts, while tuples are joined to them."""

    of_tuple: Rows  # the class of each tuple; -1 for tuples that are not published
    levels: Rows  # the level of each class (rows) in each column
    first: Rows  # the first tuple of each class
    sizes: Counts  # the number of rows of each class


class Absorption:
    """Joins unpublished tuples to classes, each to the class where that costs least.

    The class moves as a whole to the finest levels on which it and the tuple look the same, so that no class loses
    rows and all other classes stay as they are. A promise that the union of a class that keeps it and one that does not
    always keeps (`absorbs`) needs no check; every other promise is checked.

    `facts`, `overall`: the sensitive values of the tuples, and the distributions that classes are compared with.
    `late`: whether time is up.
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
        """Whether joining is safe.

        It is not if missing cells match every value, because a class may move away from a cell that it matched. Nor is
        it if promises that must be checked are about persons with several rows, who may be in both a class and a
        tuple, or about a population.
        """
        persons = self._problem.table.entity is not None and len(self._asked) > 0
        return not (
            persons
            or self._problem.wildcards
            or any(isinstance(model, PopulationModel) for model in self._asked)
        )

    def joined(self, parts: tuple[Part, ...], limit: int) -> tuple[Part, ...]:
        """Join unpublished tuples to the classes of the parts.

        First every tuple is joined that loses less that way than if it were suppressed. Then the cheapest others are
        joined until no more than `limit` rows are left.
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
        """Join a tuple to the cheapest class that may take it in, if that costs at most `most`.

        Returns None if it was joined; otherwise the least cost, which is infinite if no class can take it in.
        """
        if self._late():
            return np.inf
        costs, levels = self._joining(classes, place)
        possible = int(np.isfinite(costs).sum())
        begin = 0
        for width in CANDIDATES if self._asked else (1,):
            end = min(begin + width, possible)
            if begin >= end:
                break
            nearest = np.argpartition(costs, end - 1)[:end]
            nearest = nearest[np.lexsort((nearest, costs[nearest]))][begin:]
            good = np.flatnonzero(self._holds(classes, nearest, place))
            if len(good):
                chosen = int(nearest[good[0]])
                cost = float(costs[chosen])
                if cost > most:
                    return cost
                self._take_in(classes, chosen, place, levels[chosen])
                return None
            begin = end
        return np.inf

    def _joining(self, classes: Classes, place: int) -> tuple[Floats, Rows]:
        """The cost of joining a tuple to each class, less that of suppressing it, and the levels of both afterward."""
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
        return costs, levels

    def _count(self, classes: Classes) -> bool:
        """Count the sensitive values of the classes; returns False if there are too many to keep."""
        self._counted = {}
        for name in columns_of(self._asked):
            pairs, count = self._facts.sensitive[name], len(classes.sizes)
            width = len(pairs.domain)
            if (count + 1) * width > CELLS:
                return False
            of_pair = classes.of_tuple[pairs.tuples]
            shown = of_pair >= 0
            keys = of_pair[shown] * width + pairs.values[shown]
            found = np.bincount(keys, weights=pairs.counts[shown], minlength=count * width)
            self._counted[name] = found.reshape(count, width).astype(np.int64)
        return True

    def _holds(self, classes: Classes, some: Rows, place: int) -> Mask:
        """Which of some classes still keep the promises when a tuple is joined to them."""
        if not self._asked:
            return np.ones(len(some), dtype=np.bool_)
        sizes = classes.sizes[some] + self._problem.tuples.counts[place]
        sensitive = {}
        for name, counts in self._counted.items():
            pairs = self._facts.sensitive[name]
            table = counts[some] + pairs.of(place)
            of, values = np.nonzero(table)
            indptr = indptr_by(of, len(some))
            found = table[of, values]
            overall = self._overall[name]
            sensitive[name] = Histogram(indptr, values.astype(np.int32), found, overall, pairs.domain)
        return kept_by(self._asked, GroupStatistics(sizes, sizes, sensitive))

    def _take_in(self, classes: Classes, chosen: int, place: int, levels: Rows) -> None:
        """Add a tuple to a class."""
        for name, counts in self._counted.items():
            counts[chosen] += self._facts.sensitive[name].of(place)
        classes.of_tuple[place] = chosen
        classes.levels[chosen] = levels
        classes.sizes[chosen] += self._problem.tuples.counts[place]


def _classes(problem: Problem, parts: tuple[Part, ...]) -> Classes:
    """The classes of the parts, grouped within each part separately."""
    grouping = Grouping(problem.lattice, problem.tuples)
    of_tuple = np.full(len(problem.tuples), -1, dtype=np.int64)
    levels, count = [], 0
    for part in parts:
        number, width = grouping.classes(part.levels)
        number, width = consecutive(number[part.mask], width)
        of_tuple[part.mask] = number + count
        levels.append(np.tile(np.array(part.levels, dtype=np.int64), (width, 1)))
        count += width
    shown = np.flatnonzero(of_tuple >= 0)
    first = first_tuples(of_tuple, count)
    sizes = np.bincount(of_tuple[shown], weights=problem.tuples.counts[shown], minlength=count).astype(
        np.int64
    )
    return Classes(of_tuple, np.concatenate(levels), first, sizes)


def _parts(before: tuple[Part, ...], classes: Classes) -> tuple[Part, ...]:
    """Collect classes on the same levels into parts: earlier parts in their order, then new ones in ascending order."""
    vectors, of_class = np.unique(classes.levels, axis=0, return_inverse=True)
    place = np.where(classes.of_tuple >= 0, of_class.ravel()[classes.of_tuple], -1)
    names = [tuple(int(level) for level in vector) for vector in vectors]
    rank = {levels: number for number, levels in reversed(list(enumerate(part.levels for part in before)))}
    order = sorted(range(len(names)), key=lambda one: (rank.get(names[one], len(before)), names[one]))
    return tuple(Part(names[one], place == one) for one in order)


@dataclass(frozen=True, slots=True)
class Plan:
    """How the price of a row that is left for later rises from one round to the next."""

    price: float
    """The first price, as a share of the loss of a suppressed row. While it is low, only rows that lose little are
    published, on fine levels; all others wait."""
    step: float  # by how much the price rises when too few rows can be published
    least: float  # the share of the remaining rows below which a round publishes too few


PLAIN = Plan(1.0, 1.0, 0.0)
PEELING = (Plan(0.4, 0.1, 0.05), Plan(0.1, 0.025, 0.05), Plan(0.05, 0.025, 0.02))
"""Plans that peel the table, from quick to thorough."""


class LocalRecoding:
    """Repeats the search on the remaining rows until none remain or no vector publishes more.

    The first plan begins with the global solution, so that the outcome is never worse. Further plans peel the table:
    they first publish what can be published on fine levels, and raise the price of the remaining rows from round to
    round, so that sparse rows end on coarser levels. The few rows that no vector can publish are finally joined to
    published classes. The plan that loses least is taken. Measures of class sizes know no price for a row that waits,
    so with these measures the table is peeled by LM.

    Promises that compare a class with the whole release, such as t-closeness, are checked against the distribution of
    all rows, as if none were suppressed. If some are suppressed in the end, these promises are checked again, and
    classes that then break them are suppressed. The same goes for promises that the union of two safe classes may
    break, because classes on two vectors may have the same published texts.

    `limit`: the most rows that may be suppressed in the end. `deadline`: when to stop looking for better plans and to
    finish the current one quickly. `end`: when to stop altogether.
    """

    def __init__(
        self, problem: Problem, measure: Minimized, limit: int, deadline: float, end: float, seed: int
    ) -> None:
        self._problem = problem
        self._measure = measure
        self._limit = limit
        self._deadline = deadline
        self._end = end
        self._seed = seed
        self._relative = any(model.relative for model in problem.models)
        self._wide = tuple(
            model
            for model in problem.models
            if model.relative
            or not model.coarsens
            or type(model).hold_together is not TableModel.hold_together
        )
        self._facts = Facts(problem.table, Grouping(problem.lattice, problem.tuples), problem.models)
        self._overall = {name: pairs.overall() for name, pairs in self._facts.sensitive.items()}
        self._absorption = Absorption(problem, measure, self._facts, self._overall, self._over)
        self._barren = 0.0
        self.evaluated = 0
        self.plans: list[dict[str, float]] = []

    def best(self, alone: tuple[Part, ...]) -> tuple[Part, ...]:
        """The parts of the best plan found.

        `alone`: the global solution; it is returned if no plan is better.
        """
        best = alone
        reached = (value_of(self._problem, self._measure, best), self._left(best))
        for plan in (PLAIN, *PEELING):
            if plan is not PLAIN and self._late():
                break
            by = self._measure if plan is PLAIN or self._measure in CELL_MEASURES else "lm"
            parts = self._carried_out(plan, by, best if plan is PLAIN else ())
            before = self._left(parts)
            parts = self._completed(parts, by)
            cost = value_of(self._problem, self._measure, parts) if parts else float("inf")
            left = self._left(parts)
            self.plans.append(
                {
                    "price": plan.price,
                    "step": plan.step,
                    "rounds": len(parts),
                    "joined": max(before - left, 0),
                    "left": left,
                    "value": cost,
                }
            )
            if parts and left <= self._limit and (cost, left) < reached:
                best, reached = parts, (cost, left)
        return best

    def remark(self, best: tuple[Part, ...]) -> str | None:
        """A sentence on a better plan that was given up because it suppresses too many rows; None if there was none."""
        value = value_of(self._problem, self._measure, best)
        better = [plan for plan in self.plans if plan["value"] < value and plan["left"] > self._limit]
        if not better:
            return None
        plan = min(better, key=lambda one: (one["value"], one["left"]))
        left = int(plan["left"])
        enough = rounded_up(Fraction(left, self._problem.tuples.rows), 6)
        why = (
            "no class can take them in"
            if self._absorption.possible
            else "rows cannot be joined to classes under these promises"
        )
        return (
            f"A plan that loses {plan['value']:.4g} by {self._measure} instead of {value:.4g} was given up because it "
            f"suppresses {counted(left, 'rows')}, where {self._limit:,} are allowed: {why}. A suppression limit of "
            f"{enough:g} would allow it."
        )

    def _carried_out(self, plan: Plan, by: Minimized, parts: tuple[Part, ...]) -> tuple[Part, ...]:
        """Add parts as long as each publishes more rows and the loss does not grow."""
        problem = self._problem
        price = plan.price if plan.price > self._barren else min(1.0, self._barren + plan.step)
        left = ~shown_by(problem, parts)
        while left.any() and not self._over():
            price = 1.0 if self._late() else price
            found = self._next(left, by, price, plan.least, parts)
            if found is not None and self._helps(parts, found, by):
                parts = (*parts, found)
                left &= ~found.mask
            elif price < 1:
                self._barren = self._barren if parts else max(self._barren, price)
                price = min(1.0, price + plan.step)
            else:
                break
        return parts

    def _next(
        self, left: Mask, by: Minimized, price: float, least: float, parts: tuple[Part, ...]
    ) -> Part | None:
        """A good vector for the remaining tuples, as a part; None if it would publish too few at that price."""
        judge = self._judge(left)
        objective = judge.objective(by, price)
        progress = Progress()
        self._descend(judge, objective, progress, parts[-1].levels if parts else None)
        nothing = objective.nothing()
        if parts and (progress.levels is None or (price < 1 and progress.value >= nothing)):
            self._descend(judge, objective, progress, None)
        self.evaluated += progress.evaluated
        if progress.levels is None:
            return None
        outcome = judge.evaluate([progress.levels])[0]
        rows = judge.problem.tuples.rows
        few = rows - outcome.suppressed < least * rows
        if price < 1 and (few or progress.value >= nothing):
            return None
        return self._part(left, outcome)

    def _judge(self, mask: Mask, limit: int | None = None) -> Judge:
        """A judge for some of the tuples alone; promises that compare with the whole release compare with all rows."""
        some = self._problem.part(mask)
        allowed = some.tuples.rows if limit is None else limit
        return Judge(some, allowed, self._overall if self._relative else None)

    def _part(self, mask: Mask, outcome: Outcome) -> Part:
        """The part that a vector publishes, given its outcome on some of the tuples."""
        shown = np.zeros_like(mask)
        shown[mask] = outcome.kept[outcome.number]
        return Part(outcome.levels, shown)

    def _descend(self, judge: Judge, objective: Objective, progress: Progress, start: Levels | None) -> None:
        """Look for a good vector, starting from that of the previous round or from the coarsest one."""
        lattice = judge.problem.lattice
        deadline = min(self._end, max(self._deadline, time.perf_counter() + 0.5))
        descent = Descent(lattice, objective, judge.evaluate, progress, deadline, self._seed, exchanges=False)
        descent.run(kicks=0, start=start)

    def _helps(self, parts: tuple[Part, ...], part: Part, by: Minimized) -> bool:
        """Whether adding a part does not increase the loss."""
        if by in CELL_MEASURES:
            return lost_of(self._problem, by, part) <= 0
        before = value_of(self._problem, by, parts) if parts else float("inf")
        return value_of(self._problem, by, (*parts, part)) <= before

    def _completed(self, parts: tuple[Part, ...], by: Minimized) -> tuple[Part, ...]:
        """Publish remaining rows along with published ones, if more remain than may be suppressed.

        First, tuples are joined to classes. If too few can be joined, the last parts are undone, more and more of them,
        until their rows and the remaining ones can be published on one vector.
        """
        joined = self._joined(parts)
        back = 1
        while self._left(joined) > self._limit and back < len(parts) and not self._over():
            rest = self._rest(parts[:-back], by)
            if rest is not None:
                again = self._joined((*parts[:-back], rest))
                joined = again if self._left(again) <= self._limit else joined
            back = min(2 * back, max(len(parts) - 1, back + 1))
        return joined

    def _rest(self, parts: tuple[Part, ...], by: Minimized) -> Part | None:
        """A part with all tuples outside the parts that suppresses no more rows than allowed; None if there is none."""
        mask = ~shown_by(self._problem, parts)
        judge = self._judge(mask, self._limit)
        progress = Progress()
        self._descend(judge, judge.objective(by), progress, None)
        self.evaluated += progress.evaluated
        if progress.levels is None:
            return None
        return self._part(mask, judge.evaluate([progress.levels])[0])

    def _joined(self, parts: tuple[Part, ...]) -> tuple[Part, ...]:
        """Join remaining tuples to published classes, then suppress classes that break a promise about the whole."""
        if not parts:
            return parts
        parts = self._absorption.joined(parts, 0 if self._relative else self._limit)
        return self._settled(parts) if self._wide else parts

    def _settled(self, parts: tuple[Part, ...]) -> tuple[Part, ...]:
        """Suppress classes until the rest keeps the promises about the whole; returns no parts if that does not help.

        All other promises are kept by each class, whatever else is published.
        """
        problem = self._problem
        while parts:
            published = published_classes(problem, parts)
            of_tuple = np.full(len(problem.tuples), -1, dtype=np.int64)
            of_tuple[published.shown] = published.number
            statistics = self._facts.of_classes(of_tuple, class_sizes(problem, published))
            broken = [model for model in self._wide if not model.hold_together(statistics)]
            if not broken:
                return parts
            holds = kept_by(broken, statistics)
            if holds.all():
                return ()
            safe = published.shown.copy()
            safe[published.shown] = holds[published.number]
            kept = (Part(part.levels, part.mask & safe) for part in parts)
            parts = tuple(part for part in kept if part.mask.any())
        return parts

    def _left(self, parts: tuple[Part, ...]) -> int:
        return int(self._problem.tuples.counts[~shown_by(self._problem, parts)].sum())

    def _late(self) -> bool:
        return time.perf_counter() >= self._deadline

    def _over(self) -> bool:
        return time.perf_counter() >= self._end
