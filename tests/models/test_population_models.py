"""k-map and δ-presence beside a population."""

import datetime
from dataclasses import replace
from fractions import Fraction
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.naive.models import keeps
from tests.tables import column, table, texts

from shoal.data.domain import Kind
from shoal.data.group_statistics import GroupStatistics, group_statistics
from shoal.data.hierarchy import Hierarchy
from shoal.data.published_syntax import set_text
from shoal.data.table import Table
from shoal.errors import UnknownName, WrongUse
from shoal.methods.mondrian.method import Mondrian
from shoal.models import _matching
from shoal.models._equivalence_classes import PublishedClasses
from shoal.models._matching import CellReader, match_pairs, matching_rows, reader_of, shared_readers
from shoal.models.delta_presence import DeltaPresence
from shoal.models.k_map import KMap

TREE = Hierarchy(
    (("a", "b", "c", "d"), ("left", "right"), ("*",)),
    (np.array([0, 0, 1, 1], dtype=np.int32), np.array([0, 0], dtype=np.int32)),
)


def read(cells: list[object], text: str, **options: object) -> list[object]:
    """The values of a population that a published text stands for."""
    one = column("x", cells, **options)  # type: ignore[arg-type]
    meant = CellReader(one).meant(text)
    return [label for label, is_meant in zip(one.domain.labels, meant, strict=True) if is_meant]


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("*", ["1", "2", "5", "9", ""]),
        ("2", ["2"]),
        ("2.0", ["2"]),
        ("", [""]),
        ("[2,5]", ["2", "5"]),
        ("[2,5)", ["2"]),
        ("[2, 5[", ["2"]),
        ("[3,100]", ["5", "9"]),
        ("{1|9|77}", ["1", "9"]),
        ("7", []),
        ("seven", []),
    ],
)
def test_cells_of_numbers(text: str, values: list[str]) -> None:
    assert read([1, 2, 5, 9, None], text) == values


def test_cells_of_names() -> None:
    assert read(["a", "b", "c"], "left", hierarchy=None) == []
    assert read(["a", "b", "c", "d"], "left", hierarchy=TREE) == ["a", "b"]
    assert read(["a", "c", "d"], "{left|d}", hierarchy=TREE) == ["a", "d"]
    assert read(["a", "b", "c"], "[a,b]", kind=Kind.ORDINAL) == ["a", "b"]


def test_cells_of_days() -> None:
    days = [datetime.date(2020, month, 1) for month in (1, 2, 3)]
    assert read(days, "[2020-01-15,2020-03-01]") == ["2020-02-01", "2020-03-01"]  # type: ignore[arg-type]


def test_a_small_class_of_common_people() -> None:
    release = table({"age": ["[20,29]", "[30,39]", "[30,39]"], "sex": ["m", "f", "*"]})
    population = table({"age": [21, 25, 29, 30, 35, 39, 31], "sex": ["m", "m", "f", "f", "f", "f", "m"]})
    verdict = KMap(k=3, population=population).verify(release)
    assert matching_rows(PublishedClasses.of(release), population).tolist() in ([2, 4, 3], [2, 3, 4])
    assert not verdict.holds
    assert verdict.value == 2
    assert verdict.offenders[0].where == "age [20,29], sex m"
    assert KMap(k=2, population=population).verify(release).holds


def test_presence() -> None:
    release = table({"age": ["[20,29]"] * 2 + ["[30,39]"]})
    population = table({"age": [21, 25, 29, 28, 30, 35, 70]})
    assert DeltaPresence(delta_max=0.5, population=population).verify(release).value == Fraction(1, 2)
    assert DeltaPresence(delta_max=0.5, population=population).verify(release).holds
    assert not DeltaPresence(delta_max=0.49, population=population).verify(release).holds
    verdict = DeltaPresence(delta_max=0.5, delta_min=0.5, population=population).verify(release)
    assert [offender.where for offender in verdict.offenders] == ["no class"]
    young = table({"age": [21, 25, 29, 28, 30, 35]})
    assert DeltaPresence(delta_max=0.5, delta_min=0.5, population=young).verify(release).holds
    assert not DeltaPresence(delta_max=1, delta_min=0.6, population=young).verify(release).holds


def test_a_population_must_be_given_and_is_never_published() -> None:
    population = table({"x": ["a"]})
    for model in (KMap(k=2), DeltaPresence(delta_max=0.5)):
        with pytest.raises(WrongUse, match="`population`"):
            model.verify(table({"x": ["a"]}))
        assert "population" not in model.among(population).as_promise()
        assert "Table" not in repr(model.among(population))
    with pytest.raises(UnknownName, match="no column 'y'"):
        KMap(k=2, population=population).verify(table({"y": ["a"]}))


def test_bounds_in_order() -> None:
    with pytest.raises(WrongUse, match="above delta_max"):
        DeltaPresence(delta_max=0.2, delta_min=0.5)


def test_a_method_that_counts_nothing_is_told() -> None:
    counts = GroupStatistics(np.array([3]), np.array([3]))
    with pytest.raises(WrongUse, match="does not count a population"):
        KMap(k=2, population=table({"x": ["a"]})).holds(counts)
    counted = GroupStatistics(np.array([3, 3]), np.array([3, 3]), population=np.array([3, 30]))
    assert KMap(k=5).holds(counted).tolist() == [False, True]
    assert DeltaPresence(delta_max=0.5).holds(counted).tolist() == [False, True]
    assert DeltaPresence(delta_max=1, delta_min=0.5).holds(counted).tolist() == [True, False]


