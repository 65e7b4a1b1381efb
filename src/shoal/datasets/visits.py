"""Synthetic records of people, many per person, to be joined with a numbered table of people."""

from typing import ClassVar

import numpy as np
from pydantic import Field

from shoal.arrays import Rows
from shoal.data.table import Table
from shoal.datasets.people import dates, names, numbers
from shoal.parameters import Parameters

FIRST = int(np.datetime64("2019-01-01").astype(np.int64))
WARDS = ("cardiology", "emergency", "medicine", "oncology", "surgery")
FINDINGS = ("cold", "fracture", "gastritis", "migraine", "nothing", "pneumonia")


class Visits(Parameters):
    """Visits of people to a hospital: the number of the person, the day, the ward and a finding.

    The truth: a person has a Poisson number of visits, each on a random day of 2019. Every person has a usual ward and
    makes half of the visits there; the others are to random wards. Findings depend on nothing. The people are those of
    `shoal generate table --numbered`.
    """

    name: ClassVar[str] = "visits"
    form: ClassVar[str] = "visits"
    """Its name in the command; the name of what it makes, table, is taken."""

    persons: int = Field(default=10_000, ge=1, le=100_000_000, description="number of people")
    mean: float = Field(default=3.0, gt=0, le=1000, description="mean number of visits of a person")

    def make(self, seed: int | None = None) -> Table:
        """Make the table; the same seed makes the same table. All columns are insensitive until they get roles."""
        generator = np.random.default_rng(None if seed is None else [seed, 2])
        counts = generator.poisson(self.mean, self.persons)
        person: Rows = np.repeat(np.arange(self.persons), counts)
        own = generator.integers(len(WARDS), size=self.persons)[person]
        anywhere = generator.integers(len(WARDS), size=len(person))
        ward = np.where(generator.random(len(person)) < 0.5, own, anywhere)
        return Table(
            (
                numbers("person", person + 1),
                dates("day", FIRST + generator.integers(365, size=len(person))),
                names("ward", WARDS, ward),
                names("finding", FINDINGS, generator.integers(len(FINDINGS), size=len(person))),
            )
        )
