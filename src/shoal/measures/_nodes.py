"""The texts of a hierarchy's nodes, and the leaves that a reader must think of when seeing one."""

from functools import cached_property

import numpy as np

from shoal.arrays import Codes, Indptr, Rows
from shoal.data.hierarchy import Hierarchy


class NodeTexts:
    """What each text of a hierarchy stands for.

    Several nodes may carry one text: a short branch repeats its node on several levels, and careless
    hierarchies use a name twice. A published text then stands for the leaves of all of them, since a reader
    cannot tell them apart.
    """

    def __init__(self, hierarchy: Hierarchy) -> None:
        self._hierarchy = hierarchy
        self._places: dict[str, int] = {}
        leaf_texts: list[Codes] = []
        for level, labels in enumerate(hierarchy.labels):
            texts = [self._places.setdefault(label, len(self._places)) for label in labels]
            leaf_texts.append(np.array(texts, dtype=np.int32)[hierarchy.nodes_at(level)])
        leaves, count = len(hierarchy.leaves), len(self._places)
        pairs = [texts.astype(np.int64) * leaves + np.arange(leaves) for texts in leaf_texts]
        distinct = np.sort(np.concatenate(pairs))
        distinct = distinct[np.append(True, distinct[1:] != distinct[:-1])]
        sizes = np.bincount(distinct // leaves, minlength=count)
        self._indptr: Indptr = np.concatenate(([0], np.cumsum(sizes)))
        self._leaves: Rows = distinct % leaves
        levels = np.zeros(count, dtype=np.int32)
        for level in range(hierarchy.height, -1, -1):
            covered = np.bincount(leaf_texts[level], minlength=count)
            levels[(covered > 0) & ((covered == sizes) | (levels == 0))] = level
        self._levels: list[int] = levels.tolist()
        self._sizes: list[int] = sizes.tolist()

    def __contains__(self, text: str) -> bool:
        return text in self._places

    def count(self, text: str) -> int:
        """How many leaves a text stands for."""
        return self._sizes[self._places[text]]

    def leaves(self, text: str) -> Rows:
        """The leaves that a text stands for."""
        place = self._places[text]
        return self._leaves[self._indptr[place] : self._indptr[place + 1]]

    def level(self, text: str) -> int:
        """The lowest level on which a text stands for all of its leaves."""
        return self._levels[self._places[text]]

    def common_level(self, leaves: Rows) -> int:
        """The level of the lowest node over all of some leaves."""
        turn, depths = self._turns
        turns = turn[leaves]
        first, last = int(turns.min()), int(turns.max())
        return 0 if first == last else self._hierarchy.height - int(depths[first:last].min())

    @cached_property
    def _turns(self) -> tuple[Rows, Codes]:
        """The place of each leaf in depth-first order, and the depths between neighbors in that order."""
        order = self._hierarchy.depth_first()
        turn = np.empty(len(order), dtype=np.int64)
        turn[order] = np.arange(len(order))
        return turn, self._hierarchy.boundary_depths(order)
