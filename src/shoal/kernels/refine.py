"""Refining: clusters that hide the same items are joined, and publish those items in shared chunks."""

from typing import NamedTuple

import numpy as np

from shoal.arrays import AnyArray, Counts, Indptr, Items, Mask, Rows
from shoal.kernels._jit import jit
from shoal.kernels.verpart import Promise, fill_chunks

LEADING = 4
"""How many items of a virtual term chunk decide its place in the order."""


class Hidden(NamedTuple):
    """Pairs of a simple cluster and an item of its term chunk that may move.

    Parameters
    ----------
    items, leaves, supports
        The item, the cluster, and how many of its baskets hold the item.
    row_indptr, rows
        Those baskets.
    """

    items: Items
    leaves: Rows
    supports: Counts
    row_indptr: Indptr
    rows: Rows


class Leaves(NamedTuple):
    """Simple clusters: their sizes, how many terms they hide, and whether all of them may be taken away."""

    sizes: Counts
    left: Counts
    may_empty: Mask


class Roots(NamedTuple):
    """Trees of clusters.

    Parameters
    ----------
    nodes, sizes
        The number of the cluster at the top, and its baskets.
    pair_indptr, pairs
        What the simple clusters of a tree hide: the virtual term chunk.
    item_indptr, items
        The items of all record and shared chunks of a tree.
    """

    nodes: Rows
    sizes: Counts
    pair_indptr: Indptr
    pairs: Rows
    item_indptr: Indptr
    items: Items


class Joined(NamedTuple):
    """What joining writes: the joint cluster of each cluster, the chunk of each pair, the owner of each chunk."""

    parents: Rows
    chunks: Rows
    owners: Rows


class Tally(NamedTuple):
    """Sums for each item over a run of trees: support, pairs, baskets of their clusters, trees, the last tree."""

    supports: Counts
    pairs: Counts
    baskets: Counts
    trees: Counts
    latest: Rows
    touched: Rows


@jit
def leading(roots: Roots, hidden: Hidden, ranks: Rows) -> AnyArray:
    """The first items of each virtual term chunk by rank; a rank beyond all where there are fewer."""
    first = np.full((len(roots.nodes), LEADING), len(ranks), dtype=np.int64)
    for root in range(len(roots.nodes)):
        line = first[root]
        for pair in roots.pairs[roots.pair_indptr[root] : roots.pair_indptr[root + 1]]:
            rank = ranks[hidden.items[pair]]
            place = LEADING
            while place and line[place - 1] > rank:
                place -= 1
            if place < LEADING and (place == 0 or line[place - 1] != rank):
                line[place + 1 :] = line[place:-1].copy()
                line[place] = rank
    return first


@jit
def join(
    order: Rows,
    roots: Roots,
    hidden: Hidden,
    leaves: Leaves,
    promise: Promise,
    arity: int,
    node: int,
    chunk: int,
    joined: Joined,
    width: int,
) -> tuple[Roots, int, int]:
    """Go through trees in order once, and join each with those that follow as soon as that pays.

    Parameters
    ----------
    arity
        How many trees are joined at the most.
    node, chunk
        The next free numbers of a joint cluster and of a chunk.
    width
        The number of items.

    Returns
    -------
    The trees after it, and the next free numbers.
    """
    trees = len(order)
    after = Roots(
        np.empty(trees, dtype=np.int64),
        np.empty(trees, dtype=np.int64),
        np.zeros(trees + 1, dtype=np.int64),
        np.empty(len(roots.pairs), dtype=np.int64),
        np.zeros(trees + 1, dtype=np.int64),
        np.empty(len(roots.items) + len(roots.pairs), dtype=np.int32),
    )
    tally = Tally(
        np.zeros(width, dtype=np.int64),
        np.zeros(width, dtype=np.int64),
        np.zeros(width, dtype=np.int64),
        np.zeros(width, dtype=np.int64),
        np.full(width, -1, dtype=np.int64),
        np.empty(width, dtype=np.int64),
    )
    marks, place_of_item = np.full(width, -1, dtype=np.int64), np.full(width, -1, dtype=np.int64)
    moves = np.zeros(width, dtype=np.bool_)
    place_of_row = np.full(hidden.rows.max() + 1 if len(hidden.rows) else 0, -1, dtype=np.int64)
    made, place = 0, 0
    while place < trees:
        count, moved = _run(order[place : place + arity], roots, hidden, leaves, promise, tally)
        group = order[place : place + count]
        if len(moved):
            for root in group:
                joined.parents[roots.nodes[root]] = node
                for item in roots.items[roots.item_indptr[root] : roots.item_indptr[root + 1]]:
                    marks[item] = node
            pairs = _pairs_of(group, roots, hidden, moved, moves)
            chunk = _share(
                pairs, moved, hidden, promise, marks, node, chunk, joined, place_of_item, place_of_row
            )
            node += 1
        _carry(group, roots, hidden, moved, moves, node - 1, after, made, marks)
        made, place = made + 1, place + count
    return (
        Roots(
            after.nodes[:made],
            after.sizes[:made],
            after.pair_indptr[: made + 1],
            after.pairs[: after.pair_indptr[made]],
            after.item_indptr[: made + 1],
            after.items[: after.item_indptr[made]],
        ),
        node,
        chunk,
    )


