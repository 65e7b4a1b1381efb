"""Groups and clusters as lists of integers that sort, as lists do, like them in canonical order."""

from collections.abc import Sequence

import numpy as np

from shoal.arrays import AnyArray, Indptr, Items, indptr_of
from shoal.data.clusters import Clusters
from shoal.data.groups import Groups

END_OF_PARTS = -1
"""What stands behind the parts of a joint cluster: it comes before every part."""


def nested(indptrs: Sequence[Indptr], items: AnyArray) -> tuple[Indptr, Items]:
    """Nested lists of items as flat ones. Every list ends with its depth, which is less than any item.

    `indptrs`: the outermost first: list i of a depth holds the lists ``indptr[i]:indptr[i + 1]`` of the next one,
    those of the last depth items. Returns a ragged row for each outermost list. Codes are raised by the number of
    depths.

    >>> nested([np.array([0, 2, 2]), np.array([0, 1, 3])], np.array([0, 0, 1]))[1].tolist()
    [2, 1, 2, 3, 1, 0, 0]
    """
    flat = np.asarray(items + len(indptrs), dtype=np.int32)
    before: Indptr = np.arange(len(items) + 1, dtype=np.int64)
    for depth in reversed(range(len(indptrs))):
        bounds = before[indptrs[depth]]
        flat = np.insert(flat, bounds[1:], depth)
        before = bounds + np.arange(len(bounds))
    return before, flat


def side_by_side(rows: Sequence[tuple[Indptr, AnyArray]]) -> tuple[Indptr, Items]:
    """Each ragged row of the first followed by that of the second, and so on.

    >>> side_by_side([(np.array([0, 1, 3]), np.array([1, 2, 3])), (np.array([0, 1, 1]), np.array([9]))])[1].tolist()
    [1, 9, 2, 3]
    """
    lengths = np.stack([np.diff(indptr) for indptr, _ in rows], axis=1)
    begins = np.cumsum(lengths.ravel()) - lengths.ravel()
    joined = np.empty(int(lengths.sum()), dtype=np.int32)
    for column, (indptr, entries) in enumerate(rows):
        begin = begins[column :: len(rows)]
        joined[np.repeat(begin - indptr[:-1], lengths[:, column]) + np.arange(len(entries))] = entries
    return indptr_of(lengths.sum(axis=1)), joined


def group_keys(groups: Groups) -> tuple[Indptr, Items]:
    """The key of each group: its baskets, then its sensitive items and their counts."""
    secrets = np.empty(2 * len(groups.sensitive_items), dtype=np.int64)
    secrets[0::2], secrets[1::2] = groups.sensitive_items, groups.sensitive_counts
    return side_by_side(
        (
            nested((groups.group_indptr, groups.basket_indptr), groups.items),
            nested((2 * groups.sensitive_indptr,), secrets),
        )
    )


def tree_keys(clusters: Clusters) -> tuple[Indptr, Items]:
    """The key of each tree of clusters that are in canonical order."""
    trees = [key for key, above in zip(cluster_keys(clusters), clusters.parents, strict=True) if above < 0]
    return as_rows(trees)


def as_rows(keys: Sequence[Items]) -> tuple[Indptr, Items]:
    """Keys as ragged rows."""
    indptr = indptr_of([len(key) for key in keys])
    return indptr, np.concatenate((np.empty(0, dtype=np.int32), *keys))


def cluster_keys(clusters: Clusters) -> list[Items]:
    """The key of each cluster, whose parts, chunks and sub-records are in canonical order.

    That of a simple cluster is a 0, its chunks, terms and size; that of a joint one the height of its tree, the keys of
    its parts, and its chunks.
    """
    own = nested((clusters.chunk_indptr, clusters.record_indptr, clusters.item_indptr), clusters.items)
    simple = side_by_side(
        (own, nested((clusters.term_indptr,), clusters.terms), (np.arange(len(clusters) + 1), clusters.sizes))
    )
    heights = [0] * len(clusters)
    parts: list[list[Items]] = [[] for _ in heights]
    keys: list[Items] = []
    parents = clusters.parents.tolist()
    # Parts come after their joint cluster, so that from the end the key of every part is there before it is needed.
    for cluster in reversed(range(len(clusters))):
        indptr, entries = own if parts[cluster] else simple
        chunks = entries[indptr[cluster] : indptr[cluster + 1]]
        height = np.array([heights[cluster]], dtype=np.int32)
        end = [np.array([END_OF_PARTS], dtype=np.int32)] if parts[cluster] else []
        keys.append(np.concatenate((height, *reversed(parts[cluster]), *end, chunks)))
        above = parents[cluster]
        if above >= 0:
            parts[above].append(keys[-1])
            heights[above] = max(heights[above], heights[cluster] + 1)
    keys.reverse()
    return keys
