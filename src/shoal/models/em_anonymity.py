"""(ε,m)-anonymity (Li, Tao and Xiao 2008)."""

from fractions import Fraction
from typing import ClassVar, Literal

import numpy as np
from pydantic import Field

from shoal.arrays import AnyArray, Codes, Counts, Indptr, Mask, Rows
from shoal.data._promise_words import AMONG_FITTING
from shoal.data.group_statistics import GroupStatistics, Histogram
from shoal.models._equivalence_classes import PublishedClasses, Tally
from shoal.models._exact import fraction
from shoal.models._numbers import Numbers, NumericModel
from shoal.models._sensitive import Finding


class EmAnonymity(NumericModel):
    """Around every sensitive number of a class, within ε of it, lie at most 1/m of the numbers of the class.

    Who knows the class guesses the number, give or take ε, with a chance of at most 1/m. ``absolute``: from x - ε to
    x + ε; ``relative``: from x - ε·|x| to x + ε·|x|. Both ends count. A missing value is no number, but its row belongs
    to the class. Compared exactly.
    """

    name: ClassVar[str] = "em-anonymity"
    paper: ClassVar[str] = (
        "Li, Tao, Xiao: Preservation of proximity privacy in publishing numerical sensitive data. SIGMOD 2008"
    )
    monotone: ClassVar[bool] = False
    absorbs: ClassVar[bool] = False

    epsilon: float = Field(ge=0, allow_inf_nan=False, description="how near is near")
    m: int = Field(ge=2, description="at most one m-th of a class lies near any of its numbers")
    nearness: Literal["absolute", "relative"] = Field(
        default="absolute", description="whether epsilon is a difference, or a share of the number"
    )

    def sentence(self, of: str, known: str) -> str:
        """The promise for readers who know no model by its name."""
        times = " times it" if self.nearness == "relative" else ""
        return (
            f"{AMONG_FITTING} at most 1 in {self.m} has a number of {of} near any one of them (within "
            f"{self.epsilon:g}{times})."
        )

    def keeps(self, histogram: Histogram, statistics: GroupStatistics) -> Mask:
        """Which groups have no crowded number."""
        numbers = self.numbers(histogram.domain)
        crowds = self._crowds(numbers, histogram.indptr, histogram.values, histogram.counts)
        mask: Mask = crowds[1] * self.m <= histogram.sums
        return mask

    def least_size(self) -> int:
        """As many as m rows: with fewer, one is more than an m-th."""
        return self.m

    def found(self, tally: Tally, classes: PublishedClasses) -> Finding:
        """Find the most crowded number of each class."""
        numbers = self.numbers(tally.column.domain)
        filled = tally.sizes > 0
        at, crowds = self._crowds(numbers, tally.indptr, tally.values, tally.counts)
        shares: AnyArray = np.zeros(len(crowds))
        shares[filled] = crowds[filled] / tally.sizes[filled]
        worst = int(np.argmax(np.where(filled, shares, -1.0))) if len(shares) else 0
        return Finding(
            broken=filled & (crowds * self.m > tally.sizes),
            badness=shares,
            value=Fraction(int(crowds[worst]), int(tally.sizes[worst])) if filled.any() else None,
            why=lambda place: (
                f"{crowds[place]} of {tally.sizes[place]} rows lie near {float(numbers.values[at[place]]):g} where "
                f"one in {self.m} is promised"
            ),
        )

    def _crowds(self, numbers: Numbers, indptr: Indptr, values: Codes, counts: Counts) -> tuple[Rows, Counts]:
        """The place of the most crowded number of each group, and how many lie near it."""
        size, different = len(indptr) - 1, len(numbers.values)
        groups, places, held = numbers.ranked(indptr, values, counts)
        low, high = numbers.near(self._radius)
        keys = groups * (different + 1) + places
        summed = np.concatenate(([0], np.cumsum(held)))
        first = np.searchsorted(keys, groups * (different + 1) + low[places])
        behind = np.searchsorted(keys, groups * (different + 1) + high[places])
        near = summed[behind] - summed[first]
        most = np.zeros(size, dtype=np.int64)
        np.maximum.at(most, groups, near)
        at = np.zeros(size, dtype=np.int64)
        crowded = np.flatnonzero(near == most[groups])[::-1]
        at[groups[crowded]] = places[crowded]
        return at, most

    def _radius(self, number: Fraction) -> Fraction:
        near = fraction(self.epsilon)
        return near if self.nearness == "absolute" else near * abs(number)

    def promise(self) -> str:
        """The promise in words."""
        near = f"{self.epsilon:g}" if self.nearness == "absolute" else f"{100 * self.epsilon:g} %"
        return f"in every class at most one in {self.m} rows lies within {near} of any number of {self._subject()}"

    def threshold(self) -> Fraction:
        """The largest share."""
        return Fraction(1, self.m)
