"""A table to be generalized, with its promises and parameters: everything that a search needs."""

from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace

from shoal.arrays import Counts, Mask
from shoal.data.table import Table
from shoal.methods._full_domain._class_facts import Facts
from shoal.methods._full_domain._levels import Lattice, Levels, Texts
from shoal.methods._full_domain._losses import CellMeasure, ColumnLoss
from shoal.methods._full_domain._objective import CellObjective, ClassObjective, Minimized, Objective
from shoal.methods._full_domain._suppressed_classes import Outcome, Suppression
from shoal.methods._full_domain._tuples import Grouping, Tuples
from shoal.models.k_anonymity import KAnonymity
from shoal.models.model import TableModel

THREADED = 50_000
"""From this many tuples on, vectors are evaluated on several threads; with fewer, threads slow each other down."""


@dataclass(frozen=True, slots=True, eq=False)
class Problem:
    """A table to be generalized, and the promises it must keep."""

    table: Table
    tuples: Tuples
    """`table`, `tuples`: the table, and its distinct tuples."""
    lattice: Lattice
    texts: tuple[Texts, ...]
    losses: Mapping[CellMeasure, tuple[ColumnLoss, ...]]
    """`lattice`, `texts`, `losses`: the ways to generalize the table, what they publish, and what they lose."""
    models: tuple[TableModel, ...]  # the promises, made definite for the table
    weights: Mapping[str, float]  # how much columns count
    wildcards: bool = False  # whether missing quasi-identifiers match every value
    threads: int = 1  # how many vectors may be evaluated at once

    @property
    def k(self) -> int | None:
        """The largest k that is promised for rows; None if there is none."""
        promised = [
            model.k for model in self.models if isinstance(model, KAnonymity) and model.entity is None
        ]
        return max(promised, default=None)

    def part(self, mask: Mask) -> "Problem":
        """The same problem for some of the tuples only."""
        tuples, rows = self.tuples.part(mask)
        return replace(self, table=self.table.take(rows), tuples=tuples)


class Judge:
    """Evaluates vectors of a problem, given a limit on suppressed rows.

    `overall`: the distributions that classes are compared with, if more is published than these classes (see `Facts`).
    """

    def __init__(self, problem: Problem, limit: int, overall: Mapping[str, Counts] | None = None) -> None:
        self.problem = problem
        self.grouping = Grouping(problem.lattice, problem.tuples)
        facts = Facts(
            problem.table, self.grouping, problem.models, wildcards=problem.wildcards, overall=overall
        )
        self.suppression = Suppression(self.grouping, facts, problem.models, limit)
        self._pool: ThreadPoolExecutor | None = None

    def evaluate(self, vectors: Iterable[Levels]) -> list[Outcome]:
        """Evaluate vectors; the outcomes are in the same order."""
        waiting = list(vectors)
        threads = min(self.problem.threads, len(waiting))
        if threads < 2 or len(self.problem.tuples) < THREADED:
            return [self.suppression.evaluate(levels) for levels in waiting]
        if self._pool is None:
            self._pool = ThreadPoolExecutor(self.problem.threads)
        return list(self._pool.map(self.suppression.evaluate, waiting))

    def objective(self, measure: Minimized, price: float = 1.0) -> Objective:
        """The objective to minimize by a measure."""
        problem, suppression = self.problem, self.suppression
        if measure == "discernibility" or measure == "c_avg":
            return ClassObjective(self.grouping, measure, problem.k, suppression.limit, suppression.least)
        return CellObjective(self.grouping, problem.losses[measure], problem.weights, price)
