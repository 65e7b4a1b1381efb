"""Missing quasi-identifiers that match every value: how many rows match each class."""

import numpy as np

from shoal.arrays import AnyArray, Counts, Rows
from shoal.data.table import Column
from shoal.methods._full_domain._levels import Levels
from shoal.methods._full_domain._tuples import Grouping


class Wildcards:
    """Counts the rows that match a class when a missing cell matches every cell, and every cell a missing one.

    Matching is no equivalence: a row with a missing cell belongs to no class alone. A row is counted for every class
    that it matches.
    """

    def __init__(self, columns: tuple[Column, ...], grouping: Grouping) -> None:
        self._grouping = grouping
        self._blank: list[list[int]] = []
        for column in columns:
            hierarchy, missing = column.hierarchy, column.domain.missing
            assert hierarchy is not None
            nodes = [-1] * len(hierarchy.labels)
            if missing is not None:
                leaf = int(hierarchy.leaf_of(column.domain)[missing])
                for level in range(len(nodes)):
                    node = int(hierarchy.nodes_at(level)[leaf])
                    nodes[level] = node if hierarchy.labels[level][node] == "" else -1
            self._blank.append(nodes)
        self.stays = all(nodes[0] < 0 or all(node >= 0 for node in nodes[:-1]) for nodes in self._blank)

    def matching(self, levels: Levels, of_tuple: Rows, sizes: Counts) -> Counts:
        """The rows that match each class, its own among them.

        `of_tuple`: the class of each tuple; -1 for tuples that are not published. `sizes`: the rows of each class.
        """
        count = len(sizes)
        first = np.full(count, -1, dtype=np.int64)
        inside = np.flatnonzero(of_tuple >= 0)
        first[of_tuple[inside[::-1]]] = inside[::-1]
        cells = np.stack([self._grouping.nodes(place, level)[first] for place, level in enumerate(levels)])
        missing = [nodes[level] for nodes, level in zip(self._blank, levels, strict=True)]
        blank = cells == np.array(missing)[:, None]
        blank &= np.array(missing)[:, None] >= 0
        patterns, kind = np.unique(blank, axis=1, return_inverse=True)
        members = [np.flatnonzero(kind == place) for place in range(patterns.shape[1])]
        found = np.zeros(count, dtype=np.int64)
        for one, here in enumerate(members):
            for other, there in enumerate(members):
                told = ~(patterns[:, one] | patterns[:, other])
                found[here] += _agreeing(cells[told][:, here], cells[told][:, there], sizes[there])
        return found


def _agreeing(here: AnyArray, there: AnyArray, sizes: Counts) -> Counts:
    """For each column of cells on one side, the rows on the other side that have the same cells."""
    numbers = np.zeros(here.shape[1] + there.shape[1], dtype=np.int64)
    for one, other in zip(here, there, strict=True):
        both = np.concatenate([one, other]).astype(np.int64)
        numbers = np.unique(numbers * (int(both.max(initial=0)) + 1) + both, return_inverse=True)[1]
    totals = np.zeros(int(numbers.max(initial=0)) + 1, dtype=np.int64)
    np.add.at(totals, numbers[here.shape[1] :], sizes)
    return totals[numbers[: here.shape[1]]]