def test_a_least_chance_needs_exact_counts() -> None:
    data = table({"x": ["a", "b"]})
    model = DeltaPresence(delta_max=1, delta_min=0.1, population=data)
    with pytest.raises(WrongUse, match="delta_min above 0"):
        model.holds(group_statistics(data, np.array([0, 0]), 1))


def test_numbers_are_matched_by_value() -> None:
    data = table({"x": ["1", "2"]})
    numbers = table({"x": [1, 2]})
    written = Table((column("x", [1.0, 1.0, 2.0, 3.0]),))
    groups = np.array([0, 1])
    assert KMap(k=2, population=written).holds(group_statistics(numbers, groups, 2)).tolist() == [True, False]
    assert KMap(k=2, population=numbers).holds(group_statistics(data, groups, 2)).tolist() == [False, False]


cells = st.one_of(st.none(), st.integers(0, 9))
published = st.one_of(
    st.just("*"),
    st.integers(0, 9).map(str),
    st.tuples(st.integers(0, 9), st.integers(0, 9)).map(lambda ends: f"[{min(ends)},{max(ends)}]"),
    st.lists(st.integers(0, 9), min_size=1, max_size=3, unique=True).map(
        lambda values: "{" + "|".join(map(str, values)) + "}"
    ),
)


@given(
    st.lists(st.tuples(published, published), min_size=1, max_size=8),
    st.lists(st.tuples(cells, cells), min_size=1, max_size=15),
    st.integers(2, 4),
    st.sampled_from([0.25, 0.5, 1.0]),
)
def test_generalized_cells_agree_with_the_twin(
    rows: list[tuple[str, str]], persons: list[tuple[int | None, int | None]], k: int, most: float
) -> None:
    release = table({"x": [row[0] for row in rows], "y": [row[1] for row in rows]})
    population = table({"x": [row[0] for row in persons], "y": [row[1] for row in persons]})
    for model in (KMap(k=k), DeltaPresence(delta_max=most), DeltaPresence(delta_max=most, delta_min=0.25)):
        truth = keeps(model.as_promise(), texts(release), ["x", "y"], [], texts(population))
        assert model.among(population).verify(release).holds == truth


def test_braces_in_braces_are_no_sets_of_sets() -> None:
    assert read(["a", "b"], "{" * 5000 + "a" + "}" * 5000) == []
    assert read(["a", "{a}"], r"{\{a\}|b}") == ["{a}"]


@pytest.mark.parametrize("several", [1, 1_000])
@given(
    cells=st.lists(st.integers(0, 30) | st.none(), min_size=1, max_size=40),
    texts=st.lists(
        st.sampled_from(["*", "", "seven", "{1|9|77}", "[nan,3]", *(f"[{n},{n + 4}]" for n in range(30))])
        | st.integers(0, 40).map(str),
        max_size=30,
        unique=True,
    ),
    random=st.randoms(use_true_random=False),
)
def test_looking_texts_up_at_once_equals_one_by_one(
    several: int, cells: list[int | None], texts: list[str], random: Random
) -> None:
    """Whatever way is taken, the rows of each text are those whose value it may stand for."""
    one = column("x", cells)
    rows = np.array(sorted(random.sample(range(len(cells)), random.randint(1, len(cells)))))
    reader = CellReader(one)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_matching, "SEVERAL", several)
        found = {place: matching.tolist() for place, matching in reader.holders(texts, one.codes, rows)}
    expected = {
        place: matching
        for place, text in enumerate(texts)
        if (matching := [row for row in rows.tolist() if reader.meant(text)[one.codes[row]]])
    }
    assert found == expected


def test_readers_are_shared_for_a_while() -> None:
    """Of the same domain and hierarchy, whatever rows a column has."""
    one = column("age", [1, 2, 3])
    other = replace(one, codes=one.codes[:1])
    with shared_readers():
        reader = reader_of(one)
        with shared_readers():
            assert reader_of(other) is reader
        assert reader_of(column("age", [1, 2, 3])) is not reader
        assert reader.mask("[1,2]") is reader.mask("[1,2]")
        assert reader.mask("[1,2]").tolist() == CellReader(other).meant("[1,2]").tolist()
    assert reader_of(one) is not reader


@pytest.mark.parametrize("label", ["a", "b", "[a,c]", "*", "**", "left", "", "{b", "7"])
def test_a_set_holds_what_its_members_stand_for(label: str) -> None:
    for cells, tree in ((["a", "b", "c", "d", "[a,c]", "{b", "", "7"], None), ([*"abcd"], TREE)):
        reader = CellReader(column("x", cells, hierarchy=tree))
        members = ["b", label]
        expected = {int(code) for one in members for code in reader._read(one, inside=True)}
        assert reader.values(set_text(members)).tolist() == sorted(expected)


@given(st.integers(2, 4), st.randoms(use_true_random=False))
def test_pairs_are_the_same_by_bits_and_by_walking(k: int, random: Random) -> None:
    rows = [(random.randrange(9), random.choice("abcd")) for _ in range(random.randint(k, 40))]
    original = table({"age": [age for age, _ in rows], "city": [city for _, city in rows]})
    published = Mondrian(k=k).anonymize(original)[0].data
    classes = PublishedClasses.of(published)
    found = []
    for dense in (0, _matching.DENSE):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(_matching, "DENSE", dense)
            persons, places = match_pairs(classes, original)
        found.append(sorted(zip(persons.tolist(), places.tolist(), strict=True)))
    assert found[0] == found[1] != []
