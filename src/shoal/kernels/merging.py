"""Join classes from the bottom up: find near tuples, and join the classes that add the least loss."""

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from shoal.kernels._jit import lean
from shoal.kernels.annealing import (
    AFTER,
    CLASS,
    HEAD,
    NEEDY,
    SIZE,
    TOKEN,
    VERSION,
    Cells,
    Classes,
    Near,
    Rules,
    build,
    measure,
    pair,
    relocate,
    united,
)
from shoal.kernels.heap import Heap, pop, push

Array: TypeAlias = NDArray[Any]
Whole: TypeAlias = int | np.int64


@lean
def nearest(order: Array, window: int, cells: Cells, rows: Array, others: Array, losses: Array) -> None:
    """Find near tuples among those that are at most `window` places apart in an order.

    `rows`: a row of each tuple. `others`, `losses`: the nearest tuples found for each one, and the loss of a row of
    each when joined with one of the other; heaps with the farthest tuple first.
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


@lean
def _keep(one: Whole, other: Whole, loss: float, others: Array, losses: Array) -> None:
    """Keep a tuple as near, in place of the farthest one, unless it is already kept."""
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


@lean
def _cheapest(number: Whole, cells: Cells, near: Near, classes: Classes, pool: int) -> tuple[float, int]:
    """The near class that adds the least loss when joined with a given one, or -1; the added loss comes first."""
    best, partner, facts = np.inf, -1, classes.facts
    row = facts[number, HEAD]
    while row >= 0:
        for place in range(near.others.shape[1]):
            tuple_ = near.others[near.tuples[row], place]
            if tuple_ < 0:
                continue
            other = classes.rows[near.first[tuple_], CLASS]
            if other in (number, pool):
                continue
            size, more = facts[number, SIZE], facts[other, SIZE]
            increase = (size + more) * united(number, other, cells, classes)
            increase -= size * classes.costs[number] + more * classes.costs[other]
            if increase < best:
                best, partner = increase, other
        row = classes.rows[row, AFTER]
    return best, partner


@lean
def merge(cells: Cells, near: Near, classes: Classes, rules: Rules, heap: Heap) -> None:
    """Join classes that are needy or too small to others, always where that adds the least loss.

    If everything near such a class is already in it, it is joined to the first other class. `heap`: room for twice as
    many entries as classes. Classes that were not measured yet are built first.
    """
    if classes.counts[TOKEN] == 0:
        build(cells, classes, rules.pool)
    facts, waiting, turn = classes.facts, 0, 0
    fresh, number, old, partner, increase = False, 0, 0, 0, 0.0
    while fresh or waiting or turn < len(facts):
        if not fresh and turn < len(facts):
            number, turn, fresh = turn, turn + 1, True
            if number == rules.pool or facts[number, SIZE] == 0:
                facts[number, NEEDY] = 0
            elif facts[number, SIZE] < rules.least:
                facts[number, NEEDY] = 1
        elif not fresh:
            waiting = pop(heap, waiting)
            increase, partner = heap.keys[waiting], heap.rest[waiting, 2]
            number, old = heap.rest[waiting, 0], heap.rest[waiting, 1]
        if not facts[number, NEEDY] or not (fresh or facts[number, VERSION] == old):
            fresh = False
            continue
        found, current = _cheapest(number, cells, near, classes, rules.pool)
        later = (
            current >= 0 and (current != partner or found > increase) and waiting > 0 and found > heap.keys[0]
        )
        if fresh or later:
            waiting = push(heap, waiting, found, number, facts[number, VERSION], current)
            fresh = False
            continue
        if current < 0:
            current = _another(number, facts, rules.pool)
            if current < 0:
                return
        if facts[number, SIZE] > facts[current, SIZE]:
            number, current = current, number
        while facts[number, HEAD] >= 0:
            relocate(facts[number, HEAD], current, classes)
        measure(current, cells, classes)
        facts[number, VERSION] += 1
        facts[current, VERSION] += 1
        facts[number, NEEDY], facts[current, NEEDY] = 0, facts[current, SIZE] < rules.least
        number, fresh = current, True


@lean
def _another(number: Whole, facts: Array, pool: int) -> int:
    """The first other class that has rows; -1 if there is none."""
    for other in range(len(facts)):
        if other != number and other != pool and facts[other, SIZE] > 0:
            return other
    return -1
