"""Horizontal partitioning: bring together baskets that share their most frequent items."""

from typing import NamedTuple

import numpy as np

from shoal.arrays import Counts, Indptr, Items, Mask, Rows
from shoal.kernels._jit import jit


class Baskets(NamedTuple):
    """The baskets, and which items are hidden and play no part."""

    indptr: Indptr
    items: Items
    hidden: Mask


class Board(NamedTuple):
    """The arrays that all segments write to, each in its own place.

    `order`: the baskets, segment by segment and finally part by part. `begins`: where parts begin. `taken`, `buffer`:
    working arrays, with an entry for each basket, and for each place of the order.
    """

    order: Items
    begins: Mask
    taken: Mask
    buffer: Items


class Levels(NamedTuple):
    """Segments of the order: where each begins and ends, the item that all its baskets hold, and the level above it.

    The first level has neither an item nor a level above; both are -1.
    """

    first: Rows
    last: Rows
    item: Rows
    above: Rows


class Desk(NamedTuple):
    """Working arrays that every level reuses: with one entry per item, and in `postings` one per occurrence."""

    counts: Counts
    begins: Counts
    ends: Counts
    touched: Counts
    heap: Counts
    postings: Items


@jit
def split(
    indptr: Indptr,
    items: Items,
    ignored: Mask,
    limit: int,
    board: Board,
    levels: Levels,
    todo: Rows,
    large: int,
) -> tuple[Levels, Rows]:
    """Divide segments by their most frequent item, recursively, until every part has fewer than `limit` baskets.

    At each level the baskets of each item are listed once. A division then costs time only for the baskets it takes
    out, and the next item is found in a heap whose counts only ever fall. Of equally frequent items, the first is
    taken. Parts that are near each other share more items. A part with `limit` or more baskets consists of baskets that
    no item distinguishes.

    `todo`: the levels to divide. No two of them overlap, so that several calls may work on different ones of a board.
    `large`: segments below this size are left as they are. Returns all levels, and which of them were left.
    """
    occurrences, most, rows = _sizes(indptr, board.order, levels, todo)
    room = len(levels.first) + (occurrences + rows) // limit + 1
    baskets, desk = Baskets(indptr, items, ignored.copy()), _desk(len(ignored), most)
    grown = Levels(
        np.empty(room, dtype=np.int64),
        np.empty(room, dtype=np.int64),
        np.empty(room, dtype=np.int64),
        np.empty(room, dtype=np.int64),
    )
    made = len(levels.first)
    for level in range(made):
        grown.first[level], grown.last[level] = levels.first[level], levels.last[level]
        grown.item[level], grown.above[level] = levels.item[level], levels.above[level]
    stack, left = np.empty(room, dtype=np.int64), np.empty(room, dtype=np.int64)
    waiting, small = len(todo), 0
    for place in range(waiting):
        stack[place] = todo[place]
    while waiting:
        waiting -= 1
        level = stack[waiting]
        begin, end = grown.first[level], grown.last[level]
        if end - begin < large:
            left[small] = level
            small += 1
            continue
        _hide(baskets.hidden, level, grown, True)
        segment = board.order[begin:end]
        found = _list_baskets(baskets, segment, desk)
        parts, at = _divide(baskets, limit, segment, board.taken, board.buffer[begin:end], desk, found)
        _hide(baskets.hidden, level, grown, False)
        for place in range(len(parts)):
            board.begins[begin + at[place]] = True
            if parts[place] >= 0 and at[place + 1] - at[place] >= limit:
                grown.first[made], grown.last[made] = begin + at[place], begin + at[place + 1]
                grown.item[made], grown.above[made] = parts[place], level
                stack[waiting] = made
                waiting, made = waiting + 1, made + 1
    return Levels(grown.first[:made], grown.last[:made], grown.item[:made], grown.above[:made]), left[:small]


@jit
def _sizes(indptr: Indptr, order: Items, levels: Levels, todo: Rows) -> tuple[int, int, int]:
    """The number of occurrences in all levels to divide and in the largest of them, and the number of baskets."""
    occurrences, most, rows = 0, 0, 0
    for level in todo:
        here = 0
        for row in order[levels.first[level] : levels.last[level]]:
            here += indptr[row + 1] - indptr[row]
        occurrences, most = occurrences + here, max(most, here)
        rows += levels.last[level] - levels.first[level]
    return occurrences, most, rows


@jit
def _desk(width: int, most: int) -> Desk:
    return Desk(
        np.zeros(width, dtype=np.int64),
        np.zeros(width, dtype=np.int64),
        np.zeros(width, dtype=np.int64),
        np.empty(width, dtype=np.int64),
        np.empty(width, dtype=np.int64),
        np.empty(most, dtype=np.int32),
    )


@jit
def _hide(hidden: Mask, level: int, levels: Levels, value: bool) -> None:
    """Hide the items that all baskets of a level hold, or show them again."""
    while levels.above[level] >= 0:
        hidden[levels.item[level]] = value
        level = levels.above[level]


