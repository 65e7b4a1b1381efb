"""Groups of near points beside plain Python: all partitions of a line, and MDAV as its paper says it."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.kernels.near_points import best_groups, mdav

LINES = st.lists(
    st.tuples(st.integers(-20, 20), st.integers(1, 4)), min_size=1, max_size=8, unique_by=lambda p: p[0]
)


def squared_error(points: list[float], weights: list[int]) -> float:
    mean = sum(p * w for p, w in zip(points, weights, strict=True)) / sum(weights)
    return sum(w * (p - mean) ** 2 for p, w in zip(points, weights, strict=True))


def best_of_all(points: list[float], weights: list[int], size: int) -> float:
    """The least error over all ways to cut a line."""
    best = float("inf")
    for cuts in itertools.product((False, True), repeat=len(points) - 1):
        bounds = [0, *(place + 1 for place, cut in enumerate(cuts) if cut), len(points)]
        parts = list(itertools.pairwise(bounds))
        if all(sum(weights[a:b]) >= size for a, b in parts):
            best = min(best, sum(squared_error(points[a:b], weights[a:b]) for a, b in parts))
    return best


@given(line=LINES, size=st.integers(2, 5))
def test_groups_of_a_line_are_the_best_there_are(line: list[tuple[int, int]], size: int) -> None:
    points, weights = (list(one) for one in zip(*sorted(line), strict=True))
    if sum(weights) < size:
        return
    groups = best_groups(np.array(points, dtype=np.float64), np.array(weights, dtype=np.int64), size).tolist()
    assert groups == sorted(groups)
    error = 0.0
    for group in set(groups):
        members = [place for place, one in enumerate(groups) if one == group]
        assert sum(weights[place] for place in members) >= size
        error += squared_error([points[place] for place in members], [weights[place] for place in members])
    assert error == pytest.approx(best_of_all(points, weights, size), abs=1e-9)


def naive_mdav(points: list[tuple[float, ...]], weights: list[int], size: int) -> list[int]:
    """The same rule, without compiled code and by sorting all that is left."""
    groups = [-1] * len(points)

    def free() -> list[int]:
        return [at for at, group in enumerate(groups) if group < 0]

    def rows() -> int:
        return sum(weights[at] for at in free())

    def distance(one: tuple[float, ...], other: tuple[float, ...]) -> float:
        total = 0.0
        for a, b in zip(one, other, strict=True):
            total += (a - b) ** 2
        return total

    def mean() -> tuple[float, ...]:
        sums = [0.0] * len(points[0])
        for at in free():
            for axis, value in enumerate(points[at]):
                sums[axis] += weights[at] * value
        return tuple(one / rows() for one in sums)

    def gather(center: int, number: int) -> None:
        near = sorted(
            (at for at in free() if at != center), key=lambda at: distance(points[at], points[center])
        )
        groups[center], count = number, weights[center]
        for at in near:
            if count >= size:
                break
            groups[at], count = number, count + weights[at]

    def farthest(center: tuple[float, ...]) -> int:
        return max(free(), key=lambda at: (distance(points[at], center), -at))

    number = 0
    while rows() >= 3 * size:
        first = farthest(mean())
        gather(first, number)
        number += 1
        if rows() < size:
            break
        gather(farthest(points[first]), number)
        number += 1
    if rows() >= 2 * size:
        gather(farthest(mean()), number)
        number += 1
    if rows() >= size or not number:
        return [number if group < 0 else group for group in groups]
    known = [at for at, group in enumerate(groups) if group >= 0]
    return [
        groups[min(known, key=lambda other: distance(points[at], points[other]))] if group < 0 else group
        for at, group in enumerate(groups)
    ]


PLANE = st.lists(
    st.tuples(st.integers(-9, 9), st.integers(-9, 9), st.integers(1, 4)),
    min_size=1,
    max_size=14,
    unique_by=lambda p: p[:2],
)


@given(plane=PLANE, size=st.integers(2, 4))
def test_mdav_is_that_of_plain_python(plane: list[tuple[int, int, int]], size: int) -> None:
    points = [(float(x), float(y)) for x, y, _ in sorted(plane)]
    weights = [weight for _, _, weight in sorted(plane)]
    if sum(weights) < size:
        return
    groups = mdav(np.array(points), np.array(weights, dtype=np.int64), size).tolist()
    assert groups == naive_mdav(points, weights, size)
    assert min(np.bincount(groups, weights=weights)) >= size
