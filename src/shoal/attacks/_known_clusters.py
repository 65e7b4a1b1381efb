"""How many baskets of published clusters may be that of somebody of whom some items are known."""

from collections.abc import Sequence
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np

from shoal.arrays import Codes, Counts, Floats, Indptr, Mask, Rows, indptr_of, owners, taken
from shoal.data.clusters import Clusters

MOST = 60
"""So many known items are looked at, the rarest: who knows more of a basket has found it long before."""

TERMS = -1
"""Instead of a chunk: the item stands among the terms of a cluster, and may belong to any of its baskets."""


class ClustersView:
    """Published clusters, ready to be asked whose basket may hold some items.

    A basket of a simple cluster is put together from one sub-record of each chunk, its own or one that is shared above
    it. Of the items that stand in one chunk, no more baskets hold all than sub-records do; what stands among the terms
    may belong to any basket. So a cluster has as many candidates as its rarest part.
    """

    def __init__(self, clusters: Clusters) -> None:
        self.clusters = clusters
        self._codes = {text: code for code, text in enumerate(clusters.vocabulary)}
        self._nested = _nested(clusters)
        self._homes, self._records = _homes(clusters, self._nested), _records(clusters)
        self._owners = clusters.owners
        self._chunk_of = np.repeat(np.arange(len(self._owners)), np.diff(clusters.record_indptr))

    def candidates(self, items: Sequence[str], among: Mask | None = None) -> float:
        """How many baskets may hold the items; `among`: which clusters are looked at, where not all are."""
        known = self._known(items)
        if not known:
            sizes = self.clusters.sizes
            return float(sizes.sum() if among is None else sizes[among].sum())
        leaves, most, _ = self._places(known)
        return float(most.sum() if among is None else most[among[leaves]].sum())

    def _known(self, items: Sequence[str]) -> list[int]:
        return [self._codes[item] for item in items if item in self._codes]

    def _places(self, known: list[int]) -> tuple[Rows, Counts, list[tuple[list[int], Rows, Rows]]]:
        """The simple clusters that may hold all known items, and with how many baskets each.

        Also, for all known items that stand in one chunk: these items, the places of the clusters where it is so, and
        their chunks.
        """
        clusters, homes = self.clusters, self._homes
        if any(item not in homes for item in known):
            none = np.empty(0, dtype=np.int64)
            return none, none, []
        known = sorted(known, key=lambda item: len(homes[item][0]))[:MOST]
        leaves = homes[known[0]][0]
        for item in known[1:]:
            leaves = leaves[np.isin(leaves, homes[item][0], assume_unique=True)]
        chunks = np.column_stack([homes[item][1][np.searchsorted(homes[item][0], leaves)] for item in known])
        most = clusters.sizes[leaves].copy()
        together = (chunks[:, :, None] == chunks[:, None, :]) @ (1 << np.arange(len(known)))
        found = []
        for place in range(len(known)):
            for part in np.unique(together[:, place]).tolist():
                here = np.flatnonzero((together[:, place] == part) & (chunks[:, place] != TERMS))
                first = (part & -part).bit_length() - 1
                if len(here) and place == first:
                    inside = [item for bit, item in enumerate(known) if part >> bit & 1]
                    found.append((inside, here, chunks[here, place]))
                    most[here] = np.minimum(most[here], self._holding(inside, chunks[here, place]))
        return leaves, most, found

    def _holding(self, items: list[int], chunks: Rows) -> Counts:
        """How many sub-records of each of some chunks hold all of some items."""
        found = self._chunk_of[self._holders(items)]  # ascending, as records are
        return np.searchsorted(found, chunks, "right") - np.searchsorted(found, chunks, "left")

    def _holders(self, items: list[int]) -> Rows:
        found = self._records[items[0]]
        for item in items[1:]:
            found = found[np.isin(found, self._records[item], assume_unique=True)]
        return found

    def beliefs(self, items: Sequence[str]) -> Floats:
        """How likely a basket that holds some items holds each item: the mean over all candidates.

        Of an item in the same chunk as a known one its share of the sub-records with that one counts, of another its
        share of the cluster; a term is held by one basket at least.
        """
        clusters, width = self.clusters, len(self.clusters.vocabulary)
        known = self._known(items)
        if not known:
            sizes = clusters.sizes.astype(np.float64)
            return np.asarray(self._base.T @ sizes / max(float(sizes.sum()), 1.0))
        leaves, most, together = self._places(known)
        total = float(most.sum())
        if not total:
            return np.zeros(width)
        belief = np.asarray(self._base[leaves].T @ most.astype(np.float64))
        for inside, here, chunks in together:
            asked, place = np.unique(chunks, return_inverse=True)
            weight = np.bincount(place, most[here].astype(np.float64))
            begin, records = taken(clusters.record_indptr, asked)
            belief -= self._summed(records, np.repeat(weight / self._spread[asked], np.diff(begin)))
            holders = self._holders(inside)
            holders = holders[np.isin(self._chunk_of[holders], asked)]
            places = np.searchsorted(asked, self._chunk_of[holders])
            counts = np.maximum(np.bincount(places, minlength=len(asked)), 1)
            belief += self._summed(holders, (weight / counts)[places])
        belief = np.clip(belief / total, 0, 1)
        belief[known] = 1.0
        return np.asarray(belief)

    def _summed(self, records: Rows, weights: Floats) -> Floats:
        """The items of some sub-records, each with the weight of its record."""
        begin, items = taken(self.clusters.item_indptr, records)
        each = np.repeat(weights, np.diff(begin))
        counted = np.bincount(self.clusters.items[items], each, len(self.clusters.vocabulary))
        return counted.astype(np.float64)

    @cached_property
    def _spread(self) -> Floats:
        """How many baskets each chunk is spread over."""
        clusters = self.clusters
        leaf, place = _leaves(self._nested, self._owners)
        return np.maximum(np.bincount(place, clusters.sizes[leaf], len(self._owners)), 1).astype(np.float64)

    @cached_property
    def _base(self) -> Any:
        """The share of the baskets of each simple cluster that holds each item: clusters by items, sparse."""
        from scipy.sparse import csr_array

        clusters = self.clusters
        chunk, item, support = clusters.chunk_items()
        leaf, place = _leaves(self._nested, self._owners[chunk])
        terms = np.repeat(np.arange(len(clusters)), np.diff(clusters.term_indptr))
        shares = np.concatenate(
            (support[place] / self._spread[chunk[place]], 1 / np.maximum(clusters.sizes[terms], 1))
        )
        where = (np.concatenate((leaf, terms)), np.concatenate((item[place], clusters.terms)))
        return csr_array((shares, where), shape=(len(clusters), len(clusters.vocabulary)))


