"""Tables: shape, roles, and the canonical order."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.tables import column, table, texts

from shoal.data.role import Role
from shoal.data.table import Column, Table, canonical_order, order_by
from shoal.errors import UnknownName, WrongUse

words = st.one_of(st.none(), st.text(alphabet="ab|é\U0001f41f ", max_size=2))


@given(st.lists(st.tuples(words, st.integers(-3, 12)), max_size=15))
def test_canonical_order_is_the_order_of_the_texts(rows: list[tuple[str | None, int]]) -> None:
    data = Table((column("x", [row[0] or None for row in rows]), column("y", [row[1] for row in rows])))
    cells = [tuple(row.values()) for row in texts(data)]
    order = canonical_order(data.columns)
    assert [cells[row] for row in order] == sorted(cells)


codes = st.integers(0, 5) | st.just(2**31 - 1)


@given(st.lists(st.tuples(codes, codes, codes), min_size=1, max_size=20))
def test_order_by_many_wide_columns(rows: list[tuple[int, int, int]]) -> None:
    """Columns that do not fit one key together are sorted in turns."""
    keys = [np.array(key, dtype=np.int32) for key in zip(*rows, strict=True)]
    order = order_by(keys, [2**31, 2**31, 2**31])
    assert order.tolist() == sorted(range(len(rows)), key=lambda row: (rows[row], row))


def test_arrays_are_read_only() -> None:
    data = table({"x": ["a", "b"]})
    with pytest.raises(ValueError, match="read-only"):
        data.columns[0].codes[0] = 1


def test_two_columns_of_one_name() -> None:
    with pytest.raises(WrongUse, match="same name"):
        Table((column("x", ["a"]), column("x", ["b"])))


def test_columns_of_different_length() -> None:
    with pytest.raises(WrongUse, match="same number of rows"):
        Table((column("x", ["a"]), column("y", ["b", "c"])))


def test_unknown_column_names_the_near_ones() -> None:
    with pytest.raises(UnknownName, match="Did you mean 'education'"):
        table({"education": ["a"], "sex": ["b"]}).column("educaton")


def test_only_one_entity() -> None:
    two = [
        Column(name, Role.ENTITY, one.domain, one.codes)
        for name, one in [("a", column("a", ["x"])), ("b", column("b", ["x"]))]
    ]
    with pytest.raises(WrongUse, match="Only one column"):
        Table(tuple(two))


@given(st.lists(st.sampled_from("abc"), max_size=6))
def test_codes_that_occur_are_those_of_the_rows(cells: list[str]) -> None:
    one = column("x", ["a", "b", "c", *cells]).take(np.arange(3, 3 + len(cells)))
    assert one.occurring.tolist() == np.unique(one.codes).tolist()
