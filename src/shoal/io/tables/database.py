"""Tables in PostgreSQL and SQLite, through ADBC (extra `database`)."""

from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, quote, unquote, urlencode, urlsplit, urlunsplit

import polars as pl

from shoal.addresses import without_passwords
from shoal.errors import BadData, MissingExtra, WrongUse
from shoal.io.source import DATABASES, existing_file
from shoal.io.tables.input import FrameInput

_READ_ONLY = "25006"
"""What PostgreSQL says where a transaction that only reads would write."""

_LOCKED = """
    select schema.nspname::text, relation.relname::text
    from pg_catalog.pg_locks as lock
    join pg_catalog.pg_class as relation on relation.oid = lock.relation
    join pg_catalog.pg_namespace as schema on schema.oid = relation.relnamespace
    where lock.pid = pg_catalog.pg_backend_pid() and schema.nspname <> 'pg_catalog'
"""
"""The tables and views that a transaction of PostgreSQL has asked for."""

_ONLY_READING = frozenset({20, 21, 31, 33})
"""What a query of SQLite may do: read a column, select, call a function, and go on from its own rows."""


@dataclass(frozen=True, slots=True)
class Address:
    """A database, and the table in it that an address names."""

    uri: str  # what the driver connects to: ``postgresql://user@host/database``, or the path of a SQLite file
    scheme: str  # ``postgresql`` or ``sqlite``
    schema: str | None
    table: str | None
    """`schema`, `table`: of ``?table=NAME`` or, in PostgreSQL, ``?table=SCHEMA.NAME``."""
    name: str  # the address as messages show it, without the password

    @property
    def quoted_table(self) -> str:
        """The table for SQL."""
        parts = [part for part in (self.schema, self.table) if part is not None]
        return ".".join('"' + part.replace('"', '""') + '"' for part in parts)


def parse_address(text: str) -> Address:
    """Take an address apart.

    >>> parse_address("postgresql://ann:secret@host/clinic?table=visits").name
    'postgresql://ann@host/clinic'
    >>> parse_address("sqlite:///clinic.db?table=visits").uri
    'clinic.db'
    """
    parts = urlsplit(text)
    try:
        host = parts.hostname or ""
        port = f":{parts.port}" if parts.port else ""
    except ValueError:
        # What is wrong may be a part of the password.
        raise WrongUse(
            "The address of the database cannot be understood. Behind :// comes USER:PASSWORD@HOST:PORT/NAME; write / "
            "? # @ and : of a password as %2F %3F %23 %40 and %3A."
        ) from None
    if parts.scheme not in DATABASES:
        raise WrongUse(
            f"A database is named as postgresql://… or sqlite:///…, not as {without_passwords(text)!r}."
        )
    options = parse_qsl(parts.query, keep_blank_values=True)
    table = next((value for key, value in options if key == "table"), None)
    rest = urlencode([(key, value) for key, value in options if key != "table"])
    user = f"{parts.username}@" if parts.username else ""
    name = urlunsplit((parts.scheme, user + host + port, parts.path, "", ""))
    if parts.scheme == "sqlite":
        name = f"sqlite://{parts.path}"
        if parts.netloc or len(parts.path) < 2:
            raise WrongUse(f"A SQLite file is named as sqlite:///PATH (three slashes), not {name!r}.")
        return Address(unquote(parts.path[1:]), "sqlite", None, table or None, name)
    schema, _, table_name = (table or "").rpartition(".")
    uri = urlunsplit((parts.scheme, parts.netloc, parts.path, rest, ""))
    return Address(uri, "postgresql", schema or None, table_name or None, name)


def open_database(source: str, query: str | None = None) -> FrameInput:
    """Read what a query gives, or a whole table named by ``?table=NAME``.

    Nothing is written, whatever the query says.

    Raises `WrongUse` if the query would change something, or gives no rows.
    """
    address = parse_address(source)
    if query is None:
        if address.table is None:
            raise WrongUse(
                f'{address.name} names no rows; say a query (--query "select …") or a table (?table=NAME).'
            )
        query = f"select * from {address.quoted_table}"
    elif address.table is not None:
        raise WrongUse("A query and ?table=NAME were given; say one of them.")
    with _cursor(address, reading=True) as cursor:
        _tables_read(address, query, cursor)
        cursor.execute(query)
        arrow = cursor.fetch_arrow_table()
    return FrameInput(_from_arrow(arrow), address.name)


def write_frame(frame: pl.DataFrame, target: str, replace: bool = False) -> None:
    """Write a frame into a new table, in one transaction: all rows are there, or nothing has changed.

    `target`: an address with ``?table=NAME``. `replace`: let go of a table of that name. Without it, one that exists
    is an error.
    """
    address = parse_address(target)
    if address.table is None:
        raise WrongUse(f"{address.name} does not say which table to write; add ?table=NAME.")
    place = {} if address.schema is None else {"db_schema_name": address.schema}
    rows = frame.to_arrow(compat_level=pl.CompatLevel.oldest())
    with _cursor(address, reading=False) as cursor:
        try:
            cursor.adbc_ingest(address.table, rows, "replace" if replace else "create", **place)
        except _errors() as error:
            if not _says_that_it_exists(error):
                raise
            raise WrongUse(
                f"The table {address.table!r} exists in {address.name}; choose another name, or say --force to "
                "replace it."
            ) from None


