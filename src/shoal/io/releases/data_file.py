"""The data file of a release in its forms: table, baskets, groups, clusters, and linked tables, which have two."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from shoal.data._safe_cells import refuse_unsafe_names
from shoal.data.baskets import Baskets
from shoal.data.dataset import Dataset
from shoal.data.groups import Groups
from shoal.data.linked import Linked
from shoal.data.release import Published
from shoal.data.role import Role
from shoal.data.table import Column, Table, canonical_order
from shoal.errors import BadData, UnknownName
from shoal.io.baskets.layouts import published_name
from shoal.io.baskets.load import load_baskets, write_baskets
from shoal.io.reading import Reading, own_reading
from shoal.io.releases.clusters_file import read_clusters, write_clusters
from shoal.io.releases.distributed import write_parts
from shoal.io.releases.groups_file import read_groups, write_groups
from shoal.io.releases.linked_files import read_linked, write_linked
from shoal.io.releases.release_json import PERSONS, baskets_in_roles, baskets_shape
from shoal.io.tables.load import read_published_table, write_table

DATA_NAMES = ("data.csv", "data.parquet", "data.dat", "data.spmf", "data.jsonl")


def write_data(
    data: Published | Dataset, folder: Path, table_format: str, safe_cells: bool = False
) -> dict[str, Any]:
    """Write the data file into a folder, in canonical order.

    Returns
    -------
    dict
        What release.json says about its shape: the form, columns with roles or sensitive items, and counts. Only what
        can be seen in the data file too.
    """
    if isinstance(data, Dataset):
        return write_parts(data, folder, table_format, safe_cells)
    if isinstance(data, Table):
        if safe_cells:
            refuse_unsafe_names(data)
        write_table(_ordered(data), folder / f"data.{table_format}", safe_cells=safe_cells)
        shape = {"form": "table", "columns": list(map(_entry, data.columns)), **counts_of(data)}
        return {**shape, "safe_cells": True} if safe_cells else shape
    if isinstance(data, Linked):
        return write_linked(data, folder, table_format, safe_cells)
    if isinstance(data, Baskets):
        return _write_baskets(data, folder)
    if isinstance(data, Groups):
        write_groups(data, folder / "data.jsonl")
        return {"form": "groups", **counts_of(data)}
    write_clusters(data, folder / "data.jsonl")
    return {"form": "clusters", **counts_of(data)}


def counts_of(data: Published) -> dict[str, int]:
    """How much is published: what release.json says and the data file must bear out."""
    if isinstance(data, Table):
        return {"rows": data.rows}
    if isinstance(data, Linked):
        return {"rows": data.rows, "groups": len(data)}
    if isinstance(data, Baskets):
        return {"baskets": len(data), "items": len(data.vocabulary)}
    if isinstance(data, Groups):
        items = len(np.union1d(data.items, data.sensitive_items))
        return {"baskets": int(data.group_indptr[-1]), "groups": len(data), "items": items}
    items = len(np.union1d(data.items, data.terms))
    return {"baskets": int(data.sizes.sum()), "clusters": data.count, "items": items}


def read_data(folder: Path, shape: Mapping[str, Any]) -> Published:
    """Read the data file of a folder; its shape is what `write_data` returned.

    Raises
    ------
    BadData
        If the file is not there, there are two, or it does not have that shape.
    """
    path = data_file(folder, shape)
    data = _read(path, shape)
    for what, found in counts_of(data).items():
        if found != shape[what]:
            raise BadData(
                f"release.json says {shape[what]:,} {what}, the file has {found:,}: it was changed after it was made. "
                "Fetch the folder again.",
                path,
            )
    return data


def _read(path: Path, shape: Mapping[str, Any]) -> Published:
    if shape["form"] == "table":
        return _read_table(path, shape)
    if shape["form"] == "linked":
        return read_linked(path, shape)
    if shape["form"] == "baskets":
        reading = Reading(separator=shape.get("separator"))
        baskets = load_baskets(path, shape["layout"], reading, published=True).baskets
        return baskets_in_roles(baskets, shape)
    return read_groups(path) if shape["form"] == "groups" else read_clusters(path)


def _write_baskets(data: Baskets, folder: Path) -> dict[str, Any]:
    """Write baskets without items that none of them holds: their names alone would tell of the input."""
    supports = data.supports
    if len(supports) and not supports.all():
        data = data.keep(supports > 0)
    data = data.take(data.canonical_order())
    write_baskets(data, folder / published_name(data.layout))
    return baskets_shape(data, len(data))


def _entry(column: Column) -> dict[str, str]:
    """What release.json says about a column."""
    note = {"note": PERSONS} if column.role is Role.ENTITY else {}
    return {"name": column.name, "role": str(column.role), **note}


def _ordered(table: Table) -> Table:
    """The table in canonical order; a table that is so already is only looked through, not sorted."""
    undecided = np.ones(max(table.rows - 1, 0), dtype=np.bool_)
    for column in table.columns:
        ranks = column.domain.ranks()[column.codes]
        if (undecided & (ranks[1:] < ranks[:-1])).any():
            return table.take(canonical_order(table.columns))
        undecided &= ranks[1:] == ranks[:-1]
    return table


def data_file(folder: Path, shape: Mapping[str, Any]) -> Path:
    """The data file of a published folder, which may be a folder of part files; its name is one of its form."""
    there = [folder / name for name in DATA_NAMES if (folder / name).exists()]
    if not there:
        raise BadData(
            f"the published data is not there: one of {', '.join(DATA_NAMES)}. Fetch the whole folder again.",
            folder,
        )
    if len(there) > 1:
        names = " and ".join(path.name for path in there)
        raise BadData(f"there are {names}, and only one can be what was published. Remove the other.", folder)
    fitting = _names_of(shape)
    if there[0].name not in fitting:
        raise BadData(
            f"release.json says {shape['form']}, whose file is called {' or '.join(fitting)}. Fetch the folder again.",
            there[0],
        )
    return there[0]


def _names_of(shape: Mapping[str, Any]) -> tuple[str, ...]:
    if shape["form"] in ("table", "linked"):
        return "data.csv", "data.parquet"
    return (published_name(shape["layout"]) if shape["form"] == "baskets" else "data.jsonl",)


def _read_table(path: Path, shape: Mapping[str, Any]) -> Table:
    roles = {column["name"]: Role(column["role"]) for column in shape["columns"]}
    named = {role: [name for name in roles if roles[name] is role] for role in Role}
    entity = next(iter(named[Role.ENTITY]), None)
    try:
        table = read_published_table(
            path, named[Role.QUASI], named[Role.SENSITIVE], entity, own_reading(path), "safe_cells" in shape
        )
    except UnknownName as error:
        raise BadData(f"the columns are not those that release.json names. {error}", path) from None
    if set(table.names) != set(roles):
        unlike = ", ".join(sorted(set(table.names) ^ set(roles)))
        raise BadData(f"the columns are not those that release.json names: {unlike}.", path)
    return table