Nested: TypeAlias = tuple[Indptr, Rows]
"""The simple clusters that lie inside of each cluster, as ragged rows."""


def _homes(clusters: Clusters, nested: Nested) -> dict[int, tuple[Rows, Rows]]:
    """The simple clusters whose baskets may hold each item, ascending, and the chunk that says so."""
    chunk, item, _ = clusters.chunk_items()
    owner = clusters.owners[chunk]
    leaf, place = _leaves(nested, owner)
    terms_leaf = np.repeat(np.arange(len(clusters)), np.diff(clusters.term_indptr))
    leaves = np.concatenate((leaf, terms_leaf))
    items: Codes = np.concatenate((item[place], clusters.terms))
    chunks = np.concatenate((chunk[place], np.full(len(terms_leaf), TERMS, dtype=np.int64)))
    # Where an item stands in several places of one cluster, its own chunk is taken before those that are shared above
    # it, the nearest first: a cluster that has the item in its own chunk has it there alone.
    nearest = np.concatenate((-owner[place], np.zeros(len(terms_leaf), dtype=np.int64)))
    order = np.lexsort((chunks, nearest, chunks == TERMS, leaves, items))
    leaves, items, chunks = leaves[order], items[order], chunks[order]
    new = np.ones(len(leaves), dtype=np.bool_)
    new[1:] = (leaves[1:] != leaves[:-1]) | (items[1:] != items[:-1])
    leaves, items, chunks = leaves[new], items[new], chunks[new]
    kinds, starts = np.unique(items, return_index=True)
    split = zip(np.split(leaves, starts[1:]), np.split(chunks, starts[1:]), strict=True)
    return dict(zip(kinds.tolist(), split, strict=True)) if len(kinds) else {}


def _nested(clusters: Clusters) -> Nested:
    inside: list[list[int]] = [[] for _ in range(len(clusters))]
    parents = clusters.parents.tolist()
    for leaf in np.flatnonzero(clusters.sizes > 0).tolist():
        above = leaf
        while above >= 0:
            inside[above].append(leaf)
            above = parents[above]
    flat = np.array([leaf for one in inside for leaf in one], dtype=np.int64)
    return indptr_of([len(one) for one in inside]), flat


def _leaves(nested: Nested, owner: Rows) -> tuple[Rows, Rows]:
    """The simple clusters inside of each of some clusters: the leaf, and the place of the cluster in what was asked."""
    indptr, entries = taken(nested[0], owner)
    return nested[1][entries], owners(indptr)


def _records(clusters: Clusters) -> dict[int, Rows]:
    """The sub-records that hold each item, ascending."""
    record = owners(clusters.item_indptr)
    order = np.argsort(clusters.items, kind="stable")
    items, starts = np.unique(clusters.items[order], return_index=True)
    return dict(zip(items.tolist(), np.split(record[order], starts[1:]), strict=True)) if len(items) else {}
