"""What `shoal inspect` shows."""

import gzip
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.naive import baskets as naive

from shoal.data._item_adversary import Holders, known_items
from shoal.data.baskets import Baskets
from shoal.data.domain import Domain, Kind
from shoal.data.profile import profile_baskets, profile_table
from shoal.data.role import Role
from shoal.data.table import Column, Table

SETS = st.lists(st.sets(st.sampled_from("abcdefgh"), max_size=6), min_size=1, max_size=15)


def baskets_of(sets: list[set[str]], sensitive: str = "") -> Baskets:
    vocabulary = tuple(sorted(set().union(*sets)))
    places = {item: place for place, item in enumerate(vocabulary)}
    codes = [sorted(places[item] for item in one) for one in sets]
    indptr = np.concatenate(([0], np.cumsum([len(one) for one in codes])))
    secret = np.array([vocabulary.index(item) for item in sensitive], dtype=np.int32)
    items = np.array([item for one in codes for item in one], dtype=np.int32)
    return Baskets(indptr, items, vocabulary, secret, np.empty(0, dtype=np.int32))


def column(name: str, cells: str, role: Role = Role.INSENSITIVE) -> Column:
    labels = tuple(sorted(set(cells.split())))
    codes = np.array([labels.index(cell) for cell in cells.split()])
    return Column(name, role, Domain(Kind.NOMINAL, labels), codes)


@given(SETS)
def test_one_known_item_is_exact(sets: list[set[str]]) -> None:
    (found,) = known_items(baskets_of(sets), known=[1])
    count, unique, probability = naive.known_items(sets, 1)
    assert (found.baskets, found.sampled) == (count, count)
    assert found.unique == pytest.approx(unique)
    assert found.probability == pytest.approx(probability)


@given(SETS, st.integers(2, 4))
def test_known_items_of_baskets_that_have_no_others(sets: list[set[str]], known: int) -> None:
    """A basket with just as many items leaves nothing to draw, so the estimate is the truth."""
    sets = [set(sorted(one)[:known]) for one in sets]
    (found,) = known_items(baskets_of(sets), known=[known])
    count, unique, probability = naive.known_items(sets, known)
    assert found.baskets == count
    assert found.unique == pytest.approx(unique)
    assert found.probability == pytest.approx(probability)


@pytest.mark.parametrize("known", [2, 3])
def test_known_items_are_near_the_mean_over_all_choices(known: int) -> None:
    generator = np.random.default_rng(5)
    sets = [{str(item) for item in np.flatnonzero(generator.random(12) < 0.3)} for _ in range(60)]
    # The mean of the naive twin repeats each basket, so that a sample of all of them is a large one.
    count, unique, probability = naive.known_items(sets, known)
    estimates = [known_items(baskets_of(sets), known=[known], seed=seed)[0] for seed in range(200)]
    assert estimates[0].baskets == count
    assert np.mean([found.unique for found in estimates]) == pytest.approx(unique, abs=0.02)
    assert np.mean([found.probability for found in estimates]) == pytest.approx(probability, abs=0.02)


@given(SETS, st.sets(st.sampled_from("abcdefgh"), min_size=1, max_size=4))
def test_holders_counts_baskets(sets: list[set[str]], items: set[str]) -> None:
    sets = [*sets, set("abcdefgh")] + [set()] * 150  # some items are rare among so many, others common
    sets += [set("ab")] * 20
    baskets = baskets_of(sets)
    codes = [baskets.code(item) for item in sorted(items)]
    assert Holders(baskets).count(codes) == sum(items <= one for one in sets)


def test_an_adversary_knows_public_items_only() -> None:
    sets = [{"a", "s"}, {"a"}, {"a", "b"}]
    assert known_items(baskets_of(sets, sensitive="s"), known=[1]) == known_items(
        baskets_of([one - {"s"} for one in sets]), known=[1]
    )


def test_a_large_set_is_sampled() -> None:
    (found,) = known_items(baskets_of([{"a", "b"}] * 50), known=[2], samples=20)
    assert (found.baskets, found.sampled, found.unique) == (50, 20, 0.0)
    assert found.probability == pytest.approx(1 / 50)


@pytest.mark.parametrize(("name", "published"), [("bms-webview-1", 0.3), ("bms-webview-2", 0.8)])
def test_one_known_item_as_in_the_paper(
    public_data: Callable[[str], Path], name: str, published: float
) -> None:
    lines = gzip.decompress(public_data(f"{name}/{name}.dat.gz").read_bytes()).decode().split("\n")[:-1]
    (found,) = known_items(baskets_of([set(line.split()) for line in lines]), known=[1])
    assert round(100 * found.probability, 1) == published


