"""Releases whose rows are in parts: written as folders of part files, and opened again where an engine works."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from shoal.data._frames import named
from shoal.data.baskets import Baskets
from shoal.data.clusters import Clusters
from shoal.data.dataset import Dataset, Parts
from shoal.data.domain import nominal
from shoal.data.groups import Groups
from shoal.data.published_syntax import guarded, refuse_unsafe_names, unguarded
from shoal.data.release import Release, refuse_changed
from shoal.data.role import Role
from shoal.data.table import Column, Table
from shoal.errors import WrongUse
from shoal.io.baskets.distributed import LINE, header_of
from shoal.io.baskets.layouts import parse_layout, published_name
from shoal.io.reading import Reading, own_reading
from shoal.io.releases.file_order import order_violations, row_violations
from shoal.io.releases.release_json import (
    baskets_in_roles,
    baskets_shape,
    read_facts,
    refuse_other_columns,
    roles_of,
)
from shoal.io.releases.set_lines import Lines, read_clusters, read_groups
from shoal.io.tables.decode import column_type
from shoal.io.tables.delimited import delimited_text
from shoal.io.tables.distributed import (
    LOOKS,
    DistributedInput,
    Looks,
    as_texts,
    looks_of,
    open_parts,
    text_layout,
)

if TYPE_CHECKING:
    from shoal.engines.distributed import Distributed


def write_parts(data: Dataset, folder: Path, table_format: str, safe_cells: bool = False) -> dict[str, Any]:
    """Write published rows as part files, in a folder of the data file's name.

    Returns what release.json says about its shape, as for data that is one file.
    """
    schema = data.schema
    if isinstance(schema, Table):
        _write_table(data, folder / f"data.{table_format}", f".{table_format}", safe_cells)
        columns = [{"name": column.name, "role": str(column.role)} for column in schema.columns]
        shape = {"form": "table", "columns": columns, "rows": data.rows}
        return {**shape, "safe_cells": True} if safe_cells else shape
    if isinstance(schema, Baskets):
        name = published_name(schema.layout)
        data.parts.write(str(folder / name), Path(name).suffix, header_of(schema))
        return baskets_shape(schema, data.rows)
    data.parts.write(str(folder / "data.jsonl"), ".jsonl")
    form = "groups" if isinstance(schema, Groups) else "clusters"
    items = len(schema.vocabulary)
    return {"form": form, "baskets": data.baskets, form: data.rows, "items": items}


def open_release(folder: str | Path, engine: "Distributed") -> Release[Dataset]:
    """Open the published files of a release where an engine works; cells are taken as they stand.

    Baskets are encoded by one vocabulary.

    `folder`: the folder that a release was written to, or the published folder inside.
    """
    from shoal.io.releases.folder import data_file, published_folder

    published = published_folder(folder)
    facts = read_facts(published / "release.json")
    shape = facts.shape
    if shape["form"] in ("linked", "clustered", "related"):
        raise WrongUse("Joined tables, and items in clusters, are opened in memory: omit --engine.")
    if shape["form"] == "summary":
        raise WrongUse("Cross-tables are judged in memory; omit --engine.")
    path = data_file(published, shape)
    order = partial(order_violations, engine, path, shape)
    if shape["form"] == "table":
        opened = open_parts(path, engine, own_reading(path), raw=True)
        roles = roles_of(shape["columns"])
        refuse_other_columns(opened.names, roles, path)
        if "safe_cells" in shape:
            opened.parts = opened.parts.map(unguarded, dict.fromkeys(opened.names, pl.String))
        looks = looks_of(opened)
        schema, parts = published_table(opened, roles, looks)
        order = (
            partial(row_violations, parts)
            if engine.in_order
            else partial(order_violations, engine, path, {**shape, LOOKS: looks})
        )
        expected = {"rows": shape["rows"]}
        return facts.release(
            Dataset(schema, parts, shape["rows"], order=order, expected_counts=expected, path=path)
        )
    if shape["form"] == "baskets":
        return facts.release(open_baskets(folder, engine))
    form, lines = shape["form"], engine.lines(str(path))
    expected = {what: shape[what] for what in ("baskets", form, "items")}
    return facts.release(
        Dataset(empty_sets(form), lines, shape[form], shape["baskets"], order, expected, path)
    )


def open_table(source: str | Path, engine: "Distributed", reading: Reading | None = None) -> Dataset:
    """Open a published table that is in no release where an engine works: all columns are insensitive."""
    opened = open_parts(source, engine, reading, raw=True)
    schema, parts = published_table(opened, {}, looks_of(opened))
    return Dataset(schema, parts, rows_in(parts))


def open_sets(source: str, form: str, engine: "Distributed") -> Dataset:
    """Open the lines of published groups or clusters that are in no release where an engine works."""
    lines = engine.lines(source)
    order = None if "://" in source else partial(order_violations, engine, source, {"form": form})
    return Dataset(empty_sets(form), lines, rows_in(lines), order=order)


def rows_in(parts: Parts) -> int:
    """How many rows there are."""
    return parts.fold(lambda frame: int(frame.height), lambda one, other: one + other) or 0


def open_baskets(folder: str | Path, engine: "Distributed") -> Dataset:
    """Open the published baskets of a release where an engine works, encoded by one vocabulary.

    Raises `BadData` if there are not as many baskets or items as release.json says.
    """
    from shoal.io.baskets.distributed import load_baskets
    from shoal.io.releases.folder import data_file, published_folder

    published = published_folder(folder)
    shape = read_facts(published / "release.json").shape
    path = data_file(published, shape)
    reading = Reading(separator=shape.get("separator"))
    read: Dataset = load_baskets(engine, str(path), shape["layout"], reading, published=True).baskets
    refuse_changed(shape, {"baskets": read.rows, "items": len(read.schema.vocabulary)}, path)
    schema = baskets_in_roles(read.schema, shape)
    return replace(read, schema=schema, order=partial(order_violations, engine, path, shape))


def baskets_published(data: Dataset, engine: "Distributed") -> Dataset:
    """Read the lines of published baskets that are in no file yet, as they will be read from their files.

    Baskets that are read already stay what they are.
    """
    from shoal.io.baskets.distributed import baskets_of_lines, load_baskets

    if data.parts.names != (LINE,):
        return data
    shape = baskets_shape(data.schema, data.rows)
    header = header_of(data.schema)
    if header is None:
        read = baskets_of_lines(data.parts, parse_layout(shape["layout"], shape.get("separator")))
    else:
        cells = text_layout(f"{header}\n".encode(), "the release", Reading(separator=","))

        def parsed(frame: pl.DataFrame) -> pl.DataFrame:
            text = "".join(f"{line}\n" for line in frame.to_series())
            return cells.parse(text.encode(), 1, "the release")

        rows = data.parts.map(parsed, dict.fromkeys(cells.names, pl.String))
        reading = Reading(separator=shape.get("separator"))
        read = load_baskets(engine, rows, shape["layout"], reading, published=True).baskets
    return replace(read, schema=baskets_in_roles(read.schema, shape))


def empty_sets(form: str) -> Baskets | Groups | Clusters:
    """Published sets of a form that hold nothing."""
    none, begin = np.empty(0, dtype=np.int32), np.zeros(1, dtype=np.int64)
    if form == "baskets":
        return Baskets(begin, none, ())
    if form == "groups":
        return Groups(begin, begin, none, begin, none, begin[:0], ())
    return Clusters(none, begin[:0], begin, begin, begin, none, begin, none, ())


def published_table(opened: DistributedInput, roles: Mapping[str, Role], looks: Looks) -> tuple[Table, Parts]:
    """The columns of a published table, insensitive by default, and its cells as texts."""
    none = np.empty(0, dtype=np.int32)
    columns = [Column(name, roles.get(name, Role.INSENSITIVE), nominal(()), none) for name in opened.names]
    parts = opened.parts
    if not opened.of_texts:
        parts = parts.map(partial(as_texts, looks=looks), {column.name: pl.String() for column in columns})
    # To go through their files again takes longer.
    return Table(tuple(columns)), parts.keep()


def sets_in(lines: Iterable[str], name: str, form: type) -> Groups | Clusters:
    """The groups or clusters of some lines of a file."""
    read = read_groups if form is Groups else read_clusters
    return read(Lines(name, list(lines)))


def _write_table(data: Dataset, path: Path, ending: str, safe_cells: bool) -> None:
    schema: Table = data.schema
    if safe_cells:
        refuse_unsafe_names(schema)
    if ending == ".parquet":
        types = {column.name: column_type(column) for column in schema.columns}
        data.parts.map(lambda frame: _typed(frame, types), types).write(str(path), ending)
        return
    header = delimited_text(pl.DataFrame(schema=dict.fromkeys(schema.names, pl.String)))
    lines: Parts = data.parts.map(partial(_csv_lines, safe_cells=safe_cells), {"line": pl.String})
    lines.write(str(path), ending, header.removesuffix("\n"))


def _typed(frame: pl.DataFrame, types: dict[str, Any]) -> pl.DataFrame:
    """Texts as numbers and dates, where all texts of a column are such."""
    return frame.select(
        named(name).str.to_date() if kind == pl.Date else named(name).cast(kind)
        for name, kind in types.items()
    )


def _csv_lines(frame: pl.DataFrame, safe_cells: bool) -> pl.DataFrame:
    """The lines of a frame, as one text."""
    frame = guarded(frame) if safe_cells else frame
    text = delimited_text(frame, header=False).removesuffix("\n")
    return pl.DataFrame({"line": [text]}, schema={"line": pl.String})
