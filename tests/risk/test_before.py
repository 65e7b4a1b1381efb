"""Risk before publishing: golden figures of ARX, and plain Python on small tables."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.naive import risk as naive
from tests.tables import column

import shoal
from shoal.data._equal_rows import person_sizes
from shoal.data.role import Role
from shoal.data.table import Table
from shoal.errors import UnknownName, WrongUse
from shoal.risks.assessment import BasketsRisk, TableRisk
from shoal.risks.interval import wilson
from shoal.risks.known_items import KnownItemsRisk, known_items_risk
from shoal.risks.population_uniques import population_uniques
from shoal.risks.reidentification import expected_unique_share, reidentification
from shoal.risks.special_uniques import special_uniques
from shoal.risks.unique_columns import column_risks, separation, unique_combinations

NINE = (
    "sex",
    "age",
    "race",
    "marital-status",
    "education",
    "native-country",
    "workclass",
    "occupation",
    "salary-class",
)
FOUR = NINE[:4]

rows_of_cells = st.integers(1, 5).flatmap(
    lambda width: st.lists(st.tuples(*[st.sampled_from("abc")] * width), min_size=1, max_size=12)
)


def table_of(rows: list[tuple[str, ...]]) -> Table:
    return Table(tuple(column(f"c{place}", cells) for place, cells in enumerate(zip(*rows, strict=True))))


def places_of(names: tuple[str, ...]) -> tuple[int, ...]:
    return tuple(int(name[1:]) for name in names)


@given(rows_of_cells, st.sampled_from([1.0, 0.75, 0.5, 0.2]), st.integers(1, 5))
@settings(max_examples=200, deadline=None)
def test_combinations_equal_trying_all_subsets(
    rows: list[tuple[str, ...]], wanted: float, largest: int
) -> None:
    found = unique_combinations(table_of(rows).columns, wanted, largest)
    assert found.complete
    assert {places_of(names) for names in found.found} == naive.minimal_combinations(rows, wanted, largest)


def test_more_than_ten_columns() -> None:
    """Sixteen columns: the only keys are the pairs that together hold the eight bits of a row's number."""
    numbers = np.arange(256)
    halves = [column("low", (numbers % 16).tolist()), column("high", (numbers // 16).tolist())]
    noise = [column(f"n{place}", ((numbers >> place % 4) % 2).tolist()) for place in range(14)]
    found = unique_combinations([*noise, *halves])
    assert ("low", "high") in found.found
    assert all("high" in names for names in found.found)
    assert found.complete


@given(rows_of_cells, st.integers(1, 4))
@settings(max_examples=150, deadline=None)
def test_special_uniques_equal_comparing_all_rows(rows: list[tuple[str, ...]], size: int) -> None:
    table = table_of(rows)
    size = min(size, len(table.columns))
    found = special_uniques(table.columns, size, shown=len(rows))
    expected = naive.minimal_sample_uniques(rows, size)
    assert found.counts.tolist() == [len(sets) for sets in expected]
    width = len(table.columns)
    assert found.scores.tolist() == [naive.special_score(sets, width, size) for sets in expected]
    told = {row: {places_of(names) for names in sets} for row, sets in found.top}
    assert told == {row: sets for row, sets in enumerate(expected) if sets}


@given(rows_of_cells, st.data())
@settings(max_examples=100, deadline=None)
def test_linkage_risks_equal_their_definitions(rows: list[tuple[str, ...]], data: st.DataObject) -> None:
    more = data.draw(st.lists(st.sampled_from(rows), max_size=20))
    population = rows + more
    table = table_of(rows)
    for around, other in ((rows, None), (population, table_of(population))):
        found = reidentification(table, table.columns, 0.4, other)
        expected = naive.linkage(rows, around, 0.4)
        for name in ("prosecutor", "journalist"):
            risk = getattr(found, name)
            assert (risk.highest, risk.average, risk.above) == pytest.approx(expected[name])
        assert found.marketer.average == pytest.approx(expected["marketer"][0])


def test_rows_of_a_person_are_known_together() -> None:
    """Ann and Bea have the same two rows; Cyd has one of them only, and is alone."""
    names = ["ann", "ann", "bea", "bea", "cyd"]
    table = Table((column("who", names, Role.ENTITY), column("zip", ["1", "2", "2", "1", "1"])))
    assert sorted(person_sizes(table, table.quasi).tolist()) == [1, 2]


@given(st.lists(st.integers(1, 6), min_size=1, max_size=8))
def test_separation_is_the_share_of_pairs(sizes: list[int]) -> None:
    labels = [place for place, size in enumerate(sizes) for _ in range(size)]
    pairs = [(one, other) for place, one in enumerate(labels) for other in labels[place + 1 :]]
    expected = sum(one != other for one, other in pairs) / len(pairs) if pairs else 0.0
    assert separation(np.array(sizes)) == pytest.approx(expected)


def test_people_in_cells() -> None:
    """9,330 people in 56,940 cells: 84.9 % are alone, by the formula and by drawing."""
    assert expected_unique_share(9_330, 56_940) == pytest.approx(0.849, abs=0.0005)
    cells = np.random.default_rng(3).integers(56_940, size=9_330)
    counts = np.bincount(cells)
    assert (counts[cells] == 1).mean() == pytest.approx(0.849, abs=0.01)


# What ARX (aacd487) says about its own example of 30,162 people: fraction or size of the population, then the shares.
POPULATIONS = [
    (NINE, 0.01, 0.1446083531167384, 0.2717127199363312, None, "pitman"),
    (NINE, 0.1, 0.27684993883653597, 0.3207402393466189, None, "pitman"),
    (NINE, 0.2, 0.33662801701732237, 0.3577099234829125, None, "zayatz"),
    (NINE, 0.9, 0.5145063671913978, 0.4999852250958078, 0.49691503431392775, "snb"),
    (NINE, 317_238_626, 0.038896188531360315, 0.2645647181504129, None, "pitman"),
    (FOUR, 0.01, 6.820405046640467e-4, 8.272074800530325e-4, None, "pitman"),
    (FOUR, 0.5, 0.01188067567171781, 0.009910221733113298, None, "zayatz"),
    (FOUR, 0.9, 0.018252016455429555, 0.016354720051610067, 0.015520307287217866, "snb"),
    (FOUR, 317_238_626, 2.274429904320467e-5, 3.290316412234275e-4, None, "pitman"),
    (FOUR, 60_000, 0.011927504830300346, 0.009953789106883314, None, "zayatz"),
]
LINKAGE = {
    NINE: (0.7781314236456468, 1.0, 0.6465751607983555, 0.5142895033485844),
    FOUR: (0.06047344340560971, 1.0, 0.05603076719050461, 0.01800278496120947),
}
COLUMNS = {
    "sex": (6.630860022544923e-5, 0.43828434814896455),
    "age": (0.0023871096081161725, 0.9781172561484958),
}


@pytest.fixture(scope="module")
def adult(public_data: Callable[[str], Path]) -> Table:
    return shoal.read_table(public_data("arx-adult/adult.csv.gz"), quasi=NINE)


@pytest.mark.parametrize(("names", "size", "pitman", "zayatz", "snb", "chosen"), POPULATIONS)
def test_population_figures_of_arx(
    adult: Table,
    names: tuple[str, ...],
    size: float,
    pitman: float,
    zayatz: float,
    snb: float | None,
    chosen: str,
) -> None:
    sizes = person_sizes(adult, adult.select(names))
    found = population_uniques(sizes, round(adult.rows / size) if size < 1 else int(size))
    assert found.pitman == pytest.approx(pitman, rel=1e-6)
    assert found.zayatz == pytest.approx(zayatz, rel=1e-6)
    assert found.snb == (None if snb is None else pytest.approx(snb, rel=1e-6))
    assert found.chosen == chosen
    assert found.share == getattr(found, chosen)


@pytest.mark.parametrize("names", LINKAGE)
def test_sample_figures_of_arx(adult: Table, names: tuple[str, ...]) -> None:
    above, highest, average, unique = LINKAGE[names]
    found = shoal.risk(adult, quasi=names)
    assert isinstance(found, TableRisk)
    plain = found.as_dict()
    for name in ("prosecutor", "journalist", "marketer"):
        assert plain[name] == pytest.approx(
            {"highest": highest, "average": average, "above": above}, rel=1e-6
        )
    assert plain["sample_uniques"] == pytest.approx(unique, rel=1e-6)
    assert plain["population_uniques"]["chosen"] == "pitman"


def test_columns_of_arx(adult: Table) -> None:
    found = {risk.name: (risk.distinction, risk.separation) for risk in column_risks(adult.select(COLUMNS))}
    assert found == {name: pytest.approx(figures, rel=1e-6) for name, figures in COLUMNS.items()}


def test_no_unique_people_in_the_sample() -> None:
    found = population_uniques(np.array([2, 2, 3]), 700)
    assert (found.pitman, found.zayatz, found.snb) == (0.0, 0.0, 0.0)


def test_a_sample_of_all() -> None:
    """Where the sample is the population, Zayatz's estimate is the number that is unique."""
    assert population_uniques(np.array([1, 1, 1, 2, 5]), 10).zayatz == pytest.approx(0.3)


@given(
    st.lists(st.frozensets(st.sampled_from("abcdef"), max_size=5), min_size=1, max_size=9), st.integers(1, 4)
)
@settings(max_examples=150, deadline=None)
def test_known_items_equal_trying_all_choices(baskets: list[frozenset[str]], known: int) -> None:
    found = known_items_risk(shoal.read_baskets([sorted(basket) for basket in baskets]), (known,))[0]
    assert (found.unique, found.chance) == pytest.approx(naive.known_items(baskets, known))
    assert found.exact


# The share that is unique and the mean chance, in hundredths, by 1 to 4 known items; all but the starred are exact.
BMS = {
    "bms-webview-1": [(0.004, 0.27), (1.05, 5.31), (6.0, 16.0), (12.2, 25.9)],
    "bms-webview-2": [(0.016, 0.83), (10.15, 20.20), (36.96, 49.01), (58.1, 67.6)],
}
EXACT = {"bms-webview-1": 2, "bms-webview-2": 3}


@pytest.mark.parametrize("name", BMS)
def test_known_items_of_real_baskets(public_data: Callable[[str], Path], name: str) -> None:
    found = shoal.risk(public_data(f"{name}/{name}.dat.gz"))
    assert isinstance(found, BasketsRisk)
    assert list(found.as_dict()["unique_by_known_items"]) == ["1", "2", "3", "4"]
    for one, (unique, chance) in zip(found.known, BMS[name], strict=True):
        assert one.exact == (one.known <= EXACT[name])
        room = 0.006 if one.exact else 1.0
        assert 100 * one.unique == pytest.approx(unique, abs=room)
        assert 100 * one.chance == pytest.approx(chance, abs=room)
        assert one.interval[0] <= one.unique <= one.interval[1]


def test_a_sample_agrees_with_counting(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(5)
    baskets = shoal.read_baskets(
        [[str(item) for item in np.flatnonzero(rng.random(12) < 0.4)] for _ in range(400)]
    )
    exact = known_items_risk(baskets, (3,))[0]
    monkeypatch.setattr("shoal.risks.known_items.ROOM", 10)
    sampled: KnownItemsRisk = known_items_risk(baskets, (3,))[0]
    assert exact.exact
    assert not sampled.exact
    assert sampled.interval[0] - 0.02 <= exact.unique <= sampled.interval[1] + 0.02


def test_wilson() -> None:
    assert wilson(0, 0) == (0.0, 1.0)
    assert wilson(0, 100)[0] == 0.0
    assert wilson(100, 100)[1] == 1.0
    low, high = wilson(81, 263)
    assert (low, high) == pytest.approx((0.2553, 0.3662), abs=1e-4)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"population_size": 2}, "smaller than the table"),
        ({"population_size": 10, "sample_fraction": 0.5}, "once"),
        ({"sample_fraction": 1.5}, "sample_fraction"),
        ({"unique_share": 0}, "unique_share"),
        ({"threshold": 1.0}, "threshold"),
    ],
)
def test_wrong_use_is_refused(options: dict[str, float], words: str) -> None:
    table = table_of([("a", "b"), ("a", "c"), ("b", "c")])
    with pytest.raises(WrongUse, match=words):
        shoal.risk(table, **options)


def test_an_unknown_column_is_named() -> None:
    with pytest.raises(UnknownName, match="c9"):
        shoal.risk(table_of([("a",), ("b",)]), quasi="c9")
