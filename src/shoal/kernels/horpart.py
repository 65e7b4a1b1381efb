"""Horizontal partitioning: baskets that share their most frequent items come together."""

from typing import NamedTuple

import numpy as np

from shoal.arrays import Counts, Indptr, Items, Mask, Rows
from shoal.kernels._jit import jit


class Baskets(NamedTuple):
    """Baskets, and the items that play no part."""

    indptr: Indptr
    items: Items
    hidden: Mask


class Desk(NamedTuple):
    """Arrays that every level uses again: an entry an item, a place an occurrence, an entry a basket."""

    counts: Counts
    begins: Counts
    ends: Counts
    touched: Counts
    heap: Counts
    postings: Rows
    taken: Mask
    buffer: Rows


@jit
def split(indptr: Indptr, items: Items, ignored: Mask, limit: int) -> tuple[Rows, Mask]:
    """Divide baskets by their most frequent item, again and again, until fewer than `limit` are together.

    On entry to a level the baskets of each item are listed once. Each division then costs the baskets it takes out
    and not those that stay, and the next item is found in a heap whose counts only ever fall. Of items that are
    equally frequent the first is taken.

    Returns
    -------
    The baskets part by part, and where parts begin. Parts that are near each other share more items. A part of
    `limit` or more baskets holds baskets that no item tells apart.
    """
    rows, width = len(indptr) - 1, len(ignored)
    order = np.arange(rows)
    begins = np.zeros(rows + 1, dtype=np.bool_)
    begins[rows] = True
    baskets = Baskets(indptr, items, ignored.copy())
    desk = Desk(
        np.zeros(width, dtype=np.int64),
        np.zeros(width, dtype=np.int64),
        np.zeros(width, dtype=np.int64),
        np.empty(width, dtype=np.int64),
        np.empty(width, dtype=np.int64),
        np.empty(len(items), dtype=np.int64),
        np.zeros(rows, dtype=np.bool_),
        np.empty(rows, dtype=np.int64),
    )
    levels = (len(items) + rows) // limit + 2
    above, item_of = np.full(levels, -1, dtype=np.int64), np.full(levels, -1, dtype=np.int64)
    first, last = np.zeros(levels, dtype=np.int64), np.zeros(levels, dtype=np.int64)
    todo = np.zeros(levels, dtype=np.int64)
    last[0] = rows
    made, waiting = 1, 1
    while waiting:
        waiting -= 1
        level = todo[waiting]
        _hide(baskets.hidden, level, above, item_of, True)
        segment = order[first[level] : last[level]]
        found = _list_baskets(baskets, segment, desk)
        parts, at = _divide(baskets, limit, segment, desk, found)
        _hide(baskets.hidden, level, above, item_of, False)
        for place in range(len(parts)):
            begin, end = first[level] + at[place], first[level] + at[place + 1]
            begins[begin] = True
            if parts[place] >= 0 and end - begin >= limit:
                item_of[made], above[made], first[made], last[made] = parts[place], level, begin, end
                todo[waiting] = made
                waiting, made = waiting + 1, made + 1
    return order, begins


@jit
def _hide(hidden: Mask, level: int, above: Counts, item_of: Counts, value: bool) -> None:
    """Hide, or show again, the items that all baskets of a level hold."""
    while above[level] >= 0:
        hidden[item_of[level]] = value
        level = above[level]


@jit
def _list_baskets(baskets: Baskets, segment: Rows, desk: Desk) -> int:
    """List the baskets of each item of a segment; say how many items there are. Counts must be zero before."""
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
def _divide(baskets: Baskets, limit: int, segment: Rows, desk: Desk, found: int) -> tuple[Counts, Counts]:
    """Take out the baskets of the most frequent item while many are left; the segment is put in that order.

    Returns
    -------
    The item of each part, -1 for what is left over, and where in the segment parts begin, and the last one ends.
    Counts are zero again.
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
            if not desk.taken[row]:
                desk.taken[row] = True
                desk.buffer[put] = row
                put += 1
                for place in range(baskets.indptr[row], baskets.indptr[row + 1]):
                    if not baskets.hidden[baskets.items[place]]:
                        counts[baskets.items[place]] -= 1
    if put < len(segment):
        parts[made], at[made] = -1, put
        made += 1
    for row in segment:
        if not desk.taken[row]:
            desk.buffer[put] = row
            put += 1
        desk.taken[row] = False
    segment[:] = desk.buffer[:put]
    for item in desk.touched[:found]:
        counts[item] = 0
    at[made] = put
    return parts[:made], at[: made + 1]


@jit
def _rise(heap: Counts, place: int) -> None:
    """Restore the heap above an entry that was put last."""
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
    """Which borders between neighbouring parts to take away so that no part is smaller than `least`.

    A part that is too small goes to the neighbour whose baskets have, on the average, most items in common with its
    own; one with which it stays below `limit` goes before one with which it does not; of equals the earlier.
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
    """How many items the baskets have in common with those that were counted, over all pairs of baskets."""
    total = 0
    for row in rows:
        for item in items[indptr[row] : indptr[row + 1]]:
            total += counts[item]
    return total
