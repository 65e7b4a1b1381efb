"""Odd texts and names on a real cluster."""

from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl
import pytest
from tests.parts import read_dataset

import shoal
from shoal.data.role import Roles
from shoal.data.table import Table
from shoal.io.reading import Reading
from shoal.verification import Asked, verify_as_asked

if TYPE_CHECKING:
    from shoal.engines.spark import Spark

MARK = "\ufeff"


def test_a_byte_order_mark_is_one_at_the_beginning(spark: "Spark", tmp_path: Path) -> None:
    for number, rows in enumerate((f"{MARK}a,1\nb,2\n", f"{MARK}c,3\nd,{MARK}4\n")):
        (tmp_path / f"part-{number}.csv").write_text(f"{MARK}q,s\n{rows}", encoding="utf-8")
    schema = spark.load_table(str(tmp_path), Roles.of(others="insensitive"), Reading()).table.schema
    assert isinstance(schema, Table)
    assert set(schema.columns[0].domain.labels) == {f"{MARK}a", "b", f"{MARK}c", "d"}
    baskets = tmp_path / "baskets.dat"
    baskets.write_text(f"{MARK}{MARK}a b\n{MARK}c b\n", encoding="utf-8")
    assert set(read_dataset(spark, baskets).schema.vocabulary) == {f"{MARK}a", "b", f"{MARK}c"}


@pytest.mark.parametrize("names", [("*", "^b$", "b"), ("a;b", "a.`c`", "it's")])
def test_any_name_and_any_spelling(spark: "Spark", tmp_path: Path, names: tuple[str, str, str]) -> None:
    secrets = ["Flu", "flu", "flu", "=1+1", "01", "1"] * 4
    frame = pl.DataFrame(
        {names[0]: [str(row * row) for row in range(24)], names[1]: ["x", "y"] * 12, names[2]: secrets}
    )
    path = tmp_path / "table.csv"
    frame.write_csv(path)
    reading = shoal.Reading(separator=",", normalize=(names[2],))
    roles = {"quasi": list(names[:2]), "sensitive": names[2]}
    run = shoal.anonymize(path, "mondrian", k=3, engine=spark, reading=reading, **roles)
    assert any("spreadsheet" in warning for warning in run.warnings)
    run = run.written(tmp_path / "out", safe_cells=True)
    assert run.holds
    assert all(verify_as_asked(tmp_path / "out", Asked(), spark))
    published = shoal.read_release(tmp_path / "out").to_polars()[names[2]].alias("s")
    assert dict(published.value_counts().rows()) == {"flu": 12, "=1+1": 4, "01": 8}
