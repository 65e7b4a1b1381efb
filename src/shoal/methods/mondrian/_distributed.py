"""Mondrian on rows in parts: the top of the tree by counts, and below it every part by itself."""

from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from shoal.arrays import Rows
from shoal.data._export import named, text_frame
from shoal.data.dataset import COUNT, Dataset, Parts
from shoal.data.domain import Domain, Kind, nominal
from shoal.data.group_statistics import GroupStatistics
from shoal.data.role import Role
from shoal.data.table import Column, Table
from shoal.methods.mondrian._choice import Rules
from shoal.methods.mondrian._distributed_top import Axes, Tree, cut_top
from shoal.methods.mondrian._plan import Plan
from shoal.methods.mondrian._publish import publish
from shoal.methods.mondrian._space import Space

if TYPE_CHECKING:
    import polars

ROW_BYTES, CELL_BYTES = 64, 48
"""What a row, and each of its cells, takes in a worker while its part is cut and published."""

FEWEST_PARTS, SMALL_PART = 32, 100_000
"""A table is cut into so many parts, for workers to share, unless parts would be smaller than that."""


@dataclass(frozen=True, slots=True, eq=False)
class Cut:
    """Published rows in parts, in any order, their columns, and what there is to tell of the way there."""

    schema: Table
    parts: Parts
    notes: dict[str, int]


@dataclass(frozen=True, slots=True, eq=False)
class _Task:
    """What a worker must know to publish a part."""

    table: Table  # the table without rows
    plan: Plan
    axes: Axes
    tree: Tree  # The top of the tree. The number of a part is that of its leaf.
    known: dict[int, dict[str, str]]
    """Leaves that are too large and cannot be cut: the published texts of their quasi-identifiers. Such a class need
    not come together, so that its rows are published where they lie."""
    part: str  # the name of the column with the number of the part


def cut_parts(data: Dataset, plan: Plan, whole: GroupStatistics, seed: int, memory: int) -> Cut:
    """Cut and publish a table in parts, none of which takes more than `memory` bytes in a worker."""
    table = data.schema
    task, numbered, notes = _tasks(data, plan, whole, seed, memory)
    published = numbered.group(task.part, partial(_published, task), _text_schema(table))
    if task.known:
        published = published.union(data.parts.map(partial(_published_apart, task), _text_schema(table)))
    return Cut(_schema(table), published, notes)


def count_classes(data: Dataset, plan: Plan, whole: GroupStatistics, seed: int, memory: int) -> int:
    """How many classes `cut_parts` would publish."""
    import polars as pl

    task, numbered, _ = _tasks(data, plan, whole, seed, memory)
    counted = numbered.group(task.part, partial(_counted, task), {COUNT: pl.Int64()})
    return len(task.known) + int(counted.collect()[COUNT].sum())