@jit
def _run(
    order: Rows, roots: Roots, hidden: Hidden, leaves: Leaves, promise: Promise, tally: Tally
) -> tuple[int, Rows]:
    """How many of the trees to join, and the items that move to shared chunks then; one and none if it never pays."""
    found, size, count = 0, 0, 1
    moved = np.empty(0, dtype=np.int64)
    for number in range(len(order)):
        root = order[number]
        size += roots.sizes[root]
        related = number == 0
        for pair in roots.pairs[roots.pair_indptr[root] : roots.pair_indptr[root + 1]]:
            item = hidden.items[pair]
            if tally.pairs[item] == 0:
                tally.touched[found] = item
                found += 1
            if tally.latest[item] != root:
                related |= tally.trees[item] > 0
                tally.trees[item] += 1
                tally.latest[item] = root
            tally.supports[item] += hidden.supports[pair]
            tally.pairs[item] += 1
            tally.baskets[item] += leaves.sizes[hidden.leaves[pair]]
        if not related:
            break
        if number:
            moved = _worth(tally, tally.touched[:found], size, promise)
            if len(moved):
                moved = _allowed(order[: number + 1], roots, hidden, leaves, moved, tally)
            if len(moved):
                count = number + 1
                break
    for item in tally.touched[:found]:
        tally.supports[item] = tally.pairs[item] = tally.baskets[item] = tally.trees[item] = 0
        tally.latest[item] = -1
    return count, moved


@jit
def _worth(tally: Tally, touched: Rows, size: int, promise: Promise) -> Rows:
    """The items that are frequent enough together, and as dense there as term chunks say; most frequent first.

    A term chunk says of an item that at least one basket of its cluster holds it. An item moves if the share of the
    joint cluster that holds it is at least that of those clusters, with one basket each.
    """
    width = len(tally.supports)
    keys = np.empty(len(touched), dtype=np.int64)
    found = 0
    for item in touched:
        support = tally.supports[item]
        if (
            tally.trees[item] > 1
            and support >= promise.k
            and support * tally.baskets[item] >= tally.pairs[item] * size
            and (promise.above >= promise.below or support * promise.below <= promise.above * size)
        ):
            keys[found] = -support * width + item
            found += 1
    keys = keys[:found]
    keys.sort()
    return keys % width


@jit
def _allowed(order: Rows, roots: Roots, hidden: Hidden, leaves: Leaves, moved: Rows, tally: Tally) -> Rows:
    """The items that can move without emptying a term chunk that must not be empty. Those chunks shrink by them.

    All are taken at first; then the least frequent ones are given back where a term chunk came to be empty. The tally
    of trees is -1 for items that move.
    """
    for item in moved:
        tally.trees[item] = -1
    emptied = False
    for root in order:
        for pair in roots.pairs[roots.pair_indptr[root] : roots.pair_indptr[root + 1]]:
            if tally.trees[hidden.items[pair]] < 0:
                leaf = hidden.leaves[pair]
                leaves.left[leaf] -= 1
                emptied |= leaves.left[leaf] == 0 and not leaves.may_empty[leaf]
    if not emptied:
        return moved
    kept = np.empty(len(moved), dtype=np.int64)
    found = 0
    for item in moved[::-1]:
        empties = False
        for change in (0, 1):
            for root in order:
                for pair in roots.pairs[roots.pair_indptr[root] : roots.pair_indptr[root + 1]]:
                    leaf = hidden.leaves[pair]
                    if hidden.items[pair] == item:
                        if change == 0:
                            empties |= leaves.left[leaf] == 0 and not leaves.may_empty[leaf]
                        elif empties:
                            leaves.left[leaf] += 1
        if empties:
            tally.trees[item] = 2
        else:
            kept[found] = item
            found += 1
    return kept[:found][::-1].copy()


