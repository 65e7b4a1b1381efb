"""Tables read in parts are the tables read into memory: the same domains, the same rows."""

from collections.abc import Iterable
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from tests.parts import MemoryEngine, MemoryParts

from shoal.data.role import Roles
from shoal.data.table import Table
from shoal.errors import BadData, UnknownName, WrongUse
from shoal.io.reading import Reading
from shoal.io.tables.distributed import open_parts
from shoal.io.tables.load import load_table

ROLES: dict[str, Any] = {"quasi": ["a", "b"], "sensitive": ["c"], "others": "drop"}


def rows_of(codes: pl.DataFrame) -> list[tuple[int, ...]]:
    return sorted(codes.rows())


def assert_same(source: Any, parts: Any, reading: Reading) -> None:
    assert_all_same(source, (parts,), reading)


def assert_all_same(source: Any, cuts: Iterable[Any], reading: Reading) -> None:
    """Whatever the cut of the rows, they are read as in memory, or refused as there."""
    try:
        arrival = load_table(source, Roles(**ROLES), reading)
    except BadData:
        for parts in cuts:
            with pytest.raises(BadData):
                MemoryEngine().load_table(parts, Roles(**ROLES), reading)
        return
    for parts in cuts:
        assert_equal(arrival, MemoryEngine().load_table(parts, Roles(**ROLES), reading))


def assert_equal(arrival: Any, found: Any) -> None:
    table: Table = arrival.table
    for column, other in zip(table.columns, found.table.schema.columns, strict=True):
        assert (column.name, column.role) == (other.name, other.role)
        assert (column.domain.kind, column.domain.labels, column.domain.missing) == (
            other.domain.kind,
            other.domain.labels,
            other.domain.missing,
        )
        np.testing.assert_array_equal(column.domain.values, other.domain.values)
        assert not len(other.codes)
    here = pl.DataFrame({column.name: column.codes for column in table.columns})
    assert rows_of(found.table.parts.collect()) == rows_of(here)
    assert (found.table.rows, found.left_out) == (table.rows, arrival.left_out)


CELLS = st.none() | st.sampled_from(["x", " x", "1", "01", "1.0", "-0", "?", "", "2024-01-02", "ä", "y "])
VALUES = st.one_of(
    st.lists(st.none() | st.integers(-5, 5), min_size=1),
    st.lists(st.none() | st.floats(allow_infinity=False, width=32), min_size=1),
    st.lists(st.none() | st.booleans(), min_size=1),
    st.lists(st.none() | st.dates(), min_size=1),
    st.lists(CELLS, min_size=1),
)


@given(VALUES, VALUES, VALUES, st.booleans(), st.integers(0, 99))
@example([None, 0], [None, 0], [9007200328482816.0, 0.0], True, 0)
def test_frames(first: list[Any], second: list[Any], third: list[Any], drop: bool, seed: int) -> None:
    rows = min(map(len, (first, second, third)))
    frame = pl.DataFrame({"a": first[:rows], "b": second[:rows], "c": third[:rows], "d": first[:rows]})
    assert_same(frame, MemoryParts(frame, seed), Reading(drop_missing=drop))


@given(
    st.lists(st.sampled_from([-9, 0, 7]), min_size=3, max_size=3),
    st.lists(st.sampled_from([-9.0, 0.5, 7.0]), min_size=3, max_size=3),
    st.lists(
        st.sampled_from([datetime(2024, 1, 2), datetime(2024, 1, 2, 3), datetime(2024, 1, 3)]),
        min_size=3,
        max_size=3,
    ),
    st.booleans(),
)
def test_numbers_that_mean_missing(
    first: list[int], second: list[float], third: list[Any], drop: bool
) -> None:
    frame = pl.DataFrame({"a": first, "b": second, "c": third, "d": second})
    reading = Reading(missing=("-9", "2024-01-02"), drop_missing=drop)
    assert_all_same(frame, [MemoryParts(frame, seed) for seed in range(3)], reading)


@pytest.mark.parametrize("header", [True, False])
def test_delimited_text(tmp_path: Path, header: bool) -> None:
    folder = tmp_path / "people.csv"
    folder.mkdir()
    top = "a; b;c;d\n" if header else ""
    (folder / "part-0.csv").write_text(f'{top}1; "x;y";flu;7\n2;?;"a ""b""";8\n', encoding="utf-8")
    (folder / "part-1.csv").write_text(f"{top}3;z;ü;9\n1;;flu;\n", encoding="utf-8")
    reading = Reading(names=None if header else ("a", "b", "c", "d"), separator=";")
    assert_same(folder, folder, reading)


def test_parquet(tmp_path: Path) -> None:
    pl.DataFrame({"a": [1, 2, None], "b": [1.5, 2.0, float("nan")], "c": ["x", None, " x "]}).write_parquet(
        tmp_path / "people.parquet"
    )
    assert_same(tmp_path / "people.parquet", tmp_path / "people.parquet", Reading())


@pytest.mark.parametrize("source", ["people.xlsx", "-", {"a": [1]}], ids=str)
def test_other_sources_are_refused(source: Any) -> None:
    with pytest.raises(
        WrongUse, match=r"in memory: engine=shoal\.engines\.Local\(\)\.$|frame of polars, pandas or Arrow"
    ):
        open_parts(source, MemoryEngine())


def test_frames_of_this_machine_are_handed_over() -> None:
    frame = pl.DataFrame({"a": [1, 2, 1], "b": ["x", " x", None], "c": [1.5, -0.0, 0.0], "d": [1, 2, 3]})
    for source in (frame, frame.lazy(), frame.to_pandas(), frame.to_arrow()):
        assert_same(source, source, Reading())
    times = pl.Series([datetime(2024, 1, 2), datetime(2024, 1, 2, 3), None])
    large = pl.Series([1, 2, 2**63 + 1], dtype=pl.UInt64)
    typed = pl.DataFrame({"a": times, "b": large, "c": ["x", "y", "z"]})
    for drop in (False, True):
        assert_same(typed, typed, Reading(missing=("2024-01-02", "1"), drop_missing=drop))


def test_faults_name_the_column(tmp_path: Path) -> None:
    path = tmp_path / "people.csv"
    path.write_text("a,b,c\n1,[1,x\n", encoding="utf-8")
    with pytest.raises(UnknownName, match="'d'"):
        MemoryEngine().load_table(path, Roles(quasi=("d",), others="drop"), Reading())
    path.write_text("a,b,c\n1,*,x\n", encoding="utf-8")
    with pytest.raises(
        BadData, match=r"people.csv, line 2, column 'b': the cell '\*' looks like a published one"
    ):
        MemoryEngine().load_table(path, Roles(**ROLES), Reading())
    path.write_text("a,b,c\n", encoding="utf-8")
    with pytest.raises(BadData, match="no rows"):
        MemoryEngine().load_table(path, Roles(**ROLES), Reading())
    with pytest.raises(BadData, match=r"^column 'b': the cell '\*' looks like a published one"):
        MemoryEngine().load_table(pl.DataFrame({"a": 1, "b": "*", "c": "x"}), Roles(**ROLES), Reading())
