"""k-anonymity judged from published cells, and the mistakes of others that it must not make."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.contract.data import shopping
from tests.naive.k_anonymity import smallest_class
from tests.tables import column, table, texts

from shoal.data.group_statistics import group_statistics
from shoal.data.role import Role
from shoal.data.table import Table
from shoal.data.verdict import SHOWN
from shoal.errors import WrongUse
from shoal.methods.mondrian.method import Mondrian
from shoal.models.distinct_diversity import DistinctDiversity
from shoal.models.k_anonymity import KAnonymity
from shoal.pipeline import carry_out

cells = st.one_of(st.none(), st.sampled_from("abc"))


@st.composite
def small_tables(draw: st.DrawFn) -> Table:
    rows = draw(st.integers(1, 12))
    column = st.lists(cells, min_size=rows, max_size=rows)
    people = st.lists(st.sampled_from(["p", "q", "r"]), min_size=rows, max_size=rows)
    return table({"x": draw(column), "y": draw(column), "person": draw(people)}, entity="person")


@given(small_tables(), st.integers(2, 5), st.booleans())
def test_agrees_with_its_twin(data: Table, k: int, persons: bool) -> None:
    entity = "person" if persons else None
    verdict = KAnonymity(k=k, entity=entity).verify(data)
    truth = smallest_class(texts(data), ["x", "y"], entity)
    assert verdict.value == truth
    assert verdict.holds == (truth is not None and truth >= k)


@given(small_tables(), st.integers(2, 5))
def test_holds_says_the_same_as_verify(data: Table, k: int) -> None:
    keys = [(row["x"], row["y"]) for row in texts(data)]
    numbers = {key: place for place, key in enumerate(dict.fromkeys(keys))}
    groups = np.array([numbers[key] for key in keys], dtype=np.int64)
    statistics = group_statistics(data, groups, len(numbers))
    model = KAnonymity(k=k, entity="person")
    assert bool(model.holds(statistics).all()) == model.verify(data).holds


@given(small_tables(), st.randoms(use_true_random=False))
def test_order_of_rows_does_not_matter(data: Table, random: "np.random.Generator") -> None:
    rows = list(range(data.rows))
    random.shuffle(rows)
    model = KAnonymity(k=2)
    assert model.verify(data).value == model.verify(data.take(np.array(rows, dtype=np.int64))).value


def test_a_missing_cell_is_a_value() -> None:
    """One record with a missing cell among three others is unique (pycanon drops it and reports 3)."""
    verdict = KAnonymity(k=2).verify(table({"age": [30, 30, 30, None]}))
    assert not verdict.holds
    assert verdict.value == 1
    assert "age (missing)" in verdict.offenders[0].where


def test_missing_cells_agree_with_each_other() -> None:
    assert KAnonymity(k=2).verify(table({"age": [30, 30, None, None]})).holds


def test_seed_003_figure_2() -> None:
    data = table(
        {
            "age": ["0-20"] * 4 + ["20-40"] * 4,
            "zip": ["5****"] * 4 + ["022**"] * 4,
            "disease": ["Flu", "Diarrhea", "Flu", "Fever", "Diarrhea", "Fever", "Flue", "Diarrhea"],
        },
        sensitive=["disease"],
    )
    assert KAnonymity(k=2).verify(data).holds
    assert KAnonymity(k=4).verify(data).value == 4
    assert not KAnonymity(k=5).verify(data).holds


def test_seed_003_figure_2_raw_is_not_anonymous() -> None:
    data = table({"age": [7, 9, 13, 19], "zip": ["53715", "55410", "52121", "56421"]})
    assert KAnonymity(k=2).verify(data).value == 1


def test_offenders_are_capped_and_counted() -> None:
    verdict = KAnonymity(k=2).verify(table({"x": [str(place) for place in range(50)]}))
    assert len(verdict.offenders) == SHOWN
    assert verdict.offender_count == 50
    assert verdict.as_dict()["offenders"][0]["why"] == "1 row where 2 are promised"


def test_persons_not_rows() -> None:
    data = table({"x": ["a"] * 4, "who": ["p", "p", "p", "q"]}, entity="who")
    assert KAnonymity(k=3).verify(data).holds
    verdict = KAnonymity(k=3, entity="who").verify(data)
    assert verdict.value == 2
    assert "2 persons where 3 are promised" in verdict.offenders[0].why


@pytest.mark.parametrize("wild", ["missing_matches_all", "stars_match_all"])
def test_persons_are_not_counted_where_cells_match_all(wild: str) -> None:
    data = table({"x": ["a", "a", "", "*"], "who": ["p", "p", "p", "q"]}, entity="who")
    for model in (KAnonymity(k=3, **{wild: True}), KAnonymity(k=3, entity="who", **{wild: True})):
        with pytest.raises(WrongUse, match="rows that match are counted, not persons"):
            model.verify(data)
    with pytest.raises(WrongUse, match="not persons"):
        Mondrian(promises=[KAnonymity(k=2, **{wild: True})]).anonymize(data)


def test_no_rows_have_no_classes() -> None:
    verdict = KAnonymity(k=2).verify(table({"x": []}))
    assert verdict.holds
    assert verdict.value is None


def test_says_nothing_about_baskets() -> None:
    with pytest.raises(WrongUse, match="judges table, not baskets"):
        KAnonymity(k=2).verify(shopping())


def test_promise_both_ways() -> None:
    model = KAnonymity(k=7, entity="who")
    assert KAnonymity.from_promise(model.as_promise()) == model
    assert model.as_promise() == {"model": "k-anonymity", "k": 7, "entity": "who"}


def test_verdicts_with_fractions_become_plain_data() -> None:
    from shoal.data.verdict import Verdict

    verdict = Verdict("m", "p", holds=True, value=Fraction(1, 2), threshold=Fraction(1, 3))
    assert verdict.as_dict()["value"] == 0.5


SEED = [
    *(("20-29", "Any", "130**", "Asian", one) for one in ("Heart disease",) * 2 + ("Viral infection",) * 2),
    *(("40-59", "Any", "14***", "Asian", one) for one in ("Cancer", "Flu", "Heart disease", "Flu")),
    *(("30-39", "Any", "1322*", "American", "Cancer") for _ in range(4)),
]
"""The example of seed 004 (k = 4): age, gender, zip code, nationality, condition."""

PATIENTS = ["Ann", "Bruce", "Cary", "Dick", "Eshwar", "Fox", "Gary", "Helen", "Igor", "Jean", "Ken", "Lewis"]


def seed_table() -> Table:
    names = ("Age", "Gender", "Zip Code", "Nationality", "Condition")
    columns = {name: [row[place] for row in SEED] for place, name in enumerate(names)}
    whole = table(columns, sensitive=("Condition",))
    return Table((column("Name", PATIENTS, Role.IDENTIFYING), *whole.columns))


def test_the_example_of_the_seed() -> None:
    """Every class has four rows; the names, which are identifiers, would make each row a class of its own."""
    data = seed_table()
    assert KAnonymity(k=4).verify(data).holds
    assert KAnonymity(k=4).verify(data).value == 4
    assert not KAnonymity(k=5).verify(data).holds
    named = table({"Name": PATIENTS, "Age": [row[0] for row in SEED]})
    assert KAnonymity(k=2).verify(named).value == 1
    # The third class has cancer alone: what k-anonymity does not promise.
    assert not DistinctDiversity(l=2).verify(data).holds


def test_no_release_publishes_the_names_of_the_seed() -> None:
    run = carry_out(Mondrian(k=4), seed_table())
    assert "Name" not in run.release.data.names
    assert run.holds