def tables_read(source: str, query: str) -> set[tuple[str, str]]:
    """The tables that a query reads, also through views: schema and name, as the database itself understands them.

    SQLite has no schemas, and does not tell upper from lower case: its names are in lower case.
    """
    address = parse_address(source)
    with _cursor(address, reading=True) as cursor:
        return _tables_read(address, query, cursor)


def _tables_read(address: Address, query: str, cursor: Any) -> set[tuple[str, str]]:
    """The tables that a query reads; a statement that is no query is refused before it is carried out."""
    if address.scheme == "sqlite":
        return _read_by_sqlite(address, query)
    # Only what is understood is locked, and described: nothing is carried out.
    if not cursor.adbc_execute_schema(query).names:
        raise _no_query(address)
    cursor.execute(_LOCKED)
    return {(str(schema), str(name)) for schema, name in cursor.fetchall()}


def _read_by_sqlite(address: Address, query: str) -> set[tuple[str, str]]:
    """The tables that a query reads, as SQLite tells whoever may allow it."""
    import sqlite3

    found: set[tuple[str, str]] = set()
    actions = set()

    def allowed(action: int, name: str | None, *_: str | None) -> int:
        actions.add(action)
        if action == sqlite3.SQLITE_READ and name:
            found.add(("", name.lower()))
        return sqlite3.SQLITE_OK if action in _ONLY_READING else sqlite3.SQLITE_DENY

    place = quote(str(Path(address.uri).absolute()))
    try:
        with closing(sqlite3.connect(f"file:{place}?mode=ro", uri=True)) as connection:
            connection.set_authorizer(allowed)
            connection.execute(f"explain {query}")
    except sqlite3.Error as error:
        if actions - _ONLY_READING or isinstance(error, sqlite3.ProgrammingError):
            raise _no_query(address) from None
        raise BadData(f"the database cannot be read: {str(error).rstrip('.')}.", address.name) from error
    if sqlite3.SQLITE_SELECT not in actions:
        raise _no_query(address)
    return found


def _no_query(address: Address) -> WrongUse:
    return WrongUse(
        f"{address.name} is only read, and the query would change something or gives no rows; ask one that begins with "
        "select."
    )


@contextmanager
def _cursor(address: Address, reading: bool) -> Iterator[Any]:
    """A cursor in a transaction that is kept if all goes well, and undone otherwise; one to read is always undone."""
    connect, errors = _connector(address.scheme), _errors()
    if address.scheme == "sqlite" and reading:
        existing_file(address.uri)
    try:
        with connect(address.uri) as connection:
            try:
                with connection.cursor() as cursor:
                    if address.scheme == "sqlite":
                        # The driver takes the types of columns from its first batch, so there must be only one.
                        cursor.adbc_statement.set_options(**{"adbc.sqlite.query.batch_rows": str(2**31 - 2)})
                    elif reading:
                        cursor.execute("set transaction read only")
                    yield cursor
                connection.rollback() if reading else connection.commit()
            except BaseException:
                connection.rollback()
                raise
    except errors as error:
        if reading and getattr(error, "sqlstate", None) == _READ_ONLY:
            raise _no_query(address) from None
        verb = "read" if reading else "written"
        why = str(error).strip().splitlines()[0].rstrip(".")
        raise BadData(f"the database cannot be {verb}: {why}.", address.name) from None


def _connector(scheme: str) -> Any:
    """The function that connects to a kind of database."""
    try:
        import_module("pyarrow")
        dbapi = import_module(f"adbc_driver_{scheme}.dbapi")
    except ImportError as error:
        raise MissingExtra("Reading and writing databases", "database") from error
    return dbapi.connect


def _errors() -> type[Exception]:
    from adbc_driver_manager import Error

    return Error


def _says_that_it_exists(error: Any) -> bool:
    from adbc_driver_manager import AdbcStatusCode

    duplicate_table = "42P07"
    return bool(error.status_code == AdbcStatusCode.ALREADY_EXISTS or error.sqlstate == duplicate_table)


def _from_arrow(rows: Any) -> pl.DataFrame:
    """An Arrow table as a frame.

    Types that Arrow does not have, such as exact decimals, come from the driver as texts in a wrapping that goes here.
    """
    import pyarrow

    for place, field in enumerate(rows.schema):
        if isinstance(field.type, pyarrow.BaseExtensionType):
            plain = rows.column(place).cast(field.type.storage_type)
            rows = rows.set_column(place, field.name, plain)
    frame = pl.from_arrow(rows)
    assert isinstance(frame, pl.DataFrame)
    return frame
