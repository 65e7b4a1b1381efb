"""How many persons of a population fall into each class, before anything is published."""

import numpy as np

from shoal.arrays import Codes, Counts, Rows
from shoal.data.table import Column, Table
from shoal.methods._full_domain._levels import Levels
from shoal.methods._full_domain._tuples import Grouping


class PopulationCounts:
    """Generalizes a population along with the table.

    A value of the population that is no leaf of a hierarchy matches the root alone.
    """

    def __init__(self, columns: tuple[Column, ...], grouping: Grouping, population: Table) -> None:
        self._grouping = grouping
        self._nodes: list[tuple[Codes, ...]] = []
        self._codes: list[Codes] = []
        keys = np.zeros(population.rows, dtype=np.int64)
        others = population.select(column.name for column in columns)
        for other in others:
            keys = np.unique(keys * len(other.domain) + other.codes, return_inverse=True)[1]
        _, first, counts = np.unique(keys, return_index=True, return_counts=True)
        self._counts: Counts = counts.astype(np.int64)
        for column, other in zip(columns, others, strict=True):
            hierarchy = column.hierarchy
            assert hierarchy is not None
            leaves = {leaf: place for place, leaf in enumerate(hierarchy.leaves)}
            of_label = np.array([leaves.get(label, -1) for label in other.domain.labels], dtype=np.int64)
            self._nodes.append(
                tuple(
                    np.where(
                        of_label < 0,
                        0 if level == hierarchy.height else -1,
                        hierarchy.nodes_at(level)[of_label],
                    )
                    for level in range(hierarchy.height + 1)
                )
            )
            self._codes.append(other.codes[first])

    def matching(self, levels: Levels, of_tuple: Rows, count: int) -> Counts:
        """Persons of the population that match each class.

        `of_tuple`: the class of each tuple; -1 for tuples that are not published. `count`: the number of classes.
        """
        first = np.full(count, -1, dtype=np.int64)
        inside = np.flatnonzero(of_tuple >= 0)
        first[of_tuple[inside]] = inside
        numbers = np.zeros(count + len(self._counts), dtype=np.int64)
        known = np.ones(len(self._counts), dtype=np.bool_)
        for place, level in enumerate(levels):
            theirs = self._nodes[place][level][self._codes[place]]
            known &= theirs >= 0
            both = np.concatenate([self._grouping.nodes(place, level)[first], np.maximum(theirs, 0)])
            numbers = np.unique(numbers * (int(both.max(initial=0)) + 1) + both, return_inverse=True)[1]
        totals = np.zeros(int(numbers.max(initial=0)) + 1, dtype=np.int64)
        np.add.at(totals, numbers[count:][known], self._counts[known])
        return totals[numbers[:count]]
