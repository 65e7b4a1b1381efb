"""Clusters of chunks, as JSON lines."""

from pathlib import Path
from typing import Any

import numpy as np

from shoal.arrays import Rows
from shoal.data.baskets import ragged_ranks
from shoal.data.clusters import Clusters
from shoal.errors import BadData
from shoal.io.releases.plain_lines import PlainClusters, plain_clusters
from shoal.io.releases.set_lines import (
    Lines,
    Numbers,
    Place,
    Sets,
    check_count,
    check_keys,
    indptr_of,
    json_labels,
    order_inside,
    read_json_lines,
    set_texts,
    sorted_inside,
    taken,
)


def write_clusters(clusters: Clusters, path: str | Path) -> None:
    """Write clusters in canonical order, a line a tree.

    ``{"size": 5, "chunks": [[["flu", "itunes"], …], …], "terms": ["ikea"]}``, or for a joint cluster
    ``{"joint": [cluster, …], "shared": [[["ikea", "ruby"], …], …]}``.
    """
    with Path(path).open("w", encoding="utf-8", newline="\n") as file:
        file.writelines(f"{tree}\n" for tree in tree_lines(canonical_clusters(clusters)))


def tree_lines(clusters: Clusters) -> list[str]:
    """The line of each tree, without its end."""
    labels = json_labels(clusters.vocabulary)
    records = set_texts(labels, clusters.item_indptr, clusters.items)
    bounds = clusters.record_indptr.tolist()
    chunks = [
        f"[{', '.join(records[bounds[place] : bounds[place + 1]])}]" for place in range(len(bounds) - 1)
    ]
    terms = set_texts(labels, clusters.term_indptr, clusters.terms)
    chunk_indptr, parents = clusters.chunk_indptr.tolist(), clusters.parents.tolist()
    parts: list[list[str]] = [[] for _ in parents]
    trees: list[str] = []
    # Parts come after their joint cluster, so that from the end every part is spelled before what it is a part of.
    for cluster in reversed(range(len(clusters))):
        own = ", ".join(chunks[chunk_indptr[cluster] : chunk_indptr[cluster + 1]])
        if parts[cluster]:
            text = f'{{"joint": [{", ".join(reversed(parts[cluster]))}], "shared": [{own}]}}'
        else:
            text = f'{{"size": {clusters.sizes[cluster]}, "chunks": [{own}], "terms": {terms[cluster]}}}'
        (trees if parents[cluster] < 0 else parts[parents[cluster]]).append(text)
    trees.reverse()
    return trees


def canonical_clusters(clusters: Clusters) -> Clusters:
    """The same clusters in canonical order.

    Items of a sub-record and terms ascend by their text; sub-records of a chunk and chunks of a cluster ascend as
    lists. Simple clusters come first and ascend by their chunks, then their terms, then their size; joint ones
    ascend by the height of their tree, then their parts, then their shared chunks. Parts follow their joint cluster.
    """
    return ordered_clusters(clusters)[0]


def ordered_clusters(clusters: Clusters) -> tuple[Clusters, Rows]:
    """The same clusters in canonical order, and where each of them was before."""
    items = sorted_inside(clusters.item_indptr, clusters.items)
    terms = sorted_inside(clusters.term_indptr, clusters.terms)
    record_ranks = ragged_ranks(clusters.item_indptr, items)
    records = order_inside(clusters.record_indptr, record_ranks)
    chunk_ranks = ragged_ranks(clusters.record_indptr, record_ranks[records])
    chunks = order_inside(clusters.chunk_indptr, chunk_ranks)
    own = ragged_ranks(clusters.chunk_indptr, chunk_ranks[chunks])
    ranks = _cluster_ranks(clusters, own, ragged_ranks(clusters.term_indptr, terms))
    order = _depth_first(clusters.parents, ranks)

    place_of = np.empty(len(order) + 1, dtype=np.int64)
    place_of[order] = np.arange(len(order))
    place_of[-1] = -1
    chunk_indptr, chunk_places = taken(clusters.chunk_indptr, order)
    record_indptr, record_places = taken(clusters.record_indptr, chunks[chunk_places])
    item_indptr, item_places = taken(clusters.item_indptr, records[record_places])
    term_indptr, term_places = taken(clusters.term_indptr, order)
    ordered = Clusters(
        place_of[clusters.parents[order]].astype(np.int32),
        clusters.sizes[order],
        chunk_indptr,
        record_indptr,
        item_indptr,
        items[item_places],
        term_indptr,
        terms[term_places],
        clusters.vocabulary,
    )
    return ordered, order


