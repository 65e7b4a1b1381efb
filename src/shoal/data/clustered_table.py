"""A table whose items are published apart: in clusters of chunks, those of each class by themselves."""

from dataclasses import dataclass

import numpy as np

from shoal.arrays import Counts, Rows
from shoal.data._equal_rows import RowClasses, row_classes
from shoal.data.clusters import Clusters
from shoal.data.table import Table


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class ClusteredTable(Table):
    """A table without its column of items, and the clusters of the items of each class.

    A class is what a reader sees: the rows whose quasi-identifiers are equal. Which row of a class has which items of
    its clusters is not published.
    """

    items: str  # what the column of items is called
    clusters: Clusters
    """Line after line: those of one class after those of another, classes in ascending order of their cells."""
    holders: Rows  # for each line, a row of the class that it belongs to

    def __repr__(self) -> str:
        return f"{Table.__repr__(self)[:-1]}; {self.items} in {self.clusters!r}>"

    @property
    def vocabulary(self) -> tuple[str, ...]:
        """The text of each item."""
        return self.clusters.vocabulary

    @property
    def classes(self) -> RowClasses:
        """Rows with the same quasi-identifiers, those of nothing but stars too."""
        return row_classes(self.quasi, self.rows)

    @property
    def line_sizes(self) -> Counts:
        """How many persons the cluster on each line has."""
        clusters = self.clusters
        return clusters.spans[1][np.flatnonzero(clusters.parents < 0)]

    @property
    def lines(self) -> Rows:
        """The line of each cluster."""
        return np.cumsum(self.clusters.parents < 0) - 1

    def words(self, row: int) -> str:
        """The class of a row in words: ``age [25,31], sex Male``."""
        return ", ".join(
            f"{column.name} {column.domain.labels[column.codes[row]] or '(missing)'}" for column in self.quasi
        )
