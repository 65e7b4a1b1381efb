"""Tables in real databases: SQLite, and a PostgreSQL server that the tests start."""

import importlib
import sqlite3
from collections.abc import Iterator
from datetime import date
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from shoal.data.domain import Kind
from shoal.data.table import Table
from shoal.errors import BadData, MissingExtra, ShoalError, WrongUse
from shoal.io.overwrite_guard import refuse_source
from shoal.io.tables import database
from shoal.io.tables.database import parse_address, tables_read
from shoal.io.tables.load import Reading, read_table, write_database

pytest.importorskip("adbc_driver_manager")


@pytest.fixture
def table() -> Table:
    frame = pl.DataFrame(
        {
            "age": [41, 38, None, 41],
            "zip": ["02263", 'a"b', "ü, 李\nx", None],
            "born": [date(1983, 4, 1), None, date(1586, 12, 24), date(1983, 4, 1)],
            "Weight kg": [80.5, 60.25, None, 1e-7],
            "ill": ["*x", "'; drop table people; --", None, "flu"],
        }
    )
    return read_table(frame, quasi=["age", "zip", "born", "Weight kg"], sensitive=["ill"])


@pytest.fixture(params=["sqlite", "postgresql"])
def address(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    if request.param == "sqlite":
        yield f"sqlite:///{tmp_path / 'people.db'}"
        return
    uri = request.getfixturevalue("postgres")
    yield uri
    run(uri, "drop table if exists people, other")


def run(address: str, *statements: str) -> list[Any]:
    rows: list[Any] = []
    with database._cursor(parse_address(address), reading=False) as cursor:
        for statement in statements:
            cursor.execute(statement)
            rows = cursor.fetchall() if statement.startswith("select") else []
    return rows


def cells(table: Table) -> dict[str, tuple[Kind, list[str]]]:
    return {
        column.name: (column.domain.kind, [column.domain.labels[code] for code in column.codes])
        for column in table.columns
    }


def test_a_table_comes_back_from_a_database(table: Table, address: str) -> None:
    write_database(table, f"{address}?table=people")
    again = read_table(f"{address}?table=people", others="insensitive")
    assert cells(again) == cells(table)
    assert [column.domain.missing for column in again.columns] == [2, 3, 2, 3, 3]
    asked = read_table(
        address, others="insensitive", reading=Reading(query="select age, ill from people where age > 40")
    )
    assert cells(asked)["age"] == (Kind.NUMERIC, ["41", "41"])


def test_types_in_a_database(table: Table, address: str) -> None:
    write_database(table, f"{address}?table=people")
    if address.startswith("sqlite"):
        found = run(address, 'select typeof(age), typeof(zip), typeof("Weight kg") from people limit 1')
        assert found == [("integer", "text", "real")]
    else:
        found = run(
            address,
            'select pg_typeof(age)::text, pg_typeof(born)::text, pg_typeof("Weight kg")::text from people',
        )
        assert found[0] == ("bigint", "date", "double precision")


def test_a_table_that_exists_is_refused_and_replaced_when_told(table: Table, address: str) -> None:
    write_database(table, f"{address}?table=people")
    with pytest.raises(WrongUse, match=r"The table 'people' exists in .*force=True"):
        write_database(table, f"{address}?table=people")
    smaller = read_table(pl.DataFrame({"x": [1, 2]}), quasi=["x"])
    write_database(smaller, f"{address}?table=people", force=True)
    assert cells(read_table(f"{address}?table=people", quasi=["x"]))["x"] == (Kind.NUMERIC, ["1", "2"])


def test_an_error_leaves_everything_as_it_was(
    table: Table, address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_database(table, f"{address}?table=people")
    connector = database._connector(parse_address(address).scheme)

    def broken(uri: str) -> Any:
        connection = connector(uri)

        def fail() -> None:
            raise KeyboardInterrupt

        connection.commit = fail
        return connection

    monkeypatch.setattr(database, "_connector", lambda scheme: broken)
    smaller = read_table(pl.DataFrame({"x": [1, 2]}), quasi=["x"])
    for name, force in (("people", True), ("other", False)):
        with pytest.raises(KeyboardInterrupt):
            write_database(smaller, f"{address}?table={name}", force=force)
    monkeypatch.undo()
    assert cells(read_table(f"{address}?table=people", others="insensitive")) == cells(table)
    with pytest.raises(BadData, match="the database cannot be read"):
        read_table(f"{address}?table=other", quasi=["x"])


def test_a_schema_of_postgresql(table: Table, postgres: str) -> None:
    run(postgres, "create schema clinic")
    try:
        write_database(table, f"{postgres}?table=clinic.people")
        assert cells(read_table(f"{postgres}?table=clinic.people", others="insensitive")) == cells(table)
    finally:
        run(postgres, "drop schema clinic cascade")


def test_types_of_postgresql(postgres: str) -> None:
    query = """select * from (values
        (1.50::numeric, true, 'a'::text, timestamp '2020-01-01 00:00', 7::smallint, 'x'::char(3), 0.1::real),
        (null, false, null, timestamp '2021-02-03 00:00', 8::smallint, 'y', 2.5::real)
        ) as t(price, flag, word, moment, small, padded, share)"""
    table = read_table(postgres, others="insensitive", reading=Reading(query=query))
    assert cells(table) == {
        "price": (Kind.NUMERIC, ["1.50", ""]),
        "flag": (Kind.NOMINAL, ["true", "false"]),
        "word": (Kind.NOMINAL, ["a", ""]),
        "moment": (Kind.DATE, ["2020-01-01", "2021-02-03"]),
        "small": (Kind.NUMERIC, ["7", "8"]),
        "padded": (Kind.NOMINAL, ["x", "y"]),
        "share": (Kind.NUMERIC, ["0.1", "2.5"]),
    }


def test_sqlite_columns_whose_type_shows_late(tmp_path: Path) -> None:
    path = tmp_path / "late.db"
    with sqlite3.connect(path) as connection:
        connection.execute("create table late (x)")
        connection.executemany("insert into late values (?)", [(None,)] * 3000 + [(1,)] * 3000 + [("name",)])
    connection.close()
    found = read_table(f"sqlite:///{path}?table=late", quasi=["x"])
    assert found.columns[0].domain.labels == ("1", "name", "")


@pytest.mark.parametrize(
    ("address", "message"),
    [
        ("sqlite:///{}", "names no rows; say a query"),
        ("sqlite://people.db?table=x", "three slashes"),
        ("postgresql://host:port/x?table=y", "address of the database cannot be understood"),
    ],
)
def test_wrong_addresses(tmp_path: Path, address: str, message: str) -> None:
    path = tmp_path / "people.db"
    path.touch()
    with pytest.raises(WrongUse, match=message):
        read_table(address.format(path), quasi=["x"])


def test_what_databases_refuse(tmp_path: Path, table: Table) -> None:
    path = tmp_path / "people.db"
    with pytest.raises(BadData, match="there is no such file"):
        read_table(f"sqlite:///{path}?table=x", quasi=["x"])
    assert not path.exists()
    path.write_text("no database at all, but text that is long enough to be taken for a header of one" * 20)
    with pytest.raises(BadData, match=r"the database cannot be read: .*not a database"):
        read_table(f"sqlite:///{path}?table=x", quasi=["x"])
    with pytest.raises(WrongUse, match="say one of them"):
        read_table(f"sqlite:///{path}?table=x", quasi=["x"], reading=Reading(query="select 1"))
    with pytest.raises(WrongUse, match=r"add \?table=NAME"):
        write_database(table, f"sqlite:///{path}")


def test_a_query_that_is_wrong(address: str, tmp_path: Path) -> None:
    (tmp_path / "people.db").touch()
    with pytest.raises(BadData, match="the database cannot be read"):
        read_table(address, quasi=["x"], reading=Reading(query="selekt 1"))


@pytest.mark.parametrize(
    "query",
    [
        "insert into people (age) values (1) returning age",
        "with new as (delete from people returning age) select age from new",
        "update people set age = 1",
        "delete from people",
        "drop table people",
        "create table other as select age from people",
        "select age from people; delete from people",
        "select age from people; select 1",
        "commit",
        "vacuum",
        "",
        "-- nothing",
    ],
)
def test_a_query_changes_nothing(table: Table, address: str, query: str) -> None:
    write_database(table, f"{address}?table=people")
    with pytest.raises(ShoalError, match=r"is only read, and|the database cannot be read"):
        read_table(address, others="insensitive", reading=Reading(query=query))
    assert cells(read_table(f"{address}?table=people", others="insensitive")) == cells(table)
    with pytest.raises(BadData, match="the database cannot be read"):
        read_table(f"{address}?table=other", others="insensitive")


@pytest.mark.parametrize("query", ["insert into people (age) values (1) returning age", "delete from people"])
def test_what_is_said_of_a_query_that_writes(table: Table, address: str, query: str) -> None:
    write_database(table, f"{address}?table=people")
    with pytest.raises(WrongUse, match="is only read, and the query would change something or gives no rows"):
        read_table(address, others="insensitive", reading=Reading(query=query))


def test_a_query_writes_no_file_of_the_server(postgres: str, tmp_path: Path) -> None:
    with pytest.raises(WrongUse, match="is only read"):
        read_table(
            postgres, others="insensitive", reading=Reading(query=f"copy (select 1) to '{tmp_path / 'x'}'")
        )


def test_the_tables_of_a_query(table: Table, address: str) -> None:
    own = "" if address.startswith("sqlite") else "public"
    write_database(table, f"{address}?table=people")
    run(address, "create view seen as select age from people")
    try:
        for query in (
            "select age as other from people -- other",
            'select "age" from "people" where ill <> \'other\';',
            "select * from seen as other",
            "with other as (select * from People) select age from other",
        ):
            assert (own, "people") in tables_read(address, query)
            assert (own, "other") not in tables_read(address, query)
            with pytest.raises(WrongUse, match="is where the data is read from"):
                refuse_source(f"{address}?table=people", address, query)
            refuse_source(f"{address}?table=other", address, query)
    finally:
        run(address, "drop view seen")


def test_an_address_that_is_not_understood_is_not_repeated() -> None:
    with pytest.raises(WrongUse, match="cannot be understood") as caught:
        read_table("postgresql://ann:s3/cret@host/x?table=y", quasi=["x"])
    assert "s3" not in str(caught.value)


def test_a_server_that_is_not_there() -> None:
    with pytest.raises(
        BadData, match=r"postgresql://ann@127\.0\.0\.1:1/x: the database cannot be read"
    ) as caught:
        read_table("postgresql://ann:secret@127.0.0.1:1/x?table=y", quasi=["x"])
    assert "secret" not in str(caught.value)


def test_without_the_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(name: str) -> Any:
        raise ImportError(name)

    path = tmp_path / "people.db"
    path.touch()
    monkeypatch.setattr(database, "import_module", fail)
    with pytest.raises(MissingExtra, match=r'pip install "shoal\[database\]"'):
        read_table(f"sqlite:///{path}?table=x", quasi=["x"])
    assert importlib.import_module("adbc_driver_sqlite")
