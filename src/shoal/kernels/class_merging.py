"""Merge classes with the nearest ones by their cells, their items or both, within a bound on the loss."""

from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from shoal.kernels._jit import jit
from shoal.kernels.annealing import KIND, LEVELS, MISSING, NODES, OFFSET, RANGES, WIDTH, Cells
from shoal.kernels.heap import Heap, pop, push
from shoal.kernels.popcount import ones
from shoal.kernels.sorting import sort

Array: TypeAlias = NDArray[Any]

BY_CELLS, BY_ITEMS, BY_BOTH = 0, 1, 2
"""Ways to judge nearness: by the least additional loss, by similar items, or by the sum of both ranks."""


class Held(NamedTuple):
    """What each class holds; changed in place as classes are merged."""

    low: Array
    high: Array
    """`low`, `high`: the lowest and the highest place of each class (rows) in each column."""
    values: Array
    begins: Array
    """`values`, `begins`: the values of each class in columns published as sets, one bit each, and where the words of
    each such column begin."""
    items: Array  # the items of each class, one bit each
    sizes: Array
    losses: Array
    """`sizes`, `losses`: the number of rows of each class, and room for the loss of each of its rows."""


@jit
def lost(low: Array, high: Array, values: Array, begins: Array, cells: Cells) -> float:
    """The loss of each row of a class."""
    loss, of_set, columns, losses = 0.0, 0, cells.columns, cells.losses
    for column in range(len(columns)):
        offset, kind = columns[column, OFFSET], columns[column, KIND]
        first, last = low[column], high[column]
        mixed = columns[column, MISSING] >= 0 and first < last and last == columns[column, MISSING]
        if kind == NODES:
            for level in range(columns[column, LEVELS]):
                at = offset + level * columns[column, WIDTH]
                if cells.nodes[at + first] == cells.nodes[at + last]:
                    loss += losses[at + first]
                    break
        elif mixed:
            loss += losses[offset - 1]
        elif kind == RANGES:
            loss += losses[offset + last - first]
        else:
            count = 0
            for word in range(begins[of_set], begins[of_set + 1]):
                count += ones(values[word])
            loss += losses[offset + count]
        if kind != NODES and kind != RANGES:
            of_set += 1
    return loss


@jit
def _together(
    one: int, other: int, held: Held, cells: Cells, low: Array, high: Array, values: Array
) -> float:
    """The loss of each row if two classes are merged."""
    for column in range(len(low)):
        low[column] = min(held.low[one, column], held.low[other, column])
        high[column] = max(held.high[one, column], held.high[other, column])
    for word in range(len(values)):
        values[word] = held.values[one, word] | held.values[other, word]
    return lost(low, high, values, held.begins, cells)


@jit
def _unlike(one: int, other: int, items: Array) -> float:
    """The share of the items of two classes that only one of them holds."""
    either, both = 0, 0
    for word in range(items.shape[1]):
        either += ones(items[one, word] | items[other, word])
        both += ones(items[one, word] & items[other, word])
    return 1.0 - both / either if either else 0.0


@jit
def _unlink(one: int, before: Array, after: Array) -> None:
    """Remove a class from the order."""
    if before[one] >= 0:
        after[before[one]] = after[one]
    if after[one] < len(before):
        before[after[one]] = before[one]


@jit
def unite(held: Held, cells: Cells, by: int, bound: float, window: int, owner: Array) -> int:
    """Merge the class that loses least with the nearest one that the bound allows, over and over.

    `bound`: the most that all rows together may lose. `window`: how many classes before and after it in their order are
    considered. `owner`: filled with the class that each class became part of. Returns how many merges there were.
    """
    count, columns = len(held.sizes), held.low.shape[1]
    before, after = np.arange(-1, count - 1), np.arange(1, count + 1)
    version = np.zeros(count, dtype=np.int64)
    low, high = np.empty(columns, dtype=np.int64), np.empty(columns, dtype=np.int64)
    values = np.empty(held.values.shape[1], dtype=np.uint64)
    near = np.empty(2 * window, dtype=np.int64)
    more, unlike = np.empty(2 * window), np.empty(2 * window)
    total = 0.0
    heap, waiting = Heap(np.empty(count), np.empty((count, 3), dtype=np.int64)), 0
    for one in range(count):
        held.losses[one] = lost(held.low[one], held.high[one], held.values[one], held.begins, cells)
        total += held.sizes[one] * held.losses[one]
        waiting = push(heap, waiting, held.losses[one], one, 0, 0)
    united = 0
    while waiting:
        waiting = pop(heap, waiting)
        one, made = heap.rest[waiting, 0], heap.rest[waiting, 1]
        if owner[one] != one or version[one] != made:
            continue
        found = 0
        for backwards in range(2):
            other = before[one] if backwards else after[one]
            steps = 0
            while 0 <= other < count and steps < window:
                steps += 1
                together = _together(one, other, held, cells, low, high, values)
                rise = (
                    (held.sizes[one] + held.sizes[other]) * together
                    - held.sizes[one] * held.losses[one]
                    - held.sizes[other] * held.losses[other]
                )
                if total + rise <= bound:
                    near[found], more[found] = other, rise
                    unlike[found] = 0.0 if by == BY_CELLS else _unlike(one, other, held.items)
                    found += 1
                other = before[other] if backwards else after[other]
        if not found:
            continue
        best = _nearest(more[:found], unlike[:found], near[:found], by)
        other = near[best]
        total += more[best]
        held.losses[one] = _together(one, other, held, cells, low, high, values)
        for column in range(columns):
            held.low[one, column], held.high[one, column] = low[column], high[column]
        for word in range(len(values)):
            held.values[one, word] = values[word]
        for word in range(held.items.shape[1]):
            held.items[one, word] |= held.items[other, word]
        held.sizes[one] += held.sizes[other]
        owner[other] = one
        _unlink(other, before, after)
        version[one] += 1
        united += 1
        waiting = push(heap, waiting, held.losses[one], one, version[one], 0)
    return united


@jit
def _nearest(more: Array, unlike: Array, near: Array, by: int) -> int:
    """The place of the nearest class; ties go to the least additional loss, then to the smallest number."""
    score = np.empty(len(more))
    if by == BY_BOTH:
        ranks, others = _ranks(more), _ranks(unlike)
        for place in range(len(score)):
            score[place] = ranks[place] + others[place]
    else:
        for place in range(len(score)):
            score[place] = unlike[place] if by == BY_ITEMS else more[place]
    best = 0
    for place in range(1, len(score)):
        closer = score[place] < score[best]
        tied = score[place] == score[best] and (
            more[place] < more[best] or (more[place] == more[best] and near[place] < near[best])
        )
        if closer or tied:
            best = place
    return best


@jit
def _ranks(numbers: Array) -> Array:
    """For each number, how many others are smaller."""
    ordered, ranks = np.empty(len(numbers)), np.empty(len(numbers), dtype=np.int64)
    for place in range(len(numbers)):
        ordered[place] = numbers[place]
    sort(ordered, 0, len(ordered))
    for place in range(len(numbers)):
        low, high = 0, len(ordered)
        while low < high:
            middle = (low + high) // 2
            if ordered[middle] < numbers[place]:
                low = middle + 1
            else:
                high = middle
        ranks[place] = low
    return ranks
