"""Two linked tables as two files: public rows with their group, and how often each group has each secret."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from shoal.arrays import Counts, Rows
from shoal.data._equal_rows import runs
from shoal.data.domain import nominal
from shoal.data.linked import COUNT, Linked, canonical
from shoal.data.published_syntax import refuse_unsafe_names
from shoal.data.role import Role
from shoal.data.table import Column, Table
from shoal.errors import BadData
from shoal.io.releases.release_json import plain_roles, read_named_table
from shoal.io.tables.load import write_table

SECRET_NAMES = ("sensitive.csv", "sensitive.parquet")
"""The file of the secrets, beside the data file of the public rows."""


def write_linked(data: Linked, folder: Path, table_format: str, safe_cells: bool) -> dict[str, Any]:
    """Write both files in canonical order; what release.json says of them."""
    data = canonical(data)
    secrets = summed(data)
    write_tables({"data": data.public, "sensitive": secrets}, folder, table_format, safe_cells)
    columns = [{"name": one.name, "role": str(one.role)} for one in (*data.known(), *data.secrets.sensitive)]
    shape = {"form": "linked", "columns": columns, "link": data.link, "rows": data.rows, "groups": len(data)}
    return {**shape, "safe_cells": True} if safe_cells else shape


def write_tables(tables: Mapping[str, Table], folder: Path, table_format: str, safe_cells: bool) -> None:
    """Write several tables by their names, as they stand there."""
    for name, table in tables.items():
        if safe_cells:
            refuse_unsafe_names(table)
        write_table(table, folder / f"{name}.{table_format}", safe_cells=safe_cells)


def summed(data: Linked) -> Table:
    """The secrets of each group, each once, with how often the group has it."""
    table = data.secrets
    first = runs([column.codes for column in table.columns], table.rows)
    counts = np.diff(np.append(first, table.rows))
    kinds, codes = np.unique(counts, return_inverse=True)
    labels = nominal(tuple(str(count) for count in kinds.tolist()))
    return Table(
        (*table.take(first).columns, Column(COUNT, Role.INSENSITIVE, labels, codes.astype(np.int32)))
    )


def read_linked(path: Path, shape: Mapping[str, Any]) -> Linked:
    """Read both files; the first is given, the other lies beside it.

    Raises `BadData` if a file is missing, its columns are not those that release.json names, groups are not numbered
    from 1 on, or a group does not have as many secrets as rows.
    """
    roles = plain_roles(shape["columns"])
    link, other = shape["link"], path.with_name(f"sensitive{path.suffix}")
    if not other.is_file():
        raise BadData("the table of the secrets is not there. Fetch the whole folder again.", other)
    secret = [name for name, role in roles.items() if role is Role.SENSITIVE]
    public = {name: role for name, role in roles.items() if name not in secret}
    rows = read_named_table(path, public, shape, link)
    entries = read_named_table(
        other, {link: Role.QUASI, **{name: roles[name] for name in secret}}, shape, COUNT
    )
    groups = numbers_in(rows.column(link), path) - 1
    counts = numbers_in(entries.column(COUNT), other)
    holders = np.repeat(numbers_in(entries.column(link), other) - 1, counts)
    count = int(groups.max(initial=-1)) + 1
    sizes = np.bincount(groups, minlength=count)
    held = np.bincount(holders, minlength=count)
    unlike = np.flatnonzero(sizes != held[:count]).tolist() if len(held) == count else [count]
    if unlike or not sizes.all():
        place = unlike[0] if unlike else int(np.flatnonzero(sizes == 0)[0])
        raise BadData(
            f"group {place + 1} does not have as many secrets as rows: the files do not belong together. Fetch the "
            "folder again.",
            other,
        )
    whole = entries.take(np.repeat(np.arange(entries.rows), counts))
    domain = nominal(tuple(str(place + 1) for place in range(count)))
    return Linked(
        Table((*rows.select(public), Column(link, Role.INSENSITIVE, domain, groups.astype(np.int32)))),
        Table((Column(link, Role.QUASI, domain, holders.astype(np.int32)), *whole.select(secret))),
        link,
    )


def numbers_in(column: Column, path: Path) -> Rows | Counts:
    """The whole numbers from 1 on that a column holds."""
    labels = column.domain.labels
    for label in labels:
        if not label.isascii() or not label.isdigit() or label != str(int(label)) or int(label) < 1:
            raise BadData(f"{label!r} is not a whole number of at least 1.", path, column=column.name)
    found: Rows = np.array([int(label) for label in labels], dtype=np.int64)[column.codes]
    return found
