"""The verbs of parts on a real cluster give what they give in memory."""

from datetime import date, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal
from tests.parts import MemoryParts

import shoal
from shoal.data.dataset import Parts
from shoal.data.role import Roles
from shoal.errors import BadData, EngineFailed, WrongUse
from shoal.io.reading import Reading
from shoal.io.tables.load import load_table

if TYPE_CHECKING:
    from shoal.engines.spark import Spark

ROWS = 1000


def rows() -> pl.DataFrame:
    random = np.random.default_rng(4)
    return pl.DataFrame(
        {
            "number": random.integers(0, 9, ROWS).astype(np.int32),
            "a.`name`": [
                None if draw == 0 else "äb,\n😀\U0000ffff"[draw] for draw in random.integers(0, 6, ROWS)
            ],
            "items": [list(range(draw)) for draw in random.integers(0, 4, ROWS)],
        },
        schema_overrides={"items": pl.List(pl.Int32)},
    )


@pytest.fixture(scope="module")
def both(spark: "Spark") -> tuple[Parts, Parts]:
    return spark.parts(rows()).keep(), MemoryParts(rows())


def ordered(frame: pl.DataFrame) -> pl.DataFrame:
    return frame.sort(frame.columns)


def doubled(frame: pl.DataFrame) -> pl.DataFrame:
    return frame.select(pl.col("number") * 2, pl.col("items").list.len().cast(pl.Int64).alias("length"))


def biggest(frame: pl.DataFrame) -> pl.DataFrame:
    return frame.select(
        pl.col("number").first(), pl.col("items").list.len().cast(pl.Int64).max().alias("length")
    )


def doubled_numbers(frame: pl.DataFrame) -> pl.DataFrame:
    return frame.with_columns(pl.col("number") * 2)


SCHEMA: dict[str, Any] = {"number": pl.Int32, "length": pl.Int64}
SAME: dict[str, Any] = dict(rows().schema)


def test_map(both: tuple[Parts, Parts]) -> None:
    there, here = (
        parts.map(doubled, SCHEMA).map(lambda one: one.filter(one["number"] > 4), SCHEMA) for parts in both
    )
    assert there.names == here.names
    assert_frame_equal(ordered(there.collect()), ordered(here.collect()))


def test_group(both: tuple[Parts, Parts]) -> None:
    there, here = (parts.group("number", biggest, SCHEMA) for parts in both)
    assert_frame_equal(ordered(there.collect()), ordered(here.collect()))


def test_fold(both: tuple[Parts, Parts]) -> None:
    there, here = (
        parts.fold(lambda one: one["number"].sum(), lambda one, other: one + other) for parts in both
    )
    assert there == here
    empty = both[0].map(lambda one: one.clear(), dict(rows().schema))
    assert empty.fold(len, lambda one, other: one + other) is None


def test_counts(both: tuple[Parts, Parts]) -> None:
    there, here = (parts.counts(["a.`name`", "number"]) for parts in both)
    assert_frame_equal(there, here)


def test_sort_and_write(both: tuple[Parts, Parts], tmp_path: Path) -> None:
    written = []
    for number, parts in enumerate(both):
        lines = parts.sort(["a.`name`", "number"]).map(
            lambda one: one.select(line=pl.format("{} {}", pl.col("a.`name`").fill_null("-"), "number")),
            {"line": pl.String},
        )
        count = lines.write(str(tmp_path / str(number)), ".dat", header="names")
        files = sorted((tmp_path / str(number)).iterdir())
        assert [file.name for file in files] == [f"part-{place:05}.dat" for place in range(count)]
        texts = [file.read_text(encoding="utf-8") for file in files]
        assert all(text.startswith("names\n") for text in texts)
        written.append("".join(text.removeprefix("names\n") for text in texts))
    assert written[0] == written[1]


def test_write_parquet(both: tuple[Parts, Parts], tmp_path: Path) -> None:
    both[0].sort(["number", "a.`name`", "items"]).write(str(tmp_path / "out"), ".parquet")
    files = sorted((tmp_path / "out").iterdir())
    assert all(file.suffix == ".parquet" for file in files)
    back = pl.concat([pl.read_parquet(file) for file in files])
    assert_frame_equal(back, rows().sort(["number", "a.`name`", "items"]))


def test_union(both: tuple[Parts, Parts]) -> None:
    there, here = (parts.union(parts.map(doubled_numbers, SAME)) for parts in both)
    assert_frame_equal(ordered(there.collect()), ordered(here.collect()))


