"""Recursive (c,l)-diversity (Machanavajjhala et al. 2007, definition 4.2)."""

from fractions import Fraction
from math import floor, inf
from typing import ClassVar

import numpy as np
from pydantic import Field

from shoal.arrays import AnyArray, Counts, Indptr, Mask, owners, summed
from shoal.data._promise_words import AMONG_FITTING
from shoal.data.group_statistics import GroupStatistics, Histogram
from shoal.errors import Infeasible
from shoal.models._equivalence_classes import PublishedClasses, Tally
from shoal.models._exact import below, fraction, group_maxima, group_sums
from shoal.models._sensitive import Finding, SensitiveModel


class RecursiveDiversity(SensitiveModel):
    """In every class the most frequent sensitive value occurs less than c times as often as the rare ones together.

    With the counts of a class in descending order r1, r2, …, the promise is r1 < c·(rl + … + rm): after l - 2 values
    have been ruled out, the most frequent one is still no near certainty. A class with fewer than l values breaks it.
    With `entity`, persons are counted, each of whom has one value: where somebody has several in a class, it is broken.
    """

    name: ClassVar[str] = "recursive-diversity"
    paper: ClassVar[str] = (
        "Machanavajjhala, Kifer, Gehrke, Venkitasubramaniam: l-Diversity: privacy beyond k-anonymity. "
        "ACM TKDD 1(1), 2007"
    )
    monotone: ClassVar[bool] = True
    absorbs: ClassVar[bool] = False
    bounded_by: ClassVar[str] = "c"
    one_value: ClassVar[bool] = True

    c: float = Field(
        gt=0, allow_inf_nan=False, description="how many times the rare values the most frequent may be"
    )
    l: int = Field(ge=2, description="rank from which on values count as rare")  # noqa: E741
    entity: str | None = Field(default=None, description="column that says which rows belong to one person")

    def sentence(self, of: str, known: str) -> str:
        """The promise for readers who know no model by its name."""
        return (
            f"{AMONG_FITTING} the most frequent value of {of} is less than {self.c:g} times as frequent as all others "
            f"from rank {self.l} on together."
        )

    def keeps(self, histogram: Histogram, statistics: GroupStatistics) -> Mask:
        """Which groups have a most frequent value that is rare enough."""
        frequent = group_maxima(histogram.indptr, histogram.counts)
        rare = group_sums(histogram.indptr, histogram.counts) - _frequent_sums(
            histogram.indptr, histogram.counts, self.l
        )
        return below(frequent, rare, fraction(self.c))

    def least_size(self) -> int:
        """As many as l rows: fewer rows cannot hold l values."""
        return self.l

    def refusal(self, whole: GroupStatistics) -> Infeasible:
        """The least c that the whole column keeps, or the largest l."""
        for name in self.columns() or tuple(whole.sensitive):
            histogram = whole.sensitive[name]
            most = len(histogram.counts)
            if most < self.l:
                message = f"{name} has only {most} different values. The largest l is {most}."
                return Infeasible(f"(c,l) = ({self.c:g},{self.l}) cannot be kept: {message}", most)
            counts = np.sort(histogram.counts)[::-1]
            ratio = Fraction(int(counts[0]), int(counts[self.l - 1 :].sum()))
            if ratio >= fraction(self.c):
                best = (floor(ratio * 10**4) + 1) / 10**4
                message = f"the whole of {name} needs a c of {best:g}. The least c is {best:g}."
                return Infeasible(f"(c,l) = ({self.c:g},{self.l}) cannot be kept: {message}", best)
        return super().refusal(whole)

    def found(self, tally: Tally, classes: PublishedClasses) -> Finding:
        """Put the counts of each class in order and compare the first with the sum from the l-th on."""
        of_class = owners(tally.indptr)
        order = np.lexsort([-tally.counts, of_class])
        counts = tally.counts[order]
        rank = np.arange(len(counts)) - tally.indptr[:-1][of_class]
        filled = tally.sizes > 0
        first = np.zeros(len(classes), dtype=np.int64)
        first[filled] = counts[tally.indptr[:-1][filled]]
        behind = rank >= self.l - 1
        rare = summed(of_class[behind], counts[behind], len(classes))
        broken = filled & ~below(first, rare, fraction(self.c))
        ratio = np.where(rare > 0, first / np.maximum(rare, 1), np.where(filled, np.inf, 0.0))
        worst = int(np.argmax(ratio)) if len(ratio) else 0
        value = Fraction(int(first[worst]), int(rare[worst])) if len(rare) and rare[worst] else inf
        return Finding(
            broken=broken,
            badness=ratio,
            value=value if filled.any() else None,
            why=lambda place: (
                f"the most frequent value occurs {first[place]} times, those from rank {self.l} on {rare[place]} times"
            ),
        )

    def promise(self) -> str:
        """The promise in words."""
        return (
            f"in every class the most frequent value of {self._subject()} occurs less than {self.c:g} times as often "
            f"as those from rank {self.l} on together"
        )


def _frequent_sums(indptr: Indptr, counts: Counts, rank: int) -> AnyArray:
    """The sum of the counts of each group before the given rank, the largest first."""
    groups = owners(indptr)
    order = np.lexsort([counts, groups])
    place_from_end = indptr[1:][groups] - np.arange(len(counts))
    return group_sums(indptr, np.where(place_from_end < rank, counts[order], 0))
