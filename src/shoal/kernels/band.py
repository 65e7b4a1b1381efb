"""Orders of a sparse matrix that bring its entries close to the diagonal, and measures of how close.

`row_order` is reverse Cuthill-McKee on the graph of rows that share a column (the matrix times its transpose), which it
never builds: all rows of a column are reached the first time that one of them is expanded. Each column is expanded
once, so that a walk takes time and memory in proportion to the entries of the matrix, while the graph itself may have a
thousand times as many edges. `graph_order` takes a graph that has been built.

Vertices are numbered, and ties of degrees go to the smaller number: if vertices are numbered by content, the order
depends on content alone.
"""

from typing import NamedTuple

import numpy as np

from shoal.arrays import AnyArray, Counts, Floats, Indptr, Items, Rows, ascending, indptr_by
from shoal.kernels._jit import fitting, jit, lean
from shoal.kernels.sorting import sort

SEARCHES = 8
"""The most walks to find an end of a component; each one starts farther out than the one before."""


class Matrix(NamedTuple):
    """A sparse matrix: the items of each row, the rows of each item, and a degree for each row."""

    indptr: Indptr
    items: AnyArray
    holder_indptr: Indptr
    holders: Rows
    degrees: Counts


class Walk(NamedTuple):
    """The state of walks: the last run that reached each row and item, rows in the order found, and room to sort."""

    reached: Counts
    expanded: Counts
    found: Rows
    keys: Counts


@jit
def row_order(
    indptr: Indptr, items: AnyArray, holder_indptr: Indptr, holders: Rows, degrees: Counts, by_degree: Rows
) -> Rows:
    """Reverse Cuthill-McKee over the rows of a sparse matrix, joined where they share an item.

    `indptr`, `items`: the items of each row. `holder_indptr`, `holders`: the rows of each item. `degrees`: how many
    neighbors each row has, or a number that stands for it. `by_degree`: all rows, by ascending degree, then number: a
    component is entered by its first row in this list. Returns the rows in their order.
    """
    rows = len(indptr) - 1
    matrix = Matrix(indptr, items, holder_indptr, holders, degrees)
    walk = Walk(
        np.zeros(rows, dtype=np.int64),
        np.zeros(len(holder_indptr) - 1, dtype=np.int64),
        np.empty(rows, dtype=np.int64),
        np.empty(rows, dtype=np.int64),
    )
    done = np.zeros(rows, dtype=np.bool_)
    run, base = 0, 0
    for candidate in by_degree:
        if done[candidate]:
            continue
        start = candidate
        run += 1
        tail, last, levels = _walk(start, matrix, walk, run, base)
        for _ in range(SEARCHES):
            farthest = _least(walk.found[last:tail], degrees)
            if farthest == start:
                break
            run += 1
            tail, last, farther = _walk(farthest, matrix, walk, run, base)
            start = farthest
            if farther <= levels:
                break
            levels = farther
        for row in walk.found[base:tail]:
            done[row] = True
        base = tail
    backwards = np.empty(rows, dtype=np.int64)
    for place in range(rows):
        backwards[place] = walk.found[rows - 1 - place]
    return backwards


@jit
def graph_order(indptr: Indptr, neighbors: Rows, by_degree: Rows) -> Rows:
    """Reverse Cuthill-McKee over a graph: vertex v is joined to ``neighbors[indptr[v]:indptr[v + 1]]``.

    This is `row_order` of a matrix in which each vertex has an item of its own, which its neighbors hold.

    `by_degree`: all vertices, by ascending number of neighbors, then number.
    """
    own = np.arange(len(indptr))
    return row_order(own, own[:-1], indptr, neighbors, np.diff(indptr), by_degree)


@jit
def _walk(start: int, matrix: Matrix, walk: Walk, run: int, base: int) -> tuple[int, int, int]:
    """Walk breadth-first from a row over the rows that share items; they are written to ``found[base:]``.

    Returns the end of what was found, where its last level begins, and the number of levels.
    """
    found = walk.found
    found[base] = start
    walk.reached[start] = run
    tail = base + 1
    level_begin, level_end, levels = base, base + 1, 1
    head = base
    while head < tail:
        if head == level_end:
            level_begin, level_end = level_end, tail
            levels += 1
        row = found[head]
        head += 1
        first = tail
        for place in range(matrix.indptr[row], matrix.indptr[row + 1]):
            item = matrix.items[place]
            if walk.expanded[item] == run:
                continue
            walk.expanded[item] = run
            for held in range(matrix.holder_indptr[item], matrix.holder_indptr[item + 1]):
                other = matrix.holders[held]
                if walk.reached[other] != run:
                    walk.reached[other] = run
                    found[tail] = other
                    tail += 1
        if tail - first > 1:
            _sort(found[first:tail], matrix.degrees, walk.keys)
    return tail, level_begin, levels


