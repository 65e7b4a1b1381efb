"""Tables from files, standard input and frames."""

import gzip
import io
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
from tests import adult
from tests.io.people import ROLES, cells

from shoal.data.domain import Kind
from shoal.data.hierarchy import Hierarchy
from shoal.data.role import Role, Roles
from shoal.data.table import Table
from shoal.errors import BadData, ShoalError, UnknownName, WrongUse
from shoal.io.tables.load import Reading, load_table, open_input, read_published_table, read_table


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
    program = "from shoal.io.tables.load import *; print(read_table('-', others='insensitive').rows)"
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


def test_cells_of_texts_are_trimmed(people: Path) -> None:
    opened = open_input(people)
    assert list(opened.names) == ["name", "age", "zip", "born", "ill", "visits"]
    table = read_table(people, quasi=["ill"], others="drop", reading=Reading(missing=("-",)))
    assert set(table.columns[0].domain.labels) == {'flu, "mild"', "?", "cold", "NA"}


@pytest.mark.parametrize(
    ("roles", "error", "message"),
    [
        ({"quasi": ["agee"]}, UnknownName, "no column 'agee' in .*. Did you mean 'age'"),
        ({"quasi": ["age"], "sensitive": ["age"]}, WrongUse, "'age' is named as quasi and as sensitive"),
        ({"quasi": ["age", "age"]}, WrongUse, "'age' is named twice"),
        (
            {"quasi": ["age"]},
            WrongUse,
            "no role: name, zip, born, ill, visits.*others='drop' or others='insen",
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


def test_adult(public_data: Callable[[str], Path]) -> None:
    names = tuple(adult.NAMES.split(","))
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
    arrival = load_table(frame, Roles(quasi=("age",), others="drop"), Reading(drop_missing=True))
    assert (arrival.table.names, arrival.table.rows, arrival.left_out) == (("age",), 2, 2)
    assert arrival.persons == {"patient_id": 2}
    shown = load_table(frame, Roles(quasi=("age",), entity="patient_id", others="drop"))
    assert (shown.persons, shown.left_out) == ({}, 0)
