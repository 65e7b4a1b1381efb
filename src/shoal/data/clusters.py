"""Baskets published in clusters of chunks (disassociation)."""

from dataclasses import dataclass

import numpy as np

from shoal.arrays import Codes, Counts, Indptr, Items, Rows
from shoal.data.frozen import frozen


@dataclass(frozen=True, slots=True, eq=False)
class Clusters:
    """A forest of clusters. A simple cluster is a leaf; a joint cluster has parts and only shared chunks.

    Parameters
    ----------
    parents
        The joint cluster that a cluster is a part of, -1 for a tree of its own. A part comes after its joint cluster.
    sizes
        The number of baskets of a simple cluster; 0 for a joint one, whose size is that of its parts.
    chunk_indptr
        Chunks of cluster c are ``chunk_indptr[c]:chunk_indptr[c + 1]``: record chunks of a simple cluster, shared
        chunks of a joint one.
    record_indptr
        Sub-records of chunk i are ``record_indptr[i]:record_indptr[i + 1]``. Empty sub-records are not listed.
    item_indptr, items
        Sub-record r is ``items[item_indptr[r]:item_indptr[r + 1]]``.
    term_indptr, terms
        The term chunk of cluster c: a set, without counts. Empty for a joint cluster.
    vocabulary
        The text of each item, in ascending order.
    """

    parents: Codes
    sizes: Counts
    chunk_indptr: Indptr
    record_indptr: Indptr
    item_indptr: Indptr
    items: Items
    term_indptr: Indptr
    terms: Items
    vocabulary: tuple[str, ...]

    def __post_init__(self) -> None:
        for name in ("sizes", "chunk_indptr", "record_indptr", "item_indptr", "term_indptr"):
            object.__setattr__(self, name, frozen(np.asarray(getattr(self, name), dtype=np.int64)))
        for name in ("parents", "items", "terms"):
            object.__setattr__(self, name, frozen(np.asarray(getattr(self, name), dtype=np.int32)))

    def __len__(self) -> int:
        return len(self.parents)

    @property
    def depths(self) -> Counts:
        """How many joint clusters each cluster is inside of."""
        depths = np.zeros(len(self), dtype=np.int64)
        above = self.parents.astype(np.int64)
        while (inside := above >= 0).any():
            depths += inside
            above[inside] = self.parents[above[inside]]
        return depths

    @property
    def spans(self) -> tuple[Rows, Counts]:
        """A first row and a number of rows for each cluster, if baskets are numbered tree by tree.

        The rows of a joint cluster are those of its parts.
        """
        depths = self.depths
        levels = [np.flatnonzero(depths == depth) for depth in range(int(depths.max(initial=-1)) + 1)]
        counts = self.sizes.copy()
        for level in reversed(levels[1:]):
            np.add.at(counts, self.parents[level], counts[level])
        first = np.zeros(len(self), dtype=np.int64)
        for level in levels:
            order = level[np.argsort(self.parents[level], kind="stable")]
            before = np.cumsum(counts[order]) - counts[order]
            above = self.parents[order]
            start = np.concatenate(([True], above[1:] != above[:-1]))
            base = before[np.maximum.accumulate(np.where(start, np.arange(len(order)), 0))]
            first[order] = before - base + np.where(above >= 0, first[above], 0)
        return first, counts
