"""Local recoding: the rows that one vector cannot publish are published on others."""

import time
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from shoal.arrays import Mask
from shoal.data._plural import counted
from shoal.methods._full_domain._absorption import Absorption
from shoal.methods._full_domain._descent import Descent
from shoal.methods._full_domain._facts import Facts
from shoal.methods._full_domain._levels import Levels
from shoal.methods._full_domain._losses import CELL_MEASURES
from shoal.methods._full_domain._objective import Minimized, Objective
from shoal.methods._full_domain._problem import Judge, Problem
from shoal.methods._full_domain._recoding import (
    Part,
    class_sizes,
    lost_of,
    published_classes,
    told_by,
    value_of,
)
from shoal.methods._full_domain._search import Progress
from shoal.methods._full_domain._suppression import Outcome
from shoal.methods._full_domain._tuples import Grouping
from shoal.models._exact import rounded_up
from shoal.models.model import TableModel


@dataclass(frozen=True, slots=True)
class Plan:
    """How the price of a row that is left for later rises from round to round."""

    price: float
    """The first price, as a share of what a suppressed row loses. While it is low, only rows that lose little are
    published, on fine levels; all others wait."""
    step: float  # by how much it rises when too few rows can be published
    least: float  # too few: this share of the rows that are left


PLAIN = Plan(1.0, 1.0, 0.0)
PEELING = (Plan(0.4, 0.1, 0.05), Plan(0.1, 0.025, 0.05), Plan(0.05, 0.025, 0.02))
"""From quick to thorough."""


class LocalRecoding:
    """Repeats the search on the rows that are left, until none are or no vector publishes more.

    The first plan begins with the global solution, so that the outcome is never worse. Further plans peel the table:
    they publish first what can be published on fine levels, and raise the price of what is left from round to round,
    so that sparse rows end on coarser levels. The few rows that no vector can publish in the end are joined to classes
    that are published. The plan that loses least is taken. Measures of the sizes of classes have no price of a row that
    waits: their tables are peeled by LM.

    Promises that compare with the whole release, such as t-closeness, are asked with the distribution of all rows, as
    if none were left out. Where some are in the end, they are asked again, and what breaks them then is suppressed. So
    are promises that the union of two safe classes may break, because classes of two vectors may have the same texts.

    Parameters
    ----------
    limit
        The most rows that may be left out in the end.
    deadline
        When to stop looking for better plans; a plan that is under way then is finished quickly.
    end
        When to stop altogether.
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
        """The best plan found.

        `alone`: the global solution; it is given back where no plan is better.
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
        """What stood in the way of a better plan: rows that it could not publish; None where nothing did."""
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
        """Add parts as long as they publish more rows and lose no more."""
        problem = self._problem
        price = plan.price if plan.price > self._barren else min(1.0, self._barren + plan.step)
        left = ~told_by(problem, parts)
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
        """A good vector for the tuples that are left; None where it would publish too few at that price."""
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
        """A judge of some of the tuples alone, with promises about the whole asked of all rows."""
        some, _ = self._problem.part(mask)
        allowed = some.tuples.rows if limit is None else limit
        return Judge(some, allowed, self._overall if self._relative else None)

    def _part(self, mask: Mask, outcome: Outcome) -> Part:
        """What a vector publishes of some of the tuples."""
        told = np.zeros_like(mask)
        told[mask] = outcome.kept[outcome.number]
        return Part(outcome.levels, told)

    def _descend(self, judge: Judge, objective: Objective, progress: Progress, start: Levels | None) -> None:
        """Look for a good vector, from the one of the round before or from the coarsest."""
        lattice = judge.problem.lattice
        deadline = min(self._end, max(self._deadline, time.perf_counter() + 0.5))
        descent = Descent(lattice, objective, judge.evaluate, progress, deadline, self._seed, exchanges=False)
        descent.run(kicks=0, start=start)

    def _helps(self, parts: tuple[Part, ...], part: Part, by: Minimized) -> bool:
        """Whether the parts with one more lose no more."""
        if by in CELL_MEASURES:
            return lost_of(self._problem, by, part) <= 0
        before = value_of(self._problem, by, parts) if parts else float("inf")
        return value_of(self._problem, by, (*parts, part)) <= before

    def _completed(self, parts: tuple[Part, ...], by: Minimized) -> tuple[Part, ...]:
        """Publish what is left together with what is published, if more rows are left than may be.

        First tuples are joined to classes. Where too few can be, the last parts are taken back, more and more of them,
        until their rows and those that are left can be published on one vector.
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
        """One vector for all tuples that are not in the parts, with no more rows suppressed than may be."""
        mask = ~told_by(self._problem, parts)
        judge = self._judge(mask, self._limit)
        progress = Progress()
        self._descend(judge, judge.objective(by), progress, None)
        self.evaluated += progress.evaluated
        if progress.levels is None:
            return None
        return self._part(mask, judge.evaluate([progress.levels])[0])

    def _joined(self, parts: tuple[Part, ...]) -> tuple[Part, ...]:
        """Join what is left to what is published, and suppress what breaks a promise about the whole after all."""
        if not parts:
            return parts
        parts = self._absorption.joined(parts, 0 if self._relative else self._limit)
        return self._settled(parts) if self._wide else parts

    def _settled(self, parts: tuple[Part, ...]) -> tuple[Part, ...]:
        """Suppress classes until the rest keeps the promises about the whole; nothing where that does not help.

        Classes keep all other promises whatever else is published.
        """
        problem = self._problem
        while parts:
            published = published_classes(problem, parts)
            of_tuple = np.full(len(problem.tuples), -1, dtype=np.int64)
            of_tuple[published.told] = published.number
            statistics = self._facts.of_classes(of_tuple, class_sizes(problem, published))
            broken = [model for model in self._wide if not model.hold_together(statistics)]
            if not broken:
                return parts
            holds = np.all([model.holds(statistics) for model in broken], axis=0)
            if holds.all():
                return ()
            safe = published.told.copy()
            safe[published.told] = holds[published.number]
            kept = (Part(part.levels, part.mask & safe) for part in parts)
            parts = tuple(part for part in kept if part.mask.any())
        return parts

    def _left(self, parts: tuple[Part, ...]) -> int:
        return int(self._problem.tuples.counts[~told_by(self._problem, parts)].sum())

    def _late(self) -> bool:
        return time.perf_counter() >= self._deadline

    def _over(self) -> bool:
        return time.perf_counter() >= self._end
