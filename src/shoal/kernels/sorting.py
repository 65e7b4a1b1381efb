"""Sorting inside kernels: compiling NumPy's sort takes seconds, this one a fraction of a second."""

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from shoal.kernels._jit import lean

Array: TypeAlias = NDArray[Any]
Whole: TypeAlias = int | np.int64


@lean
def sort(values: Array, begin: Whole, end: Whole) -> None:
    """Sort a part of an array of integers in place, ascending, by Shellsort with Knuth's gaps: 1, 4, 13, 40 and so on.

    Most of what kernels sort is short, and for such lengths nothing is faster. At worst, n numbers take on the order of
    n to the power of 3/2 steps (Pratt 1971).
    """
    gap = 1
    while 6 * gap < end - begin:
        gap = 3 * gap + 1
    while gap > 0:
        for place in range(begin + gap, end):
            value = values[place]
            hole = place - gap
            while hole >= begin and values[hole] > value:
                values[hole + gap] = values[hole]
                hole -= gap
            values[hole + gap] = value
        gap //= 3
