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
def sort(values: Array, begin: Whole, end: Whole) -> None:
    """Sort a part of an array of integers, ascending, in place: quicksort by medians of three, insertion at the end.

    The longer part waits, and the shorter one is at most half of all: so 64 places are enough for any array.
    """
    stack = np.empty((64, 2), dtype=np.int64)
    depth = 0
    low, high = begin, end
    while True:
        while high - low > SHORT:
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
                stack[depth, 0], stack[depth, 1] = left, high
                high = right + 1
            else:
                stack[depth, 0], stack[depth, 1] = low, right + 1
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
        low, high = stack[depth, 0], stack[depth, 1]