@jit
def _pairs_of(group: Rows, roots: Roots, hidden: Hidden, moved: Rows, moves: Mask) -> Rows:
    """The pairs of a group whose items move; the items are marked."""
    for item in moved:
        moves[item] = True
    total = 0
    for root in group:
        total += roots.pair_indptr[root + 1] - roots.pair_indptr[root]
    pairs = np.empty(total, dtype=np.int64)
    found = 0
    for root in group:
        for pair in roots.pairs[roots.pair_indptr[root] : roots.pair_indptr[root + 1]]:
            if moves[hidden.items[pair]]:
                pairs[found] = pair
                found += 1
    return pairs[:found]


@jit
def _share(
    pairs: Rows,
    moved: Rows,
    hidden: Hidden,
    promise: Promise,
    marks: Rows,
    node: int,
    chunk: int,
    joined: Joined,
    place_of_item: Rows,
    place_of_row: Rows,
) -> int:
    """Make the shared chunks of a joint cluster; the next free number of a chunk.

    Items that stand in no chunk below share chunks as in vertical partitioning. An item that does has a chunk of its
    own, in which all sub-records are equal.
    """
    apart = np.empty(len(moved), dtype=np.int64)
    alone = 0
    for item in moved:
        if marks[item] != node:
            apart[alone] = item
            alone += 1
    for place in range(alone):
        place_of_item[apart[place]] = place
    rows = 0
    for pair in pairs:
        if place_of_item[hidden.items[pair]] >= 0:
            for row in hidden.rows[hidden.row_indptr[pair] : hidden.row_indptr[pair + 1]]:
                if place_of_row[row] < 0:
                    place_of_row[row] = rows
                    rows += 1
    masks = np.zeros((alone, (rows + 63) // 64), dtype=np.uint64)
    for pair in pairs:
        place = place_of_item[hidden.items[pair]]
        if place >= 0:
            for row in hidden.rows[hidden.row_indptr[pair] : hidden.row_indptr[pair + 1]]:
                local = place_of_row[row]
                masks[place, local // 64] |= np.uint64(1) << np.uint64(local % 64)
    for pair in pairs:
        place_of_row[hidden.rows[hidden.row_indptr[pair] : hidden.row_indptr[pair + 1]]] = -1
    chunks = np.empty(alone, dtype=np.int32)
    made = fill_chunks(masks, promise.k, promise.m, chunks)
    for item in moved:
        if place_of_item[item] < 0:
            place_of_item[item] = -2 - made
            made += 1
    for pair in pairs:
        place = place_of_item[hidden.items[pair]]
        joined.chunks[pair] = chunk + (chunks[place] if place >= 0 else -2 - place)
    for item in moved:
        place_of_item[item] = -1
    joined.owners[chunk : chunk + made] = node
    return chunk + made


@jit
def _carry(
    group: Rows,
    roots: Roots,
    hidden: Hidden,
    moved: Rows,
    moves: Mask,
    node: int,
    after: Roots,
    made: int,
    marks: Rows,
) -> None:
    """Write the tree that a group became: its size, what it still hides, and the items of its chunks."""
    after.nodes[made] = node if len(moved) else roots.nodes[group[0]]
    after.sizes[made] = roots.sizes[group].sum()
    put, end = after.pair_indptr[made], after.item_indptr[made]
    # Items of the chunks below are marked with the joint cluster; without the mark they are written already.
    for item in moved:
        after.items[end] = item
        end += 1
        marks[item] = -1
    for root in group:
        for pair in roots.pairs[roots.pair_indptr[root] : roots.pair_indptr[root + 1]]:
            if not moves[hidden.items[pair]]:
                after.pairs[put] = pair
                put += 1
        for item in roots.items[roots.item_indptr[root] : roots.item_indptr[root + 1]]:
            if len(moved) == 0 or marks[item] == node:
                after.items[end] = item
                end += 1
                marks[item] = -1
    after.pair_indptr[made + 1] = put
    after.item_indptr[made + 1] = end
    for item in moved:
        moves[item] = False
