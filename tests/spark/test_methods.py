"""What every method keeps on a real cluster."""

from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl
import pytest
from polars.testing import assert_frame_equal
from tests.contract.parted import check

import shoal
from shoal import registry
from shoal.data._frames import text_frame
from shoal.errors import BadData
from shoal.outcome import Run

if TYPE_CHECKING:
    from shoal.engines.spark import Spark

CUT = [name for name in registry.METHODS if "spark" in registry.load("method", name).engines]


@pytest.mark.parametrize("name", CUT)
def test_contract(name: str, spark: "Spark", tmp_path: Path) -> None:
    check(name, spark, tmp_path)


def test_spark_frame(spark: "Spark", tmp_path: Path) -> None:
    """A Spark frame in, a release in parts out; typed columns stay typed in Parquet."""
    people = pl.DataFrame(
        {
            "age": [20, 21, 22, 40, 41, None] * 5,
            "born": [None, *pl.date_range(pl.date(1980, 1, 1), pl.date(1980, 1, 29), eager=True)],
            "illness": ["flu", "cold", None] * 10,
            "paid": [1.5, 2.25, 3.0] * 10,
        }
    )
    options = {"quasi": ["age"], "sensitive": "illness", "others": "insensitive", "k": 5}
    trees = {"age": "intervals:10"}
    frame = spark.session.createDataFrame(people.to_arrow(compat_level=pl.CompatLevel.oldest()))
    run = shoal.anonymize(frame, "samarati", hierarchies=trees, engine=spark, **options)
    assert isinstance(run, Run)
    assert run.holds
    local = shoal.anonymize(people, "samarati", hierarchies=trees, **options)
    assert_frame_equal(run.release.data.parts.collect(), text_frame(local.release.data))
    handed = run.release.to_spark()
    assert handed.columns == people.columns
    assert_frame_equal(pl.from_arrow(handed.toArrow()), text_frame(local.release.data))
    run.write(tmp_path / "parts", table_format="parquet")
    local.write(tmp_path / "local", table_format="parquet", report=False)
    parts = sorted((tmp_path / "parts" / "release" / "data.parquet").iterdir())
    assert_frame_equal(
        pl.concat([pl.read_parquet(part) for part in parts]),
        pl.read_parquet(tmp_path / "local" / "release" / "data.parquet"),
    )


def test_blanks_around_cells_mean_nothing(spark: "Spark", tmp_path: Path) -> None:
    path = tmp_path / "people.csv"
    path.write_text('age , illness\n 20 , "a, b"\n20,"a, b" \n,\n" 21",""\n')
    frames = [
        shoal.anonymize(path, "mondrian", k=2, quasi="age", sensitive="illness", **more).release
        for more in ({}, {"engine": spark})
    ]
    assert_frame_equal(frames[1].data.parts.collect(), text_frame(frames[0].data))


def test_bad_files_are_told_in_one_sentence(spark: "Spark", tmp_path: Path) -> None:
    path = tmp_path / "people.csv"
    path.write_text("age,illness\n20,flu\n21\n")
    with pytest.raises(BadData, match=r"people\.csv: a line has another number of cells"):
        shoal.anonymize(path, "mondrian", k=2, quasi="age", sensitive="illness", engine=spark)
    path.write_bytes(b"age,illness\n20,gr\xfcn\n21,flu\n")
    with pytest.raises(BadData, match="column 'illness': the text is not UTF-8"):
        shoal.anonymize(path, "mondrian", k=2, quasi="age", sensitive="illness", engine=spark)
    with pytest.raises(BadData, match="no such file"):
        shoal.anonymize(tmp_path / "nobody.csv", "mondrian", k=2, quasi="age", engine=spark)
    folder = tmp_path / "parts.csv"
    folder.mkdir()
    (folder / "part-0.csv").write_text("age,illness\n20,flu\n")
    (folder / "part-1.csv").write_text("illness,age\nflu,21\n")
    with pytest.raises(BadData, match="do not have the same header"):
        shoal.anonymize(folder, "mondrian", k=2, quasi="age", sensitive="illness", engine=spark)
