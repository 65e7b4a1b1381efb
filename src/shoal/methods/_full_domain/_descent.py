"""Good vectors early: steepest descent with kicks, for lattices that are too large to be searched through."""

import time

import numpy as np

from shoal.methods._full_domain._levels import Lattice, Levels
from shoal.methods._full_domain._objective import Objective
from shoal.methods._full_domain._search import Evaluate, Progress

CHUNK = 16
"""Exchanges that are evaluated together before the best of them is taken."""

AT_ONCE = 4
"""Vectors that are evaluated before the clock is looked at again."""


class Descent:
    """Goes from vector to vector as long as that helps.

    A step changes one column by a level; where no such step helps, it lowers one column and raises another. Where that
    does not help either, the best vector is kicked a few steps at random and descended from again. Vectors that lose
    too much even if nothing had to be suppressed are never evaluated.
    """

    def __init__(
        self,
        lattice: Lattice,
        objective: Objective,
        evaluate: Evaluate,
        progress: Progress,
        deadline: float,
        seed: int,
        *,
        exchanges: bool = True,
    ) -> None:
        self._lattice = lattice
        self._objective = objective
        self._evaluate = evaluate
        self._progress = progress
        self._deadline = deadline
        self._exchanges = exchanges
        self._random = np.random.default_rng(seed)
        self._values: dict[Levels, float] = {}

    def run(self, kicks: int, start: Levels | None = None) -> None:
        """Descend from a vector, and then from kicked ones until so many in a row have not helped.

        Parameters
        ----------
        start
            Where to begin; the coarsest vector unless told, or where nothing is feasible there.
        """
        best = self._descended(self._lattice.highest if start is None else start)
        if start is not None and self._value(best) == float("inf"):
            best = self._descended(self._lattice.highest)
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
            if step is None and self._exchanges:
                step = self._exchanged(here)
            if step is None:
                break
            here = step
        return here

    def _best_of(self, candidates: list[Levels], here: Levels) -> Levels | None:
        """The best of some vectors, if it is better than where we are, or as good and lower.

        A hierarchy may repeat its nodes on several levels: the way down then leads over vectors that are alike.
        """
        value = self._value(here)
        self._look(candidates, value)
        best = min(candidates, key=lambda levels: (self._value(levels), sum(levels), levels), default=here)
        return best if (self._value(best), sum(best)) < (value, sum(here)) else None

    def _exchanged(self, here: Levels) -> Levels | None:
        """The first good exchange of a level between two columns."""
        exchanges = [
            _moved(down, place, 1)
            for down in self._steps(here, up=False)
            for place, most in enumerate(self._lattice.highest)
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
        steps = [_moved(here, place, -1) for place, level in enumerate(here) if level > 0]
        if up:
            highest = self._lattice.highest
            steps += [_moved(here, place, 1) for place, level in enumerate(here) if level < highest[place]]
        return steps

    def _kicked(self, here: Levels) -> Levels:
        """A vector a few random steps away."""
        for _ in range(int(self._random.integers(3, 7))):
            steps = self._steps(here)
            here = steps[int(self._random.integers(len(steps)))]
        return here

    def _look(self, candidates: list[Levels], value: float) -> None:
        """Evaluate those vectors that are not known yet and might be as good as a value."""
        unknown = [
            levels
            for levels in dict.fromkeys(candidates)
            if levels not in self._values and self._objective.floor(levels) <= value
        ]
        for begin in range(0, len(unknown), AT_ONCE):
            if begin and self._late():
                return
            for outcome in self._evaluate(unknown[begin : begin + AT_ONCE]):
                self._values[outcome.levels] = self._progress.note(outcome, self._objective)

    def _value(self, levels: Levels) -> float:
        return self._values.get(levels, float("inf"))

    def _late(self) -> bool:
        return time.perf_counter() >= self._deadline


def _moved(levels: Levels, column: int, step: int) -> Levels:
    return (*levels[:column], levels[column] + step, *levels[column + 1 :])
