"""Matrices of few entries against whole ones."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from shoal.data._sparse_rows import SparseRows


@st.composite
def matrices(draw: st.DrawFn, shape: tuple[int, int]) -> tuple[SparseRows, np.ndarray]:  # type: ignore[type-arg]
    """A matrix from entries in any order, some in the same place, and all its cells."""
    entry = st.tuples(
        st.integers(0, shape[0] - 1), st.integers(0, shape[1] - 1), st.sampled_from([0.5, 1.0, 2.0])
    )
    entries = draw(st.lists(entry, max_size=12))
    cells = np.zeros(shape)
    for row, column, value in entries:
        cells[row, column] += value
    rows, columns, values = (list(one) for one in zip(*entries, strict=True)) if entries else ([], [], [])
    return SparseRows.of(
        np.array(rows, dtype=np.int64), np.array(columns, dtype=np.int64), np.array(values), shape
    ), cells


@given(data=st.data(), high=st.integers(1, 4), wide=st.integers(1, 4), far=st.integers(1, 3))
def test_it_is_the_same_as_with_all_cells(data: st.DataObject, high: int, wide: int, far: int) -> None:
    one, cells = data.draw(matrices((high, wide)))
    other, others = data.draw(matrices((wide, far)))
    alike, likes = data.draw(matrices((high, wide)))
    weights = np.arange(1.0, wide + 1)
    rows = np.array(data.draw(st.lists(st.integers(0, high - 1), max_size=5)), dtype=np.int64)
    assert len(one) == high
    assert_array_equal(one.dense(), cells)
    assert_array_equal(one.held, (cells > 0).sum(axis=0))
    assert_array_equal(one.take(rows).dense(), cells[rows])
    assert_array_equal(one.weighed(weights), cells @ weights)
    assert_array_equal(one.times(other), cells @ others)
    assert_array_equal(one.turned_times(cells), cells.T @ cells)
    assert_array_equal(one.among(alike).dense(), np.where(likes > 0, cells, 0.0))
