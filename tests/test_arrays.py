"""Ragged arrays, and the order of several keys."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.arrays import ascending


@given(
    st.lists(st.tuples(st.integers(0, 3), st.integers(0, 5), st.integers(0, 2)), max_size=40),
    st.sampled_from((0, 20, 60)),
)
def test_entries_ascend_by_the_first_key_then_by_the_next(rows: list[tuple[int, ...]], shift: int) -> None:
    """Ties stay in their order, also where the keys do not fit into one number."""
    keys = np.array(rows, dtype=np.int64).reshape(len(rows), 3)
    shifted = (keys[:, 0].astype(np.int32), keys[:, 1] << shift, keys[:, 2])
    expected = sorted(range(len(rows)), key=lambda place: rows[place])
    assert ascending(*shifted).tolist() == expected


@pytest.mark.parametrize("count", [0, 1])
def test_nothing_or_one_entry_is_in_order(count: int) -> None:
    assert ascending(np.zeros(count, dtype=np.int64)).tolist() == list(range(count))
