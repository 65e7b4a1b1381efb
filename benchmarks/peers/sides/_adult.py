"""Adult as ARX ships it (30,162 rows, nine columns), and what a published cell of it has lost."""

import csv
import gzip
import os
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

FOLDER = Path(os.environ.get("SHOAL_DATA", "")) / "arx-adult"
FILE, HIERARCHIES = FOLDER / "adult.csv.gz", FOLDER / "hierarchies"
ROWS = 30_162
NUMBERS = frozenset({"age"})


def values_of(columns: Sequence[str]) -> dict[str, list[str]]:
    """The distinct values of columns."""
    with gzip.open(FILE, "rt", encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file, delimiter=";"))
    return {name: sorted({row[name] for row in rows}) for name in columns}


def hierarchy(column: str) -> list[list[str]]:
    """The lines of a column's hierarchy: a value and the nodes above it."""
    path = HIERARCHIES / f"adult_hierarchy_{column}.csv"
    with path.open(encoding="utf-8", newline="") as file:
        return [row for row in csv.reader(file, delimiter=";") if row]


def summary(published: Iterable[Sequence[str]], columns: Sequence[str]) -> dict[str, Any]:
    """Classes, the smallest one, rows that were left out, and the mean loss of a cell.

    A range has lost its width as a share of the column's; a set of values, or a node, the other values it stands for as
    a share of all others. A row that was left out has lost everything.

    Parameters
    ----------
    published
        The published cells of these columns, a row each.
    """
    classes = Counter(tuple(row) for row in published)
    values = values_of(columns)
    nodes = {name: _nodes(name, values[name]) for name in columns}
    rows = sum(classes.values())
    lost = float(ROWS - rows) * len(columns)
    for cells, count in classes.items():
        lost += count * sum(
            share(cell, values[name], nodes[name], name in NUMBERS)
            for name, cell in zip(columns, cells, strict=True)
        )
    return {
        "classes": len(classes),
        "smallest class": min(classes.values()),
        "rows left out": ROWS - rows,
        "loss": lost / (ROWS * len(columns)),
    }


def _nodes(column: str, values: Sequence[str]) -> dict[str, int]:
    """How many values that occur lie below each node of the hierarchy."""
    present = set(values)
    leaves: dict[str, set[str]] = {}
    for leaf, *above in hierarchy(column):
        for node in above:
            if leaf in present:
                leaves.setdefault(node, set()).add(leaf)
    return {node: len(below) for node, below in leaves.items()}


def share(cell: str, values: Sequence[str], nodes: dict[str, int], is_number: bool) -> float:
    """What a published cell has lost, from 0 to 1: of a value, a range ``17-25`` or ``[17,25]``, a set or a node."""
    if cell in values:
        return 0.0
    if is_number and (found := re.fullmatch(r"\[?(\d+)(?:-|,)(\d+)\]?", cell)) and cell not in nodes:
        numbers = [int(value) for value in values]
        return (int(found[2]) - int(found[1])) / (max(numbers) - min(numbers))
    several = nodes.get(cell) or len(re.split(r"[|,]", cell))
    return (several - 1) / (len(values) - 1)
