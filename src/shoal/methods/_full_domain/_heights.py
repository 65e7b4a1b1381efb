"""The search by heights: by bisection if the promises allow it, otherwise one height after another."""

from collections.abc import Iterable, Iterator

import numpy as np

from shoal.methods._full_domain._levels import Levels
from shoal.methods._full_domain._table_to_generalize import Judge

CHUNK = 64
"""How many vectors of a height are evaluated together."""


class Heights:
    """Finds the solutions of the least height, or all minimal ones: those that no other solution lies below."""

    def __init__(self, judge: Judge) -> None:
        self._judge = judge
        self._lattice = judge.problem.lattice
        # If every vector above a solution is a solution, heights can be searched by bisection.
        self.halving = judge.suppression.upward
        self._feasible: set[Levels] = set()
        self._hopeless: list[Levels] = []
        self.evaluated = 0
        self.nearest: tuple[int, Levels] = (judge.problem.tuples.rows + 1, self._lattice.highest)

    def least(self) -> list[Levels]:
        """All solutions of the least height that has solutions, in ascending order of their levels."""
        low, high = 0, self._lattice.height
        if not self.halving:
            for height in range(high + 1):
                found = list(self._solutions(self._lattice.at_height(height)))
                if found:
                    return found
            return []
        while low < high:
            middle = (low + high) // 2
            reached = next(self._solutions(self._lattice.at_height(middle)), None)
            low, high = (low, middle) if reached is not None else (middle + 1, high)
        return list(self._solutions(self._lattice.at_height(low)))

    def minimal(self) -> list[Levels]:
        """All solutions that no other solution lies below, in ascending order of their heights."""
        found: list[Levels] = []
        for height in range(self._lattice.height + 1):
            vectors = [
                levels for levels in self._lattice.at_height(height) if not _any(found, np.less_equal, levels)
            ]
            found += list(self._solutions(vectors))
        return found

    def _solutions(self, vectors: Iterable[Levels]) -> Iterator[Levels]:
        """The feasible vectors among some; vectors below a hopeless one are not evaluated."""
        waiting: list[Levels] = []
        for levels in vectors:
            waiting.append(levels)
            if len(waiting) == CHUNK:
                yield from self._looked_at(waiting)
                waiting = []
        yield from self._looked_at(waiting)

    def _looked_at(self, vectors: list[Levels]) -> Iterator[Levels]:
        unknown = [
            levels
            for levels in vectors
            if levels not in self._feasible and not _any(self._hopeless, np.greater_equal, levels)
        ]
        for outcome in self._judge.evaluate(unknown):
            self.evaluated += 1
            self.nearest = min(self.nearest, (outcome.suppressed, outcome.levels))
            if outcome.hopeless:
                self._hopeless.append(outcome.levels)
            if outcome.feasible:
                self._feasible.add(outcome.levels)
        yield from (levels for levels in vectors if levels in self._feasible)


def _any(known: list[Levels], compared: np.ufunc, levels: Levels) -> bool:
    """Whether one of the known vectors compares like this with the given one in every column."""
    return bool(known) and bool(compared(np.array(known), np.array(levels)).all(axis=1).any())
