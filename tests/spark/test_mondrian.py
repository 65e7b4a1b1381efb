"""Mondrian and rule hiding on a real cluster give what they give in memory."""

from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal

from shoal.data._frames import text_frame
from shoal.data._hierarchy_builders import build
from shoal.data.dataset import Dataset
from shoal.data.domain import Domain, Kind
from shoal.data.role import Role
from shoal.data.table import Column, Table
from shoal.methods.mondrian import _distributed as mondrian_parts
from shoal.methods.mondrian.method import Mondrian
from shoal.methods.table_method import TableMethod
from shoal.methods.table_rule_hiding import _distributed as hiding_parts
from shoal.methods.table_rule_hiding.method import TableRuleHiding
from shoal.models._distributed import verify_table

if TYPE_CHECKING:
    from shoal.engines.spark import Spark

ROWS = 4000


def people(rows: int) -> Table:
    """Numbers with and without a hierarchy, a heavy value, missing cells, a secret, and a harmless column."""
    random = np.random.default_rng(8)
    zips = (random.zipf(1.4, rows) - 1).clip(max=499)
    city = _column("city", Kind.NOMINAL, random.integers(0, 9, rows), 9)
    tree = build("suppress", city.domain, "city").covering(city.domain, "city")
    return Table(
        (
            _column("age", Kind.NUMERIC, random.integers(0, 80, rows), 80, missing=True),
            _column("zip", Kind.NUMERIC, zips, 500),
            Column(city.name, city.role, city.domain, city.codes, tree),
            _column("illness", Kind.NOMINAL, random.integers(0, 12, rows), 12, Role.SENSITIVE),
            _column("shift", Kind.NOMINAL, random.integers(0, 3, rows), 3, Role.INSENSITIVE),
        )
    )


def _column(
    name: str, kind: Kind, codes: Any, size: int, role: Role = Role.QUASI, *, missing: bool = False
) -> Column:
    labels = [f"{code:03}" if kind is Kind.NOMINAL else f"{code}" for code in range(size)]
    values = np.arange(size, dtype=np.float64) if kind is Kind.NUMERIC else None
    if missing:
        labels[-1] = ""
        assert values is not None
        values[-1] = np.nan
    domain = Domain(kind, tuple(labels), values, size - 1 if missing else None)
    return Column(name, role, domain, codes.astype(np.int32))


def on_the_cluster(table: Table, spark: "Spark") -> Dataset:
    frame = pl.DataFrame({column.name: column.codes for column in table.columns})
    return Dataset(table.take(np.empty(0, dtype=np.int64)), spark.parts(frame), table.rows)


@pytest.mark.parametrize(
    "method",
    [
        Mondrian(k=5, split="random"),
        Mondrian(k=5, l=3, split="loss", publish="sets"),
    ],
    ids=["random", "loss"],
)
def test_the_same_rows_as_in_memory(method: TableMethod, spark: "Spark", monkeypatch: Any) -> None:
    monkeypatch.setattr(mondrian_parts, "SMALL_PART", 1200)
    table = people(ROWS)
    local, _ = method.anonymize(table, seed=3)
    release, trace = method.anonymize(on_the_cluster(table, spark), spark, seed=3)
    assert_frame_equal(release.data.parts.collect(), text_frame(local.data))
    assert trace.notes["parts"] > 3
    assert release.promises == local.promises


def test_the_same_stars_as_in_memory(spark: "Spark", monkeypatch: Any) -> None:
    monkeypatch.setattr(mondrian_parts, "SMALL_PART", 3000)
    monkeypatch.setattr(hiding_parts, "SMALL_PART", 1000)
    table = people(ROWS)
    method = TableRuleHiding(k=5, confidence=0.4)
    local, _ = method.anonymize(table, seed=3)
    release, trace = method.anonymize(on_the_cluster(table, spark), spark, seed=3)
    cells = ["age", "zip", "city", "illness"]
    rows = release.data.parts.collect()
    assert_frame_equal(rows.select(cells).sort(cells), text_frame(local.data).select(cells).sort(cells))
    assert trace.notes["rules.illness"]["stars"] > 0
    assert all(verify_table(method.models(), release.data, spark.memory))


@pytest.mark.slow
def test_a_million_rows(spark: "Spark", tmp_path: Any) -> None:
    table = people(1_000_000)
    method = Mondrian(k=10)
    local, _ = method.anonymize(table)
    release, trace = method.anonymize(on_the_cluster(table, spark), spark)
    assert trace.notes["parts"] > 8
    release.data.parts.write(str(tmp_path / "data.parquet"), ".parquet")
    files = sorted((tmp_path / "data.parquet").glob("part-*.parquet"))
    assert_frame_equal(pl.concat(map(pl.read_parquet, files)), text_frame(local.data))