def test_profile_of_baskets() -> None:
    profile = profile_baskets(baskets_of([{"a", "b"}, set(), {"b", "c", "d"}, {"b"}]))
    assert (profile.baskets, profile.items, profile.occurrences, profile.empty) == (4, 4, 6, 1)
    assert profile.density == 6 / 16
    assert (profile.lengths.least, profile.lengths.mean, profile.lengths.most) == (0, 1.5, 3)
    assert profile.supports.quantiles["0.5"] == 1
    assert profile.top == (("b", 3), ("a", 1), ("c", 1), ("d", 1))
    assert [found.known for found in profile.known] == [1, 2, 3, 4]
    assert [found.baskets for found in profile.known] == [3, 2, 1, 0]
    assert json.loads(json.dumps(profile.as_dict()))["known"][1]["unique"] == 1.0


def test_profile_of_baskets_without_items() -> None:
    profile = profile_baskets(baskets_of([set(), set()]))
    assert (profile.density, profile.lengths.most, profile.supports.most) == (0.0, 0, 0)


def test_profile_of_a_table() -> None:
    ages = Column(
        "age",
        Role.INSENSITIVE,
        Domain(Kind.NUMERIC, ("30", "40", ""), np.array([30.0, 40.0, np.nan]), missing=2),
        np.array([0, 0, 1, 2, 2]),
    )
    table = Table((ages, column("sex", "f m m m m"), column("disease", "flu flu flu flu cold")))
    profile = profile_table(table)
    first = profile.columns[0]
    assert (first.kind, first.distinct, first.missing, first.unique) == ("numeric", 2, 2, 0.2)
    assert first.examples == ("30", "40")
    assert profile.quasi == ("age", "sex")
    # (30, f), (30, m), (40, m) and twice (missing, m)
    assert (profile.unique, profile.smallest, profile.classes) == (0.6, 1, 4)
    assert profile.columns[2].role is Role.SENSITIVE
    assert json.loads(json.dumps(profile.as_dict()))["columns"][1]["role"] == "quasi"


def test_given_roles_count_more_than_suggested_ones() -> None:
    table = Table((column("age", "1 2 3 4"), column("team", "x x y y", Role.QUASI)))
    assert profile_table(table).quasi == ("team",)
    assert profile_table(table, quasi=["age"]).unique == 1.0
    assert profile_table(table).smallest == 2


def test_many_columns_do_not_overflow() -> None:
    generator = np.random.default_rng(1)
    cells = generator.permutation(1000)
    base = Column("c", Role.QUASI, Domain(Kind.NOMINAL, tuple(map(str, range(1000)))), cells)
    table = Table(tuple(replace(base, name=f"c{place}") for place in range(12)))
    assert profile_table(table).classes == 1000


def test_one_column_is_the_entity() -> None:
    table = Table((column("visit_id", "1 2 3 3 4 4"), column("patient_id", "a a a b b b")))
    assert [profile.role for profile in profile_table(table).columns] == [Role.IDENTIFYING, Role.ENTITY]


def test_measurements_are_no_names() -> None:
    values = np.array([1.25, 2.5, 3.75])
    size = Column("size", Role.QUASI, Domain(Kind.NUMERIC, ("1.25", "2.5", "3.75"), values), np.arange(3))
    whole = Domain(Kind.NUMERIC, ("1", "2", "3"), values // 1)
    assert profile_table(Table((size,))).columns[0].role is Role.QUASI
    assert profile_table(Table((replace(size, domain=whole),))).columns[0].role is Role.IDENTIFYING


def test_amounts_of_which_some_are_alike_number_nobody() -> None:
    """Whole amounts nearly all of which differ are known, not names; running numbers with a slip are names."""
    for step, role in ((37, Role.QUASI), (1, Role.IDENTIFYING)):
        values = np.arange(40) * step + 100.0
        domain = Domain(Kind.NUMERIC, tuple(f"{value:g}" for value in values), values)
        total = Column("total", Role.QUASI, domain, np.array([*range(40), 0], dtype=np.int32))
        assert profile_table(Table((total,))).columns[0].role is role


def test_a_value_that_is_half_missing_is_not_constant() -> None:
    seen = Column(
        "seen", Role.INSENSITIVE, Domain(Kind.NOMINAL, ("yes", ""), missing=1), np.array([0, 1, 0, 1])
    )
    assert profile_table(Table((seen,))).columns[0].role is Role.QUASI
    always = replace(seen, codes=np.zeros(4, dtype=np.int32))
    assert profile_table(Table((always,))).columns[0].role is Role.INSENSITIVE
