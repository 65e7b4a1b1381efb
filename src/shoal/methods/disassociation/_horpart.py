"""HORPART: clusters of similar baskets, none of which is too small."""

from dataclasses import dataclass
from typing import Literal

import numpy as np

from shoal.arrays import Mask, Rows, indptr_of
from shoal.data.baskets import Baskets
from shoal.engines.local import Local

Small = Literal["merge", "pool"]
"""What happens to clusters that are too small: they join their nearest neighbor, or are pooled and split again."""

BATCHES = 8
"""How many batches of segments there are for each thread, so that no thread waits long for one with larger ones."""


@dataclass(frozen=True, slots=True, eq=False)
class Parts:
    """A partition of baskets: part i has the baskets ``order[starts[i]:starts[i + 1]]``."""

    order: Rows
    starts: Rows

    @property
    def sizes(self) -> Rows:
        """The number of baskets of each part."""
        return np.diff(self.starts)


def horpart(
    baskets: Baskets, ignored: Mask, k: int, max_cluster_size: int, small: Small, engine: Local
) -> Parts:
    """Divide baskets into clusters of at least k.

    A part is divided by its most frequent item that was not used on the way to it, until it holds fewer than
    `max_cluster_size` baskets. Baskets that no item distinguishes are cut into even pieces. Parts that are still too
    small are merged with a neighbor or pooled; that may exceed the limit by fewer than k baskets.

    `baskets`: at least k baskets, in the order of their public items, so that the clusters do not depend on the order
    of the input, except for which of several equal baskets go where. `ignored`: the items, by code, that play no part.
    """
    parts = _cut(split(baskets, ignored, max_cluster_size, engine), k, max_cluster_size)
    if small == "pool":
        parts = _pooled(baskets, ignored, parts, k, max_cluster_size, engine)
    return _absorbed(baskets, ignored, parts, k, max_cluster_size)


def split(baskets: Baskets, ignored: Mask, limit: int, engine: Local) -> Parts:
    """Divide baskets by their most frequent item until every part has fewer than `limit`.

    Large segments are divided one after another, and the smaller ones that result in parallel.
    """
    from shoal.kernels import horpart as kernel

    rows = len(baskets)
    begins = np.zeros(rows + 1, dtype=np.bool_)
    begins[rows] = True
    board = kernel.Board(
        np.arange(rows, dtype=np.int32),
        begins,
        np.zeros(rows, dtype=np.bool_),
        np.empty(rows, dtype=np.int32),
    )
    levels = kernel.Levels(np.array([0]), np.array([rows]), np.array([-1]), np.array([-1]))
    arguments = (baskets.indptr, baskets.items, ignored, limit, board)
    levels, left = kernel.split(*arguments, levels, np.array([0]), rows // (2 * engine.threads) + 1)
    sizes = (levels.last - levels.first)[left]
    place = (np.cumsum(sizes) - sizes) * BATCHES * engine.threads // max(int(sizes.sum()), 1)
    batches = np.split(left, np.flatnonzero(np.diff(place)) + 1)
    engine.map(lambda batch: kernel.split(*arguments, levels, batch, 0), batches)
    return Parts(board.order.astype(np.int64), np.flatnonzero(begins))


def _cut(parts: Parts, k: int, limit: int) -> Parts:
    """Cut parts that reach the limit into even pieces below it, but of at least k baskets."""
    sizes = parts.sizes
    pieces = np.maximum(1, np.minimum(-(-sizes // max(limit - 1, 1)), sizes // k))
    number = np.arange(pieces.sum()) - np.repeat(np.cumsum(pieces) - pieces, pieces)
    starts = np.repeat(parts.starts[:-1], pieces) + np.repeat(sizes, pieces) * number // np.repeat(
        pieces, pieces
    )
    return Parts(parts.order, np.concatenate((starts, parts.starts[-1:])))


def _absorbed(baskets: Baskets, ignored: Mask, parts: Parts, k: int, limit: int) -> Parts:
    """Merge parts below k with a neighbor."""
    from shoal.kernels.horpart import absorb

    limit = max(limit, 2 * k - 1)
    gone = absorb(baskets.indptr, baskets.items, ignored, parts.order, parts.starts.copy(), k, limit)
    return Parts(parts.order, parts.starts[~gone])


def _pooled(baskets: Baskets, ignored: Mask, parts: Parts, k: int, limit: int, engine: Local) -> Parts:
    """Pool all baskets of parts below k and divide them again; those still in small parts are cut in their order."""
    small = np.repeat(parts.sizes < k, parts.sizes)
    pool = np.sort(parts.order[small])
    if not len(pool):
        return parts
    again = split(baskets.take(pool), ignored, limit, engine)
    rest = np.repeat(again.sizes < k, again.sizes)
    scattered = _cut(Parts(pool[again.order[rest]], np.array([0, rest.sum()])), k, limit)
    kept = [
        Parts(parts.order[~small], indptr_of(parts.sizes[parts.sizes >= k])),
        _cut(Parts(pool[again.order[~rest]], indptr_of(again.sizes[again.sizes >= k])), k, limit),
        scattered,
    ]
    return Parts(
        np.concatenate([one.order for one in kept]),
        indptr_of(np.concatenate([one.sizes[one.sizes > 0] for one in kept])),
    )
