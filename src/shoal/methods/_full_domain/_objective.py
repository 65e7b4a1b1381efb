"""The objectives that a search minimizes, with lower bounds for all vectors of a box."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np

from shoal.arrays import Counts, Floats, Mask, Rows, indptr_of
from shoal.errors import WrongUse
from shoal.methods._full_domain._levels import Levels
from shoal.methods._full_domain._losses import ColumnLoss
from shoal.methods._full_domain._suppressed_classes import Outcome
from shoal.methods._full_domain._tuples import Grouping

Minimized: TypeAlias = Literal["lm", "granularity", "ncp", "discernibility", "c_avg", "entropy", "precision"]
"""The measures that can be minimized; if higher is better, their complement, the loss, is minimized."""


class CellObjective:
    """A weighted sum of the losses of single cells: LM, NCP, granularity, entropy, precision.

    The loss of a column on a level without suppression is known before anything is evaluated, and it grows with the
    level. It bounds the loss of a vector from below. Rows that are certainly suppressed, because they are on an
    evaluated vector above, count with the loss of a suppressed row instead.

    `price`: the share of its loss that a suppressed row counts; less than 1 if the row may be published later.
    """

    def __init__(
        self,
        grouping: Grouping,
        losses: tuple[ColumnLoss, ...],
        weights: Mapping[str, float],
        price: float = 1.0,
    ) -> None:
        self._grouping = grouping
        lattice, tuples = grouping.lattice, grouping.tuples
        self._rows = tuples.rows
        shares = [
            loss.weight * weights.get(name, 1.0) for name, loss in zip(lattice.names, losses, strict=True)
        ]
        self._published = [share * loss.published for share, loss in zip(shares, losses, strict=True)]
        self._suppressed = [
            price * share * loss.suppressed for share, loss in zip(shares, losses, strict=True)
        ]
        self._starts = indptr_of([len(loss.published) for loss in losses])[:-1]
        self._weights = tuples.counts.astype(np.float64)
        self._known: dict[tuple[int, int], Floats | None] = {}
        self._gone = np.zeros(len(tuples))
        for codes, lost in zip(tuples.codes, self._suppressed, strict=True):
            self._gone += lost[codes]
        self._all_gone = float((self._gone * self._weights).sum())
        self._all = self._held(self._weights)
        self._nothing_suppressed = self._profile(self._all)
        self._totals = [
            (published * here).sum(axis=1) for published, here in zip(self._published, self._all, strict=True)
        ]

    def value(self, outcome: Outcome) -> float:
        """The loss of published and suppressed rows together.

        The loss of all rows is known for each column and level, so that only the smaller of the two sides is summed.
        """
        kept = outcome.kept[outcome.number]
        few = 2 * int(np.count_nonzero(kept)) <= len(kept)
        some = np.flatnonzero(kept if few else ~kept)
        change = -self._gone[some]
        every = 0.0
        for place, level in enumerate(outcome.levels):
            every += float(self._totals[place][level])
            cells = self._cells(place, level)
            if cells is not None:
                change += cells[some]
        change *= self._weights[some]
        changed = float(change.sum())
        return (self._all_gone + changed if few else every - changed) / self._rows

    def floor(self, levels: Levels) -> float:
        """The loss of a vector if nothing had to be suppressed: a lower bound or, with a price below 1, an estimate."""
        return float(self._nothing_suppressed[self._starts + levels].sum()) / self._rows

    def nothing(self) -> float:
        """The loss of suppressing every row."""
        return self._all_gone / self._rows

    def ceiling(self, outcome: Outcome) -> "CellCeiling":
        """The bound from an evaluated vector: what certainly suppressed rows lose, and the others on every level."""
        held = self._held(self._weights * outcome.certain[outcome.number])
        return CellCeiling(self._profile(held), self._lost(held), self._starts, self._rows)

    def urgency(self, ceiling: "Ceiling", low: Levels, high: Levels) -> int:
        """The column to split a box on: the one that would raise the bound most."""
        assert isinstance(ceiling, CellCeiling)
        gains = ceiling.profile[ceiling.starts + high] - ceiling.profile[ceiling.starts + low]
        gains[np.array(low) == np.array(high)] = -1.0
        return int(np.argmax(gains))

    def _cells(self, place: int, level: int) -> Floats | None:
        """The loss of each tuple's cell on one level of a column; None if no cell loses anything."""
        if (place, level) not in self._known:
            losses = self._published[place][level]
            self._known[place, level] = losses[self._grouping.tuples.codes[place]] if losses.any() else None
        return self._known[place, level]

    def _held(self, counts: Floats) -> list[Floats]:
        """For each column, how many of the counted rows have each code."""
        return [
            np.bincount(codes, weights=counts, minlength=len(suppressed)).astype(np.float64, copy=False)
            for codes, suppressed in zip(self._grouping.tuples.codes, self._suppressed, strict=True)
        ]

    def _lost(self, held: list[Floats]) -> float:
        """The loss of all rows that are not counted in `held`, as suppressed rows."""
        return sum(
            float(((all_rows - here) * suppressed).sum())
            for all_rows, here, suppressed in zip(self._all, held, self._suppressed, strict=True)
        )

    def _profile(self, held: list[Floats]) -> Floats:
        """The loss of each column on each level if the rows in `held` are published; all columns in one array.

        Each entry becomes the minimum of its own level and all above it, which changes nothing if coarser levels lose
        more.
        """
        parts = []
        for published, here in zip(self._published, held, strict=True):
            loss = (published * here).sum(axis=1)
            parts.append(np.minimum.accumulate(loss[::-1])[::-1])
        return np.concatenate(parts)


