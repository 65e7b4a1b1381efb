"""Confidence bounding (Wang, Fung and Yu 2007)."""

from fractions import Fraction
from typing import ClassVar

from pydantic import Field, field_validator

from shoal.arrays import Mask
from shoal.data._promise_words import AMONG_FITTING, NAMED, joined, percent
from shoal.data.group_statistics import GroupStatistics, Histogram
from shoal.errors import Infeasible, WrongUse
from shoal.models._equivalence_classes import PublishedClasses, Tally
from shoal.models._exact import fraction, rounded_up
from shoal.models._sensitive import Bounds, Finding, SensitiveModel, Shares, share_text, shares_kept


class ConfidenceBounding(SensitiveModel):
    """No class lets a reader infer a named sensitive value with more confidence than the bound of that value.

    The confidence is the share of the value in the class. Values that are not named may have any share, so that rare
    secrets can be bounded tightly and harmless values not at all. The missing value is named by the empty text. With
    `entity`, it is the share of the persons of the class who have the value in some row.
    """

    name: ClassVar[str] = "confidence-bounding"
    paper: ClassVar[str] = (
        "Wang, Fung, Yu: Handicapping attacker's confidence: an alternative to k-anonymization. "
        "Knowledge and Information Systems 11(3), 2007"
    )
    monotone: ClassVar[bool] = True
    absorbs: ClassVar[bool] = False

    bounds: dict[str, float] = Field(min_length=1, description="sensitive value to largest confidence in it")
    entity: str | None = Field(default=None, description="column that says which rows belong to one person")

    def sentence(self, of: str, known: str) -> str:
        """The promise for readers who know no model by its name."""
        bounds = [f"{value} of at most {percent(bound)}" for value, bound in self.bounds.items()]
        more = " and others" if len(bounds) > NAMED else ""
        return f"{AMONG_FITTING} the share is, for {of}: {joined(bounds[:NAMED])}{more}."

    @field_validator("bounds")
    @classmethod
    def _shares(cls, bounds: dict[str, float]) -> dict[str, float]:
        for value, bound in bounds.items():
            if not 0 <= bound <= 1:
                raise WrongUse(f"between 0 and 1 for every value, and {value!r} has {bound:g}")
        return bounds

    def named(self) -> tuple[str, ...]:
        """The values that are bounded by name."""
        return tuple(self.bounds)

    def keeps(self, histogram: Histogram, statistics: GroupStatistics) -> Mask:
        """Which groups have no named value with too large a share."""
        return shares_kept(histogram, self._exact())

    def refusal(self, whole: GroupStatistics) -> Infeasible:
        """The least bound of a value is its share in the whole column."""
        for column in self.columns() or tuple(whole.sensitive):
            histogram = whole.sensitive[column]
            assert histogram.domain is not None
            counts = dict(zip(histogram.values.tolist(), histogram.counts.tolist(), strict=True))
            for value, bound in self.bounds.items():
                code = histogram.domain.labels.index(value) if value in histogram.domain.labels else -1
                share = Fraction(counts.get(code, 0), int(histogram.sizes[0]))
                if share > fraction(bound):
                    best = rounded_up(share)
                    return Infeasible(
                        f"A confidence of {bound:g} in {value!r} cannot be kept: its share of the whole of {column} is "
                        f"larger. The least bound is {best:g}.",
                        best,
                    )
        return super().refusal(whole)

    def found(self, tally: Tally, classes: PublishedClasses) -> Finding:
        """Compare the share of each named value in each class with its bound."""
        shares = Shares.of(tally, self._exact())

        def why(place: int) -> str:
            inside = tally.of(place)
            named = {value: inside.get(value or "(missing)", 0) for value in self.bounds}
            size = int(tally.sizes[place])
            said = [
                f"{share_text(tally, place, value or '(missing)', count)} where a share of {self.bounds[value]:g} is "
                "promised"
                for value, count in named.items()
                if count > fraction(self.bounds[value]) * size
            ]
            return "; ".join(said)

        return Finding(shares.broken, shares.worst, shares.value, why)

    def vacuous(self) -> str:
        """No share is larger than 1."""
        free = [value or "(missing)" for value, bound in self.bounds.items() if bound >= 1]
        return f"a bound of 1 promises nothing about {', '.join(free)}: no share is larger" if free else ""

    def promise(self) -> str:
        """The promise in words."""
        bounds = ", ".join(f"{value or '(missing)'} {bound:g}" for value, bound in self.bounds.items())
        of = "values" if self.entity is None else "persons with values"
        return f"in every class the shares of {of} of {self._subject()} are at most: {bounds}"

    def threshold(self) -> Fraction:
        """The largest of the bounds."""
        return max(fraction(bound) for bound in self.bounds.values())

    def _exact(self) -> Bounds:
        return Bounds({value: fraction(bound) for value, bound in self.bounds.items()})
