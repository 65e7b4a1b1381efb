"""Search of the lattice: branch and bound for the proven optimum, and steepest descent to find good vectors early."""

import heapq
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

import numpy as np

from shoal.methods._full_domain._levels import Lattice, Levels, box_size
from shoal.methods._full_domain._objective import Ceiling, Objective
from shoal.methods._full_domain._suppressed_classes import Outcome

SLACK = 1e-12
"""Values that differ by less than this share count as equal: floating-point sums depend on their order."""

BATCH = 2
"""How many boxes are split at a time; fixed, so that the result does not depend on the number of threads."""

Evaluate = Callable[[Iterable[Levels]], list[Outcome]]
"""Evaluates several vectors, on several threads if there are any."""


@dataclass(slots=True, eq=False)
class Progress:
    """What a search has found so far."""

    value: float = float("inf")
    levels: Levels | None = None
    """`value`, `levels`: the best value and its vector; None if no feasible vector was found."""
    nearest: tuple[int, Levels] | None = None
    """The fewest rows that any evaluated vector would suppress, and that vector: for the message if nothing is
    feasible."""
    evaluated: int = 0
    pruned: int = 0
    """`evaluated`, `pruned`: how many vectors were evaluated, and how many were ruled out without evaluation."""
    bound: float = float("-inf")  # a lower bound on the value of every vector
    proven: bool = False  # whether the best vector is proven optimal

    def note(self, outcome: Outcome, objective: Objective) -> float:
        """Take an evaluated vector into account, and return its value, which is infinite if it is not feasible."""
        self.evaluated += 1
        if self.nearest is None or outcome.suppressed < self.nearest[0]:
            self.nearest = (outcome.suppressed, outcome.levels)
        if not outcome.feasible:
            return float("inf")
        value = objective.value(outcome)
        if not self.rules_out(value):
            self.value, self.levels = value, outcome.levels
        return value

    def rules_out(self, bound: float) -> bool:
        """Whether nothing with this lower bound can be better than the best value."""
        return bound >= self.value or bound + SLACK * abs(bound) >= self.value


@dataclass(slots=True, order=True)
class Box:
    """All vectors between two, the higher of which has been evaluated; boxes are ordered by their lower bounds."""

    bound: float
    serial: int
    low: Levels = field(compare=False)
    high: Levels = field(compare=False)
    ceiling: Ceiling = field(compare=False)


def branch_and_bound(
    lattice: Lattice, objective: Objective, evaluate: Evaluate, progress: Progress, deadline: float
) -> None:
    """Search until the best vector is proven optimal, or time is up.

    A box is split by separating the highest level of one column. The upper part keeps the evaluated vector and gets a
    better bound without further work. The lower part gets a new highest vector, which is evaluated. Since the rows
    suppressed there stay suppressed below, the bound of the lower part rises as well.
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

    take(lattice.finest, evaluate([lattice.highest])[0])
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


CHUNK = 16
"""How many exchanges are evaluated together before the best of them is taken."""

AT_ONCE = 4
"""How many vectors are evaluated before the clock is checked again."""


@dataclass(slots=True, eq=False)
class Descent:
    """Moves from vector to better vector: steepest descent with random restarts.

    A step changes one column by one level; if no such step helps, it lowers one column and raises another. If that does
    not help either, the best vector is moved a few random steps (a kick), and the descent starts again from there.
    Vectors that would lose too much even if nothing had to be suppressed are never evaluated.
    """

    lattice: Lattice
    objective: Objective
    evaluate: Evaluate
    progress: Progress
    deadline: float
    seed: int
    exchanges: bool = True
    _random: np.random.Generator = field(init=False)
    _values: dict[Levels, float] = field(default_factory=dict, init=False)

    def __post_init__(self) -> None:
        self._random = np.random.default_rng(self.seed)

    def run(self, kicks: int, start: Levels | None = None) -> None:
        """Descend from a vector, and then from kicked ones until `kicks` of them in a row have not helped.

        `start`: where to begin; by default, or if nothing feasible is found from there, the coarsest vector.
        """
        best = self._descended(self.lattice.highest if start is None else start)
        if start is not None and self._value(best) == float("inf"):
            best = self._descended(self.lattice.highest)
        failed = 0
        while failed < kicks and not self._late():
            found = self._descended(self._kicked(best))
            failed = 0 if self._value(found) < self._value(best) else failed + 1
            best = min(best, found, key=lambda levels: (self._value(levels), levels))

    def _descended(self, start: Levels) -> Levels:
        """Descend to a vector that no step improves."""
        here = start
        self._look([here], float("inf"))
        while not self._late():
            step = self._best_of(self._steps(here), here)
            if step is None and self.exchanges:
                step = self._exchanged(here)
            if step is None:
                break
            here = step
        return here

    def _best_of(self, candidates: list[Levels], here: Levels) -> Levels | None:
        """The best of some vectors, if it is better than the current one, or as good and lower.

        A hierarchy may repeat its nodes on several levels; the way down then leads over vectors of equal value.
        """
        value = self._value(here)
        self._look(candidates, value)
        best = min(candidates, key=lambda levels: (self._value(levels), sum(levels), levels), default=here)
        return best if (self._value(best), sum(best)) < (value, sum(here)) else None

    def _exchanged(self, here: Levels) -> Levels | None:
        """The best vector of the first chunk of exchanges with an improvement: one column down a level, another up."""
        exchanges = [
            _moved(down, place, 1)
            for down in self._steps(here, up=False)
            for place, most in enumerate(self.lattice.highest)
            if down[place] == here[place] < most
        ]
        exchanges = [exchanges[place] for place in self._random.permutation(len(exchanges)).tolist()]
        for begin in range(0, len(exchanges), CHUNK):
            if self._late():
                return None
            better = self._best_of(exchanges[begin : begin + CHUNK], here)
            if better is not None:
                return better
        return None

    def _steps(self, here: Levels, *, up: bool = True) -> list[Levels]:
        finest = self.lattice.finest
        steps = [_moved(here, place, -1) for place, level in enumerate(here) if level > finest[place]]
        if up:
            highest = self.lattice.highest
            steps += [_moved(here, place, 1) for place, level in enumerate(here) if level < highest[place]]
        return steps

    def _kicked(self, here: Levels) -> Levels:
        """A vector a few random steps away."""
        for _ in range(int(self._random.integers(3, 7))):
            steps = self._steps(here)
            here = steps[int(self._random.integers(len(steps)))]
        return here

    def _look(self, candidates: list[Levels], value: float) -> None:
        """Evaluate the vectors that are not known yet and might be at least as good as a value."""
        unknown = [
            levels
            for levels in dict.fromkeys(candidates)
            if levels not in self._values and self.objective.floor(levels) <= value
        ]
        for begin in range(0, len(unknown), AT_ONCE):
            if begin and self._late():
                return
            for outcome in self.evaluate(unknown[begin : begin + AT_ONCE]):
                self._values[outcome.levels] = self.progress.note(outcome, self.objective)

    def _value(self, levels: Levels) -> float:
        return self._values.get(levels, float("inf"))

    def _late(self) -> bool:
        return time.perf_counter() >= self.deadline


def _moved(levels: Levels, column: int, step: int) -> Levels:
    return _with(levels, column, levels[column] + step)