@dataclass(frozen=True, slots=True, eq=False)
class CellCeiling:
    """Lower bound for vectors below an evaluated one: the loss of rows by level, and of certainly suppressed rows."""

    profile: Floats
    lost: float
    starts: Rows
    rows: int

    def bound(self, low: Levels) -> float:
        """The loss of a lower vector if no more rows had to be suppressed there."""
        return (self.lost + float(self.profile[self.starts + low].sum())) / self.rows


class ClassObjective:
    """An objective that depends on the sizes of the classes: discernibility or C_AVG."""

    def __init__(
        self,
        grouping: Grouping,
        measure: Literal["discernibility", "c_avg"],
        k: int | None,
        limit: int,
        least: int,
    ) -> None:
        if measure == "c_avg" and k is None:
            raise WrongUse("C_AVG is a multiple of k; promise a k, or choose by another measure.")
        self._grouping = grouping
        self._measure = measure
        self._k = k or 1
        self._limit = limit
        self._least = least
        self._rows = grouping.tuples.rows
        self._known: tuple[Levels, Counts] | None = None

    def value(self, outcome: Outcome) -> float:
        """The measure itself."""
        sizes = outcome.sizes[outcome.kept]
        if self._measure == "discernibility":
            return float(int(np.dot(sizes, sizes)) + outcome.suppressed * self._rows)
        return float(sizes.sum()) / len(sizes) / self._k if len(sizes) else np.inf

    def floor(self, levels: Levels) -> float:
        """A lower bound before evaluation: nothing is known, so it is zero."""
        return 0.0

    def nothing(self) -> float:
        """The value of suppressing every row: infinite, since these measures need classes."""
        return float("inf")

    def ceiling(self, outcome: Outcome) -> "ClassCeiling":
        """The bound from an evaluated vector, which says which tuples may be published below it."""
        return ClassCeiling(self, outcome.certain[outcome.number])

    def urgency(self, ceiling: "Ceiling", low: Levels, high: Levels) -> int:
        """The column to split a box on: the one whose number of nodes grows most from its high to its low level."""
        sizes = self._grouping.lattice.sizes
        gains = [
            sizes[place][first] / sizes[place][last] if first < last else 0.0
            for place, (first, last) in enumerate(zip(low, high, strict=True))
        ]
        return int(np.argmax(gains))

    def least_value(self, certain: Mask, low: Levels) -> float:
        """A lower bound for every vector above `low`, if only the tuples in `certain` can be published.

        Classes above `low` are at least as large as on it.
        """
        counts = self._grouping.tuples.counts[certain]
        published = int(counts.sum())
        sizes = np.maximum(self._sizes_at(low)[certain], self._least)
        if self._measure == "discernibility":
            return float(int(np.dot(sizes, counts)) + (self._rows - published) * self._rows)
        most = min(published / self._least, float((counts / np.maximum(sizes, 1)).sum()))
        return max(self._least, (self._rows - self._limit) / max(most, 1.0)) / self._k

    def _sizes_at(self, levels: Levels) -> Counts:
        """The size of each tuple's class; cached, because successive boxes often share their lower end."""
        if self._known is None or self._known[0] != levels:
            number, width = self._grouping.classes(levels)
            sizes = np.bincount(number, weights=self._grouping.tuples.counts, minlength=width)
            self._known = (levels, sizes.astype(np.int64)[number])
        return self._known[1]


@dataclass(frozen=True, slots=True, eq=False)
class ClassCeiling:
    """Lower bound for vectors below an evaluated one, from the tuples that may be published there."""

    objective: ClassObjective
    certain: Mask

    def bound(self, low: Levels) -> float:
        """The least value of any vector between a lower one and the evaluated one."""
        return self.objective.least_value(self.certain, low)


Objective: TypeAlias = CellObjective | ClassObjective
"""A value of vectors, the lower the better, with a floor that is known before a vector is evaluated."""

Ceiling: TypeAlias = CellCeiling | ClassCeiling
"""What the evaluation of a vector says about all vectors below it: a lower bound on their values."""
