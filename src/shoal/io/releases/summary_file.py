"""Cross-tables in a release: a row a cell in data.csv, and in release.json how cells add up."""

from collections.abc import Mapping
from decimal import Decimal, InvalidOperation
from itertools import product
from pathlib import Path
from typing import Any

from shoal.data.published_syntax import SUPPRESSED
from shoal.data.summary import COUNT, SUM, Axis, Summary
from shoal.data.table import Table
from shoal.errors import BadData

_CHANGED = "Fetch the folder again."


def summary_shape(summary: Summary) -> dict[str, Any]:
    """What release.json says of cross-tables."""
    return {
        "form": "summary",
        "columns": [
            {"name": axis.name, "parts": {node: list(parts) for node, parts in axis.parts.items()}}
            for axis in summary.axes
        ],
        "tables": [list(table) for table in summary.tables],
        "values": list(summary.values),
        "total": summary.total,
        "cells": len(summary),
    }


def check_summary(facts: Mapping[str, Any], path: Path) -> None:
    """Refuse what no release.json of cross-tables says. Raises `BadData` if columns, tables or values are no such."""
    axes = [_axis(column, facts["total"], path) for column in facts["columns"]]
    names = [axis.name for axis in axes]
    if not names or len(set(names)) < len(names):
        raise BadData(f"'columns' must name columns, each once. {_CHANGED}", path)
    tables = facts["tables"]
    sound = all(isinstance(table, list) and table and set(map(str, table)) <= set(names) for table in tables)
    if not tables or not sound or {name for table in tables for name in table} != set(names):
        raise BadData(f"'tables' must be lists of these columns: {', '.join(names)}. {_CHANGED}", path)
    values = facts["values"]
    known = all(isinstance(value, str) and (value == COUNT or value.startswith(SUM)) for value in values)
    if not values or not known or len({*values, *names}) < len(values) + len(names):
        raise BadData(f"'values' must be {COUNT} and {SUM}COLUMN, each once. {_CHANGED}", path)


def _axis(column: object, total: str, path: Path) -> Axis:
    """A column of cross-tables: a tree from its total down."""
    if not isinstance(column, dict) or column.keys() != {"name", "parts"}:
        raise BadData("a column of cross-tables must be an object with a name and parts.", path)
    name, parts = column["name"], column["parts"]
    if not isinstance(name, str) or not isinstance(parts, dict):
        raise BadData("a column of cross-tables must be an object with a name and parts.", path)
    below = [part for node in parts.values() if isinstance(node, list) for part in node]
    lists = all(isinstance(node, list) and node for node in parts.values())
    if not lists or not all(isinstance(part, str) for part in below) or len(set(below)) < len(below):
        raise BadData(
            f"the parts of a total must be lists of texts, each in one of them. {_CHANGED}", path, column=name
        )
    if (
        total not in parts
        or total in below
        or not parts.keys() <= {total, *below}
        or _falls(parts, total) != len(below)
    ):
        raise BadData(f"every part must lie below {total!r}. {_CHANGED}", path, column=name)
    return Axis(name, {node: tuple(inside) for node, inside in parts.items()})


def _falls(parts: Mapping[str, list[str]], total: str) -> int:
    """How many nodes can be reached from the total."""
    reached, waiting = 0, [total]
    while waiting:
        inside = parts.get(waiting.pop(), [])
        reached += len(inside)
        waiting += inside
    return reached


def read_summary(table: Table, shape: Mapping[str, Any], path: Path) -> Summary:
    """Cross-tables from the cells of a file. Raises `BadData` if a cell is missing, comes twice, or says no number."""
    axes = tuple(_axis(column, shape["total"], path) for column in shape["columns"])
    names = (*(axis.name for axis in axes), *shape["values"])
    if table.names != names:
        raise BadData(f"the columns must be {', '.join(names)}, as release.json says. {_CHANGED}", path)
    tables = tuple(tuple(one) for one in shape["tables"])
    summary = Summary(axes, tables, tuple(shape["values"]), shape["total"], table)
    places = summary.places()
    expected = cells_of(axes, tables, shape["total"])
    if len(set(places)) < len(places) or set(places) != expected:
        strange = next((place for place in places if place not in expected), None)
        said = (
            f"{strange} is not a cell"
            if strange
            else f"there are {len(set(places)):,} different cells and not {len(expected):,}"
        )
        raise BadData(f"{said} of the tables that release.json names. {_CHANGED}", path)
    for value in summary.values:
        for row, text in enumerate(summary.texts(value)):
            if text != SUPPRESSED and not _is_number(text, value):
                raise BadData(f"{text!r} is not a number that could be published.", path, row + 2, value)
    return summary


def cells_of(axes: tuple[Axis, ...], tables: tuple[tuple[str, ...], ...], total: str) -> set[tuple[str, ...]]:
    """All cells of some tables: each value or total of each column, the others on their total."""
    return {
        place
        for table in tables
        for place in product(*(axis.nodes if axis.name in table else (total,) for axis in axes))
    }


def _is_number(text: str, value: str) -> bool:
    """Whether a text is a number as it is published: whole for counts, and never infinite."""
    try:
        number = Decimal(text)
    except InvalidOperation:
        return False
    return number.is_finite() and (value != COUNT or number % 1 == 0)
