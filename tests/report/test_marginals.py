"""Columns before and after, gathered into bars."""

import datetime

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.tables import column

from shoal.data.domain import Domain, Kind
from shoal.report.marginals import BARS, Marginal, marginal_of, round_step


def same(domain: Domain, rows: list[float] | None = None) -> Marginal:
    before = np.ones(len(domain)) if rows is None else np.array(rows, dtype=float)
    return marginal_of("c", domain, before, before)


@given(
    st.sets(st.floats(-1e9, 1e9, allow_nan=False) | st.integers(-50, 50), min_size=1, max_size=60),
    st.booleans(),
)
def test_numbers_fall_into_few_bins_that_lose_no_row(values: set[float], missing: bool) -> None:
    domain = column("c", [*values, *([None] if missing else [])]).domain
    marginal = same(domain)
    assert len(marginal.pairs) <= BARS + 1 + missing
    assert sum(pair.before for pair in marginal.pairs) == pytest.approx(1)
    assert marginal.shift == 0
    assert marginal.pairs[-1].label == "(missing)" if missing else True


def test_bins_begin_at_round_numbers() -> None:
    marginal = same(column("age", list(range(17, 91))).domain)
    assert [pair.label for pair in marginal.pairs] == ["10", "20", "30", "40", "50", "60", "70", "80", "90"]
    assert marginal.pairs[0].full == "10 to under 20"
    assert marginal.pairs[0].before == pytest.approx(3 / 74)
    assert marginal.binned
    assert marginal.upright


def test_few_numbers_have_a_bar_each() -> None:
    marginal = same(column("n", [1, 2, 10]).domain)
    assert [pair.label for pair in marginal.pairs] == ["1", "2", "10"]
    assert not marginal.binned


@given(st.sets(st.dates(datetime.date(1600, 1, 1), datetime.date(2200, 1, 1)), min_size=1, max_size=40))
def test_days_fall_into_few_bins_that_hold_them(days: set[datetime.date]) -> None:
    marginal = same(column("d", list(days)).domain)
    assert len(marginal.pairs) <= BARS + 1
    assert sum(pair.before for pair in marginal.pairs) == pytest.approx(1)
    if marginal.binned:
        first = marginal.pairs[0].label
        assert first <= str(min(days))[: len(first)]


def test_days_of_many_years_are_told_by_year() -> None:
    days = [datetime.date(year, 6, 1) for year in range(1990, 2020)]
    marginal = same(column("d", days).domain)
    assert [pair.label for pair in marginal.pairs][:2] == ["1990", "1995"]
    assert marginal.pairs[0].full == "1990 to before 1995"
    assert marginal.pairs[0].before == pytest.approx(5 / 30)


def test_the_most_frequent_names_come_first_and_the_others_together() -> None:
    labels = tuple(f"v{place:02}" for place in range(20))
    rows = [1.0] * 20
    rows[7] = 20.0
    marginal = same(Domain(Kind.NOMINAL, labels), rows)
    assert marginal.pairs[0].label == "v07"
    assert len(marginal.pairs) == BARS + 1
    assert marginal.pairs[-1].label == "8 others"
    assert marginal.pairs[-1].before == pytest.approx(8 / 39)


def test_one_name_too_many_has_a_bar_of_its_own() -> None:
    marginal = same(Domain(Kind.NOMINAL, tuple(f"v{place:02}" for place in range(BARS + 1))))
    assert [pair.label for pair in marginal.pairs][-1] == f"v{BARS}"


def test_ordered_names_stay_in_order() -> None:
    domain = Domain(Kind.ORDINAL, tuple(f"v{place:02}" for place in range(30)))
    labels = [pair.label for pair in same(domain).pairs]
    assert labels[0] == "v00 … v02"
    assert labels[-1].endswith("v29")
    assert len(labels) == BARS


def test_the_shift_is_the_share_that_moves() -> None:
    domain = Domain(Kind.NOMINAL, ("a", "b"))
    marginal = marginal_of("c", domain, np.array([3.0, 1.0]), np.array([1.0, 1.0]))
    assert marginal.shift == pytest.approx(0.25)


def test_nothing_published_is_no_error() -> None:
    marginal = marginal_of("c", Domain(Kind.NOMINAL, ("a",)), np.array([2.0]), np.array([0.0]))
    assert marginal.pairs[0].after == 0


@given(st.floats(1e-6, 1e12))
def test_steps_are_round_and_not_too_large(least: float) -> None:
    assert least * (1 - 1e-9) <= round_step(least) <= 2.51 * least
