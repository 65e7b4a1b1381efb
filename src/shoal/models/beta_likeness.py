"""β-likeness (Cao and Karras 2012)."""

from fractions import Fraction
from typing import ClassVar, Literal

import numpy as np
from pydantic import Field

from shoal.arrays import AnyArray, Counts, Mask, flagged, owners
from shoal.data._promise_words import AMONG_FITTING
from shoal.data.group_statistics import GroupStatistics, Histogram
from shoal.models._equivalence_classes import PublishedClasses, Tally
from shoal.models._exact import ROUNDING, at_most, compare_logarithm, fraction, group_sums, times
from shoal.models._sensitive import Finding, SensitiveModel


class BetaLikeness(SensitiveModel):
    """No sensitive value is more frequent in a class than in the whole release by more than β times its share there.

    With p the share of a value in the whole release and q its share in a class, the basic promise is (q - p) / p ≤ β,
    and the enhanced one (q - p) / p ≤ min(β, -ln p), which also binds values that are frequent in the whole. What is
    rarer in a class than in the whole gives nothing away by this measure. Compared exactly.
    """

    name: ClassVar[str] = "beta-likeness"
    paper: ClassVar[str] = (
        "Cao, Karras: Publishing microdata with a robust privacy guarantee. PVLDB 5(11), 2012"
    )
    monotone: ClassVar[bool] = True
    absorbs: ClassVar[bool] = False
    bounded_by: ClassVar[str] = "beta"
    relative: ClassVar[bool] = True

    beta: float = Field(
        gt=0, allow_inf_nan=False, description="largest relative gain of a sensitive value in a class"
    )
    form: Literal["basic", "enhanced"] = Field(
        default="enhanced", description="basic: gains up to beta; enhanced: frequent values may gain less"
    )

    def sentence(self, of: str, known: str) -> str:
        """The promise for readers who know no model by its name."""
        return (
            f"{AMONG_FITTING} no value of {of} is more frequent than among all rows by more than {self.beta:g} times "
            "its share."
        )

    def keeps(self, histogram: Histogram, statistics: GroupStatistics) -> Mask:
        """Which groups have no value that gains too much."""
        groups = owners(histogram.indptr)
        sizes = group_sums(histogram.indptr, histogram.counts)[groups]
        overall = histogram.overall[histogram.values]
        rows = int(histogram.overall.sum())
        in_group, in_all = times(histogram.counts, rows), times(overall, sizes)
        kept = at_most(in_group, in_all, 1 + fraction(self.beta))
        if self.form == "enhanced":
            kept &= _logarithm_allows(in_group, in_all, overall, rows)
        mask: Mask = group_sums(histogram.indptr, (~kept).astype(np.int64)) == 0
        return mask

    def found(self, tally: Tally, classes: PublishedClasses) -> Finding:
        """Compare the share of each value in each class with its share in the release."""
        of_class = owners(tally.indptr)
        whole, rows = tally.overall[tally.values], tally.total
        gain = (tally.counts / tally.sizes[of_class]) / (whole / max(rows, 1)) - 1
        limit = np.full(len(gain), float(self.beta))
        if self.form == "enhanced":
            limit = np.minimum(limit, -np.log(whole / max(rows, 1)))
        above = gain > limit
        for place in np.flatnonzero(np.abs(gain - limit) <= 1e-9 * (gain + limit + 2)).tolist():
            share = Fraction(int(tally.counts[place]), int(tally.sizes[of_class[place]]))
            above[place] = not self._allows(share, Fraction(int(whole[place]), rows))
        worst = np.zeros(len(classes))
        np.maximum.at(worst, of_class, gain)
        broken = flagged(of_class[above], len(classes))
        best = int(np.argmax(gain)) if len(gain) else 0

        def why(place: int) -> str:
            entries = np.arange(tally.indptr[place], tally.indptr[place + 1])
            entry = int(entries[np.argmax(gain[entries] - limit[entries])])
            value = tally.column.domain.labels[tally.values[entry]] or "(missing)"
            return (
                f"{tally.counts[entry]} of {tally.sizes[place]} rows are {value}, {whole[entry]} of {rows} in all: "
                f"a gain of {gain[entry]:.4g} where {limit[entry]:.4g} is promised"
            )

        value = None
        if len(gain):
            value = (
                Fraction(int(tally.counts[best]) * rows, int(tally.sizes[of_class[best]]) * int(whole[best]))
                - 1
            )
        return Finding(broken, worst, value, why)

    def promise(self) -> str:
        """The promise in words."""
        limit = f"{self.beta:g}" if self.form == "basic" else f"min({self.beta:g}, -ln p)"
        return f"no value of {self._subject()} with share p in the release gains more than {limit} in a class"

    def _allows(self, share: Fraction, overall: Fraction) -> bool:
        gain = share / overall - 1
        within = gain <= fraction(self.beta)
        return within and (self.form == "basic" or compare_logarithm(1 / overall, gain) >= 0)


def _logarithm_allows(in_group: AnyArray, in_all: AnyArray, overall: Counts, rows: int) -> Mask:
    """Where q / p - 1 is at most -ln p; q / p is given as two whole numbers."""
    gain = np.asarray(in_group, dtype=np.float64) / np.asarray(in_all, dtype=np.float64) - 1
    limit = -np.log(overall / max(rows, 1))
    allowed: Mask = gain <= limit
    for place in np.flatnonzero(np.abs(gain - limit) <= 8 * ROUNDING * (np.abs(gain) + limit + 2)).tolist():
        exact = Fraction(int(in_group[place]), int(in_all[place])) - 1
        allowed[place] = compare_logarithm(Fraction(rows, int(overall[place])), exact) >= 0
    return allowed
