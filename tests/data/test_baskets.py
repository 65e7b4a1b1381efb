"""Baskets in compressed rows."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.naive import baskets as naive

from shoal.data.baskets import Baskets, ragged_order, ragged_ranks
from shoal.errors import UnknownName

RAGGED = st.lists(st.lists(st.integers(0, 6), max_size=5), max_size=12)
LARGE = st.lists(st.lists(st.sampled_from([0, 1, 2**20, 2**31 - 1]), max_size=5), max_size=12)


def ragged(rows: list[list[int]]) -> tuple[np.ndarray, np.ndarray]:
    indptr = np.concatenate(([0], np.cumsum([len(row) for row in rows]))).astype(np.int64)
    return indptr, np.array([item for row in rows for item in row], dtype=np.int32)


def some_baskets() -> Baskets:
    indptr, items = ragged([[0, 2], [], [1, 2, 3], [2]])
    return Baskets(indptr, items, ("a", "b", "c", "d"), np.array([3]), np.array([0]))


@given(RAGGED | LARGE)
def test_ragged_order_is_the_order_of_lists(rows: list[list[int]]) -> None:
    indptr, items = ragged(rows)
    assert ragged_order(indptr, items).tolist() == naive.canonical_order(rows)
    assert ragged_ranks(indptr, items).tolist() == naive.ragged_ranks(rows)


def test_ragged_ranks_of_large_numbers() -> None:
    indptr, items = ragged([[2**31 - 1, 0], [2**31 - 1], [0, 2**31 - 1]])
    assert ragged_ranks(indptr, items).tolist() == [2, 1, 0]


def test_facts() -> None:
    baskets = some_baskets()
    assert len(baskets) == 4
    assert baskets.lengths.tolist() == [2, 0, 3, 1]
    assert baskets.supports.tolist() == [1, 1, 3, 1]
    assert baskets.public.tolist() == [1, 2]
    assert baskets.basket(2) == ("b", "c", "d")
    assert baskets.code("c") == 2


def test_arrays_are_read_only() -> None:
    with pytest.raises(ValueError, match="read-only"):
        some_baskets().items[0] = 1


def test_an_unknown_item_is_named() -> None:
    with pytest.raises(UnknownName, match="There is no item 'e'"):
        some_baskets().code("e")


def test_keep_leaves_items_out_of_baskets_and_vocabulary() -> None:
    kept = some_baskets().keep(np.array([False, True, True, True]))
    assert kept.vocabulary == ("b", "c", "d")
    assert [kept.basket(row) for row in range(4)] == [("c",), (), ("b", "c", "d"), ("c",)]
    assert kept.sensitive.tolist() == [2]
    assert kept.insensitive.tolist() == []


def test_take_reorders_and_repeats() -> None:
    taken = some_baskets().take(np.array([3, 1, 0, 0]))
    assert [taken.basket(row) for row in range(4)] == [("c",), (), ("a", "c"), ("a", "c")]


def test_canonical_order_puts_empty_baskets_first() -> None:
    assert some_baskets().canonical_order().tolist() == [1, 0, 2, 3]
