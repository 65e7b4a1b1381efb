"""Mondrian's recursive partitioning on packed rows (LeFevre, DeWitt, Ramakrishnan, ICDE 2006, section 4).

Rows are moved as a whole: the codes of a row lie side by side in narrow unsigned *cells*, padded to 64-bit words, so
that one row is moved with a store or two, and the bounds of a segment are found many cells at a time. There is room
for two tables: a cut moves the rows of a segment from one to the other, and keeps their order.

All functions use the same tuples of arrays:

``rows``
    ``(words, cells, names)``: the packed rows as 64-bit words and, in the same memory, as cells, and the number of
    each row; all flat, twice as long as the table. A *place* is the number of a row in that double table.
``domain``
    ``(shape, frame, positions, boundaries)``. A row of `shape` is a dimension: where its codes begin in the two
    last arrays, the code of its missing value or -1, and whether all boundaries are equally good. `frame` holds its
    span and its weight. A row of `boundaries` is the boundary between a code and the next one: its depth, the next
    boundaries of less depth before and after it, and the first of the run of equal depths that it is in.
``rules``
    ``(least, relaxed, choice)``: how many rows both halves of a cut must have, at least 1; whether rows with the median
    code may go to either side; and how the dimension is chosen.
``scratch``
    ``(bounds, trial, counts, column, scores, widths)``: working arrays, one set per thread. `bounds` are the lowest and
    the highest codes of a segment, `trial` those of a half; `scores` and `widths` have one entry per dimension.

Indices are unsigned, because a signed index is tested for being negative, which keeps the compiler from using wide
instructions. For the same reason no loop over rows or dimensions calls a function that takes arrays.
"""

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from shoal.kernels._jit import jit

Array: TypeAlias = NDArray[Any]
Arrays: TypeAlias = tuple[Array, ...]
Whole: TypeAlias = int | np.int64
Index: TypeAlias = np.uint64
Rules: TypeAlias = tuple[Whole, bool, Whole]
Cut: TypeAlias = tuple[Whole, Whole, Whole, Whole]

WIDEST, LOSS, RANDOM = 0, 1, 2
"""Ways to choose the dimension of a cut."""

BLOCK = 8
"""How many rows are compared at once when bounds are computed."""

SPARSE = 4
"""The median is found by counting if there are fewer than this many codes per row, otherwise by bisection."""

ONE = np.uint64(1)


@jit
def grow(
    rows: Arrays, domain: Arrays, scratch: Arrays, rules: Rules, segment: Array, limit: Whole, result: Arrays
) -> Whole:
    """Partition a segment of the rows as far as possible, and return how many segments are left for later.

    `segment`: its begin and end, which of the two tables it is in, the hash of its node in the tree, and the closed
    dimensions, one bit each, which have no allowable cut. `limit`: if it is not 0, segments of at most this many rows
    are not cut but left for later. `result`: receives the numbers of the rows, class by class; a 1 at the first row of
    each class; and the segments that are left for later.
    """
    names, (order, marks, later) = rows[2], result
    # The larger half goes on the stack, so that its depth never exceeds the number of bits in the number of rows.
    stack = np.empty((64, 5), dtype=np.uint64)
    for k in range(5):
        stack[0, k] = segment[k]
    stacked, left_over = np.int64(1), np.int64(0)
    while stacked:
        stacked -= 1
        begin, end = np.int64(stack[stacked, 0]), np.int64(stack[stacked, 1])
        table, node, closed = np.int64(stack[stacked, 2]), stack[stacked, 3], stack[stacked, 4]
        while True:
            if limit and end - begin <= limit:
                _put(later, left_over, begin, end, table, node, closed)
                left_over += 1
                break
            place, target = begin + order.size * table, begin + order.size * (1 - table)
            cut, closed = _choose(rows, domain, scratch, rules, place, target, end - begin, node, closed)
            if not cut[0]:
                marks[begin] = 1
                for row in range(end - begin):
                    order[begin + row] = names[place + row]
                break
            _split(rows, place, target, end - begin, cut)
            middle, table = begin + cut[0], 1 - table
            left_node, right_node = _mix(node + ONE), _mix(node + np.uint64(2))
            if middle - begin < end - middle:
                _put(stack, stacked, middle, end, table, right_node, closed)
                end, node = middle, left_node
            else:
                _put(stack, stacked, begin, middle, table, left_node, closed)
                begin, node = middle, right_node
            stacked += 1
    return left_over


