"""Local recoding: the rows that one vector cannot publish are published on others."""

import time
from dataclasses import dataclass

import numpy as np

from shoal.arrays import Mask
from shoal.data.statistics import group_statistics
from shoal.methods.full_domain.descent import Descent
from shoal.methods.full_domain.lattice import Levels
from shoal.methods.full_domain.losses import CELL_MEASURES
from shoal.methods.full_domain.objective import Minimized, Objective
from shoal.methods.full_domain.parts import Part, published_classes, value_of
from shoal.methods.full_domain.problem import Judge, Problem
from shoal.methods.full_domain.search import Progress
from shoal.methods.full_domain.suppression import Outcome
from shoal.models.model import TableModel


@dataclass(frozen=True, slots=True)
class Plan:
    """How the price of a row that is left for later rises from round to round.

    Parameters
    ----------
    price
        The first price, as a share of what a suppressed row loses. While it is low, only rows that lose little are
        published, on fine levels; all others wait.
    step
        By how much it rises when too few rows can be published.
    least
        Too few: this share of the rows that are left.
    """

    price: float
    step: float
    least: float


PLAIN = Plan(1.0, 1.0, 0.0)
PEELING = (Plan(0.4, 0.1, 0.05), Plan(0.1, 0.025, 0.05), Plan(0.05, 0.025, 0.02))
"""From quick to thorough."""


class LocalRecoding:
    """Repeats the search on the rows that are left, until none are or no vector publishes more.

    The first plan begins with the global solution, so that the outcome is never worse. Further plans peel the table:
    they publish first what can be published on fine levels, and raise the price of what is left from round to round,
    so that sparse rows end on coarser levels. The plan that loses least is taken.

    Parameters
    ----------
    limit
        The most rows that may be left out in the end.
    deadline
        When to stop looking for better plans; a plan that is under way then is finished quickly.
    """

    def __init__(self, problem: Problem, measure: Minimized, limit: int, deadline: float, seed: int) -> None:
        self._problem = problem
        self._measure = measure
        self._limit = limit
        self._deadline = deadline
        self._seed = seed
        self._wide = tuple(
            model
            for model in problem.models
            if model.relative or type(model).hold_together is not TableModel.hold_together
        )
        self._barren = 0.0
        self.evaluated = 0
        self.plans: list[dict[str, float]] = []

    def best(self, outcome: Outcome) -> tuple[Part, ...]:
        """The best plan found.

        Parameters
        ----------
        outcome
            The global solution, evaluated.
        """
        best: tuple[Part, ...] = (Part(outcome.levels, outcome.kept[outcome.number]),)
        value = value_of(self._problem, self._measure, best)
        for plan in (PLAIN, *PEELING):
            if plan is not PLAIN and (self._late() or self._measure not in CELL_MEASURES):
                break
            parts = self._carried_out(plan, best if plan is PLAIN else ())
            cost = value_of(self._problem, self._measure, parts) if parts else float("inf")
            self.plans.append({"price": plan.price, "step": plan.step, "rounds": len(parts), "value": cost})
            if parts and cost <= value and self._left(parts) <= self._limit:
                best, value = parts, cost
        return best

    def _carried_out(self, plan: Plan, parts: tuple[Part, ...]) -> tuple[Part, ...]:
        """Add parts as long as they publish more rows, keep the promises and lose no more."""
        problem = self._problem
        price = plan.price if plan.price > self._barren else min(1.0, self._barren + plan.step)
        left = np.ones(len(problem.tuples), dtype=np.bool_)
        for part in parts:
            left &= ~part.mask
        while left.any():
            price = 1.0 if self._late() else price
            found = self._next(left, price, plan.least, parts)
            if found is not None and self._helps(parts, found):
                parts = (*parts, found)
                left &= ~found.mask
            elif price < 1:
                self._barren = self._barren if parts else max(self._barren, price)
                price = min(1.0, price + plan.step)
            else:
                break
        return parts

    def _next(self, left: Mask, price: float, least: float, parts: tuple[Part, ...]) -> Part | None:
        """A good vector for the tuples that are left; None where it would publish too few at that price."""
        rest, _ = self._problem.part(left)
        judge = Judge(rest, rest.tuples.rows)
        objective = judge.objective(self._measure, price)
        progress = Progress()
        self._descend(judge, objective, progress, parts[-1].levels if parts else None)
        nothing = objective.nothing()
        if parts and (progress.levels is None or (price < 1 and progress.value >= nothing)):
            self._descend(judge, objective, progress, None)
        self.evaluated += progress.evaluated
        if progress.levels is None:
            return None
        outcome = judge.evaluate([progress.levels])[0]
        told = outcome.kept[outcome.number]
        few = rest.tuples.counts[told].sum() < least * rest.tuples.rows
        if price < 1 and (few or progress.value >= nothing):
            return None
        mask = np.zeros_like(left)
        mask[left] = told
        return Part(outcome.levels, mask)

    def _descend(self, judge: Judge, objective: Objective, progress: Progress, start: Levels | None) -> None:
        """Look for a good vector, from the one of the round before or from the coarsest."""
        lattice = judge.problem.lattice
        deadline = max(self._deadline, time.perf_counter() + 0.5)
        descent = Descent(lattice, objective, judge.evaluate, progress, deadline, self._seed, exchanges=False)
        descent.run(kicks=0, start=start)

    def _helps(self, parts: tuple[Part, ...], part: Part) -> bool:
        """Whether the parts with one more lose no more, and keep the promises that compare with the whole.

        Classes keep all other promises whatever else is published.
        """
        more = (*parts, part)
        if parts and value_of(self._problem, self._measure, more) > value_of(
            self._problem, self._measure, parts
        ):
            return False
        if not self._wide:
            return True
        problem = self._problem
        published = published_classes(problem, more)
        place = np.full(len(problem.tuples), -1, dtype=np.int64)
        place[published.told] = published.number
        groups = place[problem.tuples.number]
        columns = tuple(dict.fromkeys(name for model in self._wide for name in model.columns()))
        statistics = group_statistics(problem.table, groups, published.count, columns, published=groups >= 0)
        return all(model.hold_together(statistics) for model in self._wide)

    def _left(self, parts: tuple[Part, ...]) -> int:
        told = np.any([part.mask for part in parts], axis=0)
        return int(self._problem.tuples.counts[~told].sum())

    def _late(self) -> bool:
        return time.perf_counter() >= self._deadline
