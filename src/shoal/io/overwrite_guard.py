"""Where results may go: never over the data that they are made from."""

import errno
import os
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from shoal.errors import CannotWrite, WrongUse
from shoal.io.source import STANDARD_INPUT, is_database, refuse_address

_LOCAL = ("", "localhost", "127.0.0.1", "::1")
_POSTGRES_PORT = 5432


def refuse_existing(path: str | Path, force: bool, *sources: Any) -> None:
    """Keep files that are there already unless they may be replaced, and the sources always."""
    refuse_address(path, writing=True)
    refuse_closed(path)
    for source in sources:
        refuse_source(path, source)
    if os.path.lexists(path) and not force:
        raise WrongUse(f"{path} is there already; name another file, or replace it with --force.")


def refuse_closed(place: str | Path) -> None:
    """Refuse a place where nothing can be made, before any work is done for it. Raises `CannotWrite`."""
    above = Path(place).absolute().parent
    while not os.path.lexists(above):
        above = above.parent
    if not above.is_dir():
        raise CannotWrite(str(place), NotADirectoryError(errno.ENOTDIR, f"{above} is no folder"))
    if not os.access(above, os.W_OK | os.X_OK):
        raise CannotWrite(str(place), PermissionError(errno.EACCES, f"{above} may not be written to"))


def refuse_source(target: str | Path, source: Any, query: str | None = None) -> None:
    """Refuse to write where the data is read from, whatever is said about replacing.

    `target`: a file, or the address of a table in a database. `source`: what is read: a path, an address; anything
    else lies in no place. `query`: what a database is asked; then each table that it names is read. Raises `WrongUse`
    if the two are one place.
    """
    if not isinstance(source, str | Path) or str(source) == STANDARD_INPUT:
        return
    if _is_one_place(str(target), str(source), query):
        raise WrongUse(
            f"{_without_password(str(target))} is where the data is read from; write somewhere else."
        )


def refuse_source_folder(folder: str | Path, source: Any) -> None:
    """Refuse a release folder that is none, or whose replacement would take the data with it."""
    refuse_address(folder, writing=True)
    refuse_closed(folder)
    if not isinstance(source, str | Path) or str(source) == STANDARD_INPUT or "://" in str(source):
        return
    place, data = Path(folder).resolve(), Path(source).resolve()
    own = (place / "release", place / "run.json", place / "report.html")
    if data == place or any(data.is_relative_to(part) for part in own):
        raise WrongUse(
            f"{source} is the data, and lies in the release folder {folder}; name another folder with -o."
        )


def _is_one_place(target: str, source: str, query: str | None) -> bool:
    from shoal.io.tables.database import parse_address, tables_read

    if not is_database(target) or not is_database(source):
        return _is_one_file(_file_of(target), _file_of(source))
    same = _is_one_file(_file_of(target), _file_of(source))
    if not same and (_database_of(target) is None or _database_of(target) != _database_of(source)):
        return False
    table = _table_of(target)
    if query is not None:
        # Where a table without a schema is, only the database knows: one of that name is enough.
        own = parse_address(target).schema is not None
        return any(one == table if own else one[1] == table[1] for one in tables_read(source, query))
    return table == _table_of(source)


def _is_one_file(one: Path | None, other: Path | None) -> bool:
    """Whether two paths lead to one file; links are followed."""
    if one is None or other is None:
        return False
    if one.exists() and other.exists():
        return one.samefile(other)
    return one.resolve() == other.resolve()


def _file_of(place: str) -> Path | None:
    """The file of a path or of a SQLite address."""
    from shoal.io.tables.database import parse_address

    if not is_database(place):
        return Path(place)
    address = parse_address(place)
    return Path(address.uri) if address.scheme == "sqlite" else None


def _database_of(address: str) -> tuple[str, str, str] | None:
    """Host, port and name of a PostgreSQL database."""
    parts = urlsplit(address)
    if parts.scheme == "sqlite":
        return None
    options = dict(parse_qsl(parts.query))
    host = parts.hostname or options.get("host", "")
    port = str(parts.port or options.get("port", _POSTGRES_PORT))
    return "" if host in _LOCAL else host, port, parts.path.strip("/")


def _table_of(address: str) -> tuple[str, str]:
    """Schema and table; SQLite has no schemas and does not tell upper from lower case."""
    from shoal.io.tables.database import parse_address

    parsed = parse_address(address)
    table = parsed.table or ""
    if parsed.scheme == "sqlite":
        return "", table.lower()
    return parsed.schema or "public", table


def _without_password(place: str) -> str:
    from shoal.io.tables.database import parse_address

    if not is_database(place):
        return place
    address = parse_address(place)
    return f"The table {address.table} of {address.name}"
