import errno
import gzip
import io
import os
import subprocess
import sys
from collections.abc import Callable
from datetime import date
from pathlib import Path

import numpy as np
import polars as pl
import pytest
import zstandard
from hypothesis import example, given
from hypothesis import strategies as st

from shoal.data.domain import Domain, Kind
from shoal.data.hierarchy import Hierarchy
from shoal.data.role import Role
from shoal.data.table import Column, Table
from shoal.errors import BadData, CannotWrite, ShoalError, UnknownName, WrongUse
from shoal.io import delimited
from shoal.io.tables import Reading, read_frame, read_published_table, read_table, receive_table, write_table

PEOPLE = '''name, age, zip, born, ill, visits
Ann, 41, 02263, 1983-04-01, "flu, ""mild""", 3
José, 38, 10115, 1986-12-24, ?, 2.5
李, , 10115, , cold, 3
"Eve\nX", 41, 02263, 1983-04-01, NA, 1e2
'''
ROLES = {
    "identifying": ["name"],
    "quasi": ["age", "zip", "born"],
    "sensitive": ["ill"],
    "insensitive": ["visits"],
}


def cells(table: Table) -> list[tuple[object, ...]]:
    """What a table says, whatever it was read from."""
    return [
        (
            column.name,
            column.role,
            column.domain.kind,
            [column.domain.labels[code] for code in column.codes],
            None if column.domain.values is None else column.domain.values[column.codes].tolist().__repr__(),
            column.domain.missing,
        )
        for column in table.columns
    ]


@pytest.fixture
def people(tmp_path: Path) -> Path:
    path = tmp_path / "people.csv"
    path.write_text(PEOPLE, encoding="utf-8")
    return path


@pytest.fixture
def table(people: Path) -> Table:
    return read_table(people, **ROLES)


def test_a_file_with_everything(table: Table) -> None:
    assert table.names == ("age", "zip", "born", "ill", "visits")
    assert [column.role for column in table.columns] == [Role.QUASI] * 3 + [Role.SENSITIVE, Role.INSENSITIVE]
    kinds = [column.domain.kind for column in table.columns]
    assert kinds == [Kind.NUMERIC, Kind.NOMINAL, Kind.DATE, Kind.NOMINAL, Kind.NUMERIC]
    assert [column.domain.labels for column in table.columns] == [
        ("38", "41", ""),
        ("02263", "10115"),
        ("1983-04-01", "1986-12-24", ""),
        ("cold", 'flu, "mild"', ""),
        ("2.5", "3", "1e2"),
    ]
    assert table.column("age").codes.tolist() == [1, 0, 2, 1]


@pytest.mark.parametrize("pack", [gzip.compress, zstandard.compress])
def test_compressed(people: Path, table: Table, pack: Callable[[bytes], bytes]) -> None:
    packed = people.with_suffix(".csv.gz" if pack is gzip.compress else ".csv.zst")
    packed.write_bytes(pack(people.read_bytes()))
    assert cells(read_table(packed, **ROLES)) == cells(table)


def test_standard_input(people: Path, table: Table, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(people.read_bytes())))
    assert cells(read_table("-", **ROLES)) == cells(table)
    program = "from shoal.io.tables import *; print(read_table('-', others='insensitive').rows)"
    with people.open("rb") as file:
        done = subprocess.run([sys.executable, "-c", program], stdin=file, capture_output=True, check=True)
    assert done.stdout == b"4\n"


def test_a_bad_cell_on_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"a\n1\n*\n")))
    with pytest.raises(BadData, match=r"standard input, line 3, column 'a': the cell '\*' looks like"):
        read_table("-", quasi=["a"])


