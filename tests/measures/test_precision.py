"""Prec: the levels of published cells."""

import pytest
from tests.tables import column

from shoal.data.domain import Kind
from shoal.data.hierarchy import Hierarchy, climb
from shoal.data.release import Release
from shoal.data.table import Column, Table
from shoal.measures.measure import flat
from shoal.measures.precision import Precision

ZIP = climb(
    ("13053", "13068", "14850", "14853"),
    [
        lambda places: [("1305*", "1306*", "1485*", "1485*")[place] for place in places],
        lambda places: [("130**", "130**", "148**", "148**")[place] for place in places],
    ],
)


def precision(original: Column, published: list[str], suppressed: int = 0) -> float:
    data = Table((column(original.name, published, kind=Kind.NOMINAL),))
    release = Release(data, "by hand", {}, (), suppressed)
    return flat(Precision().scores(Table((original,)), release))["precision"]


@pytest.mark.parametrize(
    ("published", "expected"),
    [
        (["13053", "13068", "14850", "14853"], 1),
        (["130**", "130**", "1485*", "1485*"], 1 - (2 + 2 + 1 + 1) / 3 / 4),
        (["*", "*", "*", "*"], 0),
        (["{13053|13068}", "{13053|13068}", "{14850|14853}", "14853"], 1 - (2 + 2 + 1 + 0) / 3 / 4),
        (["{13053|14853}", "13068", "14850", "{1305*|14853}"], 1 - (3 + 0 + 0 + 3) / 3 / 4),
    ],
)
def test_levels_of_nodes_and_of_the_nodes_that_cover_sets(published: list[str], expected: float) -> None:
    assert precision(column("zip", list(ZIP.leaves), hierarchy=ZIP), published) == pytest.approx(expected)


def test_suppressed_rows_stand_at_the_root() -> None:
    original = column("zip", list(ZIP.leaves), hierarchy=ZIP)
    assert precision(original, ["13053", "13068", "14850"], suppressed=1) == pytest.approx(3 / 4)


def test_a_repeated_node_stands_on_its_lowest_level() -> None:
    short = climb(("a", "b", "c"), [lambda places: [("a", "bc", "bc")[place] for place in places]])
    assert precision(column("c", ["a", "b", "c"], hierarchy=short), ["a", "bc", "bc"]) == pytest.approx(2 / 3)


def test_a_text_of_several_nodes_stands_for_all_their_leaves() -> None:
    twice = Hierarchy((("a", "b", "c"), ("a", "a"), ("*",)), ([0, 0, 1], [0, 0]))
    original = column("c", ["a", "b", "c"], hierarchy=twice)
    assert precision(original, ["a", "b", "c"]) == pytest.approx(1 - 1 / 2 / 3)


def test_columns_without_a_hierarchy_are_left_out() -> None:
    original = Table((column("age", [1, 2]), column("c", ["13053", "14850"], hierarchy=ZIP)))
    data = Table((column("age", ["*", "*"]), column("c", ["130**", "148**"])))
    assert flat(Precision().scores(original, Release(data, "", {}, ()))) == {
        "precision": pytest.approx(1 / 3),
        "precision.c": pytest.approx(1 / 3),
    }
    bare = Table(original.columns[:1])
    assert Precision().scores(bare, Release(Table(data.columns[:1]), "", {}, ())) == ()