@jit
def _put(slots: Array, at: Whole, begin: Whole, end: Whole, table: Whole, node: Index, closed: Index) -> None:
    slots[at, 0], slots[at, 1], slots[at, 2] = np.uint64(begin), np.uint64(end), np.uint64(table)
    slots[at, 3], slots[at, 4] = node, closed


@jit
def _mix(value: Index) -> Index:
    """One step of splitmix64: a pseudorandom number that is the same for the same value."""
    value = value + np.uint64(0x9E3779B97F4A7C15)
    value = (value ^ (value >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    value = (value ^ (value >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return value ^ (value >> np.uint64(31))


@jit
def _choose(
    rows: Arrays,
    domain: Arrays,
    scratch: Arrays,
    rules: Rules,
    place: Whole,
    target: Whole,
    size: Whole,
    node: Index,
    closed: Index,
) -> tuple[Cut, Index]:
    """Choose the cut of a segment; if there is none, the returned cut has no rows on its left.

    A dimension without an allowable cut is closed for the whole subtree: if a segment has no boundary with enough rows
    on both sides, neither has any part of it.
    """
    zero = np.int64(0)
    best: Cut = (zero, zero, zero, zero)
    least, _, choice = rules
    if size < 2 * least:
        return best, closed
    bounds, scores = scratch[0], scratch[4]
    _bounds(rows[1], np.uint64(place), np.uint64(size), bounds)
    _widths(domain, bounds, scores)
    for other in range(min(scores.size, 64)):
        if (closed >> np.uint64(other)) & ONE:
            scores[other] = 0.0
    if choice == RANDOM:
        for other in range(scores.size):
            if scores[other] > 0.0:
                scores[other] = np.float64(ONE + (_mix(node + np.uint64(3 + other)) >> np.uint64(11)))
    least_loss = np.inf
    for _ in range(scores.size):
        dimension: Whole = np.int64(0)
        for other in range(1, scores.size):
            if scores[other] > scores[dimension]:
                dimension = other
        if scores[dimension] <= 0.0:
            break
        scores[dimension] = 0.0
        cut = _cut(rows[1], domain, scratch, rules, place, size, dimension)
        if not cut[0]:
            if dimension < 64:
                closed |= ONE << np.uint64(dimension)
            continue
        if choice != LOSS:
            return cut, closed
        loss = _loss(rows, domain, scratch, place, target, size, cut)
        if loss < least_loss or (loss == least_loss and dimension < best[1]):
            least_loss = loss
            best = cut
    return best, closed


@jit
def _bounds(cells: Array, place: Index, size: Index, bounds: Array) -> None:
    """Write the lowest and the highest codes of a segment to the beginnings of the two rows of `bounds`."""
    block = np.uint64(bounds.shape[1])
    width = block // np.uint64(BLOCK)
    first = place * width
    for start in range(np.uint64(0), block, width):
        for k in range(width):
            bounds[0, start + k] = bounds[1, start + k] = cells[first + k]
    _widen(cells, first, first + size * width, bounds[0], bounds[1])
    _fold(bounds[0], bounds[1], width)


@jit
def _widen(cells: Array, first: Index, stop: Index, low: Array, high: Array) -> None:
    """Widen the bounds by the cells ``first:stop``, which are whole rows.

    A block of rows is compared with the next block cell by cell, which the compiler turns into a few wide
    instructions. The last block may overlap the one before, since seeing a row twice does not change the extremes.
    """
    block = np.uint64(low.size)
    if stop - first < block:
        block //= np.uint64(BLOCK)
    at = first
    while at < stop:
        at = min(at, stop - block)
        for k in range(block):
            value = cells[at + k]
            low[k] = min(low[k], value)
            high[k] = max(high[k], value)
        at += block


@jit
def _fold(low: Array, high: Array, width: Index) -> None:
    """Combine the bounds of the rows of a block at its beginning."""
    half = np.uint64(low.size) // np.uint64(2)
    while half >= width:
        for k in range(half):
            low[k] = min(low[k], low[half + k])
            high[k] = max(high[k], high[half + k])
        half //= np.uint64(2)


@jit
def _widths(domain: Arrays, bounds: Array, widths: Array) -> None:
    """Write the normalized width of each dimension.

    Missing and other values together are as wide as the whole domain, so that they are separated first.
    """
    shape, frame, positions, _ = domain
    for dimension in range(widths.size):
        low, high = np.int64(bounds[0, dimension]), np.int64(bounds[1, dimension])
        if low == high:
            widths[dimension] = 0.0
        elif high == shape[dimension, 1]:
            widths[dimension] = frame[dimension, 1]
        elif frame[dimension, 0] == 0.0:
            widths[dimension] = 0.0
        else:
            offset = shape[dimension, 0]
            extent = positions[np.uint64(offset + high)] - positions[np.uint64(offset + low)]
            widths[dimension] = frame[dimension, 1] * extent / frame[dimension, 0]


@jit
def _loss(
    rows: Arrays, domain: Arrays, scratch: Arrays, place: Whole, target: Whole, size: Whole, cut: Cut
) -> float:
    """Rows times the sum of widths, added up over both halves of a cut, which is tried in the other table."""
    bounds, widths = scratch[1], scratch[5]
    _split(rows, place, target, size, cut)
    loss = 0.0
    for half in range(2):
        first, count = (target + cut[0], size - cut[0]) if half else (target, cut[0])
        _bounds(rows[1], np.uint64(first), np.uint64(count), bounds)
        _widths(domain, bounds, widths)
        total = 0.0
        for dimension in range(widths.size):
            total += widths[dimension]
        loss += count * total
    return loss


@jit
def _cut(
    cells: Array, domain: Arrays, scratch: Arrays, rules: Rules, place: Whole, size: Whole, dimension: Whole
) -> Cut:
    """The cut in one dimension: rows on its left, dimension, pivot, and how many rows equal to the pivot go left.

    Codes below the pivot go left and those above go right. The median boundary lies just above the median code, so that
    at least half of the rows are on its left. If it is not allowable, only the next boundary below it can be.
    """
    least, relaxed, _ = rules
    bounds = scratch[0]
    width = bounds.shape[1] // BLOCK
    low, high = np.int64(bounds[0, dimension]), np.int64(bounds[1, dimension])
    first = np.uint64(place * width + dimension)
    median, below, through = _median(cells, scratch, first, size, low, high)
    fits = through <= size - least
    if not domain[0][dimension, 2]:
        mixed, lower, upper = _boundaries(domain, dimension, low, high, median, fits)
        if mixed or not relaxed:
            if fits and upper == median:
                return through, dimension, median, size
            lower_left, upper_left = np.int64(0), np.int64(size)
            if lower >= low:
                lower_left = _count(cells, first, np.uint64(width), size, lower)
            if upper < high:
                upper_left = _count(cells, first, np.uint64(width), size, upper)
            lower_fits, upper_fits = lower_left >= least, upper_left <= size - least
            if upper_fits and (not lower_fits or upper_left - through <= through - lower_left):
                return upper_left, dimension, upper, size
            if lower_fits:
                return lower_left, dimension, lower, size
    if relaxed:
        return (size + 1) // 2, dimension, median, (size + 1) // 2 - below
    if fits:
        return through, dimension, median, size
    if below >= least:
        return below, dimension, median - 1, size
    return 0, dimension, 0, 0


@jit
def _boundaries(
    domain: Arrays, dimension: Whole, low: Whole, high: Whole, median: Whole, fits: Any
) -> tuple[bool, Whole, Whole]:
    """Find the preferred boundaries, those of least depth, nearest the median on both sides.

    Returns first whether depths differ, or missing and other values are mixed. The lower boundary is at most the
    median, and below it unless the median boundary `fits`; it is less than `low` if there is none. The upper one is at
    least the median; it is `high` or more if there is none, or if the median boundary does not fit. A walk along
    boundaries of decreasing depth is never longer than the height of the hierarchy.
    """
    boundaries = domain[3]
    offset = domain[0][dimension, 0]
    last = np.int64(high - 1)
    while boundaries[offset + last, 1] >= low:
        last = np.int64(boundaries[offset + last, 1])
    least_depth = boundaries[offset + last, 0]
    mixed = boundaries[offset + high - 1, 3] > low or least_depth < 0
    lower = np.int64(median if fits else median - 1)
    while lower >= low and boundaries[offset + lower, 0] > least_depth:
        lower = np.int64(boundaries[offset + lower, 1])
    upper = np.int64(median if fits else high)
    while upper < high and boundaries[offset + upper, 0] > least_depth:
        upper = np.int64(boundaries[offset + upper, 2])
    return mixed, lower, upper


@jit
def _median(
    cells: Array, scratch: Arrays, first: Index, size: Whole, low: Whole, high: Whole
) -> tuple[Whole, Whole, Whole]:
    """The median code, the number of rows below it, and the number of rows up to and including it."""
    counts, column = scratch[2], scratch[3]
    width = np.uint64(scratch[0].shape[1] // BLOCK)
    rank = (size - 1) // 2
    if high - low < SPARSE * size:
        at = first
        for _ in range(size):
            counts[np.uint64(np.int64(cells[at]) - low)] += 1
            at += width
        median, below, through = np.uint64(0), np.int64(0), np.int64(counts[0])
        while through <= rank:
            median += ONE
            below = through
            through += np.int64(counts[median])
        for k in range(np.uint64(high - low + 1)):
            counts[k] = 0
        return low + np.int64(median), below, through
    for row in range(np.uint64(size)):
        column[row] = cells[first + row * width]
    while low < high:
        half = (low + high) // 2
        if _count(column, np.uint64(0), ONE, size, half) > rank:
            high = half
        else:
            low = half + 1
    return low, _count(column, np.uint64(0), ONE, size, low - 1), _count(column, np.uint64(0), ONE, size, low)


@jit
def _count(cells: Array, first: Index, step: Index, size: Whole, code: Whole) -> np.int64:
    """How many of the cells, from the first one on, have a code of at most `code`."""
    total = np.int64(0)
    at = first
    for _ in range(size):
        total += np.int64(np.int64(cells[at]) <= code)
        at += step
    return total


@jit
def _split(rows: Arrays, place: Whole, target: Whole, size: Whole, cut: Cut) -> None:
    """Move the rows of a segment to the other table, the left half first; rows of a half keep their order."""
    words, cells, names = rows
    left, dimension, pivot, ties = cut
    length, width = np.uint64(words.size // names.size), np.uint64(cells.size // names.size)
    last = length - ONE
    at, stop = np.uint64(place), np.uint64(place + size)
    lefts, rights = np.uint64(target), np.uint64(target + left)
    while at < stop:
        code = np.int64(cells[at * width + np.uint64(dimension)])
        goes_left = (code < pivot) | ((code == pivot) & (ties > 0))
        ties -= np.int64(code == pivot)
        to = lefts if goes_left else rights
        names[to] = names[at]
        to, source = to * length, at * length
        words[to] = words[source]
        words[to + last] = words[source + last]
        k = ONE
        while k < last:
            words[to + k] = words[source + k]
            k += ONE
        lefts += np.uint64(goes_left)
        rights += np.uint64(not goes_left)
        at += ONE
