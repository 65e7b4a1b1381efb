"""Refining: clusters that hide the same items are joined, and publish those items in shared chunks."""

from typing import NamedTuple

import numpy as np

from shoal.arrays import AnyArray, Mask, Rows
from shoal.kernels._jit import jit
from shoal.kernels.gain import run, tally_of, tried
from shoal.kernels.hidden import Hidden, Leaves, Roots
from shoal.kernels.verpart import Promise, fill_chunks

LEADING = 4
"""How many items of a virtual term chunk decide its place in the order."""


class Joined(NamedTuple):
    """What joining writes: the joint cluster of each cluster, the chunk of each pair, the owner of each chunk."""

    parents: Rows
    chunks: Rows
    owners: Rows


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
                for later in range(len(line) - 1, place, -1):
                    line[later] = line[later - 1]
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
    failed: AnyArray,
    width: int,
) -> tuple[Roots, int, int]:
    """Go through trees in order once, and join each with those that follow as soon as that pays.

    `arity`: how many trees are joined at the most. `node`, `chunk`: the next free numbers of a joint cluster and of a
    chunk. `failed`: for each cluster at the top of a tree those that followed it when it was tried and not joined; see
    `tried`. `width`: the number of items. Returns the trees after it, and the next free numbers.
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
    tally = tally_of(width)
    marks, place_of_item = np.full(width, -1, dtype=np.int64), np.full(width, -1, dtype=np.int64)
    moves = np.zeros(width, dtype=np.bool_)
    place_of_row = np.full(hidden.rows.max() + 1 if len(hidden.rows) else 0, -1, dtype=np.int64)
    made, place = 0, 0
    while place < trees:
        following = order[place : place + arity]
        count, moved = 1, order[:0]
        if not tried(following, roots, failed):
            count, moved = run(following, roots, hidden, leaves, promise, tally, failed)
        group = following[:count]
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
        for row in hidden.rows[hidden.row_indptr[pair] : hidden.row_indptr[pair + 1]]:
            place_of_row[row] = -1
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
    for place in range(chunk, chunk + made):
        joined.owners[place] = node
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
    after.sizes[made] = 0
    for root in group:
        after.sizes[made] += roots.sizes[root]
    put, end = after.pair_indptr[made], after.item_indptr[made]
    # Items of the chunks below are marked with the joint cluster; without the mark they are written already.
    for item in moved:
        after.items[end] = item
        end += 1
        marks[item] = -1
    for root in group:
        for pair in roots.pairs[roots.pair_indptr[root] : roots.pair_indptr[root + 1]]:
            if len(moved) == 0 or not moves[hidden.items[pair]]:
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
