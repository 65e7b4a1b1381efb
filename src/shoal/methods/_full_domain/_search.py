"""The proven optimum: best-first branch and bound over boxes of the lattice."""

import heapq
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from shoal.methods._full_domain._levels import Lattice, Levels, box_size
from shoal.methods._full_domain._objective import Ceiling, Objective
from shoal.methods._full_domain._suppression import Outcome

SLACK = 1e-12
"""Values closer than this, as a share, are the same: sums of floating point numbers in another order."""

BATCH = 2
"""Boxes that are looked at together; a fixed number, so that the answer does not depend on the threads."""

Evaluate = Callable[[Iterable[Levels]], list[Outcome]]
"""Evaluates several vectors, on threads where there are any."""


@dataclass(slots=True, eq=False)
class Progress:
    """What a search has found so far."""

    value: float = float("inf")
    levels: Levels | None = None
    """`value`, `levels`: the best value, and its vector; None where no vector is feasible."""
    nearest: tuple[int, Levels] | None = None
    """The least number of rows that any evaluated vector would suppress, and that vector: for the message where
    nothing is feasible."""
    evaluated: int = 0
    pruned: int = 0
    """`evaluated`, `pruned`: vectors that were evaluated, and that were ruled out without."""
    bound: float = float("-inf")  # a value that no vector falls below
    proven: bool = False  # whether the best is the optimum for certain
    history: list[tuple[int, float]] = field(default_factory=list)

    def note(self, outcome: Outcome, objective: Objective) -> float:
        """Take an evaluated vector into account; its value, infinite where it is not feasible."""
        self.evaluated += 1
        if self.nearest is None or outcome.suppressed < self.nearest[0]:
            self.nearest = (outcome.suppressed, outcome.levels)
        if not outcome.feasible:
            return float("inf")
        value = objective.value(outcome)
        if not self.rules_out(value):
            self.value, self.levels = value, outcome.levels
            self.history.append((self.evaluated, value))
        return value

    def rules_out(self, bound: float) -> bool:
        """Whether nothing with this bound can be better than the best."""
        return bound >= self.value or bound + SLACK * abs(bound) >= self.value


@dataclass(slots=True, order=True)
class Box:
    """All vectors between two, the higher of which is evaluated; the one with the least bound comes first."""

    bound: float
    serial: int
    low: Levels = field(compare=False)
    high: Levels = field(compare=False)
    ceiling: Ceiling = field(compare=False)


def branch_and_bound(
    lattice: Lattice, objective: Objective, evaluate: Evaluate, progress: Progress, deadline: float
) -> None:
    """Search until the best vector is proven, or time is up.

    A box is split by parting the highest level of one column from it. The upper part keeps the evaluated vector and
    gets a better bound for nothing; the lower part gets a new highest vector, which is evaluated. Since the rows that
    are suppressed there stay suppressed below, the bound of the lower part grows as well.
    """
    heap: list[Box] = []
    serial = 0

    def push(low: Levels, high: Levels, ceiling: Ceiling) -> None:
        nonlocal serial
        if low == high:
            return
        bound = ceiling.bound(low)
        if progress.rules_out(bound):
            progress.pruned += box_size(low, high) - 1
            return
        serial += 1
        heapq.heappush(heap, Box(bound, serial, low, high, ceiling))

    def take(low: Levels, outcome: Outcome) -> None:
        progress.note(outcome, objective)
        if outcome.hopeless:
            progress.pruned += box_size(low, outcome.levels) - 1
        else:
            push(low, outcome.levels, objective.ceiling(outcome))

    take(lattice.lowest, evaluate([lattice.highest])[0])
    while heap and time.perf_counter() < deadline:
        lower: list[tuple[Levels, Levels]] = []
        while heap and len(lower) < BATCH:
            box = heapq.heappop(heap)
            if progress.rules_out(box.bound):
                progress.pruned += box_size(box.low, box.high) - 1
                continue
            column = objective.urgency(box.ceiling, box.low, box.high)
            top = box.high[column]
            push(_with(box.low, column, top), box.high, box.ceiling)
            lower.append((box.low, _with(box.high, column, top - 1)))
        for (low, _), outcome in zip(lower, evaluate(high for _, high in lower), strict=True):
            take(low, outcome)
    open_bound = heap[0].bound if heap else progress.value
    progress.bound = min(open_bound, progress.value)
    progress.proven = not heap or progress.rules_out(open_bound)


def _with(levels: Levels, column: int, level: int) -> Levels:
    return (*levels[:column], level, *levels[column + 1 :])
