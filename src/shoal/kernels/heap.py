"""A heap for kernels: compiling the standard library's takes seconds, this one a fraction of a second."""

from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from shoal.kernels._jit import lean

Array: TypeAlias = NDArray[Any]
Whole: TypeAlias = int | np.int64


class Heap(NamedTuple):
    """Room for entries: a number by which each is ordered, and a line of three integers that break ties.

    The least entry comes first. The caller keeps track of how many there are.
    """

    keys: Array
    rest: Array


@lean
def _before(heap: Heap, one: Whole, other: Whole) -> bool:
    """Whether an entry is less than another."""
    if heap.keys[one] != heap.keys[other]:
        return bool(heap.keys[one] < heap.keys[other])
    for column in range(heap.rest.shape[1]):
        if heap.rest[one, column] != heap.rest[other, column]:
            return bool(heap.rest[one, column] < heap.rest[other, column])
    return False


@lean
def _swap(heap: Heap, one: Whole, other: Whole) -> None:
    """Swap two entries."""
    heap.keys[one], heap.keys[other] = heap.keys[other], heap.keys[one]
    for column in range(heap.rest.shape[1]):
        heap.rest[one, column], heap.rest[other, column] = heap.rest[other, column], heap.rest[one, column]


@lean
def push(heap: Heap, size: Whole, key: float, one: Whole, two: Whole, three: Whole) -> int:
    """Add an entry; returns how many there are then."""
    heap.keys[size] = key
    heap.rest[size, 0], heap.rest[size, 1], heap.rest[size, 2] = one, two, three
    place = size
    while place > 0 and _before(heap, place, (place - 1) // 2):
        _swap(heap, place, (place - 1) // 2)
        place = (place - 1) // 2
    return int(size + 1)


@lean
def pop(heap: Heap, size: Whole) -> int:
    """Remove the least entry, which is then found just after the last one; returns how many are left."""
    last = size - 1
    _swap(heap, 0, last)
    place = np.int64(0)
    while 2 * place + 1 < last:
        child = 2 * place + 1
        if child + 1 < last and _before(heap, child + 1, child):
            child += 1
        if not _before(heap, child, place):
            break
        _swap(heap, child, place)
        place = child
    return int(last)
