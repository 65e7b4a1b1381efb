"""Synthetic people and what they buy: a table with a column of items, and a known relation between the two."""

from typing import ClassVar

import numpy as np
import polars as pl
from pydantic import Field

from shoal.arrays import Floats, Rows
from shoal.data._item_sets import item_column, sets_of
from shoal.data.table import Table
from shoal.datasets.people import People
from shoal.parameters import Parameters

AGES = (30, 45, 60)
KEPT = ("age", "sex", "zip", "education", "occupation", "disease")


class Shoppers(Parameters):
    """People with age, sex, place, education, work, diagnosis, and what they buy.

    The truth: the people are those of `shoal generate table`. They form eight groups, by sex and by age (below 30, 45,
    60, and above), and item *i* appeals to group *i* modulo 8. A person draws one item more than a Poisson number;
    each is an item that appeals to the person's group with probability `relation`, and any item otherwise. The
    popularity of items follows a Zipf law. An item that is drawn twice counts once.
    """

    name: ClassVar[str] = "mixed"
    form: ClassVar[str] = "mixed"
    """Its name in the command; the name of what it makes, table, is taken."""

    rows: int = Field(default=10_000, ge=1, le=100_000_000, description="number of people")
    items: int = Field(default=200, ge=8, le=1_000_000, description="number of items on offer")
    mean: float = Field(default=5.0, ge=1, le=1000, description="mean number of items that a person draws")
    skew: float = Field(default=1.0, ge=0, le=4, description="Zipf exponent of the items' popularity")
    relation: float = Field(
        default=0.5, ge=0, le=1, description="share of the items that are drawn by age and sex of a person"
    )

    def make(self, seed: int | None = None) -> Table:
        """Make the table; the same seed makes the same table. All columns but that of items are insensitive."""
        people = People(rows=self.rows, missing=0.0).make(seed)
        generator = np.random.default_rng(None if seed is None else [seed, 1])
        age, sex = people.column("age"), people.column("sex")
        assert age.domain.values is not None
        group = np.digitize(age.domain.values[age.codes], AGES) * 2 + sex.codes
        counts = 1 + generator.poisson(self.mean - 1, self.rows)
        rows: Rows = np.repeat(np.arange(self.rows), counts)
        own = generator.random(len(rows)) < self.relation
        popularity = np.arange(1, self.items + 1, dtype=np.float64) ** -self.skew
        drawn = _drawn(generator, popularity, len(rows))
        of_group = _drawn(generator, popularity[: self.items // 8], len(rows)) * 8 + group[rows]
        bought = np.where(own, of_group, drawn)
        names = pl.Series([f"item{place + 1}" for place in range(self.items)])
        sets = sets_of(rows, names.gather(pl.Series(bought)), self.rows)
        return Table((*people.select(KEPT), item_column("products", sets)))


def _drawn(generator: np.random.Generator, shares: Floats, count: int) -> Rows:
    """Indices drawn in proportion to shares."""
    edges = np.cumsum(shares / shares.sum())
    found: Rows = np.minimum(np.searchsorted(edges, generator.random(count), side="right"), len(shares) - 1)
    return found
