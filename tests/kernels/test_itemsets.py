"""The kernels of the miner, also as plain Python (NUMBA_DISABLE_JIT=1)."""

from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.naive import itemsets as naive

from shoal.io.baskets.load import read_baskets
from shoal.kernels.cohorts import shared
from shoal.kernels.eclat import grown, list_positions, store
from shoal.mining import frequent_itemsets as mining
from shoal.mining.frequent_itemsets import frequent_itemsets, supports_of, top_itemsets

baskets_of = st.lists(st.sets(st.sampled_from("abcde"), max_size=5), min_size=1, max_size=10)


@pytest.fixture(scope="module", autouse=True)
def no_small_baskets() -> Iterator[None]:
    """Kernels do all the work."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(mining, "SMALL", -1)
        yield


@pytest.fixture(scope="module")
def no_room() -> Iterator[None]:
    """Looking for all sets at once is given up at once."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(mining, "ROOM", 0)
        yield


@settings(max_examples=30)
@given(baskets_of, st.integers(1, 4), st.integers(1, 5))
def test_mine_roots(sets: list[set[str]], least: int, size: int) -> None:
    """Every set with its support."""
    baskets = read_baskets(sets)
    found = frequent_itemsets(baskets, least, size, threads=1)
    wanted = naive.frequent_itemsets(sets, least, size)
    assert dict(zip(found.texts(baskets.vocabulary), found.supports.tolist(), strict=True)) == wanted


@settings(max_examples=60)
@given(baskets_of, st.integers(1, 40), st.none() | st.integers(1, 5))
def test_the_most_frequent_sets_are_found_without_all_others(
    no_room: None, sets: list[set[str]], count: int, size: int | None
) -> None:
    """As many as are asked for, with a heap of their keys."""
    baskets = read_baskets(sets)
    found = top_itemsets(baskets, count, size)
    assert found.texts(baskets.vocabulary) == naive.top_itemsets(sets, count, size)


@settings(max_examples=30)
@given(baskets_of)
def test_count_sets(sets: list[set[str]]) -> None:
    baskets = read_baskets(sets)
    found = frequent_itemsets(baskets, 1)
    assert supports_of(baskets, *found.members(), threads=1).tolist() == found.supports.tolist()


@given(st.sets(st.integers(0, 40)), st.sets(st.integers(0, 40)))
def test_shared_rows(one: set[int], other: set[int]) -> None:
    rows = np.array(sorted(one), dtype=np.int64)
    kept = shared(rows, len(rows), np.array(sorted(other), dtype=np.int32), rows)
    assert rows[:kept].tolist() == sorted(one & other)


@given(st.sets(st.integers(0, 191), min_size=1), st.sets(st.integers(0, 191)))
def test_bits_are_numbered_anew(chosen: set[int], held: set[int]) -> None:
    """The bits at the listed positions, side by side."""

    def row_of(positions: set[int]) -> np.ndarray:
        row = np.zeros(3, dtype=np.uint64)
        for position in positions:
            row[position >> 6] |= np.uint64(1) << np.uint64(position & 63)
        return row

    positions = np.empty(192, dtype=np.int64)
    count = list_positions(row_of(chosen), positions)
    assert positions[:count].tolist() == sorted(chosen)
    bits = np.zeros(4, dtype=np.uint64)
    store(row_of(chosen & held), 3, positions, count, bits, 1)
    wanted = row_of({place for place, position in enumerate(sorted(chosen)) if position in held})
    assert bits[1:].tolist() == wanted.tolist()
    assert bits[0] == 0


def test_grown() -> None:
    array = np.array([1, 2, 3])
    assert grown(array, 3, 2) is array or grown(array, 3, 2).tolist() == [1, 2, 3]
    longer = grown(array, 2, 10)
    assert len(longer) == 10
    assert longer[:2].tolist() == [1, 2]
