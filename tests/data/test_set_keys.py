"""Keys of groups and trees sort as Python sorts what they stand for."""

from itertools import chain, pairwise
from typing import Any

import numpy as np
import polars as pl
from hypothesis import given
from hypothesis import strategies as st
from tests.parts import MemoryParts

from shoal.data._basket_frames import cells_of, rows_of, supports_in
from shoal.data._set_keys import nested, side_by_side
from shoal.data.baskets import Baskets
from shoal.data.dataset import Dataset

sets = st.lists(st.integers(0, 3), max_size=3)


def indptr_of(lists: list[list[Any]]) -> np.ndarray:
    return np.cumsum([0, *map(len, lists)]).astype(np.int64)


def split(indptr: np.ndarray, entries: np.ndarray) -> list[list[int]]:
    return [entries[low:high].tolist() for low, high in pairwise(indptr.tolist())]


@given(st.lists(st.lists(st.lists(sets, max_size=3), max_size=3), min_size=1, max_size=6))
def test_nested_lists_sort_as_lists_do(things: list[list[list[list[int]]]]) -> None:
    inner = [one for thing in things for one in thing]
    innermost = [one for some in inner for one in some]
    items = np.array([item for one in innermost for item in one], dtype=np.int64)
    keys = split(*nested([indptr_of(things), indptr_of(inner), indptr_of(innermost)], items))
    for one, its_key in zip(things, keys, strict=True):
        for other, other_key in zip(things, keys, strict=True):
            assert (one < other) == (its_key < other_key)
            assert (one == other) == (its_key == other_key)


@given(st.lists(st.tuples(sets, sets, sets), min_size=1, max_size=6))
def test_rows_stand_side_by_side(rows: list[tuple[list[int], ...]]) -> None:
    columns = [list(column) for column in zip(*rows, strict=True)]
    joined = side_by_side(
        [(indptr_of(column), np.array([item for one in column for item in one])) for column in columns]
    )
    assert split(*joined) == [list(chain(*row)) for row in rows]


@given(st.lists(sets, max_size=8))
def test_cells_are_rows(rows: list[list[int]]) -> None:
    cells = cells_of(
        "items", indptr_of(rows), np.array([item for one in rows for item in one], dtype=np.int64)
    )
    assert (cells.name, cells.dtype, cells.to_list()) == ("items", pl.List(pl.Int32), rows)
    assert split(*rows_of(cells)) == rows


def test_supports_are_counted_in_parts() -> None:
    none = np.empty(0, dtype=np.int32)
    schema = Baskets(np.zeros(1, dtype=np.int64), none, ("a", "b", "c"), none, none)
    frame = pl.DataFrame({"items": [[0, 2], [2], []]}, schema={"items": pl.List(pl.Int32)})
    assert supports_in(Dataset(schema, MemoryParts(frame, 3), 3)).tolist() == [1, 0, 2]
