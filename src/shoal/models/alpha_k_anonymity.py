"""(α,k)-anonymity (Wong, Li, Fu and Wang 2006)."""

from fractions import Fraction
from math import ceil
from typing import ClassVar

import numpy as np
from pydantic import Field

from shoal.arrays import Mask
from shoal.data._plain_text import counted
from shoal.data._promise_words import AMONG_FITTING, joined, percent
from shoal.data.group_statistics import GroupStatistics, Histogram
from shoal.errors import Infeasible
from shoal.models._equivalence_classes import PublishedClasses, Tally
from shoal.models._exact import fraction, rounded_up
from shoal.models._sensitive import Bounds, Finding, SensitiveModel, Shares, share_text, shares_kept


class AlphaKAnonymity(SensitiveModel):
    """Every class has at least k rows, and no sensitive value has a share of more than α in it.

    The paper's first model bounds one sensitive value and its general one every value: name `values` for the former.
    With `entity`, k counts persons, and the share of a value is that of the persons of the class who have it in some
    row: somebody with several values counts for each.
    """

    name: ClassVar[str] = "alpha-k-anonymity"
    paper: ClassVar[str] = (
        "Wong, Li, Fu, Wang: (α,k)-anonymity: an enhanced k-anonymity model for privacy-preserving data "
        "publishing. KDD 2006"
    )
    monotone: ClassVar[bool] = True
    absorbs: ClassVar[bool] = False
    bounded_by: ClassVar[str] = "alpha"

    alpha: float = Field(gt=0, le=1, description="largest share of a sensitive value in a class")
    k: int = Field(
        default=1, ge=1, description="least number of rows (or persons) of a class; 1 bounds shares alone"
    )
    values: tuple[str, ...] = Field(
        default=(), description="the sensitive values whose share is bounded; all by default"
    )
    entity: str | None = Field(default=None, description="column that says which rows belong to one person")

    def sentence(self, of: str, known: str) -> str:
        """The promise for readers who know no model by its name."""
        values = f"{joined(self.values, 'values')} of {of}" if self.values else f"the same value of {of}"
        size = f" There are at least {self.k} such rows." if self.k > 1 else ""
        return f"{AMONG_FITTING} at most {percent(self.alpha)} have {values}.{size}"

    def named(self) -> tuple[str, ...]:
        """The values that are bounded by name."""
        return self.values

    def keeps(self, histogram: Histogram, statistics: GroupStatistics) -> Mask:
        """Which groups are large enough and have no value with too large a share."""
        return (statistics.persons >= self.k) & shares_kept(histogram, self._bounds())

    def least_size(self) -> int:
        """As many as k rows; and where every value is bounded, so many that one of them is a share of at most α."""
        return max(self.k, 1 if self.values else ceil(1 / fraction(self.alpha)))

    def refusal(self, whole: GroupStatistics) -> Infeasible:
        """The least α is the largest share of a value in the whole column."""
        if whole.persons[0] < self.k:
            most = int(whole.persons[0])
            return Infeasible(f"k = {self.k} cannot be kept. The largest k is {most}.", most)
        share, name = Fraction(0), ""
        for column in self.columns() or tuple(whole.sensitive):
            histogram = whole.sensitive[column]
            for _, places in self._bounds().entries(histogram.values, _labels(histogram)):
                largest = Fraction(int(histogram.counts[places].max(initial=0)), int(histogram.sizes[0]))
                share, name = max((share, name), (largest, column))
        best = rounded_up(share)
        return Infeasible(
            f"alpha = {self.alpha:g} cannot be kept: a value of {name} has a share of {float(share):.4g} in the whole "
            f"table. The least alpha is {best:g}.",
            best,
        )

    def found(self, tally: Tally, classes: PublishedClasses) -> Finding:
        """Compare the size and the largest share of each class."""
        shares = Shares.of(tally, self._bounds())
        persons = classes.persons(self.entity)
        small = persons < self.k
        return Finding(
            broken=shares.broken | small,
            badness=np.where(small, 1 + 1 / np.maximum(persons, 1), shares.worst),
            value=shares.value,
            why=lambda place: (
                f"{counted(int(persons[place]), tally.noun)} where {self.k} are promised"
                if small[place]
                else f"{_most_frequent(tally, place)} where a share of {self.alpha:g} is promised"
            ),
        )

    def vacuous(self) -> str:
        """No share is larger than 1."""
        return "alpha = 1 promises nothing about shares: none is larger" if self.alpha >= 1 else ""

    def promise(self) -> str:
        """The promise in words."""
        what = (
            f"{', '.join(self.values)} in {self._subject()}"
            if self.values
            else f"any value of {self._subject()}"
        )
        who, of = ("rows", "of") if self.entity is None else ("persons", "of persons with")
        return f"every class has at least {counted(self.k, who)} and a share {of} {what} of at most {self.alpha:g}"

    def _bounds(self) -> Bounds:
        alpha = fraction(self.alpha)
        return Bounds(dict.fromkeys(self.values, alpha), None if self.values else alpha)


def _labels(histogram: Histogram) -> tuple[str, ...]:
    assert histogram.domain is not None
    return histogram.domain.labels


def _most_frequent(tally: Tally, place: int) -> str:
    value, count = next(iter(tally.of(place).items()))
    return share_text(tally, place, value, count)