def _tasks(
    data: Dataset, plan: Plan, whole: GroupStatistics, seed: int, memory: int
) -> tuple[_Task, Parts, dict[str, int]]:
    """What a worker must know, the rows with the numbers of their parts, and what there is to tell of the way there."""
    table = data.schema
    names = tuple(column.name for column in table.quasi)
    axes = Axes(names, tuple(axis.place for axis in plan.axes))
    space = Space.of(
        [axis.positions for axis in plan.axes], [axis.depths for axis in plan.axes], plan.weights
    )
    rules = Rules(space, max(plan.least, 1), plan.relaxed, plan.choose)
    fits = max(memory // (ROW_BYTES + CELL_BYTES * len(table.columns)), 1)
    room = max(min(fits, max(SMALL_PART, data.rows // FEWEST_PARTS)), 2 * rules.least - 1)
    top = cut_top(data, axes, rules, plan.models, whole, seed, room)
    leaves = np.flatnonzero(top.tree.children < 0)
    task = _Task(
        table,
        plan,
        axes,
        top.tree,
        {leaf: _texts(table, plan, held) for leaf, held in top.held.items()},
        _free_name(table),
    )
    numbered = data.parts.map(partial(_numbered, task), _code_schema(table, task.part))
    notes = {"parts": len(leaves), "passes": top.passes, "largest_part": int(top.tree.sizes[leaves].max())}
    return task, numbered, notes


def _texts(table: Table, plan: Plan, held: tuple[Rows, ...]) -> dict[str, str]:
    """The published texts of a class of which only the values that it holds are known."""
    found = {}
    for column, axis, form, places in zip(table.quasi, plan.axes, plan.forms, held, strict=True):
        codes = np.flatnonzero(np.isin(axis.place, places)).astype(np.int32)
        one = publish(replace(column, codes=codes), form, np.array([0, len(codes)]))
        found[column.name] = one.domain.labels[one.codes[0]]
    return found


def _numbered(task: _Task, frame: "polars.DataFrame") -> "polars.DataFrame":
    """The rows with the number of their part, without those of classes that are published where they lie."""
    import polars as pl

    number = task.tree.leaf(task.axes.codes(frame))
    names = [column.name for column in _kept(task.table)]
    rows = frame.select(pl.Series(task.part, number.astype(np.int32)), named(names))
    return rows.filter(pl.Series(~np.isin(number, list(task.known)))) if task.known else rows


def _published(task: _Task, frame: "polars.DataFrame") -> "polars.DataFrame":
    """The published rows of a part."""
    table = _codes_of(task, frame)
    order, starts = _cut(task, frame, table)
    table = table.take(order)
    quasi = task.plan.publish(table, starts)
    return text_frame(Table(tuple(quasi.get(column.name, column) for column in table.columns)))


def _counted(task: _Task, frame: "polars.DataFrame") -> "polars.DataFrame":
    """The number of classes of a part."""
    import polars as pl

    _, starts = _cut(task, frame, _codes_of(task, frame))
    return pl.DataFrame({COUNT: [len(starts) - 1]}, schema={COUNT: pl.Int64()})


def _cut(task: _Task, frame: "polars.DataFrame", table: Table) -> tuple[Rows, Rows]:
    """The rows of a part class by class, and where each class starts."""
    leaf = int(frame[task.part][0])
    return task.plan.cut(table, int(task.tree.nodes[leaf]), threads=1)


def _published_apart(task: _Task, frame: "polars.DataFrame") -> "polars.DataFrame":
    """The published rows of classes whose texts are known."""
    import polars as pl

    number = task.tree.leaf(task.axes.codes(frame))
    found = [pl.DataFrame(schema=_text_schema(task.table))]
    for leaf, texts in task.known.items():
        table = _codes_of(task, frame.filter(pl.Series(number == leaf)))
        quasi = {column.name: _constant(column, texts[column.name]) for column in table.quasi}
        found.append(text_frame(Table(tuple(quasi.get(column.name, column) for column in table.columns))))
    return pl.concat(found)


def _codes_of(task: _Task, frame: "polars.DataFrame") -> Table:
    """The rows of a frame as a table."""
    return Table(tuple(replace(column, codes=frame[column.name].to_numpy()) for column in _kept(task.table)))


def _constant(column: Column, text: str) -> Column:
    """A column that says the same in every row."""
    missing = 0 if text == "" and column.domain.missing is not None else None
    domain = Domain(Kind.NOMINAL, (text,), missing=missing)
    return replace(column, domain=domain, codes=np.zeros(len(column.codes), dtype=np.int32), hierarchy=None)


def _schema(table: Table) -> Table:
    """The published table without rows: quasi-identifiers have become names."""
    return Table(
        tuple(
            replace(column, domain=nominal(()), hierarchy=None) if column.role is Role.QUASI else column
            for column in _kept(table)
        )
    )


def _kept(table: Table) -> tuple[Column, ...]:
    return tuple(column for column in table.columns if column.role is not Role.IDENTIFYING)


def _code_schema(table: Table, part: str) -> "dict[str, polars.DataType]":
    import polars as pl

    return {part: pl.Int32(), **{column.name: pl.Int32() for column in _kept(table)}}


def _text_schema(table: Table) -> "dict[str, polars.DataType]":
    import polars as pl

    return {column.name: pl.String() for column in _kept(table)}


def _free_name(table: Table) -> str:
    """A name that no column has."""
    name = "part"
    while name in table.names:
        name += "_"
    return name
