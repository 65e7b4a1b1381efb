"""Groups of near points with at least a number of rows: optimal ones on a line, and MDAV in several dimensions."""

import numpy as np

from shoal.arrays import Counts, Floats, Rows
from shoal.kernels._jit import jit


@jit
def best_groups(points: Floats, weights: Counts, size: int) -> Rows:
    """The groups of ascending points with the least squared error, each of at least `size` rows.

    The dynamic program of Hansen and Mukherjee, for points that several rows may share. A group that can be split in
    two is never better than its parts, so that only groups that cannot be split are considered.
    """
    count = len(points)
    total = np.zeros(count + 1, dtype=np.int64)
    sums = np.zeros(count + 1)
    squares = np.zeros(count + 1)
    middle = points[count // 2] if count else 0.0  # close to the values, so that squares do not lose digits
    for at in range(count):
        value = points[at] - middle
        total[at + 1] = total[at] + weights[at]
        sums[at + 1] = sums[at] + weights[at] * value
        squares[at + 1] = squares[at] + weights[at] * value * value
    cost = np.full(count + 1, np.inf)
    cost[0] = 0.0
    begin = np.zeros(count + 1, dtype=np.int64)
    last = 0  # where the shortest group that ends here begins
    for end in range(1, count + 1):
        while last + 1 < end and total[end] - total[last + 1] >= size:
            last += 1
        for start in range(last, -1, -1):
            rows = total[end] - total[start]
            if start < last and total[last] - total[start] >= size:
                break  # it can be split, and so can all longer ones
            if rows < size or cost[start] == np.inf:
                continue
            part = sums[end] - sums[start]
            here = cost[start] + max(squares[end] - squares[start] - part * part / rows, 0.0)
            if here < cost[end]:
                cost[end] = here
                begin[end] = start
    groups = np.zeros(count, dtype=np.int64)
    end = count
    number = 0
    while end > 0:
        for at in range(begin[end], end):
            groups[at] = number
        number += 1
        end = begin[end]
    for at in range(count):
        groups[at] = number - 1 - groups[at]
    return groups


@jit
def mdav(points: Floats, weights: Counts, size: int) -> Rows:
    """The groups of MDAV: one around the point farthest from the mean, then one around the point farthest from that.

    This goes on as long as there are rows for three groups. If there are still rows for two, one more forms around the
    farthest point, and the rest is the last group. Of equally far points, the first is taken.
    """
    count = len(points)
    groups = np.full(count, -1, dtype=np.int64)
    left = 0
    for at in range(count):
        left += weights[at]
    number = 0
    while left >= 3 * size:
        first = _farthest(points, groups, _mean(points, weights, groups))
        left -= _gather(points, weights, groups, first, size, number)
        number += 1
        if left < size:
            break
        second = _farthest(points, groups, points[first])
        left -= _gather(points, weights, groups, second, size, number)
        number += 1
    if left >= 2 * size:
        first = _farthest(points, groups, _mean(points, weights, groups))
        left -= _gather(points, weights, groups, first, size, number)
        number += 1
    if left >= size or number == 0:
        for at in range(count):
            if groups[at] < 0:
                groups[at] = number
        return groups
    # Heavy points may leave too few rows: each remaining point joins the group of its nearest neighbor.
    before = groups.copy()
    for at in range(count):
        if before[at] >= 0:
            continue
        best, nearest = np.inf, 0
        for other in range(count):
            if before[other] >= 0:
                distance = _distance(points[at], points[other])
                if distance < best:
                    best, nearest = distance, other
        groups[at] = before[nearest]
    return groups


@jit
def _distance(one: Floats, other: Floats) -> float:
    total = 0.0
    for axis in range(len(one)):
        total += (one[axis] - other[axis]) ** 2
    return total


@jit
def _mean(points: Floats, weights: Counts, groups: Rows) -> Floats:
    """The mean of the points that have no group."""
    mean = np.zeros(points.shape[1])
    rows = 0
    for at in range(len(points)):
        if groups[at] < 0:
            rows += weights[at]
            for axis in range(points.shape[1]):
                mean[axis] += weights[at] * points[at, axis]
    return mean / max(rows, 1)


@jit
def _farthest(points: Floats, groups: Rows, center: Floats) -> int:
    """The point without a group that is farthest from a center; of several, the first."""
    best, found = -1.0, 0
    for at in range(len(points)):
        if groups[at] < 0:
            distance = _distance(points[at], center)
            if distance > best:
                best, found = distance, at
    return found


@jit
def _gather(points: Floats, weights: Counts, groups: Rows, center: int, size: int, number: int) -> int:
    """Make a group of at least `size` rows from a point and its nearest neighbors; returns its number of rows."""
    free = np.flatnonzero(groups < 0)
    distances = np.empty(len(free))
    for at in range(len(free)):
        distances[at] = _distance(points[free[at]], points[center])
    order = np.argsort(distances, kind="mergesort")
    groups[center] = number
    rows = int(weights[center])
    for at in order:
        if rows >= size:
            break
        if groups[free[at]] < 0:
            groups[free[at]] = number
            rows += weights[free[at]]
    return rows
