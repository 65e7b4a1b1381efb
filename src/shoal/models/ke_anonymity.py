"""(k,e)-anonymity (Zhang, Koudas, Srivastava and Yu 2007)."""

from fractions import Fraction
from typing import ClassVar

import numpy as np
from pydantic import Field

from shoal.arrays import AnyArray, Codes, Counts, Indptr, Mask, Rows
from shoal.data._plain_text import counted
from shoal.data._promise_words import FITTING
from shoal.data.group_statistics import GroupStatistics, Histogram
from shoal.errors import Infeasible
from shoal.models._equivalence_classes import PublishedClasses, Tally
from shoal.models._exact import fraction
from shoal.models._numbers import Numbers, NumericModel
from shoal.models._sensitive import Finding


class KeAnonymity(NumericModel):
    """Every class holds at least k different sensitive numbers, which are spread over at least e.

    The spread is the largest number of a class less the smallest. Different numbers that lie close together tell as
    much as equal ones: 29,900 and 30,000 are two salaries and one fact. A missing value is no number. Compared exactly.
    """

    name: ClassVar[str] = "ke-anonymity"
    paper: ClassVar[str] = (
        "Zhang, Koudas, Srivastava, Yu: Aggregate query answering on anonymized tables. ICDE 2007"
    )
    monotone: ClassVar[bool] = True
    absorbs: ClassVar[bool] = True
    greater_is_safer: ClassVar[bool] = True

    k: int = Field(ge=2, description="least number of different sensitive numbers of a class")
    e: float = Field(
        ge=0, allow_inf_nan=False, description="least difference of the largest and the smallest of them"
    )

    def sentence(self, of: str, known: str) -> str:
        """The promise for readers who know no model by its name."""
        return f"{FITTING} have at least {self.k} different numbers of {of}, spread over at least {self.e:g}."

    def keeps(self, histogram: Histogram, statistics: GroupStatistics) -> Mask:
        """Which groups hold k numbers, and are spread enough."""
        numbers = self.numbers(histogram.domain)
        return self._kept(numbers, *_extent(numbers, histogram.indptr, histogram.values, histogram.counts))

    def _kept(self, numbers: Numbers, different: Counts, least: Rows, most: Rows) -> Mask:
        enough = numbers.from_below(lambda _: fraction(self.e))
        kept: Mask = different >= self.k
        kept[kept] = most[kept] >= enough[least[kept]]
        return kept

    def least_size(self) -> int:
        """As many as k rows: fewer cannot hold k numbers."""
        return self.k

    def refusal(self, whole: GroupStatistics) -> Infeasible:
        """The whole column has too few numbers, or too small a spread."""
        held = whole.sensitive[self.column]
        numbers = self.numbers(held.domain)
        different, least, most = _extent(numbers, held.indptr, held.values, held.counts)
        if different[0] < self.k:
            best = int(different[0])
            return Infeasible(
                f"k = {self.k} of {self.name} cannot be kept: {self.column} has only {best} different numbers. The "
                f"largest k is {best}.",
                best,
            )
        spread = numbers.values[most[0]] - numbers.values[least[0]]
        return Infeasible(
            f"e = {self.e:g} cannot be kept: the numbers of {self.column} are spread over {float(spread):g}. That is "
            "the largest e.",
            float(spread),
        )

    def found(self, tally: Tally, classes: PublishedClasses) -> Finding:
        """Look at the different numbers of each class, and at the outermost two."""
        numbers = self.numbers(tally.column.domain)
        filled = tally.sizes > 0
        different, least, most = _extent(numbers, tally.indptr, tally.values, tally.counts)
        floats: AnyArray = np.array([float(value) for value in numbers.values] or [0.0])
        spread = floats[most] - floats[least]
        lacking = np.maximum(self.k - different, 0) / self.k
        narrow = np.maximum(self.e - spread, 0) / self.e if self.e else np.zeros(len(spread))
        return Finding(
            broken=filled & ~self._kept(numbers, different, least, most),
            badness=lacking + narrow,
            value=int(different[filled].min()) if filled.any() else None,
            why=lambda place: (
                f"{counted(int(different[place]), 'different numbers')} spread over {spread[place]:g} where "
                f"{self.k} over {self.e:g} are promised"
            ),
        )

    def promise(self) -> str:
        """The promise in words."""
        return (
            f"every class has at least {self.k} different numbers of {self._subject()}, which are spread over at "
            f"least {self.e:g}"
        )

    def threshold(self) -> Fraction:
        """The least number of numbers."""
        return Fraction(self.k)


def _extent(numbers: Numbers, indptr: Indptr, values: Codes, counts: Counts) -> tuple[Counts, Rows, Rows]:
    """How many different numbers each group has, and the places of its smallest and largest one."""
    size = len(indptr) - 1
    groups, places, _ = numbers.ranked(indptr, values, counts)
    different = np.bincount(groups, minlength=size).astype(np.int64)
    ends = np.cumsum(different)
    filled = different > 0
    least, most = np.zeros(size, dtype=np.int64), np.zeros(size, dtype=np.int64)
    least[filled] = places[(ends - different)[filled]]
    most[filled] = places[ends[filled] - 1]
    return different, least, most
