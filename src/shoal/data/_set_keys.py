"""Sort keys of groups and clusters: lists of integers that, compared as lists, sort in canonical order."""

from collections.abc import Sequence

import numpy as np

from shoal.arrays import AnyArray, Counts, Indptr, Items, Rows, indptr_of, ranges
from shoal.data.clusters import Clusters
from shoal.data.groups import Groups

END_OF_PARTS = -1
"""The mark after the parts of a joint cluster, which sorts before every part."""


def nested(indptrs: Sequence[Indptr], items: AnyArray) -> tuple[Indptr, Items]:
    """Flatten nested lists of items. Every list ends with its depth, which is less than any item.

    `indptrs`: one for each depth, the outermost first: list i holds the lists ``indptr[i]:indptr[i + 1]`` of the next
    depth, and at the last depth items. Returns a ragged row for each outermost list. The codes of items are increased
    by the number of depths.

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
    """Concatenate several ragged arrays row by row: each row of the first, followed by that of the second, and so on.

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
    """The sort key of each group: its baskets, then its sensitive items and their counts."""
    secrets = np.empty(2 * len(groups.sensitive_items), dtype=np.int64)
    secrets[0::2], secrets[1::2] = groups.sensitive_items, groups.sensitive_counts
    return side_by_side(
        (
            nested((groups.group_indptr, groups.basket_indptr), groups.items),
            nested((2 * groups.sensitive_indptr,), secrets),
        )
    )


def tree_keys(clusters: Clusters) -> tuple[Indptr, Items]:
    """The sort key of each tree of clusters; the clusters inside must be in canonical order."""
    begins, _, keys = cluster_keys(clusters)
    return np.append(begins[clusters.parents < 0], len(keys)), keys


def cluster_keys(clusters: Clusters) -> tuple[Rows, Counts, Items]:
    """The sort key of each cluster, whose parts, chunks and sub-records must be in canonical order.

    The key of a simple cluster is a 0, its chunks, terms and size; that of a joint one is the height of its tree, the
    keys of its parts, and its chunks. Returns where each key begins, its length, and all keys, with those of parts
    nested in the keys of their joint clusters.
    """
    inside = clusters.parents[clusters.parents >= 0]
    joint = np.bincount(inside, minlength=len(clusters)) > 0
    terms, sizes = nested((clusters.term_indptr,), clusters.terms), np.arange(len(clusters) + 1)
    indptr, rest = side_by_side((terms, (sizes, clusters.sizes)))
    behind = side_by_side(
        (
            (indptr_of(joint), np.full(int(joint.sum()), END_OF_PARTS)),
            nested((clusters.chunk_indptr, clusters.record_indptr, clusters.item_indptr), clusters.items),
            (indptr_of(np.where(joint, 0, np.diff(indptr))), rest[np.repeat(~joint, np.diff(indptr))]),
        )
    )
    heights = np.zeros(len(clusters), dtype=np.int32)
    for level in reversed(clusters.levels[1:]):
        np.maximum.at(heights, clusters.parents[level], heights[level] + 1)
    lengths = np.diff(behind[0])
    begins, counts = clusters.laid(lengths + 1, 1)
    keys = np.empty(len(behind[1]) + len(clusters), dtype=np.int32)
    keys[begins] = heights
    keys[ranges(begins + counts - lengths, lengths)[1]] = behind[1]
    return begins, counts, keys
