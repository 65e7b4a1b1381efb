"""Columns of sources with types whose cells are taken for something else: that is said, once."""

import datetime
import warnings
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import shoal
from shoal.engines.stream import Stream

UTC = datetime.UTC
MOMENTS = [datetime.datetime(2024, 5, day, 12, 30, tzinfo=UTC) for day in (1, 2, 3, 4)]
FRAME = pl.DataFrame(
    {
        "zip": pl.Series(["10115", "10117", "20095", "20097"], dtype=pl.Categorical),
        "when": MOMENTS,
        "code": ["7", "8", "9", "10"],
        "age": [31, 32, 33, 34],
        "ill": ["flu", "cold", "flu", "cold"],
    }
)
ROLES: dict[str, Any] = {"quasi": ["zip", "when", "code", "age"], "sensitive": "ill", "k": 2}
WANTED = "'zip' (texts) as numbers, 'when' (times) as names of exact moments, 'code' (texts) as numbers"


@pytest.mark.parametrize("engine", ["local", "stream"])
@pytest.mark.parametrize("form", ["frame", "parquet", "pandas"])
def test_it_is_said_once(tmp_path: Path, engine: str, form: str) -> None:
    source: Any = FRAME
    if form == "parquet":
        source = tmp_path / "table.parquet"
        FRAME.write_parquet(source)
    elif form == "pandas":
        source = FRAME.to_pandas()
    where = Stream() if engine == "stream" else None
    with pytest.warns(UserWarning, match="taken otherwise than by their type") as record:
        run = shoal.anonymize(source, "mondrian", engine=where, **ROLES)
    heard = [warning for warning in record if "than by their type" in str(warning.message)]
    said = [warning for warning in run.warnings if "than by their type" in warning]
    assert len(said) == len(heard) == 1
    assert WANTED in said[0]
    assert "--kind when=date" in said[0]
    assert heard[0].filename == __file__
    if where is not None:
        where.close()


def test_nothing_is_said_of_texts_or_where_kinds_are_told(tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    FRAME.select("zip", "code", "ill").write_csv(path)
    kinds = {"zip": "nominal", "when": "date", "code": "numeric"}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        run = shoal.anonymize(path, "mondrian", k=2, quasi=["zip", "code"], sensitive="ill")
        told = shoal.anonymize(FRAME, "mondrian", reading=shoal.Reading(kinds=kinds), **ROLES)
    assert not any("their type" in warning for warning in (*run.warnings, *told.warnings))
    assert told.release.to_polars()["when"].to_list()[0] == "[2024-05-01,2024-05-02]"
