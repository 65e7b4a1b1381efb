"""Refining: join clusters that hide the same items, and publish these items in shared chunks."""

from typing import NamedTuple

import numpy as np

from shoal.arrays import AnyArray, Counts, Indptr, Items, Rows
from shoal.kernels._jit import lean
from shoal.kernels.gain import Tally, run, tried
from shoal.kernels.hidden import Hidden, Roots
from shoal.kernels.verpart import HIDDEN, NONE, Promise, fill

LEADING = 4
"""How many items of a virtual term chunk decide its place in the order of trees."""


class Joined(NamedTuple):
    """The output of joining: the joint cluster of each cluster, the chunk of each pair, the owner of each chunk."""

    parents: Rows
    chunks: Rows
    owners: Rows


@lean
def leading(pair_indptr: Rows, pairs: Rows, items: Items, ranks: Rows, first: AnyArray) -> None:
    """Write the lowest ranks of the items of each virtual term chunk, as many as a line of `first` has room for."""
    for root in range(len(first)):
        line = first[root]
        for entry in range(pair_indptr[root], pair_indptr[root + 1]):
            rank = ranks[items[pairs[entry]]]
            place = len(line)
            while place and line[place - 1] > rank:
                place -= 1
            if place < len(line) and (place == 0 or line[place - 1] != rank):
                for later in range(len(line) - 1, place, -1):
                    line[later] = line[later - 1]
                line[place] = rank


class Room(NamedTuple):
    """Working arrays.

    `marks`: for each item, the latest joint cluster below which a chunk has it. `place_of_item`, `place_of_row`: one
    entry per item, or per basket, which is -1 between groups of trees. `chunks`, `following`, `bits`: see `fill` of
    `verpart`.
    """

    marks: Rows
    place_of_item: Rows
    place_of_row: Rows
    chunks: Items
    following: Counts
    bits: AnyArray


STAYS, MOVES = -1, -2
"""Instead of the place of an item: it does not move, or it moves to a chunk of its own; these chunks are then numbered
downward from `MOVES`."""


class Progress(NamedTuple):
    """The progress of a pass over the trees.

    `begin`: the next tree. `node`, `chunk`: the next free numbers of a joint cluster and of a chunk. `trees`, `moved`:
    how many trees are joined next, and how many items move; 0 as long as that is not known. `words`: how many words of
    bits are needed if there was not enough room; 0 if the pass has ended.
    """

    begin: int
    node: int
    chunk: int
    trees: int
    moved: int
    words: int


@lean
def join(
    roots: Roots,
    hidden: Hidden,
    left: Counts,
    promise: Promise,
    arity: int,
    progress: Progress,
    joined: Joined,
    failed: AnyArray,
    tally: Tally,
    room: Room,
) -> Progress:
    """Go through the trees once, and join each with those that follow as soon as that pays off.

    `left`: see `run`. `arity`: how many trees are joined at most. `progress`: where to begin, or to continue with more
    room. `failed`: for each cluster at the top of a tree, those that followed when it was tried and not joined; see
    `tried`.
    """
    begin, node, chunk, count, moved, _ = progress
    nodes, sizes, pair_indptr, pairs, item_indptr, shown = roots
    moving = tally.moved
    marks, place_of_item, chunk_of = room.marks, room.place_of_item, room.chunks
    while begin < len(nodes):
        if count == 0:
            last = min(begin + arity, len(nodes))
            count = 1
            if not tried(begin, last, nodes, failed):
                count, moved = run(begin, last, roots, hidden, left, promise, tally, failed)
        end = begin + count
        if moved:
            for place in range(item_indptr[begin], item_indptr[end]):
                marks[shown[place]] = node
            size = 0
            for root in range(begin, end):
                size += sizes[root]
                joined.parents[nodes[root]] = node
            alone = _number_items(moving, moved, node, marks, place_of_item, chunk_of)
            words = (alone + promise.m + 1) * ((size + 63) // 64)
            if words > len(room.bits):
                return Progress(begin, node, chunk, count, moved, words)
            first, last = pair_indptr[begin], pair_indptr[end]
            chunk = _share(
                first,
                last,
                pairs,
                alone,
                moving,
                moved,
                hidden,
                promise,
                node,
                chunk,
                joined,
                tally.touched,
                room,
            )
            node += 1
        begin, count, moved = end, 0, 0
    return Progress(begin, node, chunk, 0, 0, 0)


@lean
def _number_items(
    moved: Rows, listed: int, node: int, marks: Rows, place_of_item: Rows, chunks: Items
) -> int:
    """Number the items that move and are in no chunk below; returns how many there are."""
    alone = 0
    for place in range(listed):
        item = moved[place]
        place_of_item[item] = MOVES
        if marks[item] != node:
            place_of_item[item] = alone
            chunks[alone] = HIDDEN
            alone += 1
    return alone


@lean
def _share(
    first: int,
    last: int,
    pairs: Rows,
    alone: int,
    moved: Rows,
    listed: int,
    hidden: Hidden,
    promise: Promise,
    node: int,
    chunk: int,
    joined: Joined,
    current: Rows,
    room: Room,
) -> int:
    """Make the shared chunks of a joint cluster; returns the next free number of a chunk.

    Items that are in no chunk below share chunks as in vertical partitioning. An item that is in a chunk below gets a
    chunk of its own, in which all sub-records are equal.
    """
    _, place_of_item, place_of_row, chunks, following, bits = room
    items, _, _, _, row_indptr, rows = hidden
    words = (
        _number_rows(first, last, pairs, items, row_indptr, rows, place_of_item, place_of_row) + 63
    ) // 64
    for word in range(alone * words):
        bits[word] = NONE
    for place in range(first, last):
        item = place_of_item[items[pairs[place]]]
        if item >= 0:
            for at in range(row_indptr[pairs[place]], row_indptr[pairs[place] + 1]):
                local = place_of_row[rows[at]]
                bits[item * words + local // 64] |= np.uint64(1) << np.uint64(local % 64)
    made = fill(bits, words, alone, promise.k, promise.m, chunks, 0, current, following)
    for place in range(listed):
        if place_of_item[moved[place]] == MOVES:
            place_of_item[moved[place]] = MOVES - made
            made += 1
    for place in range(first, last):
        pair = pairs[place]
        item = place_of_item[items[pair]]
        if item != STAYS:
            joined.chunks[pair] = chunk + (chunks[item] if item >= 0 else MOVES - item)
            for at in range(row_indptr[pair], row_indptr[pair + 1]):
                place_of_row[rows[at]] = -1
    for place in range(listed):
        place_of_item[moved[place]] = STAYS
    for place in range(chunk, chunk + made):
        joined.owners[place] = node
    return chunk + made


@lean
def _number_rows(
    first: int,
    last: int,
    pairs: Rows,
    items: Items,
    row_indptr: Indptr,
    rows: Rows,
    place_of_item: Rows,
    place_of_row: Rows,
) -> int:
    """Number the baskets that hold a numbered item; returns how many there are."""
    found = 0
    for place in range(first, last):
        pair = pairs[place]
        if place_of_item[items[pair]] >= 0:
            for at in range(row_indptr[pair], row_indptr[pair + 1]):
                if place_of_row[rows[at]] < 0:
                    place_of_row[rows[at]] = found
                    found += 1
    return found
