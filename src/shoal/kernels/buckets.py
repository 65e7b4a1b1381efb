"""Groups of l different values: always one of each of the l values that are left most often (Xiao and Tao 2006)."""

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from shoal.kernels._jit import jit

Array: TypeAlias = NDArray[Any]


def bucketize(counts: Array, size: int, draws: Array, group_values: Array) -> int:
    """Form groups as long as `size` values are left; one row of a value at a time.

    The values stand in descending order of what is left of them, so that a step looks at the largest ones alone: those
    above the last of them are taken, and of those that tie with it as many as are needed, drawn by chance.

    `counts`: the rows of each value. What is left of them at the end stands here. `size`: the values of a group.
    `draws`: random numbers, as many as rows. `group_values`: where the values of each group are written, one group
    after the other. Returns the number of groups.
    """
    order = np.argsort(-counts, kind="stable")
    left = counts[order]
    filled = _take_largest(left, order, size, draws, group_values)
    counts[order] = left
    return filled // size


@jit
def _take_largest(left: Array, order: Array, size: int, draws: Array, group_values: Array) -> int:
    """Take one row of each of the values that are left most often, as long as there are enough; how many were taken."""
    filled = 0
    drawn = 0
    while size <= len(left) and left[size - 1] > 0:
        last = left[size - 1]
        begin, end = size - 1, size
        low = 0
        while low < begin:  # the first place that has as many as the last one taken
            middle = (low + begin) // 2
            if left[middle] > last:
                low = middle + 1
            else:
                begin = middle
        low, high = end, len(left)
        while low < high:  # the first place that has fewer
            middle = (low + high) // 2
            if left[middle] < last:
                high = middle
            else:
                low = middle + 1
        end = low
        needed = size - begin
        for step in range(
            needed
        ):  # the drawn ones go to the end of those that tie, where the order stays descending
            rest = end - step
            place = begin + draws[drawn] % (rest - begin)
            drawn += 1
            order[place], order[rest - 1] = order[rest - 1], order[place]
            left[rest - 1] -= 1
            group_values[filled] = order[rest - 1]
            filled += 1
        for place in range(begin):
            left[place] -= 1
            group_values[filled] = order[place]
            filled += 1
    return filled


@jit
def sorted_runs(weights: Array, numbers: Array, ends: Array, least: int, cuts: Array) -> int:
    """Cut ascending numbers into runs of least total error: the sum, over all rows, of the width of their run.

    `weights`: the rows of each different number. `numbers`: the different numbers, ascending. `ends`: for each number,
    the first place that a run which begins with it may end before, so that it is spread enough. `least`: the different
    numbers of a run, at least. `cuts`: where the begin of the best last run before each place is written; one entry
    more than numbers. Returns 1 if there is such a cutting, 0 if not.
    """
    count = len(weights)
    best = np.full(count + 1, np.inf)
    best[0] = 0.0
    cuts[:] = -1
    for end in range(1, count + 1):
        rows = 0
        for begin in range(end - 1, -1, -1):
            rows += weights[begin]
            cost = float(rows) * float(numbers[end - 1] - numbers[begin])
            if (
                cost >= best[end]
            ):  # a longer last run costs more by itself than the best one with all before it
                break
            if end - begin >= least and end >= ends[begin] and best[begin] + cost < best[end]:
                best[end] = best[begin] + cost
                cuts[end] = begin
    return 1 if best[count] < np.inf else 0
