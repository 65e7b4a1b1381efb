"""Published Parquet files: cells of every type are judged alike on every engine, or refused in the same words."""

import datetime
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from tests.parts import MemoryEngine

import shoal as library
from shoal.errors import BadData
from shoal.models._judged import Verdicts
from shoal.models._promises import Promises
from shoal.recipe import Roles
from shoal.verification import Asked, verify_as_asked

STREAM = ("--engine", "stream", "--memory", "1GB")
ASKED = Asked(Promises(k=2), roles=Roles(quasi=("x",)))
DAY, NOON = datetime.datetime(2020, 1, 1), datetime.datetime(2020, 1, 1, 12)

CELLS: dict[str, tuple[pl.Series, list[str]]] = {
    "null and empty": (pl.Series([None, "", "a", "a"]), ['x ""', "x (missing)"]),
    "null alone": (pl.Series([None, "a", "a"]), ["x (missing)"]),
    "empty alone": (pl.Series(["", "a", "a"]), ["x (missing)"]),
    "quotes": (pl.Series([None, "", '""', "b", "b"]), ['x ""', 'x "" (empty)', "x (missing)"]),
    "categories": (pl.Series(["a", "a", "", None], dtype=pl.Categorical), ['x ""', "x (missing)"]),
    "decimals": (pl.Series([Decimal("1.50"), Decimal("1.50"), Decimal("2.00")]), ["x 2.00"]),
    "truth": (pl.Series([True, True, False]), ["x false"]),
    "dates": (pl.Series([DAY.date(), DAY.date(), datetime.date(1586, 1, 2)]), ["x 1586-01-02"]),
    "times of day": (pl.Series([datetime.time(1), datetime.time(1), datetime.time(2)]), ["x 02:00:00"]),
    "durations": (pl.Series([datetime.timedelta(1)] * 2 + [datetime.timedelta(2)]), ["x P2D"]),
    "times": (pl.Series([DAY, DAY, NOON]), ["x 2020-01-01T12:00:00"]),
    "days": (pl.Series([DAY, DAY, datetime.datetime(2020, 1, 2)]), ["x 2020-01-02"]),
    "zones": (
        pl.Series([NOON, NOON, DAY]).dt.replace_time_zone("Europe/Berlin"),
        ["x 2020-01-01T00:00:00+01:00"],
    ),
    "large": (pl.Series([2**64 - 1, 2**64 - 1, 2**64 - 2], dtype=pl.UInt64), [f"x {2**64 - 2}"]),
    "no number": (pl.Series([float("nan"), None, 1.0, 1.0]), ["x NaN", "x (missing)"]),
    "infinite": (pl.Series([float("inf"), 1.5, 1.5]), ["x inf"]),
    "zeros": (pl.Series([0.0, -0.0, 1.0]), ["x 1"]),
    "all missing": (pl.Series([None, None], dtype=pl.Null), []),
}


def judged(path: Path, shoal: Callable[..., Any]) -> list[list[str]]:
    """Where a promise is broken, by each engine."""

    def places(verdicts: Verdicts) -> list[str]:
        return sorted(offender.where for offender in verdicts[0].offenders)

    printed = [
        sorted(line.strip().partition(": ")[0] for line in answer.out.splitlines() if line.startswith("  "))
        for answer in (shoal("verify", path, "--quasi", "x", "--k", 2, *more) for more in ((), STREAM))
    ]
    return [
        places(library.verify(path, quasi="x", k=2)),
        places(verify_as_asked(path, ASKED, MemoryEngine())),
        *printed,
    ]


@pytest.mark.parametrize("name", CELLS)
def test_cells_of_every_type(name: str, shoal: Callable[..., Any], folder: Path) -> None:
    cells, where = CELLS[name]
    cells.alias("x").to_frame().write_parquet(folder / "any.parquet")
    assert judged(folder / "any.parquet", shoal) == [sorted(where)] * 4


@pytest.mark.parametrize(
    ("one", "other", "where"),
    [
        ([1.0, 2.0], [1.0, 2.5, 2.5], ["x 2.0"]),
        ([DAY, DAY], [DAY, NOON], ["x 2020-01-01T12:00:00"]),
        (["", "a"], [None, "a"], ['x ""', "x (missing)"]),
    ],
)
def test_a_cell_is_the_same_in_every_part(
    one: list[Any], other: list[Any], where: list[str], shoal: Callable[..., Any], folder: Path
) -> None:
    (folder / "any.parquet").mkdir()
    for number, cells in enumerate((one, other)):
        pl.DataFrame({"x": cells}).write_parquet(folder / "any.parquet" / f"part-{number}.parquet")
    assert judged(folder / "any.parquet", shoal) == [where] * 4


@pytest.mark.parametrize(
    "cells",
    [
        pl.Series([[1], [1]]),
        pl.Series([b"a", b"a"]),
        pl.Series([{"a": 1}, {"a": 1}]),
        pl.Series([[1, 2], [1, 2]], dtype=pl.Array(pl.Int64, 2)),
    ],
)
@pytest.mark.parametrize("name", ["x", "y"])
def test_cells_that_hold_more_than_one_value(
    cells: pl.Series, name: str, shoal: Callable[..., Any], folder: Path
) -> None:
    frame = pl.DataFrame({"x": ["a", "a"]}).with_columns(cells.alias(name))
    frame.write_parquet(folder / "any.parquet")
    local = shoal("verify", "any.parquet", "--quasi", "x", "--k", 2)
    assert local.code == 3
    assert f"any.parquet, column '{name}': the cells are {cells.dtype}; a cell must be one text" in local.err
    assert shoal("verify", "any.parquet", "--quasi", "x", "--k", 2, *STREAM) == local
    with pytest.raises(BadData, match=f"column '{name}': the cells are"):
        verify_as_asked(folder / "any.parquet", ASKED, MemoryEngine())


def test_a_part_with_a_further_column(shoal: Callable[..., Any], folder: Path) -> None:
    (folder / "any.parquet").mkdir()
    pl.DataFrame({"x": ["a", "a"]}).write_parquet(folder / "any.parquet" / "part-0.parquet")
    pl.DataFrame({"x": ["a"], "ssn": ["1"]}).write_parquet(folder / "any.parquet" / "part-1.parquet")
    local = shoal("verify", "any.parquet", "--quasi", "x", "--k", 2)
    assert (local.code, "part-1.parquet: the columns are not those of" in local.err) == (3, True)
    assert shoal("verify", "any.parquet", "--quasi", "x", "--k", 2, *STREAM) == local
