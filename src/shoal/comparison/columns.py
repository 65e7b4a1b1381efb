"""What can be known of data before its runs: that the columns which roles, hierarchies and a layout name are there."""

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from shoal.comparison.grid import Cell
from shoal.comparison.run_data import generator_of, reading_of, with_column_roles
from shoal.data.baskets import Baskets
from shoal.data.domain import Domain, Kind
from shoal.data.role import Role
from shoal.data.table import Column, Table
from shoal.errors import UnknownName, WrongUse
from shoal.io.reading import Reading
from shoal.io.tables.input import Input
from shoal.recipe import Roles
from shoal.sources import folder_and_columns, give_hierarchies, with_item_hierarchy

if TYPE_CHECKING:
    import polars

LOOKED_AT = ("path", "generate", "form", "reading", "baskets", "roles", "hierarchies")
"""What of the plan of data says which columns it must have."""

KINDS = {"intervals": Kind.NUMERIC, "dates": Kind.DATE}
"""The kind of column that a builder of hierarchies asks for, where it does."""


def refuse_wrong_columns(cells: Iterable[Cell]) -> None:
    """Refuse data whose columns are not those that a recipe names, before anything runs.

    Names and roles of columns, files of hierarchies and what builders are told are looked at. No cell is: what values
    a hierarchy misses, and whether an item occurs, the runs find out.

    Raises `WrongUse` or `BadData` with the name of the dataset, or the place of the file.
    """
    looked_at: set[str] = set()
    headers: Headers = {}
    for cell in cells:
        data = cell.plan["data"]
        key = json.dumps([data.get(name) for name in LOOKED_AT], sort_keys=True)
        if key not in looked_at:
            looked_at.add(key)
            try:
                _refuse(data, headers)
            except WrongUse as error:
                raise WrongUse(f"dataset {cell.facts['dataset']}: {error}") from error


class Header(Input):
    """The columns of a file that is closed again."""

    def __init__(self, opened: Input) -> None:
        self.names, self.path = opened.names, opened.path

    def frame(self, columns: Sequence[str]) -> "polars.DataFrame":
        """There is none."""
        raise NotImplementedError


Headers = dict[tuple[str, str], Header]
"""The columns of files by their paths and how they are read: large files are opened once."""


def _header(path: str, reading: Reading, headers: Headers) -> Header:
    from shoal.io.tables.load import open_input

    key = path, repr((reading.separator, reading.names, reading.sheet, reading.query))
    if key not in headers:
        headers[key] = Header(open_input(path, reading))
    return headers[key]


def _refuse(data: Mapping[str, Any], headers: Headers) -> None:
    if data["form"] == "baskets":
        if "path" in data and data["baskets"] is not None:
            _refuse_layout(data, headers)
        with_item_hierarchy(_no_baskets(), data["hierarchies"])
    else:
        table = _made(data) if "generate" in data else _read(data, headers)
        give_hierarchies(table, data["hierarchies"])


def _made(data: Mapping[str, Any]) -> Table:
    """The columns that a generator makes, with their roles and without a row."""
    one_row = generator_of({**data, "rows": 1}).make(0)
    columns = with_column_roles(one_row, Roles(**data["roles"])).columns
    return Table(tuple(_empty(column.name, column.role, column.domain.kind) for column in columns))


def _read(data: Mapping[str, Any], headers: Headers) -> Table:
    """The columns of a file, with their roles and without a row.

    What kinds they are of is not known before their cells are read, unless it is told: they are taken to be of the kind
    that their hierarchies ask for.
    """
    from shoal.io.tables.load import assigned_roles

    roles, reading = Roles(**data["roles"]), reading_of(data)
    _, named = folder_and_columns(data["hierarchies"], None)
    also = (*reading.kinds, *reading.orders, *named)
    builders = {name: str(spec).partition(":")[0] for name, spec in named.items()}
    columns = assigned_roles(_header(data["path"], reading, headers), roles, also)
    return Table(
        tuple(
            _empty(name, role, reading.kind_of(name) or KINDS.get(builders.get(name, ""), Kind.NOMINAL))
            for name, role in columns
        )
    )


def _empty(name: str, role: Role, kind: Kind) -> Column:
    values = np.empty(0) if kind in (Kind.NUMERIC, Kind.DATE) else None
    return Column(name, role, Domain(kind, (), values), np.empty(0, dtype=np.int32))


def _no_baskets() -> Baskets:
    none = np.empty(0, dtype=np.int32)
    return Baskets(np.zeros(1, dtype=np.int64), none, (), none, none)


def _refuse_layout(data: Mapping[str, Any], headers: Headers) -> None:
    """Refuse a layout that names columns which the file does not have."""
    from shoal.io.baskets.layouts import parse_layout

    layout = parse_layout(data["baskets"], reading_of(data).separator)
    if layout.columns:
        between_cells = layout.separator if layout.form == "long" else None
        opened = _header(data["path"], Reading(separator=between_cells), headers)
        for name in layout.columns:
            if name not in opened.names:
                raise UnknownName("column", name, opened.names, opened.path)
