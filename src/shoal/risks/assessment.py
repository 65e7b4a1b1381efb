"""What data gives away before anything is done to it, gathered."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import Field

from shoal.data._equal_rows import person_sizes
from shoal.data.baskets import Baskets
from shoal.data.table import Column, Table
from shoal.errors import WrongUse
from shoal.parameters import Parameters
from shoal.risks.known_items import KnownItemsRisk, known_items_risk
from shoal.risks.population_uniques import PopulationUniques, population_uniques
from shoal.risks.reidentification import THRESHOLD, Reidentification, reidentification
from shoal.risks.safe_harbor import HarborKind, safe_harbor
from shoal.risks.special_uniques import SIZE, SpecialUniques, special_uniques
from shoal.risks.unique_columns import (
    LARGEST,
    ColumnRisk,
    Combinations,
    column_risks,
    unique_combinations,
)

FRACTION = 0.01
"""The share of the population that a table is taken to hold, where nobody says."""


@dataclass(frozen=True, slots=True, eq=False)
class TableRisk:
    """What a table gives away to somebody who knows its quasi-identifiers."""

    quasi: tuple[str, ...]  # the columns that are known
    threshold: float  # a risk above this is too high
    linkage: Reidentification  # prosecutor, journalist and marketer risk
    population_uniques: PopulationUniques  # estimates for the population that the people were drawn from
    columns: tuple[ColumnRisk, ...]  # each column alone
    combinations: Combinations  # minimal combinations of columns that single people out
    records: SpecialUniques  # the scores of rows (SUDA2)
    kinds: tuple[HarborKind, ...]  # columns that the Safe Harbor rule of HIPAA lists

    @property
    def sample_uniques(self) -> float:
        """The share of people who share their quasi-identifiers with nobody."""
        return self.linkage.unique / self.linkage.people if self.linkage.people else 0.0

    def as_dict(self) -> dict[str, Any]:
        """The same as plain data."""
        kinds = {one.column: one.as_dict() for one in self.kinds}
        return {
            "people": self.linkage.people,
            "quasi": list(self.quasi),
            "threshold": self.threshold,
            "prosecutor": self.linkage.prosecutor.as_dict(),
            "journalist": self.linkage.journalist.as_dict(),
            "marketer": self.linkage.marketer.as_dict(),
            "strangers": self.linkage.strangers,
            "sample_uniques": self.sample_uniques,
            "population_uniques": self.population_uniques.as_dict(),
            "combinations": [list(names) for names in self.combinations.found],
            "combinations_searched": {
                "unique_share": self.combinations.wanted,
                "largest": self.combinations.largest,
                "complete": self.combinations.complete,
            },
            "columns": [one.as_dict() | {"safe_harbor": kinds.get(one.name)} for one in self.columns],
            "records": self.records.as_dict(),
            "safe_harbor": list(kinds.values()),
        }


@dataclass(frozen=True, slots=True)
class BasketsRisk:
    """What baskets give away to somebody who knows a few of their items."""

    baskets: int
    items: int
    known: tuple[KnownItemsRisk, ...]

    def as_dict(self) -> dict[str, Any]:
        """The same as plain data."""
        return {
            "baskets": self.baskets,
            "items": self.items,
            "unique_by_known_items": {str(one.known): one.unique for one in self.known},
            "chance_by_known_items": {str(one.known): one.chance for one in self.known},
            "known_items": [one.as_dict() for one in self.known],
        }


class RiskOptions(Parameters):
    """How risks of a table are measured."""

    threshold: float = Field(default=THRESHOLD, ge=0, lt=1, description="a risk above this is too high")
    population_size: int | None = Field(
        default=None, ge=1, description="how many people the table was drawn from"
    )
    sample_fraction: float | None = Field(
        default=None, gt=0, le=1, description="the share of the population in the table; 0.01 by default"
    )
    unique_share: float = Field(
        default=1.0,
        gt=0,
        le=1,
        description="list combinations of columns that single out this share of the rows",
    )
    largest: int = Field(default=LARGEST, ge=1, description="largest number of columns of such a combination")
    record_columns: int = Field(
        default=SIZE, ge=1, description="largest number of columns that single out a record"
    )

    def population_of(self, people: int, population: Table | None) -> int:
        """How many people the population of so many has.

        Raises `WrongUse` if it is given twice, or smaller than the table.
        """
        if sum(one is not None for one in (self.population_size, self.sample_fraction, population)) > 1:
            raise WrongUse(
                "Say how large the population is once: by its file, by its size, or by the share in the sample."
            )
        if population is not None:
            return max(population.rows, people)
        if self.population_size is None:
            return round(people / (self.sample_fraction or FRACTION))
        if self.population_size < people:
            raise WrongUse(
                f"A population of {self.population_size:,} is smaller than the table, which has {people:,} people."
            )
        return self.population_size


def table_risk(
    table: Table, columns: Sequence[Column], options: RiskOptions, population: Table | None = None
) -> TableRisk:
    """Measure all risks of a table whose adversary knows some columns."""
    linkage = reidentification(table, columns, options.threshold, population)
    size = options.population_of(linkage.people, population)
    return TableRisk(
        tuple(column.name for column in columns),
        options.threshold,
        linkage,
        population_uniques(person_sizes(table, columns), size),
        column_risks(columns),
        unique_combinations(columns, options.unique_share, options.largest),
        special_uniques(columns, options.record_columns),
        safe_harbor(table.columns),
    )


def baskets_risk(baskets: Baskets, *, known: int = 4, seed: int = 0) -> BasketsRisk:
    """Measure what one to so many known items give away."""
    found = known_items_risk(baskets, range(1, known + 1), seed=seed)
    return BasketsRisk(len(baskets), len(baskets.vocabulary), found)
