"""Improvement of a full-domain solution row by row: each row may be published on levels of its own."""

import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from shoal.arrays import Rows
from shoal.data.table import Table
from shoal.methods._full_domain._losses import CELL_MEASURES, CellMeasure
from shoal.methods._full_domain._recoding import Placed, Recoding, publish, published_classes, solution_note
from shoal.methods._full_domain._table_to_generalize import Problem
from shoal.methods._full_domain._tuples import Tuples
from shoal.methods._improvement._cells import importance, lossy
from shoal.methods._improvement.method import class_by_class

if TYPE_CHECKING:
    from shoal.methods._full_domain.method import FullDomain

BY: dict[str, CellMeasure] = {measure: measure for measure in CELL_MEASURES if measure != "entropy"}
"""Measures that are minimized directly; for all others LM is minimized, and their value is reported."""


@dataclass(frozen=True, slots=True, eq=False)
class Solution:
    """How a table is to be published, and notes on how that was found."""

    parts: Recoding  # the tuples with their levels
    timings: dict[str, float]
    notes: dict[str, Any]
    """`timings`, `notes`: see `Trace`."""


def improved(
    method: "FullDomain", problem: Problem, solution: Solution, seed: int
) -> tuple[Problem, Solution]:
    """The problem with every row as a tuple of its own, and a better solution; both unchanged if there is none.

    `seed`: the secret key that decides ties.
    """
    begin = time.perf_counter()
    table, tuples, lattice = problem.table, problem.tuples, problem.lattice
    measure = BY.get(str(solution.notes.get("objective")), "lm")
    classes = published_classes(problem, solution.parts)
    of_tuple = np.full(len(tuples), -1, dtype=np.int64)
    of_tuple[classes.shown] = classes.number
    columns = tuple(
        lossy(column, "nodes", measure, highest)
        for column, highest in zip(table.quasi, lattice.highest, strict=True)
    )
    counts = importance(table.quasi, measure, problem.weights)
    better = method.better(table, of_tuple[tuples.number], columns, counts, problem.models, seed)
    codes = tuple(column.codes.astype(np.int64) for column in table.quasi)
    rows = np.arange(table.rows)
    single = replace(problem, tuples=Tuples(codes, np.ones(table.rows, dtype=np.int64), rows))
    made = (
        _published(single, better.groups, keep_suppressed=method.keep_suppressed) if better.gained else None
    )
    made, report = method.kept(made, problem.models, better)
    notes = {**solution.notes, **report, "summary": [*solution.notes.get("summary", ()), *report["summary"]]}
    timings = {**solution.timings, "improve": time.perf_counter() - begin}
    if made is None:
        return problem, replace(solution, notes=notes, timings=timings)
    before = notes.get("solutions", [])
    notes["solutions"] = [solution_note(single, made[1]), *before]
    return single, Solution(made[1], timings, notes)


def _published(problem: Problem, groups: Rows, *, keep_suppressed: bool) -> tuple[Table, Placed]:
    """The published table of some classes of rows, and the levels of the rows."""
    order, starts = class_by_class(groups)
    level = np.zeros((len(problem.lattice.names), len(groups)), dtype=np.int64)
    for place, column in enumerate(problem.table.quasi):
        assert column.hierarchy is not None
        leaves = column.hierarchy.depth_first()
        turns = np.argsort(leaves).astype(np.int32)[column.hierarchy.leaf_of(column.domain)][
            column.codes[order]
        ]
        low, high = (end.reduceat(turns, starts[:-1]) for end in (np.minimum, np.maximum))
        levels = column.hierarchy.common_level(low, high, leaves)
        level[place, order] = np.repeat(levels, np.diff(starts))
    found = Placed(level, groups >= 0)
    return publish(problem, found, keep_suppressed=keep_suppressed)[0], found
