"""δ-disclosure privacy (Brickell and Shmatikov 2008)."""

from fractions import Fraction
from typing import ClassVar

import numpy as np
from pydantic import Field

from shoal.arrays import Mask, owners
from shoal.data._promise_words import AMONG_FITTING
from shoal.data.group_statistics import GroupStatistics, Histogram
from shoal.models._equivalence_classes import PublishedClasses, Tally
from shoal.models._exact import ROUNDING, compare_logarithm, fraction, group_sums, times
from shoal.models._sensitive import Finding, SensitiveModel


class DeltaDisclosure(SensitiveModel):
    """The share of every sensitive value in every class differs from its share in the release by less than e^δ times.

    With p the share of a value in the whole release and q its share in a class, the promise is |ln(q / p)| < δ for all
    values of the release. A value that is absent from a class has q = 0 and breaks it: to learn what somebody does not
    have is to learn something. The logarithm is the natural one.
    """

    name: ClassVar[str] = "delta-disclosure"
    paper: ClassVar[str] = (
        "Brickell, Shmatikov: The cost of privacy: destruction of data-mining utility in anonymized data "
        "publishing. KDD 2008"
    )
    monotone: ClassVar[bool] = True
    absorbs: ClassVar[bool] = False
    bounded_by: ClassVar[str] = "delta"
    relative: ClassVar[bool] = True

    delta: float = Field(
        gt=0, allow_inf_nan=False, description="bound of the logarithm of a share's change in a class"
    )

    def sentence(self, of: str, known: str) -> str:
        """The promise for readers who know no model by its name."""
        return (
            f"{AMONG_FITTING} the share of each value of {of} differs from that among all rows by a factor below "
            f"e^{self.delta:g}."
        )

    def keeps(self, histogram: Histogram, statistics: GroupStatistics) -> Mask:
        """Which groups hold every value, each about as often as the whole."""
        groups = owners(histogram.indptr)
        sizes = group_sums(histogram.indptr, histogram.counts)[groups]
        in_group = times(histogram.counts, int(histogram.overall.sum()))
        in_all = times(histogram.overall[histogram.values], sizes)
        change = np.abs(np.log(np.asarray(in_group, dtype=np.float64) / np.asarray(in_all, dtype=np.float64)))
        far: Mask = change >= self.delta
        for place in np.flatnonzero(np.abs(change - self.delta) <= 8 * ROUNDING * (1 + change)).tolist():
            far[place] = not _near(Fraction(int(in_group[place]), int(in_all[place])), fraction(self.delta))
        complete = np.diff(histogram.indptr) == np.count_nonzero(histogram.overall)
        mask: Mask = complete & (group_sums(histogram.indptr, far.astype(np.int64)) == 0)
        return mask

    def found(self, tally: Tally, classes: PublishedClasses) -> Finding:
        """Compare the share of each value in each class with its share in the release."""
        of_class = owners(tally.indptr)
        whole = tally.overall[tally.values] / max(tally.total, 1)
        change = np.log(tally.counts / tally.sizes[of_class]) - np.log(whole)
        far = np.abs(change) >= self.delta
        for place in np.flatnonzero(np.abs(np.abs(change) - self.delta) <= 1e-9).tolist():
            share = Fraction(int(tally.counts[place]), int(tally.sizes[of_class[place]]))
            overall = Fraction(int(tally.overall[tally.values[place]]), tally.total)
            far[place] = not _near(share / overall, fraction(self.delta))
        filled = tally.sizes > 0
        values = int((tally.overall > 0).sum())
        absent = filled & (np.bincount(of_class, minlength=len(classes)) < values)
        worst = np.where(absent, np.inf, 0.0)
        np.maximum.at(worst, of_class, np.abs(change))
        broken = absent.copy()
        broken[of_class[far]] = True

        def why(place: int) -> str:
            entries = slice(int(tally.indptr[place]), int(tally.indptr[place + 1]))
            if absent[place]:
                return f"{len(change[entries])} of the {values} values of the release occur, and all are promised"
            entry = entries.start + int(np.argmax(np.abs(change[entries])))
            value = tally.column.domain.labels[tally.values[entry]] or "(missing)"
            return (
                f"{tally.counts[entry]} of {tally.sizes[place]} rows are {value}, {whole[entry]:.4g} of all: "
                f"|ln| of {abs(change[entry]):.4g} where less than {self.delta:g} is promised"
            )

        largest = float(worst.max(initial=0.0))
        return Finding(broken, worst, largest if filled.any() else None, why)

    def promise(self) -> str:
        """The promise in words."""
        return f"the share of every value of {self._subject()} in a class is within e^{self.delta:g} times that in all"


def _near(ratio: Fraction, delta: Fraction) -> bool:
    """Whether |ln(ratio)| is less than delta."""
    return compare_logarithm(max(ratio, 1 / ratio), delta) < 0
