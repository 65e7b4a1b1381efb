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
    assert "kinds={'when': 'date'}" in said[0]
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
        shown = shoal.anonymize(FRAME, "mondrian", reading=shoal.Reading(kinds=kinds), **ROLES)
    assert not any("their type" in warning for warning in (*run.warnings, *shown.warnings))
    assert shown.release.to_polars()["when"].to_list()[0] == "[2024-05-01,2024-05-02]"


@pytest.mark.parametrize("engine", ["local", "stream"])
@pytest.mark.parametrize("first", ["31,flu", "a,flu", "a,cold"])
def test_a_first_line_that_looks_like_data_is_told(tmp_path: Path, first: str, engine: str) -> None:
    path, (quasi, sensitive) = tmp_path / "table.csv", first.split(",")
    path.write_text(f"{first}\na,flu\nb,cold\nc,flu\nd,cold\n")
    where = Stream() if engine == "stream" else None
    with pytest.warns(UserWarning, match="first line .* looks like data: .* `names`"):
        run = shoal.anonymize(path, "mondrian", k=2, quasi=quasi, sensitive=sensitive, engine=where)
    assert sum("looks like data" in warning for warning in run.warnings) == 1
    named = shoal.anonymize(path, "mondrian", k=2, quasi="q", sensitive="s", names=["q", "s"], engine=where)
    assert not any("looks like data" in warning for warning in named.warnings)
    if where is not None:
        where.close()
    else:
        with pytest.warns(UserWarning, match="looks like data"):
            shoal.read_table(path, quasi=[quasi], sensitive=[sensitive])


@pytest.mark.parametrize("engine", ["local", "stream"])
def test_lengths_of_time_are_told(engine: str) -> None:
    frame = FRAME.select(
        "age", "ill", wait=pl.Series([datetime.timedelta(hours=hours) for hours in (2, 10, 2, 10)])
    )
    where = Stream() if engine == "stream" else None
    with pytest.warns(UserWarning, match=r"Lengths of time are taken as names, .*: 'wait'\."):
        shoal.anonymize(frame, "mondrian", k=2, quasi=["wait", "age"], sensitive="ill", engine=where)
    if where is not None:
        where.close()


@pytest.mark.parametrize("engine", ["local", "stream"])
@pytest.mark.parametrize("layout", [None, "long:basket,item"])
def test_names_that_stand_in_the_first_line_are_refused(
    tmp_path: Path, engine: str, layout: str | None
) -> None:
    path, names = tmp_path / "x.csv", ["basket", "item"]
    path.write_text("basket, item\n1,beer\n1,milk\n2,beer\n")
    where = Stream() if engine == "stream" else None
    with pytest.raises(shoal.WrongUse, match="first line has exactly these names"):
        shoal.anonymize(path, "disassociation", k=2, m=1, baskets=layout, names=names, engine=where)
    with pytest.raises(shoal.WrongUse, match="first line has exactly these names"):
        shoal.anonymize(path, "mondrian", k=2, quasi="basket", sensitive="item", names=names, engine=where)
    for wrong in (["basket"], ["a", "b", "c"]):
        with pytest.raises(shoal.WrongUse, match="The lines have 2 cells, and "):
            shoal.anonymize(path, "disassociation", k=2, m=1, baskets=layout, names=wrong, engine=where)
        with pytest.raises(shoal.WrongUse, match="The lines have 2 cells, and "):
            shoal.anonymize(path, "mondrian", k=2, quasi=wrong[0], names=wrong, engine=where)
    if where is not None:
        where.close()


def test_names_of_a_matrix_that_stand_in_its_first_line_are_refused(tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_text("a,b\n1,0\n0,1\n")
    with pytest.raises(shoal.WrongUse, match="first line has exactly these names"):
        shoal.read_baskets(tmp_path / "x.csv", baskets="matrix", names=["a", "b"])


@pytest.mark.parametrize("engine", ["local", "stream"])
def test_types_of_pandas_that_arrow_does_not_know(engine: str) -> None:
    pandas = pytest.importorskip("pandas")
    where = Stream() if engine == "stream" else None
    low = pandas.Categorical(["low", "mid", "high", "mid"], ["low", "mid", "high"], ordered=True)
    cases: list[tuple[Any, str, list[str]]] = [
        (low, "ordinal", ["low", "mid", "high"]),
        (
            pandas.cut(pandas.Series([1, 5, 99, 5]), [0, 4, 10, 100]),
            "ordinal",
            ["(0, 4]", "(4, 10]", "(10, 100]"],
        ),
        (pandas.Categorical(["b", "a", "b", "a"]), "nominal", ["a", "b"]),
        (
            pandas.period_range("2024-01", periods=4, freq="M"),
            "nominal",
            [f"2024-0{month}" for month in (1, 2, 3, 4)],
        ),
        (
            pandas.arrays.IntervalArray.from_breaks([0, 1, 2, 3, 4]),
            "nominal",
            ["(0, 1]", "(1, 2]", "(2, 3]", "(3, 4]"],
        ),
    ]
    for cells, kind, labels in cases:
        frame = pandas.DataFrame({"x": cells, "ill": ["flu", "cold", "flu", "cold"]})
        run = shoal.anonymize(frame, "mondrian", k=2, quasi="x", sensitive="ill", engine=where)
        data = run.original.schema if where else run.original
        assert (str(data.column("x").domain.kind), list(data.column("x").domain.labels)) == (kind, labels)
        assert shoal.inspect(frame).columns[0].kind == kind
    if where is not None:
        where.close()


def test_what_is_no_method_or_population_is_refused_in_a_sentence() -> None:
    with pytest.raises(shoal.WrongUse, match="A method is named, or an object"):
        shoal.anonymize(FRAME, 2, **ROLES)  # type: ignore[call-overload]
    with pytest.raises(shoal.WrongUse, match=r"population must be a valid string, not a DataFrame\.$"):
        shoal.anonymize(FRAME, "mondrian", population=FRAME, **ROLES)