def test_more_combinations_than_memory_holds_are_refused(
    spark: "Spark", both: tuple[Parts, Parts], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(spark, "countable", 1000)
    assert_frame_equal(both[0].counts(["number"]), both[1].counts(["number"]))
    with pytest.raises(WrongUse, match=r"combinations of number, a\.`name`.*`memory`"):
        both[0].counts(["number", "a.`name`"])


def test_frames_of_this_machine(spark: "Spark") -> None:
    """Cells of all types are on a cluster what they are in memory: times get no zone, and large numbers fit."""
    frame = pl.DataFrame(
        {
            "time": [datetime(2024, 7, 1, 5), datetime(1890, 5, 6), None],
            "zone": pl.Series([datetime(2024, 7, 1, 5)] * 3).dt.replace_time_zone("Europe/Berlin"),
            "large": pl.Series([1, 2, 2**63 + 1], dtype=pl.UInt64),
            "small": pl.Series([1, None, 255], dtype=pl.UInt8),
            "name": pl.Series(["a", None, "b"], dtype=pl.Categorical),
            "day": [date(2024, 7, 1), date(1890, 5, 6), None],
            "half": [0.5, float("nan"), -0.0],
        }
    )
    here = load_table(frame, Roles.of(quasi=frame.columns)).table
    there = spark.load_table(frame, Roles.of(quasi=frame.columns), Reading()).table
    for column, other in zip(here.columns, there.schema.columns, strict=True):
        assert (column.domain.kind, column.domain.labels) == (other.domain.kind, other.domain.labels)
    codes = pl.DataFrame({column.name: column.codes for column in here.columns})
    assert_frame_equal(ordered(there.parts.collect()), ordered(codes))


def test_moments_do_not_depend_on_the_zone_that_spark_works_in(spark: "Spark", tmp_path: Path) -> None:
    """What Parquet has in UTC is published in UTC, as it is from memory; times without a zone get none."""
    path = tmp_path / "times.parquet"
    moments = pl.Series("moment", [datetime(2024, 7, 1, 5), datetime(2024, 1, 1, 23), None])
    pl.DataFrame([moments.dt.replace_time_zone("UTC"), moments.alias("time")]).write_parquet(path)
    zone = spark.session.conf.get("spark.sql.session.timeZone")
    spark.session.conf.set("spark.sql.session.timeZone", "America/New_York")
    try:
        there = spark.load_table(path, Roles.of(quasi=["moment", "time"]), Reading()).table.schema
    finally:
        spark.session.conf.set("spark.sql.session.timeZone", zone)
    here = load_table(path, Roles.of(quasi=["moment", "time"])).table
    assert [one.domain.labels for one in there.columns] == [one.domain.labels for one in here.columns]


def test_a_cell_with_a_line_break_is_never_two_rows(spark: "Spark", tmp_path: Path) -> None:
    """Also where its halves have as many cells as a row has."""
    path = tmp_path / "people.csv"
    path.write_text('a,b\n1,"x\n1,x"\n2,y\n')
    with pytest.raises(BadData, match=r"Parquet.*engine=shoal\.engines\.Stream") as fault:
        spark.load_table(path, Roles.of(quasi=["a"], sensitive=["b"]), Reading())
    assert fault.value.path == str(path)


def test_names_that_differ_in_case_alone(spark: "Spark", tmp_path: Path) -> None:
    """They are two columns, as in memory, or a sentence says which setting of the session is in the way."""
    path = tmp_path / "people.csv"
    path.write_text("Age,age\n1,2\n3,4\n")
    setting = "spark.sql.caseSensitive"
    before = spark.session.conf.get(setting)
    try:
        spark.session.conf.set(setting, "true")
        table = spark.load_table(path, Roles.of(quasi=["Age", "age"]), Reading()).table
        assert [column.domain.labels for column in table.schema.columns] == [("1", "3"), ("2", "4")]
        spark.session.conf.set(setting, "false")
        with pytest.raises(BadData, match=setting):
            spark.load_table(path, Roles.of(quasi=["Age", "age"]), Reading())
    finally:
        spark.session.conf.set(setting, before)


def test_a_frame_of_spark_is_worked_on_in_its_own_session(spark: "Spark") -> None:
    """Without a word about an engine; parts are few though the session asks for 200, and its settings stay."""
    session = spark.session.newSession()
    told = {
        "spark.sql.shuffle.partitions": "200",
        "spark.sql.adaptive.enabled": "false",
        "spark.sql.optimizer.canChangeCachedPlanOutputPartitioning": "false",
    }
    for setting, value in told.items():
        session.conf.set(setting, value)
    people = session.createDataFrame(
        [(20 + row % 40, "man" if row % 3 else "woman", "flu" if row % 2 else "cold") for row in range(60)],
        ["age", "sex (m/w)", "illness"],
    ).repartition(16)
    run = shoal.anonymize(people, "mondrian", k=5, quasi=["age", "sex (m/w)"], sensitive=["illness"], seed=1)
    assert run.holds
    assert run.engine.name == "spark"
    published = run.release.data.parts
    assert published.frame.columns == ["age", "sex (m/w)", "illness"]
    assert published.collect().height == 60
    kept = run.original.parts.distinct(["age"]).keep()
    assert kept.collect().height == 40
    assert kept.frame.rdd.getNumPartitions() < 16
    assert {setting: session.conf.get(setting) for setting in told} == told
    run.engine.close()


def test_settings_that_nobody_set_are_not_set_afterwards(spark: "Spark") -> None:
    from shoal.engines._spark_session import PARTS_BY_SIZE, parts_by_size

    session = spark.session.newSession()
    for name in PARTS_BY_SIZE:
        session.conf.unset(name)
    with parts_by_size(session):
        assert all(session.conf.get(name) == value for name, value in PARTS_BY_SIZE.items())
    assert [session.conf.get(name, None) for name in PARTS_BY_SIZE] == [None] * len(PARTS_BY_SIZE)


def refuse(frame: pl.DataFrame) -> pl.DataFrame:
    raise BadData("this row is wrong", "people.csv")


def test_errors_of_workers_are_one_sentence(both: tuple[Parts, Parts]) -> None:
    with pytest.raises(BadData, match=r"^people.csv: this row is wrong$"):
        both[0].map(refuse, SCHEMA).collect()
    with pytest.raises(EngineFailed, match="Spark could not do the work") as failure:
        both[0].map(lambda one: one.select("no such column"), SCHEMA).collect()
    assert "\n" not in str(failure.value)


def out_of_memory(frame: pl.DataFrame) -> pl.DataFrame:
    raise MemoryError


def test_a_part_that_does_not_fit_is_told_in_one_sentence(both: tuple[Parts, Parts]) -> None:
    with pytest.raises(EngineFailed, match=r"A Python worker ran out of memory.*spark\.executor"):
        both[0].map(out_of_memory, SCHEMA).collect()
