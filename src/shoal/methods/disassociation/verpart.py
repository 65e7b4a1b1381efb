"""VERPART: the items of each cluster in record chunks, or in its term chunk."""

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from shoal.arrays import Counts, Indptr, Items, Mask, Rows
from shoal.data.baskets import Baskets
from shoal.engines.local import Local
from shoal.methods.disassociation.horpart import Parts

HIDDEN = -1
"""The chunk of an item that goes to the term chunk."""


@dataclass(frozen=True, slots=True, eq=False)
class Chunks:
    """Where every item of every cluster goes: a pair is a cluster and an item that occurs in it.

    Parameters
    ----------
    indptr
        The pairs of cluster c are ``indptr[c]:indptr[c + 1]``, the most frequent item first.
    items, supports
        The item of each pair, and how many baskets of the cluster are published with it.
    chunks
        The number of its chunk among all chunks, `HIDDEN` for the term chunk of its cluster.
    owners
        The cluster of each chunk.
    covers
        The number of sub-records in all record chunks of each cluster together.
    pair_of
        The pair of each occurrence, at its place in the baskets; -1 for one that is left out.
    """

    indptr: Indptr
    items: Items
    supports: Counts
    chunks: Rows
    owners: Rows
    covers: Counts
    pair_of: Rows

    @property
    def clusters(self) -> Rows:
        """The cluster of each pair."""
        return np.repeat(np.arange(len(self.indptr) - 1), np.diff(self.indptr))


def verpart(
    baskets: Baskets, ignored: Mask, parts: Parts, k: int, m: int, safe: Fraction | None, engine: Local
) -> Chunks:
    """Give the items of each cluster to chunks in which no combination of up to m items is rare.

    Items that fewer than k baskets of the cluster hold, and those that are ignored, go to its term chunk.

    Parameters
    ----------
    safe
        The largest share of a cluster that may hold an item which can be linked with another chunk; None for no limit.
    """
    from shoal.kernels import verpart as kernel

    clusters = len(parts.starts) - 1
    occurrences = len(baskets.items)
    lengths = baskets.lengths[parts.order]
    places = np.concatenate(([0], np.cumsum(lengths)))[parts.starts]
    found = kernel.Pairs(
        np.empty(occurrences, dtype=np.int32),
        np.empty(occurrences, dtype=np.int64),
        np.empty(occurrences, dtype=np.int32),
        np.empty(clusters, dtype=np.int64),
        np.empty(clusters, dtype=np.int64),
        np.empty(occurrences, dtype=np.int64),
    )
    promise = kernel.Promise(k, m, *(safe.as_integer_ratio() if safe is not None else (1, 1)))

    def work(bounds: tuple[int, int]) -> None:
        kernel.partition(
            baskets.indptr, baskets.items, ignored, parts.order, parts.starts, places, promise, found, *bounds
        )

    cuts = np.searchsorted(places, np.linspace(0, occurrences, 4 * engine.threads + 1)[1:-1])
    cuts = np.concatenate(([0], cuts, [clusters])).astype(np.int64)
    engine.map(work, list(zip(cuts[:-1].tolist(), cuts[1:].tolist(), strict=True)))
    return _gathered(found, places)


def _gathered(found: "kernel.Pairs", places: Rows) -> Chunks:  # type: ignore[name-defined]  # noqa: F821
    """The pairs without the gaps between those of different clusters, and chunks numbered through."""
    indptr = np.concatenate(([0], np.cumsum(found.counts)))
    shift = indptr[:-1] - places[:-1]
    cluster = np.repeat(np.arange(len(found.counts)), found.counts)
    source = np.arange(indptr[-1]) - shift[cluster]
    inside = found.chunks[source].astype(np.int64)
    shown = np.flatnonzero(inside != HIDDEN)
    width = int(inside.max(initial=0)) + 1
    keys, number = np.unique(cluster[shown] * width + inside[shown], return_inverse=True)
    chunks = np.full(len(source), HIDDEN, dtype=np.int64)
    chunks[shown] = number
    kept = found.of >= 0
    pair_of = np.full(len(found.of), -1, dtype=np.int64)
    position = np.searchsorted(places, found.of[kept], side="right") - 1
    pair_of[kept] = found.of[kept] + shift[position]
    return Chunks(
        indptr, found.items[source], found.supports[source], chunks, keys // width, found.covers, pair_of
    )
