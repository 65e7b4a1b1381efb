"""Publish clusters: sub-records that do not reveal which baskets they came from."""

import numpy as np

from shoal.arrays import Rows, indptr_by, owners, taken
from shoal.data.baskets import Baskets
from shoal.data.clusters import Clusters
from shoal.methods.disassociation._horpart import Parts
from shoal.methods.disassociation._refine import Forest
from shoal.methods.disassociation._verpart import HIDDEN


def publish(baskets: Baskets, parts: Parts, forest: Forest) -> tuple[Clusters, Rows]:
    """Make the published clusters, in canonical order.

    Returns the clusters, and the baskets of one simple cluster after another.
    """
    from shoal.io.releases.set_lines import ordered_clusters
    from shoal.kernels.hidden import places_of

    chunks, nodes = forest.chunks, len(forest.parents)
    leaves = len(parts.sizes)
    # Joint clusters were made after their parts, but must come before them.
    node_of_chunk = nodes - 1 - chunks.owners
    by_node = np.argsort(node_of_chunk, kind="stable")
    number = np.empty(len(by_node) + 1, dtype=np.int64)
    number[by_node] = np.arange(len(by_node))
    number[HIDDEN] = HIDDEN
    begins, shown = places_of(chunks.pair_of, number[chunks.chunks], len(by_node))
    row = np.repeat(np.arange(len(baskets)), baskets.lengths)[shown]
    chunk = owners(begins)
    new = np.ones(len(shown), dtype=np.bool_)
    new[1:] = (row[1:] != row[:-1]) | (chunk[1:] != chunk[:-1])
    hidden = np.flatnonzero(chunks.chunks == HIDDEN)
    holder = nodes - 1 - chunks.clusters[hidden]
    by_holder = np.argsort(holder, kind="stable")
    above = forest.parents[::-1]
    clusters, order = ordered_clusters(
        Clusters(
            np.where(above >= 0, nodes - 1 - above, -1).astype(np.int32),
            np.concatenate((np.zeros(nodes - leaves, dtype=np.int64), parts.sizes[::-1])),
            indptr_by(node_of_chunk, nodes),
            indptr_by(chunk[new], len(by_node)),
            np.concatenate((np.flatnonzero(new), [len(shown)])),
            baskets.items[shown],
            indptr_by(holder, nodes),
            chunks.items[hidden[by_holder]],
            baskets.vocabulary,
        )
    )
    leaf = nodes - 1 - order
    leaf = leaf[leaf < leaves]
    return clusters, parts.order[taken(parts.starts, leaf)[1]]
