"""Tables whose items are published separately: in clusters of chunks, for each class by itself."""

from dataclasses import dataclass

import numpy as np

from shoal.arrays import Counts, Rows
from shoal.data._equal_rows import RowClasses, row_classes
from shoal.data.clusters import Clusters
from shoal.data.table import Table


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class ClusteredTable(Table):
    """A table without its column of items, and the clusters of the items of each class.

    A class consists of the rows whose published quasi-identifiers are equal. Which row of a class has which items of
    its clusters is not published.
    """

    items: str  # the name of the column of items
    clusters: Clusters
    """The clusters, one class after another; classes are in ascending order of their cells."""
    holders: Rows  # for each line of clusters, a row of the class that it belongs to

    def __repr__(self) -> str:
        return f"{Table.__repr__(self)[:-1]}; {self.items} in {self.clusters!r}>"

    @property
    def vocabulary(self) -> tuple[str, ...]:
        """The text of each item."""
        return self.clusters.vocabulary

    @property
    def classes(self) -> RowClasses:
        """The classes of rows with the same quasi-identifiers, including rows of nothing but stars."""
        return row_classes(self.quasi, self.rows)

    @property
    def line_sizes(self) -> Counts:
        """The number of persons in the cluster on each line."""
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
