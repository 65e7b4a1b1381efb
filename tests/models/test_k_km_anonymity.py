"""(k,k^m)-anonymity, judged by its twin and by hand."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.naive.mixed import Row, is_k_km_anonymous, least_rows
from tests.parts import MemoryParts
from tests.tables import column

import shoal
from shoal.data._frames import text_frame
from shoal.data._item_sets import item_column, sets_of
from shoal.data.dataset import Dataset
from shoal.data.domain import nominal
from shoal.data.table import Table
from shoal.errors import UnknownName, WrongUse
from shoal.models._distributed import verify_table
from shoal.models.k_anonymity import KAnonymity
from shoal.models.k_km_anonymity import KKmAnonymity
from shoal.models.km_anonymity import KmAnonymity
from shoal.models.reidentification_risk import ReidentificationRisk

ITEMS = "abcd"

rows_of = st.lists(
    st.tuples(
        st.sampled_from("xy").map(lambda cell: (cell,)), st.frozensets(st.sampled_from(ITEMS), max_size=3)
    ),
    min_size=1,
    max_size=12,
)


def mixed_table(rows: list[Row], sensitive_items: tuple[str, ...] = ()) -> Table:
    """A table of one quasi-identifier and the items of each row."""
    sets = sets_of(
        np.array([place for place, row in enumerate(rows) for _ in row[1]], dtype=np.int64),
        pl.Series([item for row in rows for item in sorted(row[1])], dtype=pl.String),
        len(rows),
    )
    buys = replace(item_column("buys", sets), sensitive_items=sensitive_items)
    return Table((column("city", [row[0][0] for row in rows]), buys))


@settings(max_examples=400, deadline=None)
@given(rows_of, st.integers(2, 3), st.integers(1, 3))
def test_it_is_judged_as_its_twin_does(rows: list[Row], k: int, m: int) -> None:
    verdict = KKmAnonymity(k=k, m=m).verify(mixed_table(rows))
    assert verdict.holds == is_k_km_anonymous(rows, k, m)
    assert verdict.value == least_rows(rows, m)
    assert verdict.holds == (verdict.offender_count == 0)


@settings(max_examples=200, deadline=None)
@given(rows_of, st.integers(1, 2), st.sampled_from([0.3, 0.5, 0.75]))
def test_sensitive_items_are_bounded_among_who_is_found(rows: list[Row], m: int, h: float) -> None:
    model = KKmAnonymity(k=2, m=m, h=h, sensitive_items=("a",), insensitive_items=("b",))
    assert model.verify(mixed_table(rows)).holds == is_k_km_anonymous(
        rows, 2, m, hidden="b", secrets="a", h=h
    )


@pytest.mark.parametrize("parts", [False, True])
def test_rows_of_stars_are_one_class_where_some_have_items(parts: bool) -> None:
    """Whoever knows the cells of a person finds them all; where none has items, they tell nothing."""
    data = mixed_table([(("*",), frozenset("a"))] * 2 + [(("*",), frozenset())] * 3)
    model = ReidentificationRisk(risk=0.2, over="average")
    if parts:
        rows = Dataset(data.take(np.empty(0, dtype=np.int64)), MemoryParts(text_frame(data), 0), data.rows)
        (verdict,) = verify_table([model], rows, 10**9)
    else:
        verdict = model.verify(data)
    assert verdict.holds
    assert verdict.value == Fraction(1, 5)
    empty = mixed_table([(("*",), frozenset())] * 3)
    assert KAnonymity(k=5).verify(empty).value is None


def test_four_columns_and_one_item_single_a_person_out_though_every_two_are_common() -> None:
    """Amnesia promises k for any m of cells and items together: who knows three cells and an item is not covered."""
    rows = [(x, y, z) for x in "01" for y in "01" for z in "01"]
    frame = pl.DataFrame(rows, schema=["x", "y", "z"], orient="row").with_columns(
        buys=pl.Series(["wine" if (x + y + z).count("1") % 2 else "" for x, y, z in rows])
    )
    whole = [
        [f"{name}={row[name]}" for name in "xyz"] + ([row["buys"]] if row["buys"] else [])
        for row in frame.to_dicts()
    ]
    assert KmAnonymity(k=2, m=2).verify(shoal.read_baskets(whole)).holds
    table = shoal.read_table(frame, quasi=list("xyz"), items="buys")
    verdict = KKmAnonymity(k=2, m=2).verify(table)
    assert not verdict.holds
    assert verdict.value == 1
    assert "x 0" in verdict.offenders[0].where


def test_a_class_that_is_large_enough_may_show_a_rare_combination() -> None:
    table = mixed_table(
        [
            (("x",), frozenset("ab")),
            (("x",), frozenset("ab")),
            (("x",), frozenset("a")),
            (("x",), frozenset("b")),
        ]
    )
    assert KKmAnonymity(k=3, m=1).verify(table).holds
    verdict = KKmAnonymity(k=3, m=2).verify(table)
    assert [(one.where, one.why) for one in verdict.offenders] == [
        ("city x with {a, b}", "2 rows where 3 are promised")
    ]


def test_items_in_another_order_break_it() -> None:
    table = mixed_table([(("x",), frozenset("ab"))] * 3)
    buys = table.column("buys")
    forged = Table((table.column("city"), replace(buys, domain=nominal(("b|a",)))))
    verdict = KKmAnonymity(k=2, m=1).verify(forged)
    assert not verdict.holds
    assert verdict.offenders[0].why == "its items do not ascend"


def test_the_largest_share_is_exact() -> None:
    rows = [(("x",), frozenset("ab"))] * 3 + [(("x",), frozenset("b"))] * 7
    table = mixed_table(rows, sensitive_items=("a",))
    (bound,) = KKmAnonymity(k=2, m=1, h=0.3).bound(table)
    assert bound.sensitive_items == ("a",)
    assert bound.verify(table).holds
    assert not KKmAnonymity(k=2, m=1, h=0.29, sensitive_items=("a",)).verify(table).holds


def test_what_it_cannot_judge_is_refused() -> None:
    plain = shoal.read_table(pl.DataFrame({"city": ["x", "x"]}), quasi=["city"])
    with pytest.raises(WrongUse, match="No column holds items"):
        KKmAnonymity(k=2).verify(plain)
    table = mixed_table([(("x",), frozenset("ab"))] * 2)
    with pytest.raises(UnknownName):
        KKmAnonymity(k=2, sensitive_items=("beer",)).refuse_unknown(table)
    with pytest.raises(WrongUse, match="sensitive"):
        KKmAnonymity(k=2, h=0.5).bound(table)