def read_clusters(path: str | Path | Lines) -> Clusters:
    """Read clusters that `write_clusters` wrote, or anybody else in the same form.

    Raises `BadData` with its line, if one is malformed: no JSON object, other names than those of a simple or a joint
    cluster, a size that is no positive whole number, an empty sub-record, an item twice in a set, or a joint cluster
    without parts. A chunk with more sub-records than its cluster has baskets is read: its model judges it.
    """
    found = plain_clusters(path)
    if found is None:
        found = _line_by_line(path)
    mixed = np.searchsorted(found.record_indptr, found.unsorted, side="right") - 1
    mixed = np.searchsorted(found.chunk_indptr, mixed, side="right") - 1
    return Clusters(
        found.parents,
        found.sizes,
        found.chunk_indptr,
        found.record_indptr,
        found.item_indptr,
        found.items,
        found.term_indptr,
        found.terms,
        found.vocabulary,
        np.union1d(mixed, found.unsorted_terms),
    )


def _line_by_line(path: str | Path | Lines) -> PlainClusters:
    """Read clusters in any form of JSON."""
    numbers = Numbers()
    records, terms = Sets(numbers), Sets(numbers)
    parents: list[int] = []
    sizes: list[int] = []
    chunk_counts: list[int] = []
    record_counts: list[int] = []
    for place, entry in read_json_lines(path):
        # The first of the stack comes next, and its parts right after it.
        stack: list[tuple[Any, int]] = [(entry, -1)]
        while stack:
            cluster, parent = stack.pop()
            joint = isinstance(cluster, dict) and "joint" in cluster
            check_keys(cluster, ("joint", "shared") if joint else ("size", "chunks", "terms"), place)
            if joint:
                if not isinstance(cluster["joint"], list) or not cluster["joint"]:
                    raise BadData("a joint cluster must list its parts.", *place)
                stack.extend((part, len(parents)) for part in reversed(cluster["joint"]))
            sizes.append(0 if joint else check_count(cluster["size"], "the size of a cluster", place))
            counts = _add_chunks(cluster["shared" if joint else "chunks"], records, place)
            record_counts += counts
            chunk_counts.append(len(counts))
            terms.add([[] if joint else cluster["terms"]], place, "the terms of a cluster", least=0)
            parents.append(parent)
    vocabulary, ranks = numbers.ranked()
    item_indptr, items = records.encode(vocabulary, ranks)
    term_indptr, term_items = terms.encode(vocabulary, ranks)
    return PlainClusters(
        vocabulary,
        np.array(parents, dtype=np.int32),
        np.array(sizes, dtype=np.int64),
        indptr_of(chunk_counts),
        indptr_of(record_counts),
        item_indptr,
        items,
        records.unsorted,
        term_indptr,
        term_items,
        terms.unsorted,
    )


def _add_chunks(chunks: object, records: Sets, place: Place) -> list[int]:
    """Add the sub-records of a cluster's chunks, and count those of each."""
    if not isinstance(chunks, list):
        raise BadData("the chunks of a cluster must be a list.", *place)
    return [records.add(chunk, place, "the sub-records of a chunk", least=1) for chunk in chunks]


def _cluster_ranks(clusters: Clusters, own: Rows, terms: Rows) -> Rows:
    """The rank of each cluster among all, from the ranks of its own chunks and its terms; equal ones are equal."""
    heights = np.zeros(len(clusters), dtype=np.int64)
    parents = clusters.parents.tolist()
    for cluster in reversed(range(len(parents))):
        if parents[cluster] >= 0:
            heights[parents[cluster]] = max(heights[parents[cluster]], heights[cluster] + 1)
    simple = np.flatnonzero(heights == 0)
    ranks = np.zeros(len(clusters), dtype=np.int64)
    keys = np.stack((own[simple], terms[simple], clusters.sizes[simple]), axis=1)
    ranks[simple] = np.unique(keys, axis=0, return_inverse=True)[1].ravel()
    for height in range(1, int(heights.max(initial=0)) + 1):
        above = int(ranks.max()) + 1
        joint = np.flatnonzero(heights == height)
        part = np.flatnonzero(np.isin(clusters.parents, joint))
        part = part[np.lexsort((ranks[part], clusters.parents[part]))]
        indptr = indptr_of(np.bincount(np.searchsorted(joint, clusters.parents[part]), minlength=len(joint)))
        keys = np.stack((ragged_ranks(indptr, ranks[part]), own[joint]), axis=1)
        ranks[joint] = above + np.unique(keys, axis=0, return_inverse=True)[1].ravel()
    return ranks


def _depth_first(parents: np.ndarray[Any, np.dtype[np.int32]], ranks: Rows) -> Rows:
    """All clusters, each joint one followed by its parts, ascending by rank."""
    parts: list[list[int]] = [[] for _ in range(len(parents) + 1)]
    above = parents.tolist()
    for cluster in np.argsort(ranks, kind="stable")[::-1].tolist():
        parts[above[cluster]].append(cluster)
    order: list[int] = []
    stack = parts[-1]
    while stack:
        order.append(stack.pop())
        stack.extend(parts[order[-1]])
    return np.array(order, dtype=np.int64)
