"""Sorting inside kernels: numpy's sort takes the compiler seconds, this one a fraction of one."""

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from shoal.kernels._jit import jit

Array: TypeAlias = NDArray[Any]
Whole: TypeAlias = int | np.int64

SHORT = 24
"""Up to so many numbers each is put in its place among those before."""


@jit
def heap_sort(values: Array, begin: Whole, end: Whole) -> None:
    """Sort a part of an array of integers, ascending, in place, in n log n steps whatever they are."""
    count = end - begin
    for turn in range(count // 2 + count - 1):
        # At first a heap is made from its last parent up; then its largest number goes to the end, again and again.
        making = turn < count // 2
        root = count // 2 - 1 - turn if making else np.int64(0)
        size = count if making else count - 1 - (turn - count // 2)
        value = values[begin + root]
        if not making:
            value = values[begin + size]
            values[begin + size] = values[begin]
        while 2 * root + 1 < size:
            child = 2 * root + 1
            if child + 1 < size and values[begin + child + 1] > values[begin + child]:
                child += 1
            if values[begin + child] <= value:
                break
            values[begin + root] = values[begin + child]
            root = child
        values[begin + root] = value


@jit
def sort(values: Array, begin: Whole, end: Whole) -> None:
    """Sort a part of an array of integers, ascending, in place: quicksort by medians of three, insertion at the end.

    The longer part waits, and the shorter one is at most half of all: so 64 places are enough for any array. Numbers
    may be arranged so that every median is a bad one: what was parted more than twice as often as halves would be is
    sorted by a heap.
    """
    stack = np.empty((64, 3), dtype=np.int64)
    depth = 0
    low, high = begin, end
    cuts, rest = 0, high - low
    while rest > 1:
        cuts, rest = cuts + 2, rest // 2
    while True:
        while high - low > SHORT:
            if cuts == 0:
                heap_sort(values, low, high)
                low = high
                break
            cuts -= 1
            first, middle, last = values[low], values[(low + high) // 2], values[high - 1]
            if first > middle:
                first, middle = middle, first
            pivot = middle if middle <= last else (first if first > last else last)
            left, right = low, high - 1
            while left <= right:
                while values[left] < pivot:
                    left += 1
                while values[right] > pivot:
                    right -= 1
                if left <= right:
                    values[left], values[right] = values[right], values[left]
                    left += 1
                    right -= 1
            if right + 1 - low < high - left:
                stack[depth, 0], stack[depth, 1], stack[depth, 2] = left, high, cuts
                high = right + 1
            else:
                stack[depth, 0], stack[depth, 1], stack[depth, 2] = low, right + 1, cuts
                low = left
            depth += 1
        for place in range(low + 1, high):
            value = values[place]
            hole = place
            while hole > low and values[hole - 1] > value:
                values[hole] = values[hole - 1]
                hole -= 1
            values[hole] = value
        if depth == 0:
            return
        depth -= 1
        low, high, cuts = stack[depth, 0], stack[depth, 1], stack[depth, 2]
