"""Groups of l distinct values, one row each of the l values with the most rows left (Xiao and Tao 2006); and runs."""

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from shoal.kernels._jit import jit

Array: TypeAlias = NDArray[Any]


def bucketize(counts: Array, size: int, draws: Array, group_values: Array) -> int:
    """Form groups of one row of each of `size` values, as long as rows of that many values are left.

    The values are kept in descending order of the rows left, so that each step considers only the first ones: those
    above the last one needed are taken, and of those that tie with it as many as needed, drawn at random.

    `counts`: the number of rows of each value; at the end, the rows that are left. `size`: the number of values in a
    group. `draws`: random numbers, as many as rows. `group_values`: filled with the values of each group, one group
    after another. Returns the number of groups.
    """
    order = np.argsort(-counts, kind="stable")
    left = counts[order]
    filled = _take_largest(left, order, size, draws, group_values)
    counts[order] = left
    return filled // size


@jit
def _take_largest(left: Array, order: Array, size: int, draws: Array, group_values: Array) -> int:
    """Take one row each of the values with the most rows left, as long as there are enough; returns how many in all."""
    filled = 0
    drawn = 0
    while size <= len(left) and left[size - 1] > 0:
        last = left[size - 1]
        begin, end = size - 1, size
        low = 0
        while low < begin:  # the first place that has as many rows left as the last one taken
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
        ):  # drawn values go to the end of those that tie, so that the order stays descending
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

    `weights`: the rows of each distinct number. `numbers`: the distinct numbers, ascending. `ends`: for each number,
    the first place before which a run that begins with it may end, so that it is wide enough. `least`: the fewest
    distinct numbers of a run. `cuts`: filled with where the best last run before each place begins; has one entry more
    than the numbers. Returns 1 if the numbers can be cut this way, 0 if not.
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
            if cost >= best[end]:  # a longer last run alone would cost more than the best solution so far
                break
            if end - begin >= least and end >= ends[begin] and best[begin] + cost < best[end]:
                best[end] = best[begin] + cost
                cuts[end] = begin
    return 1 if best[count] < np.inf else 0
