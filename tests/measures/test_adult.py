"""Loss on Adult, beside figures that other programs give for the same releases."""

import csv
import gzip
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from tests.adult import complete_lines
from tests.tables import column

from shoal.data.domain import Kind
from shoal.data.hierarchy import Hierarchy, climb
from shoal.data.release import Release
from shoal.data.table import Column, Table
from shoal.measures.classes import Classes
from shoal.measures.loss import Loss
from shoal.measures.measure import flat

PublicData = Callable[[str], Path]

MARITAL = {
    "Never-married": "NM",
    "Married-civ-spouse": "Married",
    "Married-AF-spouse": "Married",
    "Divorced": "leave",
    "Separated": "leave",
    "Widowed": "alone",
    "Married-spouse-absent": "alone",
}


def bin_of(value: str, width: int) -> str:
    low = int(value) // width * width
    return f"[{low},{low + width})"


def from_paths(paths: Sequence[Sequence[str]]) -> Hierarchy:
    levels = [
        (lambda places, level=level: [paths[place][level] for place in places])
        for level in range(1, len(paths[0]) - 1)
    ]
    return climb(tuple(path[0] for path in paths), levels)


def generalized(columns: Sequence[Column], levels: Sequence[int], k: int) -> Release:
    """Every column on one level; the rows of classes with less than k rows left out."""
    cells = []
    for one, level in zip(columns, levels, strict=True):
        assert one.hierarchy is not None
        above = dict(zip(one.hierarchy.leaves, one.hierarchy.texts_at(level), strict=True))
        cells.append([above[one.domain.labels[code]] for code in one.codes.tolist()])
    rows = list(zip(*cells, strict=True))
    sizes = Counter(rows)
    kept = [row for row in rows if sizes[row] >= k]
    data = Table(
        tuple(
            column(one.name, texts, kind=Kind.NOMINAL)
            for one, texts in zip(columns, zip(*kept, strict=True), strict=True)
        )
    )
    promise = {"model": "k-anonymity", "k": k, "entity": None}
    return Release(data, "by hand", {}, (promise,), len(rows) - len(kept))


@pytest.fixture(scope="module")
def adult(public_data: PublicData) -> list[list[str]]:
    """The complete rows of Adult."""
    return [line.split(",") for line in complete_lines(public_data("adult/adult.data.gz"))]


def adult_columns(rows: list[list[str]]) -> list[Column]:
    ages = [int(row[0]) for row in rows]
    leaves = tuple(map(str, sorted(set(ages))))
    bins = [
        (lambda places, width=width: [bin_of(leaves[place], width) for place in places])
        for width in (5, 10, 20)
    ]
    races, sexes = sorted({row[8] for row in rows}), sorted({row[9] for row in rows})
    return [
        column("age", ages, hierarchy=climb(leaves, bins, by_width=True)),
        column("sex", [row[9] for row in rows], hierarchy=climb(tuple(sexes), [])),
        column("race", [row[8] for row in rows], hierarchy=climb(tuple(races), [])),
        column(
            "marital-status",
            [row[5] for row in rows],
            hierarchy=from_paths([(leaf, group, "*") for leaf, group in MARITAL.items()]),
        ),
    ]


@pytest.mark.parametrize(
    ("levels", "suppressed", "lm"), [((1, 0, 1, 2), 7, 2.0689), ((4, 0, 0, 1), 13, 1.1141)]
)
def test_full_domain_levels_of_four_columns(
    adult: list[list[str]], levels: Sequence[int], suppressed: int, lm: float
) -> None:
    columns = adult_columns(adult)
    release = generalized(columns, levels, k=10)
    scores = flat(Loss().scores(Table(tuple(columns)), release))
    assert len(adult) == 30_162
    assert release.suppressed == suppressed
    assert scores["lm"] == pytest.approx(lm, abs=5e-5)


def test_closed_bins_of_whole_numbers_are_one_narrower(adult: list[list[str]]) -> None:
    """[15,19] holds the same ages as [15,20), but its ends are 4 apart."""
    columns = adult_columns(adult)
    release = generalized(columns, (1, 0, 1, 2), k=10)
    assert isinstance(release.data, Table)
    age = release.data.column("age")
    closed = []
    for text in age.domain.labels:
        low, high = text[1:-1].split(",")
        closed.append(f"[{low},{int(high) - 1}]")
    texts = [closed[code] for code in age.codes.tolist()]
    data = Table((column("age", texts), *release.data.columns[1:]))
    closed_release = Release(data, "by hand", {}, (), release.suppressed)
    scores = flat(Loss().scores(Table(tuple(columns)), closed_release))
    assert scores["lm"] == pytest.approx(2.0552, abs=5e-5)


@pytest.mark.parametrize(
    ("levels", "suppressed", "quality"),
    [
        ((0, 4, 1, 1, 3, 2, 2, 1, 0), 0, 0.291721),
        ((0, 3, 0, 0, 2, 1, 1, 1, 0), 2553, 0.751425),
    ],
)
def test_granularity_is_that_of_arx(
    public_data: PublicData, levels: Sequence[int], suppressed: int, quality: float
) -> None:
    """The optima that ARX finds for k = 5 with no suppressed rows and with any number of them."""
    with gzip.open(public_data("arx-adult/adult.csv.gz"), "rt") as file:
        header, *rows = csv.reader(file, delimiter=";")
    columns = []
    for place, name in enumerate(header):
        with public_data(f"arx-adult/hierarchies/adult_hierarchy_{name}.csv").open() as file:
            hierarchy = from_paths(list(csv.reader(file, delimiter=";")))
        cells = [row[place] for row in rows]
        columns.append(column(name, list(map(int, cells)) if name == "age" else cells, hierarchy=hierarchy))
    release = generalized(columns, levels, k=5)
    scores = flat(
        (*Loss().scores(Table(tuple(columns)), release), *Classes().scores(Table(tuple(columns)), release))
    )
    assert scores["suppressed_rows"] == suppressed
    assert scores["smallest_class"] >= 5
    assert scores["granularity"] == pytest.approx(quality, abs=5e-7)
