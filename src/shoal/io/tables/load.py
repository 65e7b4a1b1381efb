"""The door for tables: any source in, any format out."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from shoal.data.hierarchy import Hierarchy
from shoal.data.role import Role, Roles
from shoal.data.table import Table
from shoal.errors import BadData, UnknownName, WrongUse, warn
from shoal.io.reading import Reading as Reading
from shoal.io.reading import header_hint
from shoal.io.source import (
    ARROW,
    EXCEL,
    FRAME_FORMATS,
    PARQUET,
    STANDARD_INPUT,
    STATISTICS,
    format_of,
    is_database,
    refuse_address,
    whole_file,
)
from shoal.kernels._compiling import are_loaded, is_eager
from shoal.preparation.transform import Transform

if TYPE_CHECKING:
    import polars

    from shoal.io.tables.encode import EncodedTable
    from shoal.io.tables.input import Input


JOINED = 1 << 21
"""Cells from which on a kernel writes them as text."""

WRITTEN = 131_072
"""Rows whose texts are in memory at a time while a table is written as text."""


def read_table(
    source: Any,
    *,
    quasi: Iterable[str] = (),
    sensitive: Iterable[str] = (),
    identifying: Iterable[str] = (),
    insensitive: Iterable[str] = (),
    entity: str | None = None,
    others: str | None = None,
    items: str | None = None,
    items_from: str | None = None,
    item_separator: str | None = None,
    link: str | None = None,
    sensitive_items: Iterable[str] = (),
    insensitive_items: Iterable[str] = (),
    reading: Reading | None = None,
    hierarchies: Mapping[str, Hierarchy] | None = None,
) -> Table:
    """Read a table and give its columns their roles.

    Parameters
    ----------
    source
        A path, ``-`` for standard input, ``postgresql://…`` or ``sqlite:///…``, or a frame of polars, pandas or Arrow.
        The ending of a path tells the format: ``.csv`` and any other delimited text, ``.parquet``, ``.arrow`` or
        ``.feather``, ``.xlsx``, ``.sav``, ``.dta``, ``.sas7bdat``, ``.xpt``. A folder of part files (``part-0.csv``, …)
        is read as one.
    quasi, sensitive, identifying, insensitive
        The columns of each role. Identifying columns are dropped at once.
    entity
        The column that says which rows belong to one person.
    others
        What to do with columns without a role: ``drop`` (they are not even read) or ``insensitive`` (published as they
        are). None makes such a column an error.
    items, items_from, item_separator
        The column that holds a set of items a row: a list, or a text with a separator between items; or another table
        with an item a row, ``visits.csv:patient,diagnosis``.
    link
        Another table with records of the persons, ``visits.csv:patient``; its columns have roles like the others.
    sensitive_items, insensitive_items
        Items that must not be learned, and items that are neither known nor secret.
    reading
        What the source does not tell about itself.
    hierarchies
        Hierarchies by column; each must cover the values of its column. Those of columns that are dropped are not used.

    Raises
    ------
    WrongUse
        If a column has two roles or none, or a name is not there (`UnknownName`).
    BadData
        If the source cannot be read, with file, line and column as far as they are known.

    Examples
    --------
    >>> import polars
    >>> frame = polars.DataFrame({"name": ["Ann", "Bob"], "age": [41, 38], "ill": ["flu", None]})
    >>> table = read_table(frame, identifying=["name"], quasi=["age"], sensitive=["ill"])
    >>> [(column.name, column.domain.kind.value, column.domain.labels) for column in table.columns]
    [('age', 'numeric', ('38', '41')), ('ill', 'nominal', ('flu', ''))]
    """
    roles = Roles.of(
        quasi=quasi,
        sensitive=sensitive,
        identifying=identifying,
        insensitive=insensitive,
        entity=entity,
        others=others,
        items=items,
        items_from=items_from,
        item_separator=item_separator,
        link=link,
        sensitive_items=sensitive_items,
        insensitive_items=insensitive_items,
    )
    encoded = load_table(source, roles, reading, tuple(hierarchies or {}))
    warn(encoded.remarks)
    return _with_hierarchies(encoded.table, hierarchies or {})


def load_table(
    source: Any,
    roles: Roles | None = None,
    reading: Reading | None = None,
    columns: Iterable[str] = (),
    steps: Sequence[Transform] = (),
) -> "EncodedTable":
    """Read a table as `read_table` does, and tell what cannot be seen in it any more.

    Where no column says which rows belong to one person, columns that are dropped and are called like numbers of
    persons are looked at once: whether their values repeat.

    `columns`: more names of columns that the source must have. `steps`: of the preparation.
    """
    from shoal.data._item_sets import with_item_roles
    from shoal.data._suggested_role import numbers_persons
    from shoal.io.tables.encode import encode_table

    roles, reading = roles or Roles(), reading or Reading()
    if roles.link is not None:
        from shoal.io.tables.linked_records import load_related

        return load_related(source, roles, reading, columns, steps)
    opened = open_input(source, reading)
    if roles.items_from is not None:
        opened, roles = _with_items(opened, roles)
    reading = opened.ordered(reading)
    given, steps = columns_kept(opened, roles, (*reading.named, *columns), steps)
    if odd := [name for name, role in given if role is Role.ITEMS and name in reading.named]:
        raise WrongUse(
            f"{odd[0]!r} holds items, which have no kind, order, format or spelling of their own and are not missing: "
            "name other columns with --kind, --order, --date-format, --normalize and --missing."
        )
    kept = {name for name, _ in given}
    watched = [name for name in opened.names if name not in kept and numbers_persons(name)]
    encoded = encode_table(
        opened, given, reading, watched if roles.entity is None else (), steps, roles.item_separator
    )
    table = with_item_roles(encoded.table, roles.sensitive_items, roles.insensitive_items)
    return replace(encoded, table=table, taken=(*encoded.taken, *getattr(opened, "remarks", ())))


def _with_items(opened: "Input", roles: Roles) -> "tuple[Input, Roles]":
    """The source with the items of another one, and the roles with the column that they are in."""
    from shoal.io.tables.items_from import with_items

    assert roles.items_from is not None
    if roles.items is not None:
        raise WrongUse(
            "Items come from a column (--items) or from another table (--items-from), and not from both."
        )
    joined, name = with_items(opened, roles.items_from)
    return joined, roles.model_copy(update={"items": name, "items_from": None})


def columns_kept(
    opened: "Input", roles: Roles, also: Iterable[str], steps: Sequence[Transform]
) -> tuple[list[tuple[str, Role]], list[Transform]]:
    """The columns to keep with their roles, and the steps of the preparation that know who is who.

    Pseudonyms are published as they are. Raises `WrongUse` if a step is for a column that is not published.
    """
    known = {name for names in roles.by_column().values() for name in names}
    pseudonyms = (name for step in steps if step.name == "pseudonym" for name in step.columns_changed)
    if new := [name for name in pseudonyms if name not in known]:
        roles = roles.model_copy(update={"insensitive": (*roles.insensitive, *new)})
    steps = [step.among(roles) for step in steps]
    named = (name for step in steps for name in (*step.columns_changed, *step.columns_read))
    given = assigned_roles(opened, roles, (*also, *named))
    published = dict(given)
    for step in steps:
        for name in step.columns_changed:
            if published.get(name) is Role.ITEMS:
                raise WrongUse(
                    f"--{step.option} of {name!r} has no effect on items: change them in the source, or omit it."
                )
            if name not in published:
                raise WrongUse(
                    f"--{step.option} of {name!r} has no effect: the column is not published. Give it another role, or "
                    "omit it."
                )
    return given, steps


def assigned_roles(opened: "Input", given: Roles, also: Iterable[str] = ()) -> list[tuple[str, Role]]:
    """The columns to keep with their roles, in the order of the source; it must have some other columns as well."""
    names = opened.names
    for name in also:
        if name not in names:
            raise _unknown_column(name, opened)
    roles: dict[str, Role] = {}
    for role, columns in given.by_column().items():
        for name in columns:
            if name not in names:
                raise _unknown_column(name, opened)
            if name in roles:
                twice = "twice" if roles[name] is role else f"as {roles[name]} and as {role}"
                raise WrongUse(f"The column {name!r} is named {twice}; a column has exactly one role.")
            roles[name] = role
    without = [name for name in names if name not in roles]
    if without and given.others is None:
        raise WrongUse(
            f"These columns have no role: {', '.join(without)}. Name them as quasi, sensitive, identifying or "
            f"insensitive, or say what to do with them: --others drop or --others insensitive.{header_hint(names)}"
        )
    kept = set(roles if given.others == "drop" else names) - set(given.identifying)
    left = [(name, roles.get(name, Role.INSENSITIVE)) for name in names if name in kept]
    if not left:
        raise WrongUse("No column is left to publish; give at least one a role other than identifying.")
    return left


def read_published_table(
    path: str | Path,
    quasi: Iterable[str],
    sensitive: Iterable[str] = (),
    entity: str | None = None,
    reading: Reading | None = None,
    safe_cells: bool = False,
    items: str | None = None,
) -> Table:
    """Read a published table, ours or not, to verify it: cells raw, columns nominal, nothing guessed to be missing.

    An empty cell of a text file is the text ``""``, a value like any other. A null, in formats that have it, is the
    missing value, and another value than an empty text. Nothing is trimmed.

    `path`: a file, or a folder of part files. `quasi`, `sensitive`, `entity`, `items`: the columns of each role; all
    others are insensitive. `reading`: of it separator, names, sheet and query are used. `safe_cells`: take the
    apostrophes away that keep spreadsheets from running cells.
    """
    from shoal.data.published_syntax import unguarded
    from shoal.io.tables.encode import encode_published
    from shoal.io.tables.published_blocks import read_blocks

    roles = Roles.of(quasi=quasi, sensitive=sensitive, entity=entity, items=items, others="insensitive")
    plain = unguarded if safe_cells else None
    large = read_blocks(path, reading or Reading(), lambda opened: assigned_roles(opened, roles), plain)
    if large is not None:
        return large
    opened = open_input(path, reading, published=True)
    return encode_published(opened, assigned_roles(opened, roles), plain)


def write_table(table: Table, path: str | Path, *, safe_cells: bool = False) -> None:
    r"""Write a table; the ending of the path tells the format.

    ``.csv`` and ``.tsv`` are UTF-8 with a header, quoted as RFC 4180 says, with lines ended by ``\n``; a missing cell
    is empty. ``.parquet``, ``.arrow``, ``.feather`` and ``.xlsx`` keep numbers and dates as such where nothing is lost,
    and a missing cell is null. The file appears when it is whole: a crash or a full disk leaves nothing.

    `safe_cells`: put an apostrophe before cells of delimited text that a spreadsheet would run as formulas. Raises
    `WrongUse` if there is no format of that ending. Raises `CannotWrite` if the disk is full, or the place takes no
    file.
    """
    from shoal.data.published_syntax import guarded

    refuse_address(path, writing=True)
    path = Path(path)
    texts = path.suffix.lower() in (".csv", ".tsv") and _is_joined(table)
    frames, write = _writer(_rows(table, slice(0)) if texts else table, path.suffix.lower())
    with whole_file(path) as place:
        write(map(guarded, frames) if safe_cells else frames, place)
        if texts:
            _write_joined(table, place, "\t" if path.suffix.lower() == ".tsv" else ",", safe_cells)


def write_database(table: Table, target: str, *, force: bool = False) -> None:
    """Write a table into a database, in one transaction: all rows are there, or nothing has changed.

    `table`: what to write. Numbers and dates have their types where nothing is lost; missing cells are NULL. `target`:
    ``postgresql://…?table=NAME`` (or ``SCHEMA.NAME``) or ``sqlite:///PATH?table=NAME``. `force`: replace a table of
    that name. Without it, one that exists is an error.
    """
    from shoal.io.tables.database import write_frame
    from shoal.io.tables.decode import typed_frame

    write_frame(typed_frame(table), target, replace=force)


def open_input(source: Any, reading: Reading | None = None, *, published: bool = False) -> "Input":
    """Open a source of rows: its columns are known, its cells not yet read.

    `reading`: what the source does not tell about itself. `published`: take names and cells as they stand, with the
    blanks around them.
    """
    reading = reading or Reading()
    if not isinstance(source, str | Path):
        from shoal.io.tables.dataframes import open_frame

        return open_frame(source)
    if is_database(source):
        from shoal.io.tables.database import open_database

        return open_database(str(source), reading.query)
    if reading.query is not None:
        raise WrongUse("A query is for a database (postgresql://… or sqlite:///…), not for a file.")
    path = Path(source)
    if str(source) != STANDARD_INPUT and path.is_dir():
        return _open_parts(path, reading, published)
    return _open_file(source, reading, published)


def _open_file(source: str | Path, reading: Reading, published: bool, part: bool = False) -> "Input":
    from shoal.io.tables import columnar, excel
    from shoal.io.tables import spss_stata_sas as statistics
    from shoal.io.tables.delimited import Delimited

    ending = format_of(source) if str(source) != STANDARD_INPUT else ""
    typed: dict[str, Callable[[], Input]] = {
        **dict.fromkeys(PARQUET, lambda: columnar.Parquet(source, allow_no_rows=part)),
        **dict.fromkeys(ARROW, lambda: columnar.open_arrow(source)),
        **dict.fromkeys(EXCEL, lambda: excel.open_excel(source, reading.sheet)),
        **dict.fromkeys(STATISTICS, lambda: statistics.open_statistics(source)),
    }
    if ending not in typed:
        opened = Delimited(source, reading, trim=not published, allow_no_rows=part)
        opened.refuse_wrong_names()
        return opened
    refuse_text_options(ending, reading)
    return typed[ending]()


def is_delimited(path: str | Path) -> bool:
    """Whether a file is read as delimited text, by its ending."""
    return format_of(path) not in FRAME_FORMATS


def refuse_text_options(ending: str, reading: Reading) -> None:
    """Refuse options of text for a file that is none."""
    if reading.names is not None or reading.separator is not None or reading.encoding is not None:
        raise WrongUse(
            f"Names, a separator and an encoding are for delimited text; {ending} files have names of their own."
        )


def _open_parts(folder: Path, reading: Reading, published: bool) -> "Input":
    from shoal.io.tables.input import Parts

    files = sorted(entry for entry in folder.iterdir() if not entry.name.startswith((".", "_")))
    if not files or not all(entry.is_file() and entry.name.startswith("part-") for entry in files):
        raise BadData(
            "this is a folder, and not one of part files (part-0.csv, …); name a file in it.", folder
        )
    return Parts([_open_file(entry, reading, published, part=True) for entry in files])


def _unknown_column(name: str, opened: "Input") -> UnknownName:
    error = UnknownName("column", name, opened.names, opened.path)
    has_equals = any(known.startswith(f"{name}=") for known in opened.names)
    hint = " Write a = that belongs to a name with a backslash before it: \\=." if has_equals else ""
    error.args = (f"{error.args[0]}{hint}{header_hint(opened.names)}",)
    return error


def _with_hierarchies(table: Table, hierarchies: Mapping[str, Hierarchy]) -> Table:
    return Table(
        tuple(
            replace(column, hierarchy=hierarchies[column.name].covering(column.domain, column.name))
            if column.name in hierarchies
            else column
            for column in table.columns
        )
    )


def _rows(table: Table, rows: slice) -> Table:
    """Some rows of a table, without a copy."""
    return Table(tuple(replace(column, codes=column.codes[rows]) for column in table.columns))


def _is_joined(table: Table) -> bool:
    """Whether the rows of a table are written by a kernel: if they are many, and of few texts."""
    cells = table.rows * len(table.columns)
    many = is_eager() or (cells >= JOINED and are_loaded())
    return many and cells >= 8 * sum(len(column.domain) for column in table.columns) > 0


def _write_joined(table: Table, path: Path, separator: str, safe_cells: bool) -> None:
    """Add the rows of a table to a file with a header, from what is written of each value."""
    from shoal.data._frames import text_frame
    from shoal.data.published_syntax import guarded
    from shoal.io.tables.delimited import write_joined

    cells = []
    for column in table.columns:
        values = text_frame(Table((replace(column, codes=np.arange(len(column.domain), dtype=np.int32)),)))
        values = guarded(values) if safe_cells else values
        cells.append(values.to_series().fill_null("").alias(""))
    write_joined(cells, [column.codes for column in table.columns], path, separator)


def _writer(
    table: Table, ending: str
) -> tuple[Iterable["polars.DataFrame"], Callable[[Iterable["polars.DataFrame"], Path], None]]:
    """The frames of a table, some rows each where their texts are written, and what writes them."""
    from shoal.data._frames import text_frame
    from shoal.io.tables import columnar, decode, delimited, excel

    if ending in (".csv", ".tsv"):
        separator = "\t" if ending == ".tsv" else ","
        begins = range(0, max(table.rows, 1), WRITTEN)
        parts = (text_frame(_rows(table, slice(begin, begin + WRITTEN))) for begin in begins)
        return parts, lambda frames, path: delimited.write_blocks(frames, path, separator)
    writers = dict.fromkeys(PARQUET, columnar.write_parquet)
    writers |= dict.fromkeys(ARROW, columnar.write_arrow) | {".xlsx": excel.write_excel}
    if ending in writers:
        return [decode.typed_frame(table)], lambda frames, path: writers[ending](next(iter(frames)), path)
    raise WrongUse(
        f"There is no format to write of the ending {ending!r}; there are .csv, .tsv, .parquet, .arrow, .feather "
        "and .xlsx."
    )
