"""Cross-tables: what they say, what they refuse, and what their files may say."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import shoal
from shoal.errors import BadData, Infeasible, UnknownName, WrongUse

FRAME = pl.DataFrame(
    {
        "sex": ["f", "m"] * 30,
        "age": [20 + n % 5 for n in range(60)],
        "pay": [100 + 7 * (n % 11) for n in range(60)],
    }
)


def cells(found: Any, value: str) -> dict[tuple[str, ...], str]:
    data = found.release.data
    return dict(zip(data.places(), data.texts(value), strict=True))


def test_nodes_of_a_hierarchy_are_totals() -> None:
    found = shoal.summarize(FRAME, ["age", "sex"], hierarchies={"age": "intervals:2"})
    seen = cells(found, "count")
    young = [age for age in range(20, 25) if ("[20,22)", "f") in seen and age < 22]
    assert young == [20, 21]
    assert sum(int(seen[str(age), "f"]) for age in young) == int(seen["[20,22)", "f"])
    bins = [place[0] for place in seen if place[0].startswith("[") and place[1] == "TOTAL"]
    assert sum(int(seen[name, "TOTAL"]) for name in bins) == int(seen["TOTAL", "TOTAL"]) == 60


def test_missing_values_are_counted_and_add_nothing() -> None:
    frame = FRAME.with_columns(
        pl.when(pl.col("pay") == 100).then(None).otherwise(pl.col("pay")).alias("pay"),
        pl.when(pl.col("age") == 20).then(None).otherwise(pl.col("sex")).alias("sex"),
    )
    found = shoal.summarize(frame, ["sex"], count=True, sums="pay")
    assert cells(found, "count")[("",)] == "12"
    assert int(cells(found, "sum_pay")[("TOTAL",)]) == frame["pay"].sum()


def test_sums_are_exact_in_decimals() -> None:
    frame = pl.DataFrame({"a": list("xy") * 40, "pay": [0.1, 0.2, 0.7, 1.25] * 20})
    seen = cells(shoal.summarize(frame, ["a"], sums=["pay"]), "sum_pay")
    assert seen == {("x",): "16.00", ("y",): "29.00", ("TOTAL",): "45.00"} or seen[("TOTAL",)] == "45"


def test_a_sum_that_one_amount_dominates_is_hidden() -> None:
    pays = [1000] + [1] * 9 + [10] * 30
    frame = pl.DataFrame({"a": ["x"] * 10 + ["y"] * 10 + ["z"] * 10 + ["w"] * 10, "pay": pays})
    assert cells(shoal.summarize(frame, ["a"], sums=["pay"]), "sum_pay")[("x",)] == "*"
    even = pl.DataFrame({"a": list("xyzw") * 10, "pay": [9, 10, 11, 12] * 10})
    assert "*" not in cells(shoal.summarize(even, ["a"], sums=["pay"]), "sum_pay").values()
    assert "*" in cells(shoal.summarize(even, ["a"], sums=["pay"], dominance=(6, 55)), "sum_pay").values()


def test_a_sum_of_nothing_is_hidden() -> None:
    """It would tell what each of its rows has."""
    frame = pl.DataFrame({"a": ["x"] * 10 + ["y"] * 20 + ["z"] * 10, "pay": [0] * 10 + [50] * 30})
    assert cells(shoal.summarize(frame, ["a"], sums=["pay"]), "sum_pay")[("x",)] == "*"


def test_whoever_knows_that_no_zero_is_hidden_learns_no_more() -> None:
    """With margins of 3 the four small cells could be 0 to 3; as none is 0, all would be known to be 1 or 2."""
    counts = {"ax": 1, "ay": 2, "bx": 2, "by": 1, "az": 10, "bz": 12, "dx": 20, "dy": 30, "dz": 9}
    cells_drawn = [cell for cell, number in counts.items() for _ in range(number)]
    frame = pl.DataFrame({"r": [cell[0] for cell in cells_drawn], "c": [cell[1] for cell in cells_drawn]})
    found = shoal.summarize(frame, ["r", "c"], threshold=3)
    hidden = {place for place, text in cells(found, "count").items() if text == "*"}
    assert hidden > {("a", "x"), ("a", "y"), ("b", "x"), ("b", "y")}
    assert found.verdicts[0].value >= 3


def test_the_order_of_rows_changes_nothing() -> None:
    shuffled = FRAME.sample(fraction=1, shuffle=True, seed=5)
    options: dict[str, Any] = {"count": True, "sums": ["pay"], "threshold": 8}
    first, second = (shoal.summarize(frame, ["sex", "age"], **options) for frame in (FRAME, shuffled))
    assert cells(first, "count") == cells(second, "count")
    assert cells(first, "sum_pay") == cells(second, "sum_pay")


@pytest.mark.parametrize(
    ("by", "options", "error", "said"),
    [
        (["agee"], {}, UnknownName, "agee"),
        (["sex", "sex"], {}, WrongUse, "twice"),
        ([], {}, WrongUse, "needs a column"),
        (["sex"], {"sums": ["payy"]}, UnknownName, "payy"),
        (["age"], {"sums": ["sex"]}, WrongUse, "does not hold numbers"),
        (["sex"], {"threshold": 1}, WrongUse, "threshold"),
        (["sex"], {"p": 0}, WrongUse, "p must be"),
        (["sex"], {"dominance": (0, 80)}, WrongUse, "Dominance is n,k"),
        (["sex"], {"dominance": (1, 40)}, WrongUse, "Dominance is n,k"),
        (["sex"], {"dominance": (1,)}, WrongUse, "two numbers"),
        (["sex"], {"dominance": (1, 75)}, WrongUse, "there are none"),
        (["sex"], {"p": 5}, WrongUse, "there are none"),
        (["sex", "pay"], {"sums": ["pay"]}, WrongUse, "names of the cells would tell"),
        (["sex"], {"total": "f"}, WrongUse, "total"),
        (["sex"], {"sums": ["pay", "pay"]}, WrongUse, "twice"),
        (["sex", "age"], {"threshold": 61}, Infeasible, "Every cell of count would be hidden"),
    ],
)
def test_what_is_refused(by: list[str], options: dict[str, Any], error: type[Exception], said: str) -> None:
    with pytest.raises(error, match=said):
        shoal.summarize(FRAME, by, **options)


def test_amounts_below_zero_are_refused() -> None:
    frame = pl.DataFrame({"a": list("xyz"), "pay": [1, -2, 3]})
    with pytest.raises(BadData, match=r"column 'pay': amounts must not be negative, but one is -2"):
        shoal.summarize(frame, ["a"], sums=["pay"])


def test_too_many_cells_are_refused() -> None:
    frame = pl.DataFrame({name: np.arange(600) for name in "ab"})
    with pytest.raises(WrongUse, match="361,201 cells"):
        shoal.summarize(frame, ["a", "b"])


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return shoal.summarize(FRAME, ["sex", "age"], count=True, sums=["pay"], threshold=7).write(
        tmp_path / "out"
    )


def test_the_folder_is_a_release(folder: Path) -> None:
    release = shoal.read_release(folder)
    assert release.method == "summarize"
    assert release.to_polars().columns == ["sex", "age", "count", "sum_pay"]
    assert {path.name for path in folder.iterdir()} == {"release", "report.html", "run.json"}
    assert "cells" in release._repr_html_()
    assert all(shoal.verify(folder))
    with pytest.raises(WrongUse, match="there already"):
        shoal.summarize(FRAME, ["sex"]).write(folder)
    with pytest.raises(WrongUse, match="cross-tables"):
        shoal.measure(folder, FRAME)
    with pytest.raises(WrongUse, match="in memory"):
        shoal.verify(folder, engine=shoal.engines.Stream("1GB"))
    with pytest.raises(WrongUse, match="cross-tables"):
        shoal.verify(folder / "release" / "data.csv", promises=[shoal.models.ProtectedCounts(threshold=3)])


def test_a_total_that_is_wrong_breaks_the_promise(folder: Path) -> None:
    data = folder / "release" / "data.csv"
    data.write_text(data.read_text().replace("TOTAL,TOTAL,60,", "TOTAL,TOTAL,61,"))
    verdicts = shoal.verify(folder)
    assert not verdicts[0].holds
    assert "not the sum of its parts" in verdicts[0].offenders[0].why


def test_rows_in_another_order_break_the_promise(folder: Path) -> None:
    data = folder / "release" / "data.csv"
    head, *rows = data.read_text().splitlines()
    data.write_text("\n".join([head, *rows[::-1]]) + "\n")
    assert [verdict.model for verdict in shoal.verify(folder) if not verdict.holds] == ["canonical-order"]


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("TOTAL,TOTAL,60,", "TOTAL,TOTAL,many,", "'many' is not a number"),
        ("TOTAL,TOTAL,60,", "TOTAL,TOTAL,59.5,", "is not a number"),
        ("TOTAL,TOTAL,60,", "TOTAL,nobody,60,", "is not a cell"),
        ("f,20,", "f,21,", "different cells"),
        ("sex,age,count", "age,sex,count", "the columns must be"),
    ],
)
def test_a_damaged_file(old: str, new: str, said: str, folder: Path) -> None:
    data = folder / "release" / "data.csv"
    assert old in data.read_text()
    data.write_text(data.read_text().replace(old, new, 1))
    with pytest.raises(BadData, match=said):
        shoal.verify(folder)


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("tables", [["sex"]]),
        ("tables", [["sex", "agee"]]),
        ("values", ["count", "mean"]),
        ("total", "ALL"),
        ("columns", [{"name": "sex"}]),
        ("columns", [{"name": "sex", "parts": {"TOTAL": ["f", "f"]}}]),
        ("columns", [{"name": "sex", "parts": {"TOTAL": ["f"], "m": ["x"]}}]),
        ("columns", [{"name": "sex", "parts": {"TOTAL": ["f"], "m": ["m"]}}]),
        ("columns", []),
    ],
)
def test_a_damaged_release_json(key: str, value: Any, folder: Path) -> None:
    path = folder / "release" / "release.json"
    facts = json.loads(path.read_text())
    path.write_text(json.dumps({**facts, key: value}))
    with pytest.raises(BadData):
        shoal.verify(folder)
