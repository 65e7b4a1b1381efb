"""How many baskets of published clusters may be that of somebody of whom some items are known."""

from collections.abc import Callable, Sequence

import numpy as np

from shoal.arrays import Codes, Counts, Rows
from shoal.data.clusters import Clusters

TERMS = -1
"""Instead of a chunk: the item stands among the terms of a cluster, and may belong to any of its baskets."""


def cluster_candidates(clusters: Clusters) -> Callable[[Sequence[str]], float]:
    """A function from known items to the number of baskets that may hold them.

    A basket of a simple cluster is put together from one sub-record of each chunk, its own or one that is shared above
    it. Of the items that stand in one chunk, no more baskets hold all than sub-records do; what stands among the terms
    may belong to any basket. So a cluster has as many candidates as its rarest part.
    """
    codes = {text: code for code, text in enumerate(clusters.vocabulary)}
    homes, records = _homes(clusters), _records(clusters)
    chunk_of = np.repeat(np.arange(len(clusters.owners)), np.diff(clusters.record_indptr))

    def candidates(items: Sequence[str]) -> float:
        known = [codes[item] for item in items if item in codes]
        if not known:
            return float(clusters.sizes.sum())
        if any(item not in homes for item in known):
            return 0.0
        leaves = homes[known[0]][0]
        for item in known[1:]:
            leaves = leaves[np.isin(leaves, homes[item][0], assume_unique=True)]
        chunks = np.column_stack([homes[item][1][np.searchsorted(homes[item][0], leaves)] for item in known])
        most = clusters.sizes[leaves].copy()
        together = (chunks[:, :, None] == chunks[:, None, :]) @ (1 << np.arange(len(known)))
        for place in range(len(known)):
            for part in np.unique(together[:, place]).tolist():
                here = np.flatnonzero((together[:, place] == part) & (chunks[:, place] != TERMS))
                if len(here):
                    inside = [item for bit, item in enumerate(known) if part >> bit & 1]
                    held = _holding(inside, records, chunk_of, len(clusters.owners))
                    most[here] = np.minimum(most[here], held[chunks[here, place]])
        return float(most.sum())

    return candidates


def _holding(items: list[int], records: dict[int, Rows], chunk_of: Rows, chunks: int) -> Counts:
    """How many sub-records of each chunk hold all of some items."""
    found = records[items[0]]
    for item in items[1:]:
        found = found[np.isin(found, records[item], assume_unique=True)]
    return np.bincount(chunk_of[found], minlength=chunks).astype(np.int64)


def _homes(clusters: Clusters) -> dict[int, tuple[Rows, Rows]]:
    """The simple clusters whose baskets may hold each item, ascending, and the chunk that says so."""
    chunk, item, _ = clusters.chunk_items()
    owner = clusters.owners[chunk]
    leaf, place = _leaves(clusters, owner)
    terms_leaf = np.repeat(np.arange(len(clusters)), np.diff(clusters.term_indptr))
    leaves = np.concatenate((leaf, terms_leaf))
    items: Codes = np.concatenate((item[place], clusters.terms))
    chunks = np.concatenate((chunk[place], np.full(len(terms_leaf), TERMS, dtype=np.int64)))
    # Where an item stands in several places of one cluster, the first chunk is taken.
    order = np.lexsort((chunks == TERMS, leaves, items))
    leaves, items, chunks = leaves[order], items[order], chunks[order]
    new = np.ones(len(leaves), dtype=np.bool_)
    new[1:] = (leaves[1:] != leaves[:-1]) | (items[1:] != items[:-1])
    leaves, items, chunks = leaves[new], items[new], chunks[new]
    kinds, starts = np.unique(items, return_index=True)
    split = zip(np.split(leaves, starts[1:]), np.split(chunks, starts[1:]), strict=True)
    return dict(zip(kinds.tolist(), split, strict=True)) if len(kinds) else {}


def _leaves(clusters: Clusters, owner: Rows) -> tuple[Rows, Rows]:
    """The simple clusters inside of each of some clusters: the leaf, and the place of the cluster in what was asked."""
    inside: list[list[int]] = [[] for _ in range(len(clusters))]
    for leaf in np.flatnonzero(clusters.sizes > 0).tolist():
        above = leaf
        while above >= 0:
            inside[above].append(leaf)
            above = int(clusters.parents[above])
    counts = np.array([len(one) for one in inside], dtype=np.int64)
    flat = np.array([leaf for one in inside for leaf in one], dtype=np.int64)
    first = np.cumsum(counts) - counts
    many = counts[owner]
    place = np.repeat(np.arange(len(owner)), many)
    return flat[
        np.repeat(first[owner], many) + np.arange(len(place)) - np.repeat(np.cumsum(many) - many, many)
    ], place


def _records(clusters: Clusters) -> dict[int, Rows]:
    """The sub-records that hold each item, ascending."""
    record = np.repeat(np.arange(len(clusters.item_indptr) - 1), np.diff(clusters.item_indptr))
    order = np.argsort(clusters.items, kind="stable")
    items, starts = np.unique(clusters.items[order], return_index=True)
    return dict(zip(items.tolist(), np.split(record[order], starts[1:]), strict=True)) if len(items) else {}
