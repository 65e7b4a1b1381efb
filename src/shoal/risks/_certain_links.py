"""Links between chunks that a release gives away for certain."""

from dataclasses import asdict, dataclass

import numpy as np

from shoal.arrays import Counts, Rows
from shoal.data.clusters import Clusters


@dataclass(frozen=True, slots=True)
class CertainLinks:
    """What can be concluded across chunks of a cluster, whatever the original was."""

    clusters: int
    """Simple clusters in which some item is held by every basket and there is something else to link it with."""
    links: int
    """Pairs of an item that every basket of a cluster holds, and an item of another chunk or of the term chunk: whoever
    holds the second holds the first."""
    forced: int
    """Pairs of items of different record chunks that are together more frequent than the cluster is large, so that some
    basket holds both; certain links among them are counted there only."""
    largest_share: float
    """The largest share of a cluster that holds an item of one of its record chunks and can be linked so."""

    def as_dict(self) -> dict[str, float]:
        """The same as plain data."""
        return asdict(self)


def certain_links(clusters: Clusters) -> CertainLinks:
    """Count the links inside simple clusters that are certain.

    Shared chunks spread over all baskets of a joint cluster, so that no item of theirs is held by all of a part.
    """
    chunk, _, supports = clusters.chunk_items()
    owner = clusters.owners
    simple = clusters.sizes[owner[chunk]] > 0
    chunk, supports = chunk[simple], supports[simple]
    cluster = owner[chunk]
    size = clusters.sizes[cluster]
    terms = np.diff(clusters.term_indptr)
    others = (
        np.bincount(cluster, minlength=len(clusters))[cluster]
        - np.bincount(chunk, minlength=len(owner))[chunk]
        + terms[cluster]
    )
    whole = (supports == size) & (others > 0)
    linked = others > 0
    return CertainLinks(
        clusters=len(np.unique(cluster[whole])),
        links=int(others[whole].sum()),
        forced=_forced(cluster, chunk, supports, size),
        largest_share=float((supports[linked] / size[linked]).max(initial=0.0)),
    )


def _forced(cluster: Rows, chunk: Rows, supports: Counts, size: Counts) -> int:
    """Pairs of items of different chunks of a cluster that some basket must hold both of, though not all do.

    Pairs of one chunk are counted like those of the cluster, and taken away.
    """
    partial = supports < size
    cluster, chunk, supports, size = cluster[partial], chunk[partial], supports[partial], size[partial]
    return _pairs_above(cluster, supports, size) - _pairs_above(chunk, supports, size)


def _pairs_above(group: Rows, supports: Counts, size: Counts) -> int:
    """Pairs of entries of a group whose supports add up to more than its size."""
    order = np.lexsort((supports, group))
    group, supports, size = group[order], supports[order], size[order]
    if not len(group):
        return 0
    span = int(max(supports.max(), size.max())) + 1
    key = group * span + supports
    first = np.searchsorted(key, group * span + np.maximum(size - supports + 1, 0))
    last = np.searchsorted(key, (group + 1) * span)
    partners = last - first - (2 * supports > size)
    return int(partners.sum()) // 2
