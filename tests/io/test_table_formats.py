"""Every format of tables gives back what was written, and says what is wrong."""

import errno
import os
from datetime import date
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from tests.io.people import ROLES, cells

from shoal.data.domain import Domain, Kind
from shoal.data.role import Role
from shoal.data.table import Column, Table
from shoal.errors import BadData, CannotWrite, UnknownName, WrongUse
from shoal.io.tables import delimited
from shoal.io.tables.load import Reading, read_published_table, read_table, write_table


@pytest.mark.parametrize("ending", [".csv", ".tsv", ".parquet", ".feather", ".arrow", ".xlsx"])
def test_every_format_gives_back_what_was_written(table: Table, tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"out{ending}"
    write_table(table, path)
    roles = {role: names for role, names in ROLES.items() if role != "identifying"}
    assert cells(read_table(path, **roles)) == cells(table)
    published = read_published_table(path, ["age"], ["ill"])
    for column in published.columns:
        original = table.column(column.name)
        assert column.domain.kind is Kind.NOMINAL
        texts = [column.domain.labels[code] for code in column.codes]
        assert texts == [original.domain.labels[code] for code in original.codes]
    assert sorted(entry.name for entry in tmp_path.iterdir()) == [path.name, "people.csv"]


def test_types_of_columns_in_parquet(table: Table, tmp_path: Path) -> None:
    path = tmp_path / "out.parquet"
    write_table(table, path)
    frame = pl.read_parquet(path)
    assert frame.dtypes == [pl.Int64, pl.String, pl.Date, pl.String, pl.String]
    assert frame["age"].to_list() == [41, 38, None, 41]
    import pandas

    write_table(table, tmp_path / "out.feather")
    assert pandas.read_feather(tmp_path / "out.feather")["age"].isna().tolist() == [False, False, True, False]


def column_of(labels: tuple[str, ...], codes: list[int], missing: int | None = None) -> Table:
    domain = Domain(Kind.NOMINAL, labels, missing=missing)
    return Table((Column("x", Role.QUASI, domain, np.array(codes, dtype=np.int32)),))


@pytest.mark.parametrize("ending", [".csv", ".tsv", ".parquet", ".feather", ".xlsx"])
@pytest.mark.parametrize("codes", [[0, 1, 1], [1, 0, 1], [1, 1, 0]])
def test_rows_of_one_empty_cell_survive(tmp_path: Path, ending: str, codes: list[int]) -> None:
    path = tmp_path / f"out{ending}"
    write_table(column_of(("a", ""), codes, missing=1), path)
    again = read_table(path, quasi=["x"])
    assert again.columns[0].codes.tolist() == codes
    assert read_published_table(path, ["x"]).rows == 3


@pytest.mark.parametrize("ending", [".csv", ".parquet", ".xlsx"])
def test_texts_that_programs_like_to_change(tmp_path: Path, ending: str) -> None:
    texts = (
        "=1+1",
        "+5",
        "007",
        "1e5x",
        "[1,2]",
        "http://a.b",
        "true",
        "_x0041_",
        "'a",
        "ü\nv",
        "{a|b}",
        "#N/A",
    )
    labels = tuple(sorted(texts))
    path = tmp_path / f"out{ending}"
    write_table(column_of(labels, list(range(len(labels)))), path)
    again = read_published_table(path, ["x"]).columns[0]
    assert [again.domain.labels[code] for code in again.codes] == list(labels)


def test_a_full_disk_leaves_nothing(table: Table, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(frame: pl.DataFrame, path: Path, separator: str) -> None:
        path.write_text("half")
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(delimited, "write_blocks", full)
    before = sorted(tmp_path.iterdir())
    with pytest.raises(CannotWrite, match=r"out\.csv cannot be written: No space left on device\. Make room"):
        write_table(table, tmp_path / "out.csv")
    assert sorted(tmp_path.iterdir()) == before


def test_a_real_full_disk(table: Table) -> None:
    if not Path("/dev/full").exists():
        pytest.skip("There is no /dev/full here.")
    from shoal.data._frames import text_frame

    with pytest.raises(OSError, match="No space left"):
        delimited.write_delimited(text_frame(table), Path("/dev/full"))


def test_where_nothing_can_be_written(table: Table, tmp_path: Path) -> None:
    for ending in ("csv", "parquet", "feather", "xlsx"):
        with pytest.raises(CannotWrite, match="cannot be written"):
            write_table(table, tmp_path / "nowhere" / f"out.{ending}")
    with pytest.raises(WrongUse, match=r"no format to write of the ending '\.pdf'"):
        write_table(table, tmp_path / "out.pdf")


@pytest.mark.parametrize("name", ["a.parquet", "a.feather", "a.xlsx"])
def test_files_that_are_cut_off_or_of_another_format(table: Table, tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    write_table(table, path)
    whole = path.read_bytes()
    for data in (whole[: len(whole) // 2], b"a,b\n1,2\n", b""):
        path.write_bytes(data)
        with pytest.raises(BadData, match="cut off, damaged or of another format"):
            read_table(path, quasi=["age"], others="drop")
    path.unlink()
    with pytest.raises(BadData, match="there is no such file"):
        read_table(path, quasi=["age"])


def test_parquet_without_rows(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    pl.DataFrame({"a": []}).write_parquet(path)
    with pytest.raises(BadData, match="there are no rows"):
        read_table(path, quasi=["a"])


def test_excel_sheets(tmp_path: Path) -> None:
    import xlsxwriter

    path = tmp_path / "a.xlsx"
    with xlsxwriter.Workbook(path) as workbook:
        for name, rows in {
            "good": [[" age ", "x"], [41, "a"], [38.0, None]],
            "twice": [["a", "a"], [1, 2]],
            "unnamed": [["a", None, "b"], [1, 2, 3]],
            "header": [["a", "b"]],
            "empty": [],
        }.items():
            sheet = workbook.add_worksheet(name)
            for place, row in enumerate(rows):
                sheet.write_row(place, 0, row)
    read = read_table(path, quasi=["age"], others="insensitive")
    assert [column.domain.labels for column in read.columns] == [("38", "41"), ("a", "")]
    for sheet, message in {
        "twice": "two columns have the name 'a'",
        "unnamed": "column 2 of 3 has no name",
        "header": "there are no rows",
        "empty": "the sheet is empty",
    }.items():
        with pytest.raises(BadData, match=message):
            read_table(path, quasi=["a"], reading=Reading(sheet=sheet))
    with pytest.raises(UnknownName, match=r"no sheet 'godo'\. Did you mean 'good'"):
        read_table(path, quasi=["a"], reading=Reading(sheet="godo"))
    with pytest.raises(WrongUse, match="for delimited text"):
        read_table(path, quasi=["a"], reading=Reading(names=("a",)))


def test_days_before_excel(tmp_path: Path) -> None:
    path = tmp_path / "a.xlsx"
    days = read_table(pl.DataFrame({"day": [date(1850, 1, 1), date(2020, 1, 1)]}), quasi=["day"])
    write_table(days, path)
    assert cells(read_table(path, quasi=["day"])) == cells(days)
