"""Small tables for tests, from plain Python."""

import datetime
from collections.abc import Mapping, Sequence

import numpy as np

from shoal.data.domain import Domain, Kind
from shoal.data.hierarchy import Hierarchy
from shoal.data.role import Role
from shoal.data.table import Column, Table

Cell = str | int | float | datetime.date | None


def column(
    name: str,
    cells: Sequence[Cell],
    role: Role = Role.QUASI,
    kind: Kind | None = None,
    hierarchy: Hierarchy | None = None,
) -> Column:
    """A column of cells: names, numbers or dates, depending on their type; None is missing."""
    present = {cell for cell in cells if cell is not None}
    if kind is None:
        numbers = bool(present) and all(isinstance(cell, int | float) for cell in present)
        dates = bool(present) and all(isinstance(cell, datetime.date) for cell in present)
        kind = Kind.NUMERIC if numbers else Kind.DATE if dates else Kind.NOMINAL
    ordered = sorted(present)  # type: ignore[type-var]
    labels = [str(cell) for cell in ordered]
    values = None
    if kind is Kind.NUMERIC:
        values = [float(cell) for cell in ordered]  # type: ignore[arg-type]
    elif kind is Kind.DATE:
        values = [float(cell.toordinal() - 719163) for cell in ordered]  # type: ignore[union-attr]
    codes: dict[Cell, int] = {cell: code for code, cell in enumerate(ordered)}
    missing = None
    if None in cells:
        missing = codes[None] = len(labels)
        labels.append("")
        values = None if values is None else [*values, float("nan")]
    domain = Domain(kind, tuple(labels), None if values is None else np.array(values), missing)
    covering = None if hierarchy is None else hierarchy.covering(domain, name)
    return Column(name, role, domain, np.array([codes[cell] for cell in cells], dtype=np.int32), covering)


def table(
    columns: Mapping[str, Sequence[Cell]], sensitive: Sequence[str] = (), entity: str | None = None
) -> Table:
    """A table whose columns are quasi-identifiers, except the sensitive ones and the entity."""

    def role(name: str) -> Role:
        return Role.ENTITY if name == entity else Role.SENSITIVE if name in sensitive else Role.QUASI

    return Table(tuple(column(name, cells, role(name)) for name, cells in columns.items()))


def texts(data: Table) -> list[dict[str, str]]:
    """The cells of a table as a reader of the published file sees them."""
    labels = [[one.domain.labels[code] for code in one.codes] for one in data.columns]
    return [dict(zip(data.names, row, strict=True)) for row in zip(*labels, strict=True)]
