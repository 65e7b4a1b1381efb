"""Re-identification risk: the chance that a guess inside a class is right (El Emam and Dankar 2008)."""

from fractions import Fraction
from math import ceil
from typing import ClassVar, Literal

import numpy as np
from pydantic import Field

from shoal.arrays import Mask
from shoal.data._plain_text import counted
from shoal.data._promise_words import percent
from shoal.data.group_statistics import GroupStatistics
from shoal.data.verdict import SHOWN, Offender, Verdict
from shoal.errors import Infeasible
from shoal.models._equivalence_classes import Excerpt, PublishedClasses
from shoal.models._exact import at_most, fraction, rounded_up
from shoal.models.model import Evidence, TableModel


class ReidentificationRisk(TableModel):
    """An adversary who knows that a person is in the release, and her quasi-identifiers, finds her row by luck alone.

    The risk of a row is one over the persons of its class. The maximal risk is that of the smallest class, so that
    bounding it by 1/k is k-anonymity; the average risk is the mean over all persons, the classes over the persons.
    """

    name: ClassVar[str] = "reidentification-risk"
    paper: ClassVar[str] = "El Emam, Dankar: Protecting privacy using k-anonymity. JAMIA 15(5), 2008"
    monotone: ClassVar[bool] = True
    absorbs: ClassVar[bool] = True

    risk: float = Field(gt=0, le=1, description="largest risk")
    over: Literal["maximal", "average"] = Field(
        default="maximal", description="whose risk: that of the worst class, or the mean over all persons"
    )
    entity: str | None = Field(default=None, description="column that says which rows belong to one person")

    def sentence(self, of: str, known: str) -> str:
        """The promise for readers who know no model by its name."""
        over = "" if self.over == "maximal" else " on average"
        return (
            f"Someone who knows {known} of a person can guess that person's row with a chance of at most "
            f"{percent(self.risk)}{over}."
        )

    def holds(self, statistics: GroupStatistics) -> Mask:
        """Which groups have a risk within the bound. Where all have, so has their mean."""
        return at_most(np.ones(len(statistics), dtype=np.int64), statistics.persons, fraction(self.risk))

    def hold_together(self, statistics: GroupStatistics) -> bool:
        """Whether the mean, or the maximum, over all groups is within the bound."""
        if self.over == "maximal":
            return super().hold_together(statistics)
        return self.mean_within(int(np.count_nonzero(statistics.persons)), int(statistics.persons.sum()))

    def mean_within(self, classes: int, persons: int) -> bool:
        """Whether the mean risk over so many persons in so many classes is within the bound."""
        return classes <= fraction(self.risk) * persons

    def keepable(self, statistics: GroupStatistics) -> Mask:
        """All but the fewest of the smallest groups, where the mean is bounded: these cost the fewest persons."""
        if self.over == "maximal":
            return super().keepable(statistics)
        order = np.argsort(-statistics.persons, kind="stable")
        persons = np.cumsum(statistics.persons[order])
        limit = fraction(self.risk)
        within = at_most(np.arange(1, len(order) + 1), persons, limit)
        kept: Mask = np.zeros(len(order), dtype=np.bool_)
        kept[order[: int(np.flatnonzero(within).max(initial=-1)) + 1]] = True
        return kept

    def least_size(self) -> int:
        """One over the risk, rounded up."""
        return ceil(1 / fraction(self.risk))

    def refusal(self, whole: GroupStatistics) -> Infeasible:
        """The least risk is that of one class of all persons."""
        best = rounded_up(Fraction(1, int(whole.persons[0])), 8)
        return Infeasible(
            f"A risk of {self.risk:g} cannot be kept with {counted(int(whole.persons[0]), 'persons')}. "
            f"The least risk is {best:g}.",
            best,
        )

    def vacuous(self) -> str:
        """No chance is larger than 1."""
        return f"the {self.over} risk of 1 promises nothing: none is larger" if self.risk >= 1 else ""

    def examine(self, published: Excerpt) -> Evidence:
        """Count the persons of each class of published cells."""
        classes = PublishedClasses.of(published)
        if not len(classes):
            return Evidence()
        persons = classes.persons(self.entity)
        risky = np.flatnonzero(persons < ceil(1 / fraction(self.risk)))
        worst = risky[np.argsort(persons[risky], kind="stable")][:SHOWN].tolist()
        offenders = tuple(
            (
                1 / float(persons[place]),
                Offender(
                    classes.words(place), f"a risk of 1/{persons[place]} where {self.risk:g} is promised"
                ),
            )
            for place in worst
        )
        sums = {"classes": len(classes), "persons": int(persons.sum())}
        return Evidence(offenders, len(risky), sums, lowest={"persons": int(persons.min())})

    def conclude(self, evidence: Evidence) -> Verdict:
        """The smallest class decides, or the mean over all; where that keeps the bound no class is to blame."""
        promise = f"the {self.over} risk of being re-identified is at most {self.risk:g}"
        limit = fraction(self.risk)
        if not evidence.sums:
            return Verdict(self.name, promise, holds=True, value=None, threshold=limit)
        value = Fraction(evidence.sums["classes"], evidence.sums["persons"])
        if self.over == "maximal":
            value = Fraction(1, int(evidence.lowest["persons"]))
        if value <= limit:
            return Verdict(self.name, promise, True, value, limit)
        return Verdict(self.name, promise, False, value, limit, evidence.places, evidence.count)
