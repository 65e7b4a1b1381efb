"""What can be inferred of hidden cells from those that are published beside them."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal

import numpy as np

from shoal.arrays import Floats, Rows
from shoal.data.summary import COUNT, Summary
from shoal.solving import solve

CLOSE = 1e-6

Openness = Callable[[Floats, Floats], Floats]
"""How little bounds tell of cells: more where they are wider."""


@dataclass(frozen=True, slots=True, eq=False)
class CellBounds:
    """The least and the most that hidden cells can be, given all that is published.

    Whoever computes them knows the sums of all totals, and that nothing is negative; of counts, that they are whole,
    and that no 0 is hidden.
    """

    rows: Rows  # the hidden cells
    low: Floats
    high: Floats
    """`low`, `high`: what they can be, and at the least open cell no more; infinite where nothing bounds them."""
    wrong: tuple[int, ...] = ()  # totals that are not the sum of their parts, whatever the hidden cells are


@dataclass(frozen=True, slots=True, eq=False)
class Equations:
    """Sums of hidden cells that are known: a row for each relation that has one."""

    totals: list[int]
    hidden: list[dict[int, int]]
    sums: list[Decimal]


def bounds_of(summary: Summary, value: str, openness: Openness) -> CellBounds:
    """Bound the hidden cells of a value by linear programs; counts by integer ones where those say more.

    `openness`: how little bounds tell. The least open cell is bounded exactly, and others as far as it takes to see
    that they are no less open: what is found for one cell often shows that of many.
    """
    numbers = summary.numbers(value)
    rows = np.array([row for row, number in enumerate(numbers) if number is None], dtype=np.int64)
    equations, wrong = _equations(summary, numbers)
    if wrong or not len(rows):
        return CellBounds(rows, np.zeros(len(rows)), np.zeros(len(rows)), tuple(wrong))
    place = {int(row): n for n, row in enumerate(rows)}
    # What no equation bounds can be anything.
    low, high = np.full(len(rows), float(value == COUNT)), np.full(len(rows), np.inf)
    least = np.inf
    for lines in _components(equations, place):
        part = Component(equations, lines, value == COUNT)
        here = [place[row] for row in part.cells]
        if (found := part.bounds(openness, least)) is None:
            return CellBounds(rows, low, high, (equations.totals[lines[0]],))
        low[here], high[here], least = found
    return CellBounds(rows, low, high)


def _equations(summary: Summary, numbers: Sequence[Decimal | None]) -> tuple[Equations, list[int]]:
    """What the published cells tell of sums of hidden ones, and totals that are wrong."""
    totals, hidden, sums, wrong = [], [], [], []
    for total, parts in summary.relations():
        signs = {total: -1, **dict.fromkeys(parts, 1)}
        unknown = {row: sign for row, sign in signs.items() if numbers[row] is None}
        rest = Decimal(0) - sum(
            (sign * (numbers[row] or 0) for row, sign in signs.items() if row not in unknown), Decimal(0)
        )
        if unknown:
            totals.append(total)
            hidden.append(unknown)
            sums.append(rest)
        elif rest:
            wrong.append(total)
    return Equations(totals, hidden, sums), wrong


def _components(equations: Equations, place: dict[int, int]) -> list[list[int]]:
    """Equations that share hidden cells, together: the others say nothing of them."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import connected_components

    pairs = [(line, place[row]) for line, cells in enumerate(equations.hidden) for row in cells]
    if not pairs:
        return []
    lines, cells = np.array(pairs).T
    shape = (len(equations.hidden) + len(place),) * 2
    graph = csr_array((np.ones(len(pairs)), (lines, cells + len(equations.hidden))), shape=shape)
    _, label = connected_components(graph, directed=False)
    found: dict[int, list[int]] = {}
    for line in range(len(equations.hidden)):
        found.setdefault(int(label[line]), []).append(line)
    return list(found.values())


class Component:
    """Hidden cells that hang together, and what is known of their sums."""

    def __init__(self, equations: Equations, lines: list[int], whole: bool) -> None:
        from scipy.sparse import csr_array

        self.cells = sorted({row for line in lines for row in equations.hidden[line]})
        column = {row: n for n, row in enumerate(self.cells)}
        entries = [
            (n, column[row], sign)
            for n, line in enumerate(lines)
            for row, sign in equations.hidden[line].items()
        ]
        where, which, signs = (np.array(part) for part in zip(*entries, strict=True))
        shape = (len(lines), len(self.cells))
        self.matrix = csr_array((signs.astype(np.float64), (where, which)), shape=shape)
        self.whole = whole
        self.least = np.full(len(self.cells), float(whole))
        self.scale = 1.0 if whole else max([float(abs(equations.sums[line])) for line in lines] + [1e-9])
        self.sums = np.array([float(equations.sums[line]) for line in lines]) / self.scale

    def bounds(self, openness: Openness, least: float) -> tuple[Floats, Floats, float] | None:
        """Bounds of all cells, and how open the least open one is of these and those before.

        None where no numbers make the sums right.
        """
        size = len(self.cells)
        low, high = np.full(size, np.inf), np.full(size, -np.inf)
        done = np.zeros(size, dtype=np.bool_)
        if self._extend(np.zeros(size), low, high) is False:
            return None
        while not done.all():
            n = int(np.argmin(np.where(done, np.inf, openness(low, high))))
            if openness(low[[n]], high[[n]])[0] >= least:
                break
            for sign in (1.0, -1.0):
                goal = np.zeros(size)
                goal[n] = sign
                if self._extend(goal, low, high) is None:
                    high[n] = np.inf
            done[n] = True
            least = min(least, float(openness(low[[n]], high[[n]])[0]))
        return low, high, least

    def _extend(self, goal: Floats, low: Floats, high: Floats) -> bool | None:
        """Let bounds reach as far as the best numbers; None where there is no best, False where there are none."""
        found = solve(goal, self.matrix, self.sums, self.sums, low=self.least)
        if found.unbounded:
            return None
        values = found.values
        if self.whole and values is not None and np.abs(values - np.round(values)).max() > CLOSE:
            every = np.ones(len(goal))
            values = solve(goal, self.matrix, self.sums, self.sums, low=self.least, whole=every).values
        if values is None:
            return False
        values = np.round(values) if self.whole else values * self.scale
        np.minimum(low, values, out=low)
        np.maximum(high, values, out=high)
        return True
