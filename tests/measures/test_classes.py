"""Discernibility, C_AVG and class sizes."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.naive import measures as naive
from tests.tables import column, texts

from shoal.data._equal_rows import row_classes
from shoal.data.domain import Kind, nominal
from shoal.data.release import Release
from shoal.data.role import Role
from shoal.data.table import Column, Table
from shoal.measures.classes import Classes
from shoal.measures.measure import flat

K2 = {"model": "k-anonymity", "k": 2, "entity": None}


def measured(
    ages: list[int],
    published: list[str],
    suppressed: int = 0,
    promises: tuple[dict[str, object], ...] = (K2,),
) -> dict[str, float]:
    data = Table((column("age", published, kind=Kind.NOMINAL),))
    release = Release(data, "by hand", {}, promises, suppressed)
    return flat(Classes().scores(Table((column("age", ages),)), release))


def test_classes_of_3_and_2_and_one_suppressed_row() -> None:
    scores = measured([1, 2, 3, 4, 5, 90], ["[1,3]"] * 3 + ["[4,5]"] * 2, suppressed=1)
    assert scores == {
        "discernibility": 3 * 3 + 2 * 2 + 1 * 6,
        "c_avg": 5 / 2 / 2,
        "classes": 2,
        "smallest_class": 2,
        "mean_class": 2.5,
        "median_class": 2.5,
        "largest_class": 3,
        "suppressed_rows": 1,
        "suppressed_share": 1 / 6,
    }


def test_kept_suppressed_rows_are_no_class() -> None:
    left_out = measured([1, 2, 3, 4, 5, 90], ["[1,3]"] * 3 + ["[4,5]"] * 2, suppressed=1)
    assert measured([1, 2, 3, 4, 5, 90], ["[1,3]"] * 3 + ["*"] + ["[4,5]"] * 2, suppressed=1) == left_out


def test_rows_that_are_generalized_to_the_root_are_a_class() -> None:
    scores = measured([1, 2, 3], ["*", "*", "*"])
    assert (scores["classes"], scores["discernibility"]) == (1, 9)
    mixed = measured([1, 2, 3], ["*", "*", "*"], suppressed=1)
    assert (mixed["classes"], mixed["largest_class"], mixed["discernibility"]) == (1, 2, 2 * 2 + 3)


def test_a_release_without_rows_has_no_sizes() -> None:
    scores = measured([1, 2], [], suppressed=2)
    assert scores == {"discernibility": 4, "classes": 0, "suppressed_rows": 2, "suppressed_share": 1}


@pytest.mark.parametrize(
    "promises",
    [(), ({"model": "t-closeness", "t": 0.2},), ({"model": "k-anonymity", "k": 2, "entity": "person"},)],
)
def test_c_avg_needs_a_promise_about_rows(promises: tuple[dict[str, object], ...]) -> None:
    scores = measured([1, 2], ["[1,2]"] * 2, promises=promises)
    assert "c_avg" not in scores
    assert scores["mean_class"] == 2


def test_counts_are_whole_numbers() -> None:
    scores = measured([1, 2], ["[1,2]"] * 2)
    counts = ("discernibility", "classes", "smallest_class", "largest_class", "suppressed_rows")
    assert all(isinstance(scores[name], int) for name in counts)


@given(st.integers(1, 40), st.integers(1, 7), st.integers(0, 2**32 - 1))
def test_sizes_agree_with_the_slow_twin_however_many_texts_the_columns_have(
    rows: int, columns: int, seed: int
) -> None:
    random = np.random.default_rng(seed)
    texts_of = tuple(map(str, range(1200)))
    cells = [random.choice([0, 5, 700, 1199], rows) for _ in range(columns)]
    table = Table(
        tuple(Column(f"c{i}", Role.QUASI, nominal(texts_of), codes) for i, codes in enumerate(cells))
    )
    assert sorted(row_classes(table.quasi, table.rows).sizes.tolist()) == naive.class_sizes(
        texts(table), table.names
    )


def test_columns_with_very_many_texts_do_not_overflow() -> None:
    rows = 20_000
    random = np.random.default_rng(7)
    half = [random.permutation(rows // 2) for _ in range(6)]
    domain = nominal(tuple(map(str, range(rows // 2))))
    columns = [Column(f"c{i}", Role.QUASI, domain, np.tile(codes, 2)) for i, codes in enumerate(half)]
    assert np.array_equal(row_classes(columns, rows).sizes, np.full(rows // 2, 2))
