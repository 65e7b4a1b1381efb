"""Classes of a release: sizes, and what they give away."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.naive import report as naive
from tests.tables import column, table

from shoal.data.domain import Domain, Kind
from shoal.data.role import Role
from shoal.data.table import Column, Table
from shoal.report.class_charts import BINS, class_statistics, sensitive_of, sizes_of


@given(st.lists(st.tuples(st.sampled_from("ab"), st.sampled_from("xyz"), st.sampled_from("123")), min_size=1))
def test_sensitive_values_are_counted_as_by_hand(rows: list[tuple[str, str, str]]) -> None:
    data = table(
        {"q": [row[0] for row in rows], "r": [row[1] for row in rows], "s": [row[2] for row in rows]}, ["s"]
    )
    found = sensitive_of("s", class_statistics(data))
    assert found is not None
    classes, certain, fewest, largest = naive.sensitive(
        [row[0] + row[1] for row in rows], [row[2] for row in rows]
    )
    assert (found.certain_classes, found.certain_rows, found.least_distinct) == (classes, certain, fewest)
    assert found.largest_share == pytest.approx(largest)
    assert found.rows == len(rows)


def test_many_columns_are_told_apart() -> None:
    """So many combinations that they fit no 63 bits."""
    rng = np.random.default_rng(1)
    size = 40_000
    labels = tuple(map(str, range(size)))
    columns = tuple(
        Column(f"q{place}", Role.QUASI, Domain(Kind.NOMINAL, labels), rng.integers(0, size, 50).repeat(2))
        for place in range(6)
    )
    data = Table(columns)
    assert class_statistics(data).sizes.tolist() == [2] * 50


def test_rows_published_without_their_cells_are_no_class() -> None:
    data = table({"q": ["a", "a", "*", "*", "*"], "s": ["x", "y", "z", "*", "*"]}, ["s"])
    statistics = class_statistics(data)
    assert sorted(statistics.sizes.tolist()) == [1, 2]
    found = sensitive_of("s", statistics)
    assert found is not None
    assert (found.certain_rows, found.rows) == (1, 3)


def test_persons_are_counted_where_rows_belong_together() -> None:
    data = table({"q": ["a"] * 4, "who": ["1", "1", "2", "2"]}, entity="who")
    assert class_statistics(data).persons.tolist() == [2]


def test_what_every_person_has_is_certain() -> None:
    data = table({"q": ["a"] * 4, "who": list("1122"), "s": ["flu", "hiv", "hiv", "hiv"]}, ["s"], "who")
    found = sensitive_of("s", class_statistics(data))
    assert found is not None
    assert (found.certain_classes, found.certain_rows, found.rows) == (1, 2, 2)
    assert (found.least_distinct, found.largest_share) == (2, 1.0)


def test_an_empty_release_has_no_classes() -> None:
    data = table({"q": ["a"], "s": ["x"]}, ["s"]).take(np.array([], dtype=np.int64))
    statistics = class_statistics(data)
    assert sizes_of(statistics.persons, "class", "rows", 2) is None
    assert sensitive_of("s", statistics) is None


@given(st.lists(st.integers(1, 100_000), min_size=1, max_size=80), st.none() | st.integers(2, 200_000))
def test_every_class_has_its_bar(members: list[int], promised: int | None) -> None:
    sizes = sizes_of(np.array(members), "class", "rows", promised)
    assert sizes is not None
    assert len(sizes.bins) <= BINS + 2
    assert sum(entry.classes for entry in sizes.bins) == len(members)
    for entry in sizes.bins:
        high = float("inf") if entry.high is None else entry.high
        assert entry.classes == sum(entry.low <= size <= high for size in members)
    if promised is not None:
        assert promised in [entry.low for entry in sizes.bins]


def test_sizes_are_summed_up() -> None:
    sizes = sizes_of(np.array([3, 0, 3, 9]), "class", "rows", 3)
    assert sizes is not None
    assert (sizes.count, sizes.smallest, sizes.median, sizes.mean, sizes.largest) == (3, 3, 3, 5, 9)


def test_missing_is_a_sensitive_value_like_any_other() -> None:
    data = Table((column("q", ["a", "a"]), column("s", ["x", None], Role.SENSITIVE)))
    found = sensitive_of("s", class_statistics(data))
    assert found is not None
    assert found.least_distinct == 2
    assert replace(found, column="t").certain_rows == 0


def test_stars_tell_no_value_and_leave_nothing_certain() -> None:
    """A class of stars alone tells nothing, and one value beside stars has its share of the class."""
    data = table({"x": ["a", "a", "b", "b", "c"], "s": ["*", "*", "u", "*", "v"]}, sensitive=["s"])
    found = sensitive_of("s", class_statistics(data))
    assert found is not None
    assert (found.certain_classes, found.certain_rows, found.classes, found.rows) == (1, 1, 2, 2)
    assert found.least_distinct == 1
    only = sensitive_of("s", class_statistics(table({"x": ["b", "b"], "s": ["u", "*"]}, sensitive=["s"])))
    assert only is not None
    assert (only.certain_rows, only.largest_share) == (0, 0.5)