@jit
def _sort(rows: Rows, degrees: Counts, keys: Counts) -> None:
    """Sort rows by degree, then by number."""
    count = len(degrees)
    for place in range(len(rows)):
        keys[place] = degrees[rows[place]] * count + rows[place]
    sort(keys, 0, len(rows))
    for place in range(len(rows)):
        rows[place] = keys[place] % count


@jit
def _least(rows: Rows, degrees: Counts) -> int:
    """The row with the least degree and, of several, the smallest number."""
    least: int = rows[0]
    for row in rows:
        if degrees[row] < degrees[least] or (degrees[row] == degrees[least] and row < least):
            least = row
    return least


class Placed(NamedTuple):
    """The places of each row in an order, in which a row may occur several times or not at all.

    The places of row i are ``places[begin[i]:begin[i + 1]]``, ascending. With these, a large matrix is read row by row,
    in one piece; place by place, reads would jump around in memory.
    """

    begin: Indptr
    places: Items


def placed(order: Rows, rows: int) -> Placed:
    """The places in an order of each of `rows` rows."""
    return Placed(indptr_by(order, rows), ascending(order).astype(np.int32))


def spread(indptr: Indptr, items: Items, width: int, order: Placed) -> tuple[int, int, Floats]:
    """Measure how far the entries of a matrix are from its diagonal, with its rows in some order.

    Returns the bandwidth (the largest distance of two places that share an item), the profile (the sum over all places
    of the distance to the first one that shares an item), and the mean place of each item.
    """
    first, last = np.full(width, len(order.places), dtype=np.int64), np.zeros(width, dtype=np.int64)
    sums, counts = np.zeros(width, dtype=np.int64), np.zeros(width, dtype=np.int64)
    totals = np.zeros(len(indptr) - 1, dtype=np.int64)
    profile = fitting(_spread, len(items))(
        indptr, items, order.begin, order.places, first, last, sums, counts, totals
    )
    bandwidth = int((last - first)[counts > 0].max(initial=0))
    return bandwidth, int(profile), sums / np.maximum(counts, 1)


@lean
def _spread(
    indptr: Indptr,
    items: Items,
    begin: Indptr,
    places: Items,
    first: Counts,
    last: Counts,
    sums: Counts,
    counts: Counts,
    totals: Counts,
) -> int:
    """Compute the first and the last place of each item, and the sum and number of its places; returns the profile."""
    for row in range(len(indptr) - 1):
        here, there = begin[row], begin[row + 1]
        for at in range(here, there):
            totals[row] += places[at]
        for entry in range(indptr[row], indptr[row + 1] if there > here else indptr[row]):
            item = items[entry]
            first[item] = min(first[item], places[here])
            last[item] = max(last[item], places[there - 1])
            sums[item] += totals[row]
            counts[item] += there - here
    profile = 0
    for row in range(len(indptr) - 1):
        earliest = len(places)
        for entry in range(indptr[row], indptr[row + 1]):
            earliest = min(earliest, first[items[entry]])
        if indptr[row] < indptr[row + 1]:
            profile += totals[row] - earliest * (begin[row + 1] - begin[row])
    return profile


def binned(indptr: Indptr, items: Items, order: Placed, column: Items, high: int, wide: int) -> AnyArray:
    """Divide a matrix with ordered rows and columns into high × wide cells, and count the entries in each."""
    cells = np.zeros((high, wide), dtype=np.int64)
    across = column.astype(np.int64) * wide // max(len(column), 1)
    fitting(_binned, len(items))(indptr, items, order.begin, order.places, across, cells)
    return cells


@lean
def _binned(
    indptr: Indptr, items: Items, begin: Indptr, places: Items, across: Counts, cells: AnyArray
) -> None:
    for row in range(len(indptr) - 1):
        for at in range(begin[row], begin[row + 1]):
            line = np.int64(places[at]) * len(cells) // len(places)
            for entry in range(indptr[row], indptr[row + 1]):
                cells[line, across[items[entry]]] += 1
