"""Entropy l-diversity (Machanavajjhala et al. 2007, definition 4.1)."""

from functools import lru_cache
from math import ceil, exp, gcd, log
from typing import ClassVar

import numpy as np
from pydantic import Field

from shoal.arrays import Counts, Floats, Indptr, Mask
from shoal.data._promise_words import FITTING
from shoal.data.group_statistics import GroupStatistics, Histogram
from shoal.errors import Infeasible
from shoal.models._equivalence_classes import PublishedClasses, Tally
from shoal.models._exact import ROUNDING, fraction, group_maxima, group_sums, rounded_down, sign_of_logarithms
from shoal.models._sensitive import Finding, SensitiveModel


class EntropyDiversity(SensitiveModel):
    """The entropy of the sensitive values of every class is at least log l.

    A class reaches l if its values are as uncertain as l equally frequent ones. The comparison is exact: where
    floating-point numbers cannot tell, whole numbers decide. With `entity`, it is the entropy of the values of persons,
    each of whom has one: where somebody has several in a class, the promise is broken.
    """

    name: ClassVar[str] = "entropy-diversity"
    paper: ClassVar[str] = (
        "Machanavajjhala, Kifer, Gehrke, Venkitasubramaniam: l-Diversity: privacy beyond k-anonymity. "
        "ACM TKDD 1(1), 2007"
    )
    monotone: ClassVar[bool] = True
    absorbs: ClassVar[bool] = False
    greater_is_safer: ClassVar[bool] = True
    one_value: ClassVar[bool] = True

    l: float = Field(  # noqa: E741
        gt=1, allow_inf_nan=False, description="least effective number of sensitive values of a class"
    )
    entity: str | None = Field(default=None, description="column that says which rows belong to one person")

    def sentence(self, of: str, known: str) -> str:
        """The promise for readers who know no model by its name."""
        return f"{FITTING} have values of {of} as hard to guess as {self.l:g} equally frequent ones."

    def keeps(self, histogram: Histogram, statistics: GroupStatistics) -> Mask:
        """Which groups have an entropy of at least log l."""
        return _diverse(histogram.indptr, histogram.counts, self.l)

    def least_size(self) -> int:
        """As many as l rows, rounded up: the entropy of fewer is smaller."""
        return ceil(fraction(self.l))

    def refusal(self, whole: GroupStatistics) -> Infeasible:
        """The largest l is what the whole column has."""
        names = self.columns() or tuple(whole.sensitive)
        reached = {name: exp(_entropy(whole.sensitive[name].counts)) for name in names}
        name = min(names, key=reached.__getitem__)
        best = _safe(whole.sensitive[name].counts, rounded_down(reached[name]))
        return Infeasible(
            f"entropy l = {self.l:g} cannot be kept: {name} as a whole reaches {best:g}. "
            f"The largest entropy l is {best:g}.",
            best,
        )

    def found(self, tally: Tally, classes: PublishedClasses) -> Finding:
        """Compute the entropy of each class as the mean surprise of its rows."""
        of_class = np.repeat(np.arange(len(classes)), np.diff(tally.indptr))
        share = tally.counts / tally.sizes[of_class]
        entropy = np.zeros(len(classes))
        np.add.at(entropy, of_class, -share * np.log(share))
        filled = tally.sizes > 0
        margin = ROUNDING * (np.diff(tally.indptr) + 8) * (entropy + log(self.l) + 1)
        broken: Mask = filled & (entropy < log(self.l))
        for place in np.flatnonzero(filled & (np.abs(entropy - log(self.l)) <= margin)).tolist():
            counts = tally.counts[tally.indptr[place] : tally.indptr[place + 1]]
            broken[place] = not _reaches(tuple(sorted(counts.tolist())), self.l)
        return Finding(
            broken=broken,
            badness=-entropy,
            value=float(np.exp(entropy[filled].min())) if filled.any() else None,
            why=lambda place: f"entropy of {np.exp(entropy[place]):.4g} values where {self.l:g} are promised",
        )

    def promise(self) -> str:
        """The promise in words."""
        return f"every class has an entropy of {self._subject()} of at least log {self.l:g}"

    def threshold(self) -> float:
        """The least l."""
        return self.l


def _diverse(indptr: Indptr, counts: Counts, least: float) -> Mask:
    """Which groups have an entropy of at least log l: where n·log(n / l) is at least the sum of c·log c."""
    sizes = group_sums(indptr, counts)
    different = np.diff(indptr)
    used = group_sums(indptr, counts * np.log(counts)).astype(np.float64)
    logs = np.log(np.maximum(sizes, 1))
    slack: Floats = sizes * (logs - log(least)) - used
    diverse: Mask = (slack >= 0) & (sizes > 0)
    even = group_maxima(indptr, counts) * different == sizes
    diverse[even] = (different >= least)[even]
    margin = ROUNDING * (different + 8) * (sizes * (logs + log(least)) + used)
    for place in np.flatnonzero(~even & (np.abs(slack) <= margin)).tolist():
        diverse[place] = _reaches(tuple(np.sort(counts[indptr[place] : indptr[place + 1]]).tolist()), least)
    return diverse


@lru_cache(maxsize=4096)
def _reaches(counts: tuple[int, ...], least: float) -> bool:
    """Whether counts have an entropy of at least log l, exactly.

    With n the sum of the counts c, it has if the product of all c^c, times l^n, is at most n^n. Both sides keep their
    order when all counts are divided by their greatest common divisor.
    """
    divisor = gcd(*counts)
    reduced = [count // divisor for count in counts]
    rows, exact = sum(reduced), fraction(least)
    terms = [(count, count) for count in reduced]
    return (
        sign_of_logarithms([*terms, (rows, exact.numerator), (-rows, exact.denominator), (-rows, rows)]) <= 0
    )


def _entropy(counts: Counts) -> float:
    share = counts / counts.sum()
    return float(-(share * np.log(share)).sum())


def _safe(counts: Counts, near: float) -> float:
    """The given l, or the next smaller one of four digits that the counts reach for certain."""
    whole = np.array([0, len(counts)])
    nearby = (round(near - step / 10**4, 4) for step in range(-1, 3))
    return next(least for least in nearby if _diverse(whole, counts, least)[0])
