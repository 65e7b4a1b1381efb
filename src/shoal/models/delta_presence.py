"""δ-presence (Nergiz, Atzori and Clifton 2007)."""

from fractions import Fraction
from math import inf
from typing import ClassVar, Self

import numpy as np
from pydantic import Field, model_validator

from shoal.arrays import Mask
from shoal.data._plural import counted
from shoal.data.group_statistics import GroupStatistics
from shoal.data.table import Table
from shoal.data.verdict import SHOWN, Offender, Verdict
from shoal.errors import Infeasible, WrongUse
from shoal.models._chances import Chances, Place
from shoal.models._equivalence_classes import Excerpt, PublishedClasses
from shoal.models._evidence import Evidence
from shoal.models._exact import at_most, fraction, rounded_up
from shoal.models._population import PopulationModel


class DeltaPresence(PopulationModel):
    """Nobody learns of a person of the population whether she is in the release, beyond given bounds.

    The chance that a person of the population who fits a class is in the release is the persons of the class over the
    persons of the population who fit it. Where cells overlap, a person may fit several classes: her chance is at most
    the sum of theirs, and at least the largest. For everybody of the population it lies between δmin and δmax. With
    δmin above 0, everybody must fit some class: whoever fits none is known to be absent.
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

        Raises `WrongUse` if δmin is above 0 and the method cannot count the persons of the population that match a
        group.
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

    def apart(self, table: Table) -> bool:
        """Never: a person may fit classes that lie in different parts."""
        return False

    def vacuous(self) -> str:
        """No chance is larger than 1, or less than 0."""
        if self.delta_max < 1 or self.delta_min > 0:
            return ""
        return "a presence of 1 promises nothing: no chance is larger"

    def examine(self, published: Excerpt) -> Evidence:
        """Add up, for each person of the population, the chances in all classes whose published cells she fits."""
        lower, upper = fraction(self.delta_min), fraction(self.delta_max)
        classes = PublishedClasses.of(published, with_suppressed=True)
        if not len(classes):
            return Evidence()
        chances = Chances.of(classes, classes.persons(self.entity), self.needed(), lower)
        unmatched = np.flatnonzero(chances.matches == 0).tolist()
        broken = sorted(
            ((float(chances.chance(place)), place) for place in chances.broken(upper)),
            key=lambda entry: (-entry[0], entry[1]),
        )
        found = [*((inf, (one,)) for one in unmatched), *broken]
        offenders = [(chance, self._offender(chances, place)) for chance, place in found[:SHOWN]]
        absent = int(chances.weights[chances.fitted == 0].sum()) if lower else 0
        if absent:
            who = counted(absent, "persons of the population")
            offenders.append((-1.0, Offender("no class", f"{who} fit{'s' * (absent == 1)} no class")))
        value = inf if unmatched else chances.largest()
        count = len(found) + bool(absent)
        return Evidence(tuple(offenders[:SHOWN]), count, {"classes": len(classes)}, highest={"chance": value})

    def conclude(self, evidence: Evidence) -> Verdict:
        """The person with the largest chance decides, and whoever of the population fits no class."""
        promise = f"the chance of being in the release is between {self.delta_min:g} and {self.delta_max:g}"
        upper, value = fraction(self.delta_max), evidence.highest.get("chance")
        return Verdict(
            self.name,
            promise,
            not evidence.count,
            None if value == inf else value,
            upper,
            evidence.places,
            evidence.count,
        )

    def _offender(self, chances: Chances, place: Place) -> Offender:
        told = sorted(
            (
                chances.classes.words(one),
                f"{counted(int(chances.persons[one]), 'persons')}, {chances.matches[one]} of the population "
                f"fit{'s' * int(chances.matches[one] == 1)}{self.hint(chances.matches[one])}",
            )
            for one in place
        )[:SHOWN]
        where = " and ".join(words for words, _ in told)
        fit = chances.matches[list(place)].all()
        more = ": more persons than the population has" if fit and chances.chance(place) > 1 else ""
        if len(place) == 1:
            return Offender(where, told[0][1] + more)
        return Offender(
            where,
            f"whoever fits all {len(place)} of these classes is in the release with a chance of "
            f"{float(chances.chance(place)):.4g} ({'; '.join(why for _, why in told)}){more}",
        )
