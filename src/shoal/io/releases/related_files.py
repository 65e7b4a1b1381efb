"""Persons and their records as two files, joined by the number of the person."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from shoal.data.related import Related, related
from shoal.data.table import Table
from shoal.errors import BadData
from shoal.io.releases.linked_files import numbers_in, write_tables
from shoal.io.releases.release_json import plain_roles, read_named_table

RECORD_NAMES = ("records.csv", "records.parquet")
"""The file of the records, beside the data file of the persons."""


def write_related(data: Related, folder: Path, table_format: str, safe_cells: bool) -> dict[str, Any]:
    """Write both files in canonical order; what release.json says of them."""
    data = related(data.columns, data.records.columns, data.owners, data.key)[0]
    write_tables(
        dict(zip(("data", "records"), data.numbered(), strict=True)), folder, table_format, safe_cells
    )
    columns, records = (
        [{"name": one.name, "role": str(one.role)} for one in table.columns] for table in (data, data.records)
    )
    shape = {
        "form": "related",
        "columns": columns,
        "records": records,
        "key": data.key,
        "rows": data.rows,
        "record_rows": data.records.rows,
    }
    return {**shape, "safe_cells": True} if safe_cells else shape


def read_related(path: Path, shape: Mapping[str, Any]) -> Related:
    """Read both files; the first is given, the other lies beside it.

    Raises `BadData` if a file is missing, its columns are not those that release.json names, persons are not numbered
    as they stand there, or a record has the number of nobody.
    """
    other, key = path.with_name(f"records{path.suffix}"), shape["key"]
    if not other.is_file():
        raise BadData("the table of the records is not there. Fetch the whole folder again.", other)
    own_roles, their_roles = plain_roles(shape["columns"]), plain_roles(shape["records"])
    persons = read_named_table(path, own_roles, shape, key)
    records = read_named_table(other, their_roles, shape, key)
    own = numbers_in(persons.column(key), path)
    if (own != np.arange(1, persons.rows + 1)).any():
        raise BadData(
            "persons are not numbered as they stand there. Fetch the folder again.", path, column=key
        )
    owners = numbers_in(records.column(key), other) - 1
    if (owners >= persons.rows).any():
        raise BadData(
            "a record has the number of nobody: the files do not belong together.", other, column=key
        )
    return Related(
        persons.select(own_roles),
        Table(records.select(their_roles)),
        owners,
        key,
    )
