"""Refining: clusters that hide the same items are joined, and publish those items in shared chunks."""

from typing import NamedTuple

import numpy as np

from shoal.arrays import AnyArray, Items, Mask, Rows
from shoal.kernels._jit import jit, lean
from shoal.kernels.gain import Tally, run, tried
from shoal.kernels.hidden import Hidden, Leaves, Roots
from shoal.kernels.verpart import Promise, fill_chunks

LEADING = 4
"""How many items of a virtual term chunk decide its place in the order."""


class Joined(NamedTuple):
    """What joining writes: the joint cluster of each cluster, the chunk of each pair, the owner of each chunk."""

    parents: Rows
    chunks: Rows
    owners: Rows


@lean
def leading(pair_indptr: Rows, pairs: Rows, items: Items, ranks: Rows, first: AnyArray) -> None:
    """The first items of each virtual term chunk by rank, as many as there is room for in a line of it."""
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
    """Room to work in, as long as there are items: -1 throughout between any two uses, and the last one false.

    `place_of_row`: the same for baskets. `pairs`: room for so many as are hidden.
    """

    marks: Rows
    place_of_item: Rows
    moves: Mask
    place_of_row: Rows
    pairs: Rows


@lean
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
    tally: Tally,
    room: Room,
    after: Roots,
) -> tuple[int, int, int]:
    """Go through trees in order once, and join each with those that follow as soon as that pays.

    `arity`: how many trees are joined at the most. `node`, `chunk`: the next free numbers of a joint cluster and of a
    chunk. `failed`: for each cluster at the top of a tree those that followed it when it was tried and not joined; see
    `tried`. `after`: room for the trees after it. Returns how many these are, and the next free numbers.
    """
    item_indptr, items, marks = roots.item_indptr, roots.items, room.marks
    made, begin = 0, 0
    while begin < len(order):
        last = min(begin + arity, len(order))
        count, moved = 1, 0
        if not tried(order, begin, last, roots.nodes, failed):
            count, moved = run(order, begin, last, roots, hidden, leaves, promise, tally, failed)
        end = begin + count
        if moved:
            for at in range(begin, end):
                root = order[at]
                joined.parents[roots.nodes[root]] = node
                for place in range(item_indptr[root], item_indptr[root + 1]):
                    marks[items[place]] = node
            pairs = _pairs_of(order, begin, end, roots, hidden, tally.moved, moved, room)
            chunk = _share(pairs, tally.moved, moved, hidden, promise, node, chunk, joined, room)
            node += 1
        _carry(order, begin, end, roots, hidden, tally.moved, moved, node - 1, after, made, room)
        made, begin = made + 1, end
    return made, node, chunk


@lean
def _pairs_of(
    order: Rows, begin: int, end: int, roots: Roots, hidden: Hidden, moved: Rows, count: int, room: Room
) -> int:
    """List the pairs of a group whose items move; the items are marked."""
    pair_indptr, moves = roots.pair_indptr, room.moves
    for place in range(count):
        moves[moved[place]] = True
    found = 0
    for at in range(begin, end):
        for place in range(pair_indptr[order[at]], pair_indptr[order[at] + 1]):
            pair = roots.pairs[place]
            if moves[hidden.items[pair]]:
                room.pairs[found] = pair
                found += 1
    return found


