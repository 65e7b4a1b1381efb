"""`compare` with tables that have items, in a column or in another file, and with persons and their records."""

from pathlib import Path

import polars as pl
import pytest

from shoal.comparison.runner import compare
from shoal.errors import WrongUse

RECIPE = """
title = "Mixed"

[datasets.one]
path = "p.csv"
roles = { quasi = ["age"], items = "buys", others = "drop" }

[datasets.two]
path = "p.csv"
roles = { quasi = ["age"], items_from = "v.csv:id,ward", others = "drop" }

[datasets.records]
path = "p.csv"
roles = { quasi = ["age", "ROLE"], link = "v.csv:id", others = "drop" }

[[sweep]]
name = "items"
datasets = ["one", "two"]
methods = ["relational-transaction"]
grid = { k = [2], item_step = ["generalization", "disassociation"] }

[[sweep]]
name = "records"
datasets = ["records"]
methods = "all"
grid = { k = [2, 3] }
"""


def written(folder: Path, role: str) -> Path:
    rows = range(12)
    people = {"id": rows, "age": [20 + row // 4 for row in rows], "buys": ["a|b"] * 12}
    pl.DataFrame(people).write_csv(folder / "p.csv")
    pl.DataFrame({"id": rows, "day": [row % 3 for row in rows], "ward": ["x"] * 12}).write_csv(
        folder / "v.csv"
    )
    (folder / "mixed.toml").write_text(RECIPE.replace("ROLE", role), encoding="utf-8")
    return folder / "mixed.toml"


def test_all_forms_are_compared(tmp_path: Path) -> None:
    compare(written(tmp_path, "day"), tmp_path / "out", jobs=1, charts=False)
    found = pl.read_parquet(tmp_path / "out" / "results.parquet")
    assert found["verdict"].to_list() == ["kept"] * 6
    assert set(found.filter(sweep="records")["method"]) == {"multirelational"}
    assert found.filter(sweep="records")["record_loss"].null_count() == 0
    assert found.filter(sweep="items")["item_loss"].null_count() == 0


def test_a_column_that_neither_table_has_is_told_before_anything_runs(tmp_path: Path) -> None:
    with pytest.raises(WrongUse, match=r"dataset records: .*'weekday'"):
        compare(written(tmp_path, "weekday"), tmp_path / "out", jobs=1, charts=False)
