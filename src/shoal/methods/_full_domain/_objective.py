"""What a search minimizes, and how little any vector of a box can lose."""

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
"""The measures that can be minimized; of those where higher is better, what is lost is minimized."""


class CellObjective:
    """A weighted sum of what single cells lose: LM, NCP, granularity, entropy, precision.

    The loss of a column on a level without suppression is known before anything is evaluated, and it grows with the
    level. A vector loses at least that, and for every row that is suppressed on an evaluated vector above it for
    certain, what a suppressed row loses.

    `price`: the share of its loss that a suppressed row is counted with; less than 1 where it may be published later.
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
        """The loss of the rows that are published, and of those that are not.

        The loss of all rows is known for each column and level, so that only the smaller side is looked at.
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
        """The loss of the vector if nothing had to be suppressed; with a price below 1, an estimate."""
        return float(self._nothing_suppressed[self._starts + levels].sum()) / self._rows

    def nothing(self) -> float:
        """The loss of suppressing every row."""
        return self._all_gone / self._rows

    def ceiling(self, outcome: Outcome) -> "CellCeiling":
        """The loss on every level of the rows that are not suppressed for certain, and of those that are."""
        held = self._held(self._weights * outcome.certain[outcome.number])
        return CellCeiling(self._profile(held), self._lost(held), self._starts, self._rows)

    def urgency(self, ceiling: "Ceiling", low: Levels, high: Levels) -> int:
        """The column that would raise the bound most."""
        assert isinstance(ceiling, CellCeiling)
        gains = ceiling.profile[ceiling.starts + high] - ceiling.profile[ceiling.starts + low]
        gains[np.array(low) == np.array(high)] = -1.0
        return int(np.argmax(gains))

    def _cells(self, place: int, level: int) -> Floats | None:
        """The loss of each tuple's cell on one level of a column; None where no cell loses anything."""
        if (place, level) not in self._known:
            losses = self._published[place][level]
            self._known[place, level] = losses[self._grouping.tuples.codes[place]] if losses.any() else None
        return self._known[place, level]

    def _held(self, counts: Floats) -> list[Floats]:
        """For each column, how many of the given rows hold each code."""
        return [
            np.bincount(codes, weights=counts, minlength=len(suppressed)).astype(np.float64, copy=False)
            for codes, suppressed in zip(self._grouping.tuples.codes, self._suppressed, strict=True)
        ]

    def _lost(self, held: list[Floats]) -> float:
        """The loss of all rows that are not held."""
        return sum(
            float(((all_rows - here) * suppressed).sum())
            for all_rows, here, suppressed in zip(self._all, held, self._suppressed, strict=True)
        )

    def _profile(self, held: list[Floats]) -> Floats:
        """The loss of each column on each level if the held rows are published, all columns in one array.

        Each entry is made the least of its own level and all above it, which changes nothing where coarser levels lose
        more.
        """
        parts = []
        for published, here in zip(self._published, held, strict=True):
            loss = (published * here).sum(axis=1)
            parts.append(np.minimum.accumulate(loss[::-1])[::-1])
        return np.concatenate(parts)


@dataclass(frozen=True, slots=True, eq=False)
class CellCeiling:
    """The loss of the rows that may be published, level by level, and of those that are certainly suppressed."""

    profile: Floats
    lost: float
    starts: Rows
    rows: int

    def bound(self, low: Levels) -> float:
        """The loss of a lower vector if nothing more had to be suppressed."""
        return (self.lost + float(self.profile[self.starts + low].sum())) / self.rows


class ClassObjective:
    """A value of the sizes of the classes: discernibility or C_AVG."""

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
        """Nothing is known beforehand."""
        return 0.0

    def nothing(self) -> float:
        """A release without rows has no value."""
        return float("inf")

    def ceiling(self, outcome: Outcome) -> "ClassCeiling":
        """The rows that are suppressed for certain; the others are in classes at least as large as far below."""
        return ClassCeiling(self, outcome.certain[outcome.number])

    def urgency(self, ceiling: "Ceiling", low: Levels, high: Levels) -> int:
        """The column with most nodes between its levels."""
        sizes = self._grouping.lattice.sizes
        gains = [
            sizes[place][first] / sizes[place][last] if first < last else 0.0
            for place, (first, last) in enumerate(zip(low, high, strict=True))
        ]
        return int(np.argmax(gains))

    def least_value(self, certain: Mask, low: Levels) -> float:
        """What a vector above a low one cannot fall below, if only certain tuples can be published."""
        counts = self._grouping.tuples.counts[certain]
        published = int(counts.sum())
        sizes = np.maximum(self._sizes_at(low)[certain], self._least)
        if self._measure == "discernibility":
            return float(int(np.dot(sizes, counts)) + (self._rows - published) * self._rows)
        most = min(published / self._least, float((counts / np.maximum(sizes, 1)).sum()))
        return max(self._least, (self._rows - self._limit) / max(most, 1.0)) / self._k

    def _sizes_at(self, levels: Levels) -> Counts:
        """The rows of the class of each tuple; boxes that follow each other often share a lower end."""
        if self._known is None or self._known[0] != levels:
            number, width = self._grouping.classes(levels)
            sizes = np.bincount(number, weights=self._grouping.tuples.counts, minlength=width)
            self._known = (levels, sizes.astype(np.int64)[number])
        return self._known[1]


@dataclass(frozen=True, slots=True, eq=False)
class ClassCeiling:
    """The tuples that may be published below an evaluated vector."""

    objective: ClassObjective
    certain: Mask

    def bound(self, low: Levels) -> float:
        """The least that classes at least as large as on a lower vector can cost."""
        return self.objective.least_value(self.certain, low)


Objective: TypeAlias = CellObjective | ClassObjective
"""A value of vectors, the less the better, with a floor that is known without evaluating a vector."""

Ceiling: TypeAlias = CellCeiling | ClassCeiling
"""What the evaluation of a vector says about all vectors below it: a bound that none of them falls below."""
