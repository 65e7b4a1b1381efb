"""What published cells stand for."""

import datetime
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.naive import report as naive
from tests.tables import column

from shoal.data.domain import Domain, Kind, nominal
from shoal.data.hierarchy import Hierarchy
from shoal.data.published_syntax import range_text, set_text
from shoal.data.role import Role
from shoal.data.table import Column
from shoal.measures._coverage import Coverage, Form, coverage_of


def covered(original: Column, cells: Sequence[str]) -> tuple[Coverage, np.ndarray]:
    """The coverage of distinct cells, and the rows of each."""
    labels = tuple(dict.fromkeys(cells))
    codes = np.array([labels.index(cell) for cell in cells], dtype=np.int32)
    published = Column(original.name, Role.QUASI, nominal(labels), codes)
    rows = np.bincount(codes, minlength=len(labels))
    return coverage_of(original, published, rows > 0), rows


@st.composite
def columns_and_cells(draw: st.DrawFn) -> tuple[Column, list[str]]:
    numeric = draw(st.booleans())
    size = draw(st.integers(1, 8))
    values = [3 * place + 7 for place in range(size)] if numeric else [f"v{place}" for place in range(size)]
    missing = [None] if draw(st.booleans()) else []
    original = column("c", [*values, *missing], kind=None if numeric else Kind.ORDINAL)
    labels = original.domain.labels[:size]
    places = st.integers(0, size - 1)
    ranges = st.tuples(places, places).map(lambda ends: range_text(labels[min(ends)], labels[max(ends)]))
    sets = st.sets(st.sampled_from(labels), min_size=1).map(set_text)
    kinds = [ranges, sets, st.just("*"), *([st.just("")] if missing else [])]
    return original, draw(st.lists(st.one_of(kinds), min_size=1, max_size=20))


@given(columns_and_cells())
def test_rows_are_spread_as_by_hand(case: tuple[Column, list[str]]) -> None:
    original, cells = case
    coverage, rows = covered(original, cells)
    assert coverage.spread(rows) == pytest.approx(naive.spread(original.domain.labels, cells))
    assert sum(coverage.rows_by_form(rows).values()) == len(cells)


def test_nodes_stand_for_the_values_below_them_that_occur(people) -> None:
    town = people.column("town")
    coverage, rows = covered(town, ["Germany", "Germany", "Rome", "*"])
    assert coverage.spread(rows) == pytest.approx([1 + 1 / 3, 1 + 1 / 3, 1 + 1 / 3])
    assert coverage.rows_by_form(rows) == {Form.EXACT: 1, Form.NODE: 2, Form.SUPPRESSED: 1}
    assert coverage.rows_by_level(rows, 2) == (1, 2, 1)


def test_a_node_may_have_leaves_that_nobody_has() -> None:
    tree = Hierarchy((("a", "b", "c"), ("ab", "c"), ("*",)), (np.array([0, 0, 1]), np.array([0, 0])))
    coverage, rows = covered(column("c", ["a", "c"], hierarchy=tree), ["ab", "ab"])
    assert coverage.spread(rows).tolist() == [2, 0]


def test_half_open_bins_and_dates_are_read_by_their_coordinates() -> None:
    coverage, rows = covered(column("n", [25, 27, 30]), ["[25,30)", "[20,40]"])
    assert coverage.spread(rows) == pytest.approx([0.5 + 1 / 3, 0.5 + 1 / 3, 1 / 3])
    days = [datetime.date(2020, 1, 1), datetime.date(2020, 1, 5), datetime.date(2020, 2, 1)]
    coverage, rows = covered(column("d", days), ["[2020-01-01,2020-01-31]"])
    assert coverage.spread(rows).tolist() == [0.5, 0.5, 0]


def test_escaped_sets_are_read() -> None:
    original = column("c", ["x|y", "z", "w"])
    coverage, rows = covered(original, [set_text(["x|y", "z"])])
    assert dict(zip(original.domain.labels, coverage.spread(rows), strict=True)) == {
        "w": 0,
        "x|y": 0.5,
        "z": 0.5,
    }


def test_texts_without_a_meaning_are_counted_and_stand_for_nothing() -> None:
    coverage, rows = covered(column("n", [1, 2]), ["about two", "", "2"])
    assert coverage.rows_by_form(rows) == {Form.EXACT: 1, Form.MISSING: 1, Form.UNREAD: 1}
    assert coverage.spread(rows).tolist() == [0, 1]


def test_texts_that_no_row_has_stand_for_nothing() -> None:
    original = column("n", [1, 2])
    published = Column("n", Role.QUASI, nominal(("1", "2")), np.array([1], dtype=np.int32))
    coverage = coverage_of(original, published, np.array([False, True]))
    assert coverage.spread(np.array([5, 1])).tolist() == [0, 1]


@pytest.mark.parametrize(
    "labels", [("2024/09/10", "2024/10/01", "2024/12/24"), ("10.09.2024", "1.10.2024", "24.12.2024")]
)
def test_ranges_of_days_in_any_form(labels: tuple[str, ...]) -> None:
    days = Domain(Kind.DATE, labels, np.array([19976.0, 19997.0, 20081.0]))
    original = Column("day", Role.QUASI, days, np.arange(3))
    coverage, rows = covered(original, [range_text(labels[0], labels[1])] * 2 + [labels[2]])
    assert coverage.spread(rows) == pytest.approx([1, 1, 1])
