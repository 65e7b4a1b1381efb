"""δ-presence (Nergiz, Atzori and Clifton 2007)."""

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from math import inf
from typing import ClassVar, Self

import numpy as np
from pydantic import Field, model_validator

from shoal.arrays import Counts, Floats, Mask, Rows, flagged
from shoal.data._plain_text import counted
from shoal.data._promise_words import percent
from shoal.data.group_statistics import GroupStatistics
from shoal.data.table import Table
from shoal.data.verdict import SHOWN, Offender, Verdict
from shoal.errors import Infeasible, WrongUse
from shoal.models._equivalence_classes import Excerpt, PublishedClasses
from shoal.models._exact import at_most, fraction, rounded_up
from shoal.models._matching import PopulationModel, distinct_persons, matches_of, matching_rows
from shoal.models.model import Evidence

UNSURE = 1e-9
"""Sums of chances that are nearer to a bound than that are reckoned again in fractions."""

Place = tuple[int, ...]
"""The classes that somebody fits."""


@dataclass(frozen=True, slots=True, eq=False)
class Chances:
    """The chances of the distinct persons of a population.

    A person who fits one class is in the release with the chance that a member of the class is she: its persons over
    those of the population who fit it. Whoever fits several classes, because their cells overlap, may be in each of
    them: her chance is at most the sum, and at least the largest, of theirs.
    """

    classes: PublishedClasses
    population: Table
    persons: Counts
    matches: Counts
    """`persons`, `matches`: persons of each class, and persons of the population who fit it."""
    weights: Counts  # how many persons of the population each distinct one stands for
    fitted: Counts  # how many classes each distinct person fits
    only: Rows  # a class that she fits; -1 if there is none
    sums: Floats  # the sum of the chances, nearly
    enough: Mask  # whether one of them reaches the lower bound

    @classmethod
    def of(cls, classes: PublishedClasses, persons: Counts, population: Table, lower: Fraction) -> "Chances":
        """Go through all classes and whoever fits them."""
        weights = distinct_persons(classes, population)[2]
        matches = matching_rows(classes, population)
        reaches = at_most(matches, persons, 1 / lower) if lower else np.ones(len(classes), dtype=np.bool_)
        fitted, only = np.zeros(len(weights), dtype=np.int64), np.full(len(weights), -1, dtype=np.int64)
        sums, enough = np.zeros(len(weights)), np.zeros(len(weights), dtype=np.bool_)
        for one, here in matches_of(classes, population):
            fitted[here] += 1
            only[here] = one
            sums[here] += persons[one] / matches[one]
            enough[here] |= reaches[one]
        return cls(classes, population, persons, matches, weights, fitted, only, sums, enough)

    def chance(self, place: Place) -> Fraction:
        """The sum of the chances in some classes."""
        pairs = ((int(self.persons[one]), int(self.matches[one])) for one in place)
        return sum((Fraction(inside, fitting) for inside, fitting in pairs), Fraction(0))

    def largest(self) -> Fraction:
        """The largest chance of a person."""
        near = np.flatnonzero(self.sums >= self.sums.max(initial=0.0) - UNSURE)
        return max(map(self.chance, self.places(near)), default=Fraction(0))

    def broken(self, upper: Fraction) -> set[Place]:
        """The classes of persons whose chance is above a bound, or does not reach the lower one."""
        high: Mask = np.zeros(len(self.sums), dtype=np.bool_)
        alone, several = self.fitted == 1, self.fitted > 1
        high[alone] = ~at_most(self.persons, self.matches, upper)[self.only[alone]]
        high[several] = self.sums[several] > float(upper) + UNSURE
        unsure = np.flatnonzero(several & (np.abs(self.sums - float(upper)) <= UNSURE))
        found = self.places(np.flatnonzero(high | ((self.fitted > 0) & ~self.enough)))
        return found | {place for place in self.places(unsure) if self.chance(place) > upper}

    def places(self, chosen: Rows) -> set[Place]:
        """The classes that some of the distinct persons fit, each combination once."""
        alone = chosen[self.fitted[chosen] == 1]
        found: set[Place] = {(one,) for one in np.unique(self.only[alone]).tolist()}
        several = chosen[self.fitted[chosen] > 1]
        return found | set(self._several(several)) if len(several) else found

    def _several(self, chosen: Rows) -> Iterable[Place]:
        wanted: Mask = flagged(chosen, len(self.sums))
        fits: dict[int, list[int]] = {}
        for one, here in matches_of(self.classes, self.population):
            for person in here[wanted[here]].tolist():
                fits.setdefault(person, []).append(one)
        return (tuple(sorted(place)) for place in fits.values())


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

    def sentence(self, of: str, known: str) -> str:
        """The promise for readers who know no model by its name."""
        return (
            f"The chance that a person of the population is in the data stays between {percent(self.delta_min)} and "
            f"{percent(self.delta_max)} for someone who knows {known}."
        )

    @model_validator(mode="after")
    def _in_order(self) -> Self:
        if self.delta_min > self.delta_max:
            raise WrongUse(f"delta_min {self.delta_min:g} is above delta_max {self.delta_max:g}")
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

    def separable(self, table: Table) -> bool:
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
        value = evidence.highest.get("chance")
        return self.concluded(evidence, promise, None if value == inf else value, fraction(self.delta_max))

    def _offender(self, chances: Chances, place: Place) -> Offender:
        shown = sorted(
            (
                chances.classes.words(one),
                f"{counted(int(chances.persons[one]), 'persons')}, {chances.matches[one]} of the population "
                f"fit{'s' * int(chances.matches[one] == 1)}{self.hint(chances.matches[one])}",
            )
            for one in place
        )[:SHOWN]
        where = " and ".join(words for words, _ in shown)
        fit = chances.matches[list(place)].all()
        more = ": more persons than the population has" if fit and chances.chance(place) > 1 else ""
        if len(place) == 1:
            return Offender(where, shown[0][1] + more)
        return Offender(
            where,
            f"whoever fits all {len(place)} of these classes is in the release with a chance of "
            f"{float(chances.chance(place)):.4g} ({'; '.join(why for _, why in shown)}){more}",
        )