@jit
def _share(
    count: int,
    moved: Rows,
    listed: int,
    hidden: Hidden,
    promise: Promise,
    node: int,
    chunk: int,
    joined: Joined,
    room: Room,
) -> int:
    """Make the shared chunks of a joint cluster, of so many pairs and items; the next free number of a chunk.

    Items that stand in no chunk below share chunks as in vertical partitioning. An item that does has a chunk of its
    own, in which all sub-records are equal.
    """
    alone = _number_items(moved, listed, node, room.marks, room.place_of_item)
    rows = _number_rows(count, hidden, room)
    masks = np.zeros((alone, (rows + 63) // 64), dtype=np.uint64)
    chunks = np.empty(alone, dtype=np.int32)
    _mark_rows(count, hidden, room, masks)
    made = fill_chunks(masks, promise.k, promise.m, chunks)
    return _write_chunks(count, moved, listed, hidden.items, made, chunks, node, chunk, joined, room)


@lean
def _number_items(moved: Rows, listed: int, node: int, marks: Rows, place_of_item: Rows) -> int:
    """Number the items that stand in no chunk below; how many there are."""
    alone = 0
    for place in range(listed):
        if marks[moved[place]] != node:
            place_of_item[moved[place]] = alone
            alone += 1
    return alone


@lean
def _number_rows(count: int, hidden: Hidden, room: Room) -> int:
    """Number the baskets that hold one of those; how many there are."""
    row_indptr, place_of_row, rows = hidden.row_indptr, room.place_of_row, 0
    for at in range(count):
        pair = room.pairs[at]
        if room.place_of_item[hidden.items[pair]] >= 0:
            for place in range(row_indptr[pair], row_indptr[pair + 1]):
                if place_of_row[hidden.rows[place]] < 0:
                    place_of_row[hidden.rows[place]] = rows
                    rows += 1
    return rows


@lean
def _mark_rows(count: int, hidden: Hidden, room: Room, masks: AnyArray) -> None:
    """Mark the baskets of each item by bits; their numbers are forgotten."""
    row_indptr, place_of_row = hidden.row_indptr, room.place_of_row
    for turn in range(2 * count):
        # All pairs are marked, and all are forgotten then.
        pair = room.pairs[turn % count]
        item = room.place_of_item[hidden.items[pair]]
        for place in range(row_indptr[pair], row_indptr[pair + 1]):
            local = place_of_row[hidden.rows[place]]
            if turn >= count:
                place_of_row[hidden.rows[place]] = -1
            elif item >= 0:
                masks[item, local // 64] |= np.uint64(1) << np.uint64(local % 64)


@lean
def _write_chunks(
    count: int,
    moved: Rows,
    listed: int,
    items: Items,
    made: int,
    chunks: Items,
    node: int,
    chunk: int,
    joined: Joined,
    room: Room,
) -> int:
    """Write the chunk of each pair, and the owner of each chunk; the next free number of a chunk."""
    place_of_item = room.place_of_item
    for place in range(listed):
        if place_of_item[moved[place]] < 0:
            place_of_item[moved[place]] = -2 - made
            made += 1
    for at in range(count):
        place = place_of_item[items[room.pairs[at]]]
        joined.chunks[room.pairs[at]] = chunk + (chunks[place] if place >= 0 else -2 - place)
    for place in range(listed):
        place_of_item[moved[place]] = -1
    for place in range(chunk, chunk + made):
        joined.owners[place] = node
    return chunk + made


@lean
def _carry(
    order: Rows,
    begin: int,
    end: int,
    roots: Roots,
    hidden: Hidden,
    moved: Rows,
    count: int,
    node: int,
    after: Roots,
    made: int,
    room: Room,
) -> None:
    """Write the tree that a group became: its size, what it still hides, and the items of its chunks."""
    marks, moves = room.marks, room.moves
    after.nodes[made] = node if count else roots.nodes[order[begin]]
    after.sizes[made] = 0
    put, filled = after.pair_indptr[made], after.item_indptr[made]
    # Items of the chunks below are marked with the joint cluster; without the mark they are written already.
    for place in range(count):
        after.items[filled] = moved[place]
        filled += 1
        marks[moved[place]] = -1
    for at in range(begin, end):
        root = order[at]
        after.sizes[made] += roots.sizes[root]
        for place in range(roots.pair_indptr[root], roots.pair_indptr[root + 1]):
            pair = roots.pairs[place]
            if count == 0 or not moves[hidden.items[pair]]:
                after.pairs[put] = pair
                put += 1
        for place in range(roots.item_indptr[root], roots.item_indptr[root + 1]):
            item = roots.items[place]
            if count == 0 or marks[item] == node:
                after.items[filled] = item
                filled += 1
                marks[item] = -1
    after.pair_indptr[made + 1] = put
    after.item_indptr[made + 1] = filled
    for place in range(count):
        moves[moved[place]] = False
