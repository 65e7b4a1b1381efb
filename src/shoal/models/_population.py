"""What promises about a population have in common."""

from typing import Self

import numpy as np
from pydantic import ConfigDict, Field, PrivateAttr

from shoal.arrays import Counts, Rows
from shoal.data.group_statistics import GroupStatistics
from shoal.data.table import Table
from shoal.errors import WrongUse
from shoal.models._equivalence_classes import PublishedClasses
from shoal.models._exact import group_sums
from shoal.models._matching import matching_rows, rows_alike
from shoal.models.model import TableModel


class PopulationModel(TableModel):
    """A promise that compares the release with a population from which its persons come.

    The population is a table with the quasi-identifiers of the release, raw. It is no part of the promise as plain
    data: a release never says where a population lies, nor holds it, and whoever verifies the promise brings it along.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", arbitrary_types_allowed=True)

    population: Table | None = Field(
        default=None,
        exclude=True,
        repr=False,
        description="the population: a table with the same quasi-identifiers",
    )
    _alike: tuple[Table, Rows, Counts] | None = PrivateAttr(default=None)

    def among(self, population: Table | None) -> Self:
        """The same promise with its population."""
        return self.model_copy(update={"population": population})

    def needed(self) -> Table:
        """The population.

        Raises `WrongUse` if there is none.
        """
        if self.population is None:
            raise WrongUse(f"{self.name} is judged beside a population; give its file with --population.")
        return self.population

    def matches(self, statistics: GroupStatistics) -> Counts:
        """Rows of the population that match each group: counted by the method, or at least as many as told here.

        Before it is known how a group will be published, the rows of the population that have the same raw
        quasi-identifiers as one of its rows are those that match it whatever happens.
        """
        if statistics.population is not None:
            return statistics.population
        if statistics.table is None or statistics.groups is None:
            raise WrongUse(f"This method does not count a population, and cannot promise {self.name}.")
        if self._alike is None or self._alike[0] is not statistics.table:
            self._alike = (statistics.table, *rows_alike(statistics.table, self.needed()))
        _, number, weights = self._alike
        inside = np.flatnonzero(statistics.groups >= 0)
        pairs = np.unique(statistics.groups[inside] * len(weights) + number[inside])
        indptr = np.searchsorted(pairs, np.arange(len(statistics) + 1) * len(weights))
        counts: Counts = group_sums(indptr, weights[pairs % max(len(weights), 1)])
        return counts

    def hint(self, matches: int) -> str:
        """What to do about a class that nobody of the population matches."""
        if matches:
            return ""
        return "; if its cells are nodes of a hierarchy, give it with --hierarchy or --hierarchies"

    def published_matches(self, classes: PublishedClasses) -> Counts:
        """Rows of the population that match the published cells of each class."""
        return matching_rows(classes, self.needed())
