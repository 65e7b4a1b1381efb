"""Classes that are joined from the bottom up: near tuples, and classes that lose least more together."""

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from shoal.kernels._jit import jit
from shoal.kernels.annealing import Cells, Classes, Near, Room, Rules, measure, pair, relocate, united
from shoal.kernels.heap import Heap, pop, push

Array: TypeAlias = NDArray[Any]
Whole: TypeAlias = int | np.int64


@jit
def nearest(order: Array, window: int, cells: Cells, rows: Array, others: Array, losses: Array) -> None:
    """Look for near tuples among those that stand next to each other in an order.

    `rows`: a row of each tuple. `others`, `losses`: the nearest ones found for each tuple, and what a row of each would
    lose with one of the other; the farthest of them comes first.
    """
    count = len(order)
    for place in range(count):
        one = order[place]
        for later in range(place + 1, min(place + 1 + window, count)):
            other = order[later]
            loss = pair(rows[one], rows[other], max(losses[one, 0], losses[other, 0]), cells)
            if loss < losses[one, 0]:
                _keep(one, other, loss, others, losses)
            if loss < losses[other, 0]:
                _keep(other, one, loss, others, losses)


@jit
def _keep(one: Whole, other: Whole, loss: float, others: Array, losses: Array) -> None:
    """Keep a tuple as near, instead of the farthest, unless it is kept already."""
    width = others.shape[1]
    for place in range(width):
        if others[one, place] == other:
            return
    place = 0
    while True:
        larger = 2 * place + 1
        if larger >= width:
            break
        if larger + 1 < width and losses[one, larger + 1] > losses[one, larger]:
            larger += 1
        if losses[one, larger] <= loss:
            break
        others[one, place], losses[one, place] = others[one, larger], losses[one, larger]
        place = larger
    others[one, place], losses[one, place] = other, loss


@jit
def _cheapest(
    number: Whole, cells: Cells, near: Near, classes: Classes, pool: int, room: Room
) -> tuple[float, int]:
    """The class near to one with which it would lose least more, and how much that is; -1 where there is none."""
    best, partner = np.inf, -1
    row = classes.head[number]
    while row >= 0:
        for tuple_ in near.others[near.tuples[row]]:
            if tuple_ < 0:
                continue
            other = classes.of_row[near.first[tuple_]]
            if other in (number, pool):
                continue
            size, more = classes.sizes[number], classes.sizes[other]
            increase = (size + more) * united(number, other, cells, classes, room)
            increase -= size * classes.costs[number] + more * classes.costs[other]
            if increase < best:
                best, partner = increase, other
        row = classes.after[row]
    return best, partner


@jit
def merge(cells: Cells, near: Near, classes: Classes, needy: Array, rules: Rules, room: Room) -> None:
    """Join classes that are needy or too small to others, always those that lose least more by it.

    Where all that is near to such a class is in it already, it is joined to the first one that there is.
    """
    room_for = 2 * len(classes.sizes)
    heap, waiting = Heap(np.empty(room_for), np.empty((room_for, 3), dtype=np.int64)), 0
    versions = np.zeros(len(classes.sizes), dtype=np.int64)
    for number in range(len(classes.sizes)):
        if (
            number != rules.pool
            and classes.sizes[number] > 0
            and (needy[number] or classes.sizes[number] < rules.least)
        ):
            needy[number] = True
            increase, partner = _cheapest(number, cells, near, classes, rules.pool, room)
            waiting = push(heap, waiting, increase, number, versions[number], partner)
    while waiting:
        waiting = pop(heap, waiting)
        increase, partner = heap.keys[waiting], heap.rest[waiting, 2]
        number, version = heap.rest[waiting, 0], heap.rest[waiting, 1]
        if versions[number] != version or not needy[number]:
            continue
        found, current = _cheapest(number, cells, near, classes, rules.pool, room)
        if current >= 0 and (current != partner or found > increase) and waiting and found > heap.keys[0]:
            waiting = push(heap, waiting, found, number, version, current)
            continue
        if current < 0:
            current = 0
            while current < len(classes.sizes) and (
                current == number or current == rules.pool or classes.sizes[current] == 0
            ):
                current += 1
            if current == len(classes.sizes):
                return
        if classes.sizes[number] > classes.sizes[current]:
            number, current = current, number
        while classes.head[number] >= 0:
            relocate(classes.head[number], current, classes)
        measure(current, cells, classes, room)
        versions[number] += 1
        versions[current] += 1
        needy[number] = False
        needy[current] = classes.sizes[current] < rules.least
        if needy[current]:
            found, partner = _cheapest(current, cells, near, classes, rules.pool, room)
            waiting = push(heap, waiting, found, current, versions[current], partner)
