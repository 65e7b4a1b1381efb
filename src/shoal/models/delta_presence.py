"""δ-presence (Nergiz, Atzori and Clifton 2007)."""

from fractions import Fraction
from math import inf
from typing import ClassVar, Self

import numpy as np
from pydantic import Field, model_validator

from shoal.arrays import Mask
from shoal.data.counted import counted
from shoal.data.statistics import GroupStatistics
from shoal.errors import Infeasible, WrongUse
from shoal.models.classes import Excerpt, PublishedClasses
from shoal.models.evidence import Evidence
from shoal.models.exact import at_most, fraction, rounded_up
from shoal.models.matching import matched_rows
from shoal.models.population import PopulationModel
from shoal.models.verdict import SHOWN, Offender, Verdict


class DeltaPresence(PopulationModel):
    """Nobody learns of a person of the population whether she is in the release, beyond given bounds.

    The chance that a person of the population who fits a class is in the release is the persons of the class over the
    persons of the population who fit it; it lies between δmin and δmax in every class. With δmin above 0, everybody of
    the population must fit some class: whoever fits none is known to be absent.
    """

    name: ClassVar[str] = "delta-presence"
    paper: ClassVar[str] = (
        "Nergiz, Atzori, Clifton: Hiding the presence of individuals from shared databases. SIGMOD 2007"
    )
    monotone: ClassVar[bool] = True
    absorbs: ClassVar[bool] = False

    delta_max: float = Field(
        gt=0, le=1, description="largest chance that a person of the population is in the release"
    )
    delta_min: float = Field(
        default=0, ge=0, le=1, description="least chance that a person of the population is in the release"
    )
    entity: str | None = Field(default=None, description="column that says which rows belong to one person")

    @model_validator(mode="after")
    def _in_order(self) -> Self:
        if self.delta_min > self.delta_max:
            raise WrongUse(f"in order: delta_min {self.delta_min:g} is above delta_max {self.delta_max:g}")
        return self

    def holds(self, statistics: GroupStatistics) -> Mask:
        """Which groups have a chance within the bounds.

        Raises
        ------
        WrongUse
            If δmin is above 0 and the method cannot count the persons of the population that match a group.
        """
        if self.delta_min and statistics.population is None:
            raise WrongUse(
                "A delta_min above 0 needs a method that counts the population while it searches; "
                "give --delta-min 0 here."
            )
        matches = self.matches(statistics)
        kept: Mask = at_most(statistics.persons, matches, fraction(self.delta_max)) & (matches > 0)
        if self.delta_min:
            kept &= at_most(matches, statistics.persons, 1 / fraction(self.delta_min))
        return kept

    def hold_together(self, statistics: GroupStatistics) -> bool:
        """Whether every group keeps the bounds and, with a δmin, no person of the population is left out."""
        everybody = not self.delta_min or int(self.matches(statistics).sum()) >= self.needed().rows
        return everybody and super().hold_together(statistics)

    def refusal(self, whole: GroupStatistics) -> Infeasible:
        """The least δmax is the share of the population that is in the table."""
        persons, matches = int(whole.persons[0]), int(self.matches(whole)[0])
        if not matches:
            return Infeasible("delta-presence cannot be kept: nobody of the population is in the table.")
        best = rounded_up(Fraction(persons, matches))
        return Infeasible(
            f"delta_max = {self.delta_max:g} cannot be kept: {counted(persons, 'persons of the table')} "
            f"match{'es' * (persons == 1)} {matches:,} of the "
            f"population. The least delta_max is {best:g}.",
            best,
        )

    def examine(self, published: Excerpt) -> Evidence:
        """Count the persons of each class, and those of the population that fit its published cells."""
        lower, upper = fraction(self.delta_min), fraction(self.delta_max)
        classes = PublishedClasses.of(published)
        if not len(classes):
            return Evidence()
        persons, matches = classes.persons(self.entity), self.published_matches(classes)
        chance = np.where(matches > 0, persons / np.maximum(matches, 1), np.inf)
        high = (matches == 0) | ~at_most(persons, matches, upper)
        low = ~at_most(matches, persons, 1 / lower) if lower else np.zeros(len(classes), dtype=np.bool_)
        broken = np.flatnonzero(high | low)
        worst = broken[np.argsort(-chance[broken], kind="stable")][:SHOWN].tolist()
        offenders = tuple(
            (
                float(chance[place]),
                Offender(
                    classes.words(place),
                    f"{counted(int(persons[place]), 'persons')}, {matches[place]} of the population "
                    f"fit{'s' * int(matches[place] == 1)}{self.hint(matches[place])}",
                ),
            )
            for place in worst
        )
        most = int(np.argmax(chance))
        value = Fraction(int(persons[most]), int(matches[most])) if matches[most] else inf
        met = matched_rows(classes, self.needed()) if lower else None
        return Evidence(offenders, len(broken), {"classes": len(classes)}, highest={"chance": value}, met=met)

    def conclude(self, evidence: Evidence) -> Verdict:
        """The class with the largest chance decides, and whoever of the population fits no class."""
        promise = f"the chance of being in the release is between {self.delta_min:g} and {self.delta_max:g}"
        upper = fraction(self.delta_max)
        if not evidence.sums:
            return Verdict(self.name, promise, holds=True, value=None, threshold=upper)
        offenders, absent = list(evidence.places), 0
        if evidence.met is not None and (absent := int((~evidence.met).sum())):
            who = counted(absent, "persons of the population")
            offenders.append(Offender("no class", f"{who} fit{'s' * (absent == 1)} no class"))
        count, value = evidence.count + bool(absent), evidence.highest["chance"]
        return Verdict(
            self.name,
            promise,
            not count,
            None if value == inf else value,
            upper,
            tuple(offenders[:SHOWN]),
            count,
        )