@jit
def _list_baskets(baskets: Baskets, segment: Items, desk: Desk) -> int:
    """List the baskets of each item of a segment; returns how many items there are. Counts must be zero before."""
    counts = desk.counts
    found = 0
    for row in segment:
        for place in range(baskets.indptr[row], baskets.indptr[row + 1]):
            item = baskets.items[place]
            if not baskets.hidden[item]:
                if counts[item] == 0:
                    desk.touched[found] = item
                    found += 1
                counts[item] += 1
    total = 0
    for item in desk.touched[:found]:
        desk.begins[item] = desk.ends[item] = total
        total += counts[item]
    for row in segment:
        for place in range(baskets.indptr[row], baskets.indptr[row + 1]):
            item = baskets.items[place]
            if not baskets.hidden[item]:
                desk.postings[desk.ends[item]] = row
                desk.ends[item] += 1
    return found


@jit
def _divide(
    baskets: Baskets, limit: int, segment: Items, taken: Mask, buffer: Items, desk: Desk, found: int
) -> tuple[Counts, Counts]:
    """Take out the baskets of the most frequent item as long as many are left, and reorder the segment accordingly.

    Returns the item of each part, or -1 for the remaining baskets, and where in the segment each part begins, with the
    end of the last one. Resets the counts to zero.
    """
    width = len(baskets.hidden)
    heap, counts = desk.heap, desk.counts
    for place in range(found):
        item = desk.touched[place]
        heap[place] = counts[item] * width + (width - 1 - item)
        _rise(heap, place)
    parts = np.empty(found + 1, dtype=np.int64)
    at = np.empty(found + 2, dtype=np.int64)
    made, put = 0, 0
    while len(segment) - put >= limit and found:
        item = width - 1 - heap[0] % width
        now = counts[item] * width + (width - 1 - item)
        if heap[0] > now:
            heap[0] = now
            _sink(heap, found)
            continue
        if counts[item] == 0:
            break
        parts[made], at[made] = item, put
        made += 1
        for row in desk.postings[desk.begins[item] : desk.ends[item]]:
            if not taken[row]:
                taken[row] = True
                buffer[put] = row
                put += 1
                for place in range(baskets.indptr[row], baskets.indptr[row + 1]):
                    if not baskets.hidden[baskets.items[place]]:
                        counts[baskets.items[place]] -= 1
    if put < len(segment):
        parts[made], at[made] = -1, put
        made += 1
    for row in segment:
        if not taken[row]:
            buffer[put] = row
            put += 1
        taken[row] = False
    for place in range(put):
        segment[place] = buffer[place]
    for item in desk.touched[:found]:
        counts[item] = 0
    at[made] = put
    return parts[:made], at[: made + 1]


@jit
def _rise(heap: Counts, place: int) -> None:
    """Restore the heap above an entry that was appended."""
    while place and heap[(place - 1) // 2] < heap[place]:
        above = (place - 1) // 2
        heap[above], heap[place] = heap[place], heap[above]
        place = above


@jit
def _sink(heap: Counts, size: int) -> None:
    """Restore the heap below its first entry."""
    place = 0
    while 2 * place + 1 < size:
        below = 2 * place + 1
        if below + 1 < size and heap[below + 1] > heap[below]:
            below += 1
        if heap[below] <= heap[place]:
            return
        heap[below], heap[place] = heap[place], heap[below]
        place = below


@jit
def absorb(
    indptr: Indptr, items: Items, ignored: Mask, order: Rows, starts: Rows, least: int, limit: int
) -> Mask:
    """Which borders between neighboring parts to remove so that no part is smaller than `least`.

    A part that is too small is merged with the neighbor whose baskets share the most items with its own on average. A
    neighbor with which it stays below `limit` is preferred to one with which it does not; of equals, the earlier one.
    """
    parts = len(starts) - 1
    gone = np.zeros(parts + 1, dtype=np.bool_)
    counts = np.zeros(len(ignored), dtype=np.int64)
    left, border = np.arange(-1, parts), np.arange(parts + 1)
    place = 0
    while place < parts:
        begin, end = starts[place], starts[place + 1]
        after = place + 1
        if end - begin >= least or parts == 1:
            place += 1
            continue
        before = left[place]
        if before < 0 and after >= parts:
            break
        for row in order[begin:end]:
            for item in items[indptr[row] : indptr[row + 1]]:
                counts[item] += 0 if ignored[item] else 1
        size = end - begin
        take_left = after >= parts
        if before >= 0 and after < parts:
            low, high = begin - starts[before], starts[after + 1] - end
            fits_low, fits_high = size + low < limit, size + high < limit
            common_low = _common(indptr, items, order[starts[before] : begin], counts)
            common_high = _common(indptr, items, order[end : starts[after + 1]], counts)
            take_left = common_low * high >= common_high * low if fits_low == fits_high else fits_low
        for row in order[begin:end]:
            for item in items[indptr[row] : indptr[row + 1]]:
                counts[item] = 0
        if take_left:
            gone[border[place]] = True
        else:
            gone[after] = True
            starts[after], border[after] = begin, border[place]
        left[after] = before
        place = after
    return gone


@jit
def _common(indptr: Indptr, items: Items, rows: Rows, counts: Counts) -> int:
    """How many items some baskets share with those that were counted, summed over all pairs of baskets."""
    total = 0
    for row in rows:
        for item in items[indptr[row] : indptr[row + 1]]:
            total += counts[item]
    return total