def test_the_line_of_a_bad_cell_below_quoted_line_breaks(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text('a,b\n"x\n\ny",1\nz,"[1,2]"\n')
    with pytest.raises(BadData, match="line 5, column 'b'"):
        read_table(path, quasi=["a", "b"])


def test_frames(table: Table, people: Path) -> None:
    import pandas
    import pyarrow

    columns = {
        "name": ["a", "b", "c", "d"],
        "age": [41, 38, None, 41],
        "zip": ["02263", "10115", "10115", "02263"],
        "born": [date(1983, 4, 1), date(1986, 12, 24), None, date(1983, 4, 1)],
        "ill": ['flu, "mild"', None, "cold", None],
        "visits": ["3", "2.5", "3", "1e2"],
    }
    frame = pl.DataFrame(columns)
    assert cells(read_table(frame, **ROLES)) == cells(table)
    assert cells(read_table(frame.lazy(), **ROLES)) == cells(table)
    assert cells(read_table(pyarrow.table(columns), **ROLES)) == cells(table)
    assert cells(read_table(pyarrow.table(columns).to_batches()[0], **ROLES)) == cells(table)
    shuffled = pandas.DataFrame(columns, index=[7, 7, 0, -1])
    assert cells(read_table(shuffled, **ROLES)) == cells(table)
    shuffled["born"] = pandas.to_datetime(shuffled["born"])
    assert cells(read_table(shuffled, **ROLES)) == cells(table)


def test_frames_that_are_refused() -> None:
    import pandas
    import pyarrow

    with pytest.raises(BadData, match="two columns have the name 'a'"):
        read_table(pandas.DataFrame([[1, 2]], columns=["a", "a"]), quasi=["a"])
    with pytest.raises(BadData, match="two columns have the name 'a'"):
        read_table(pyarrow.table([[1], [2]], names=["a", "a"]), quasi=["a"])
    with pytest.raises(BadData, match="column 'a': the cells of the pandas frame mix types"):
        read_table(pandas.DataFrame({"a": [1, "x", {}]}), quasi=["a"])
    with pytest.raises(BadData, match="there are no rows"):
        read_table(pl.DataFrame({"a": []}), quasi=["a"])
    with pytest.raises(WrongUse, match="not from dict"):
        read_table({"a": [1]}, quasi=["a"])


def test_read_frame_trims_texts(people: Path) -> None:
    frame = read_frame(people, Reading())
    assert frame.columns == ["name", "age", "zip", "born", "ill", "visits"]
    assert set(frame.dtypes) == {pl.String}
    assert frame["ill"].to_list() == ['flu, "mild"', "?", "cold", "NA"]


@pytest.mark.parametrize(
    ("roles", "error", "message"),
    [
        ({"quasi": ["agee"]}, UnknownName, "no column 'agee' in .*. Did you mean 'age'"),
        ({"quasi": ["age"], "sensitive": ["age"]}, WrongUse, "'age' is named as quasi and as sensitive"),
        ({"quasi": ["age", "age"]}, WrongUse, "'age' is named twice"),
        (
            {"quasi": ["age"]},
            WrongUse,
            "no role: name, zip, born, ill, visits.*--others drop or --others insen",
        ),
        ({"quasi": ["age"], "others": "keep"}, UnknownName, "'keep'"),
        ({"identifying": ["age"], "others": "drop"}, WrongUse, "No column is left"),
        ({"others": "drop"}, WrongUse, "No column is left"),
        (
            {"quasi": ["age"], "others": "drop", "reading": Reading(query="select 1")},
            WrongUse,
            "for a database",
        ),
    ],
)
def test_wrong_roles(people: Path, roles: dict[str, object], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        read_table(people, **roles)


def test_other_columns(people: Path) -> None:
    assert read_table(people, quasi=["age"], others="drop").names == ("age",)
    kept = read_table(people, quasi=["age"], identifying=["name"], entity="zip", others="insensitive")
    assert kept.names == ("age", "zip", "born", "ill", "visits")
    assert kept.entity.name == "zip"
    assert kept.column("born").role is Role.INSENSITIVE
    # One name alone may stand without a list.
    assert read_table(people, quasi="age", others="drop").names == ("age",)


def test_columns_that_are_dropped_are_not_looked_at(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("a,b,c\n1,*,*\n")
    assert read_table(path, quasi=["a"], identifying=["b"], others="drop").names == ("a",)


def test_hierarchies(people: Path) -> None:
    tree = Hierarchy((("02263", "10115"), ("*",)), (np.zeros(2, dtype=np.int32),))
    found = read_table(people, quasi=["zip"], others="drop", hierarchies={"zip": tree, "age": tree})
    assert found.column("zip").hierarchy is tree
    with pytest.raises(BadData, match="column 'age': the hierarchy misses 2 of 2 values"):
        read_table(people, quasi=["age"], others="drop", hierarchies={"age": tree})
    with pytest.raises(UnknownName, match="Did you mean 'zip'"):
        read_table(people, quasi=["zip"], others="drop", hierarchies={"zipp": tree})


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


def test_published_cells_are_raw(tmp_path: Path) -> None:
    path = tmp_path / "data.csv"
    path.write_text('age;ill\n[20,30];NA\n[20,30];\n; NA\n?;"*"\n')
    found = read_published_table(path, ["age"], ["ill"])
    assert [column.domain.labels for column in found.columns] == [
        ("", "?", "[20,30]"),
        ("", " NA", "*", "NA"),
    ]
    assert [column.domain.missing for column in found.columns] == [None, None]
    assert [column.role for column in found.columns] == [Role.QUASI, Role.SENSITIVE]


def test_nulls_and_empty_texts_of_parquet_differ(tmp_path: Path) -> None:
    path = tmp_path / "data.parquet"
    pl.DataFrame({"a": ["", None, "x"], "b": [1, None, 2]}).write_parquet(path)
    a, b = read_published_table(path, ["a", "b"]).columns
    assert (a.domain.labels, a.domain.missing, len(set(a.codes.tolist()))) == (('""', "x", ""), 2, 3)
    assert (b.domain.labels, b.domain.missing) == (("1", "2", ""), 2)


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_a_folder_of_part_files(tmp_path: Path, ending: str) -> None:
    folder = tmp_path / f"data.{ending}"
    folder.mkdir()
    (folder / "_SUCCESS").touch()
    for place, frame in enumerate([pl.DataFrame({"a": ["1", "2"]}), pl.DataFrame({"a": ["*"]})]):
        path = folder / f"part-{place}.{ending}"
        frame.write_csv(path) if ending == "csv" else frame.write_parquet(path)
    pl.DataFrame({"a": []}, schema={"a": pl.String}).write_csv(
        folder / "part-9.csv"
    ) if ending == "csv" else None
    assert read_published_table(folder, ["a"]).columns[0].domain.labels == ("*", "1", "2")
    with pytest.raises(BadData, match=r"part-1\.\w+.*column 'a'.*looks like a published one"):
        read_table(folder, quasi=["a"])
    pl.DataFrame({"b": ["1"]}).write_csv(folder / "part-2.csv")
    with pytest.raises(BadData, match=r"part-2\.csv: the columns are not those of .*part-0"):
        read_published_table(folder, ["a"])


def test_a_folder_that_holds_something_else(tmp_path: Path, people: Path) -> None:
    with pytest.raises(BadData, match="this is a folder, and not one of part files"):
        read_table(tmp_path, quasi=["a"])


def test_adult(public_data: Callable[[str], Path]) -> None:
    columns = """age workclass fnlwgt education education-num marital-status occupation relationship race sex
        capital-gain capital-loss hours-per-week native-country income"""
    names = tuple(columns.split())
    path = public_data("adult/adult.data.gz")
    whole = read_table(path, others="insensitive", reading=Reading(names=names))
    assert whole.rows == 32_561
    assert whole.column("workclass").domain.missing == 8
    numeric = [column.name for column in whole.columns if column.domain.kind is Kind.NUMERIC]
    assert numeric == ["age", "fnlwgt", "education-num", "capital-gain", "capital-loss", "hours-per-week"]
    complete = read_table(path, others="insensitive", reading=Reading(names=names, drop_missing=True))
    assert complete.rows == 30_162
    assert complete.column("workclass").domain.labels[:2] == ("Federal-gov", "Local-gov")
    assert len(complete.column("workclass").domain) == 7
    assert all(column.domain.missing is None for column in complete.columns)


def test_a_full_disk_leaves_nothing(table: Table, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(frame: pl.DataFrame, path: Path, separator: str) -> None:
        path.write_text("half")
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(delimited, "write_delimited", full)
    before = sorted(tmp_path.iterdir())
    with pytest.raises(CannotWrite, match=r"out\.csv cannot be written: No space left on device\. Make room"):
        write_table(table, tmp_path / "out.csv")
    assert sorted(tmp_path.iterdir()) == before


def test_a_real_full_disk(table: Table) -> None:
    if not Path("/dev/full").exists():
        pytest.skip("There is no /dev/full here.")
    from shoal.io.decode import text_frame

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


@given(
    st.one_of(
        st.binary(max_size=60),
        st.text(alphabet='ab1,;"\n\r\t |*é?', max_size=40).map(str.encode),
        st.text(max_size=40).map(lambda text: text.encode("utf-8", errors="replace")),
    )
)
@example(b"a\n\r")
@example(b'"\n"')
def test_no_input_whatever_gives_another_error_than_ours(data: bytes) -> None:
    with pytest.MonkeyPatch.context() as patch:
        for read in (
            lambda: read_table("-", others="insensitive"),
            lambda: read_published_table("-", []),
            lambda: read_table("-", others="insensitive", reading=Reading(names=("x", "y"))),
        ):
            patch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))
            try:
                table = read()
            except ShoalError:
                continue
            assert table.rows > 0
            for column in table.columns:
                assert len(set(column.domain.labels)) == len(column.domain)
                assert set(column.codes.tolist()) == set(range(len(column.domain)))


def test_what_is_dropped_is_looked_at_for_numbers_of_persons_that_repeat() -> None:
    frame = pl.DataFrame(
        {
            "age": [1, 2, 3, None],
            "patient_id": ["a", " a", "b", ""],
            "visit_id": ["1", "2", "?", ""],
            "id": [[1], [1], [2], [2]],
            "remark": ["x", "x", "x", "x"],
        }
    )
    arrival = receive_table(frame, quasi=["age"], others="drop", reading=Reading(drop_missing=True))
    assert (arrival.table.names, arrival.table.rows, arrival.left_out) == (("age",), 2, 2)
    assert arrival.persons == {"patient_id": 2}
    told = receive_table(frame, quasi=["age"], entity="patient_id", others="drop")
    assert (told.persons, told.left_out) == ({}, 0)
