"""Bucketization and cutting of numbers, beside plain Python."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.naive.linked import least_error, steps_are_largest

from shoal.kernels import buckets

COUNTS = st.lists(st.integers(0, 9), min_size=1, max_size=8)


@given(COUNTS, st.integers(1, 5), st.integers(0, 2**32))
def test_always_the_largest_values(counts: list[int], size: int, seed: int) -> None:
    left = np.array(counts, dtype=np.int64)
    taken = np.empty(sum(counts), dtype=np.int64)
    draws = np.random.default_rng(seed).integers(0, 2**62, sum(counts))
    count = buckets.bucketize(left, size, draws, taken)
    groups = taken[: count * size].reshape(count, size).tolist()
    assert steps_are_largest(counts, groups) or (not groups and sum(one > 0 for one in counts) < size)
    assert (left == np.array(counts) - np.bincount(taken[: count * size], minlength=len(counts))).all()
    if sum(counts) and max(counts) * size <= sum(counts):
        assert left.max() <= 1, "under the paper's condition at most one row of a value is left"
        assert left.sum() < size


def test_ties_are_drawn() -> None:
    """Of four values that tie, each of six pairs is the first group about as often."""
    first = []
    for seed in range(600):
        taken = np.empty(8, dtype=np.int64)
        draws = np.random.default_rng(seed).integers(0, 2**62, 8)
        buckets.bucketize(np.full(4, 2, dtype=np.int64), 2, draws, taken)
        first.append(tuple(sorted(taken[:2].tolist())))
    found = {pair: first.count(pair) for pair in set(first)}
    assert len(found) == 6
    assert min(found.values()) > 60


@given(
    st.lists(st.integers(0, 30), min_size=1, max_size=9, unique=True),
    st.integers(1, 4),
    st.integers(0, 12),
    st.data(),
)
def test_cuts_have_least_error(numbers: list[int], k: int, e: int, data: st.DataObject) -> None:
    numbers.sort()
    weights = data.draw(st.lists(st.integers(1, 5), min_size=len(numbers), max_size=len(numbers)))
    values = np.array(numbers, dtype=np.float64)
    ends = np.searchsorted(values, values + e) + 1
    cuts = np.empty(len(numbers) + 1, dtype=np.int64)
    found = buckets.sorted_runs(np.array(weights), values, ends.astype(np.int64), k, cuts)
    best = least_error(numbers, weights, k, e)
    assert (best is not None) == bool(found)
    if best is None:
        return
    cost, end = 0.0, len(numbers)
    while end:
        begin = int(cuts[end])
        assert end - begin >= k
        assert numbers[end - 1] - numbers[begin] >= e
        cost += sum(weights[begin:end]) * (numbers[end - 1] - numbers[begin])
        end = begin
    assert cost == pytest.approx(best)
