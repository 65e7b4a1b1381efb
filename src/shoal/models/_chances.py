"""The chance that each person of a population is in a release, by the classes that she fits."""

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from shoal.arrays import Counts, Floats, Mask, Rows
from shoal.data.table import Table
from shoal.models._equivalence_classes import PublishedClasses
from shoal.models._exact import at_most
from shoal.models._matching import distinct_persons, matches_of, matching_rows

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
        wanted: Mask = np.zeros(len(self.sums), dtype=np.bool_)
        wanted[chosen] = True
        fits: dict[int, list[int]] = {}
        for one, here in matches_of(self.classes, self.population):
            for person in here[wanted[here]].tolist():
                fits.setdefault(person, []).append(one)
        return (tuple(sorted(place)) for place in fits.values())
