"""Orders of a sparse matrix that bring its entries close to the diagonal: reverse Cuthill-McKee.

`row_order` walks the graph of rows that share a column (the matrix times its transpose) without ever building it: the
rows of a column are reached together, the first time that one of them is left. A column is expanded once, so a
walk takes time and memory in proportion to the entries of the matrix, where the graph itself may have a
thousand times as many edges. `graph_order` takes a graph that is built.

Vertices are numbered, and a tie of degrees goes to the smaller number: who numbers them by content gets an
order that depends on content alone.
"""

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from shoal.kernels._jit import jit

Array: TypeAlias = NDArray[Any]
Whole: TypeAlias = int | np.int64

SEARCHES = 8
"""Walks to find an end of a component, at most: each one starts farther out than the one before."""


@jit
def _by_degree(found: Array, begin: Whole, end: Whole, degrees: Array, keys: Array) -> None:
    """Sort ``found[begin:end]`` by degree, then by number."""
    count = len(degrees)
    for place in range(begin, end):
        keys[place] = degrees[found[place]] * count + found[place]
    keys[begin:end].sort()
    for place in range(begin, end):
        found[place] = keys[place] % count


@jit
def _walk_rows(
    start: Whole,
    indptr: Array,
    items: Array,
    holder_indptr: Array,
    holders: Array,
    degrees: Array,
    reached: Array,
    expanded: Array,
    run: Whole,
    found: Array,
    base: Whole,
    keys: Array,
) -> tuple[Whole, Whole, Whole]:
    """Breadth first over the rows that share items, from one row; what it finds goes into ``found[base:]``.

    Returns the end of what was found, where its last level begins, and the number of levels.
    """
    found[base] = start
    reached[start] = run
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
        for place in range(indptr[row], indptr[row + 1]):
            item = items[place]
            if expanded[item] == run:
                continue
            expanded[item] = run
            for held in range(holder_indptr[item], holder_indptr[item + 1]):
                other = holders[held]
                if reached[other] != run:
                    reached[other] = run
                    found[tail] = other
                    tail += 1
        if tail - first > 1:
            _by_degree(found, first, tail, degrees, keys)
    return tail, level_begin, levels


@jit
def row_order(
    indptr: Array, items: Array, holder_indptr: Array, holders: Array, degrees: Array, by_degree: Array
) -> Array:
    """Reverse Cuthill-McKee over the rows of a sparse matrix, joined where they share an item.

    Parameters
    ----------
    indptr, items
        The items of each row.
    holder_indptr, holders
        The rows of each item.
    degrees
        How many neighbours each row has, or a number that stands for it.
    by_degree
        All rows, by ascending degree, then number: a component is entered by its first row in this list.

    Returns
    -------
    The rows in their order.
    """
    rows = len(indptr) - 1
    found = np.empty(rows, dtype=np.int64)
    keys = np.empty(rows, dtype=np.int64)
    reached = np.zeros(rows, dtype=np.int64)
    expanded = np.zeros(len(holder_indptr) - 1, dtype=np.int64)
    done = np.zeros(rows, dtype=np.bool_)
    run = 0
    base: Whole = 0
    for candidate in by_degree:
        if done[candidate]:
            continue
        start = candidate
        run += 1
        tail, last, levels = _walk_rows(
            start, indptr, items, holder_indptr, holders, degrees, reached, expanded, run, found, base, keys
        )
        for _ in range(SEARCHES):
            farthest = found[last]
            for place in range(last, tail):
                other = found[place]
                if degrees[other] < degrees[farthest] or (
                    degrees[other] == degrees[farthest] and other < farthest
                ):
                    farthest = other
            if farthest == start:
                break
            run += 1
            tail, last, farther = _walk_rows(
                farthest,
                indptr,
                items,
                holder_indptr,
                holders,
                degrees,
                reached,
                expanded,
                run,
                found,
                base,
                keys,
            )
            start = farthest
            if farther <= levels:
                break
            levels = farther
        for place in range(base, tail):
            done[found[place]] = True
        base = tail
    return found[::-1].copy()


@jit
def _walk_graph(
    start: Whole,
    indptr: Array,
    neighbours: Array,
    degrees: Array,
    reached: Array,
    run: Whole,
    found: Array,
    base: Whole,
    keys: Array,
) -> tuple[Whole, Whole, Whole]:
    """Breadth first over a graph; returns what `_walk_rows` returns."""
    found[base] = start
    reached[start] = run
    tail = base + 1
    level_begin, level_end, levels = base, base + 1, 1
    head = base
    while head < tail:
        if head == level_end:
            level_begin, level_end = level_end, tail
            levels += 1
        vertex = found[head]
        head += 1
        first = tail
        for place in range(indptr[vertex], indptr[vertex + 1]):
            other = neighbours[place]
            if reached[other] != run:
                reached[other] = run
                found[tail] = other
                tail += 1
        if tail - first > 1:
            _by_degree(found, first, tail, degrees, keys)
    return tail, level_begin, levels


@jit
def graph_order(indptr: Array, neighbours: Array, by_degree: Array) -> Array:
    """Reverse Cuthill-McKee over a graph: vertex v is joined to ``neighbours[indptr[v]:indptr[v + 1]]``.

    Parameters
    ----------
    by_degree
        All vertices, by ascending number of neighbours, then number.
    """
    vertices = len(indptr) - 1
    degrees = np.diff(indptr)
    found = np.empty(vertices, dtype=np.int64)
    keys = np.empty(vertices, dtype=np.int64)
    reached = np.zeros(vertices, dtype=np.int64)
    done = np.zeros(vertices, dtype=np.bool_)
    run = 0
    base: Whole = 0
    for candidate in by_degree:
        if done[candidate]:
            continue
        start = candidate
        run += 1
        tail, last, levels = _walk_graph(start, indptr, neighbours, degrees, reached, run, found, base, keys)
        for _ in range(SEARCHES):
            farthest = found[last]
            for place in range(last, tail):
                other = found[place]
                if degrees[other] < degrees[farthest] or (
                    degrees[other] == degrees[farthest] and other < farthest
                ):
                    farthest = other
            if farthest == start:
                break
            run += 1
            tail, last, farther = _walk_graph(
                farthest, indptr, neighbours, degrees, reached, run, found, base, keys
            )
            start = farthest
            if farther <= levels:
                break
            levels = farther
        for place in range(base, tail):
            done[found[place]] = True
        base = tail
    return found[::-1].copy()
