"""VERPART: divide the items of each cluster among its record chunks and its term chunk."""

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from shoal.arrays import Counts, Indptr, Items, Mask, Rows, indptr_of, owners
from shoal.data.baskets import Baskets
from shoal.engines.local import Local
from shoal.methods.disassociation._horpart import Parts

HIDDEN = -1
"""Stands for the term chunk, where the number of a chunk is expected."""


@dataclass(frozen=True, slots=True, eq=False)
class Chunks:
    """The chunk of every pair, where a pair is a cluster and an item that occurs in it.

    `indptr`: the pairs of cluster c are ``indptr[c]:indptr[c + 1]``, the most frequent item first. `items`, `supports`:
    the item of each pair, and how many baskets of the cluster are published with it. `chunks`: the number of its chunk
    among all chunks, or `HIDDEN` for the term chunk of its cluster. `owners`: the cluster of each chunk. `covers`: the
    number of sub-records in all record chunks of each cluster together. `pair_of`: the pair of each occurrence of an
    item in the baskets; -1 if it is left out.
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
        return owners(self.indptr)


def verpart(
    baskets: Baskets, ignored: Mask, parts: Parts, k: int, m: int, safe: Fraction, engine: Local
) -> Chunks:
    """Divide the items of each cluster among chunks in which no combination of up to m items is rare.

    Ignored items, and items that fewer than k baskets of the cluster hold, go to its term chunk.

    `safe`: the largest share of a cluster that may hold an item that can be linked with another chunk; 1 for no limit.
    """
    from shoal.kernels import verpart as kernel
    from shoal.kernels._jit import fitting

    clusters = len(parts.starts) - 1
    occurrences = len(baskets.items)
    lengths = baskets.lengths[parts.order]
    places = indptr_of(lengths)[parts.starts]
    found = kernel.Pairs(
        np.empty(occurrences, dtype=np.int32),
        np.empty(occurrences, dtype=np.int64),
        np.empty(occurrences, dtype=np.int32),
        np.empty(clusters, dtype=np.int64),
        np.empty(clusters, dtype=np.int64),
        np.empty(occurrences, dtype=np.int32),
        np.empty(clusters, dtype=np.int64),
    )
    promise = kernel.Promise(k, m, *safe.as_integer_ratio())
    partition, gather = fitting(kernel.partition, occurrences), fitting(kernel.gather, occurrences)
    most = int(np.diff(places).max(initial=0)), int(parts.sizes.max(initial=0))

    def work(bounds: tuple[int, int]) -> None:
        desk = kernel.desk(len(ignored), *most, promise)
        given = baskets.indptr, baskets.items, ignored, parts.order, parts.starts, places
        partition(*given, promise, found, desk, *bounds)

    cuts = np.searchsorted(places, np.linspace(0, occurrences, 4 * engine.threads + 1)[1:-1])
    cuts = np.concatenate(([0], cuts, [clusters])).astype(np.int64)
    batches = list(zip(cuts[:-1].tolist(), cuts[1:].tolist(), strict=True))
    engine.map(work, batches)
    begins = indptr_of(found.counts)
    chunk_begins = indptr_of(found.made)
    gathered = kernel.Gathered(
        np.empty(begins[-1], dtype=np.int32),
        np.empty(begins[-1], dtype=np.int64),
        np.empty(begins[-1], dtype=np.int64),
        np.empty(chunk_begins[-1], dtype=np.int64),
        np.empty(occurrences, dtype=np.int64),
    )

    def collect(bounds: tuple[int, int]) -> None:
        gather(
            baskets.indptr, parts.order, parts.starts, places, found, begins, chunk_begins, gathered, *bounds
        )

    engine.map(collect, batches)
    return Chunks(
        begins,
        gathered.items,
        gathered.supports,
        gathered.chunks,
        gathered.owners,
        found.covers,
        gathered.of,
    )
