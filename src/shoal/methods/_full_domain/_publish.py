"""From parts of tuples to a published table."""

from dataclasses import replace

import numpy as np

from shoal.arrays import Codes, Mask, Rows
from shoal.data.domain import Domain, Kind, nominal
from shoal.data.published_syntax import SUPPRESSED
from shoal.data.role import Role
from shoal.data.table import Column, Table
from shoal.methods._full_domain._problem import Problem
from shoal.methods._full_domain._recoding import Recoding, published_classes
from shoal.methods.table_method import published


def publish(problem: Problem, parts: Recoding, *, keep_suppressed: bool) -> tuple[Table, Rows, int]:
    """The published table of a table in parts.

    `keep_suppressed`: publish suppressed rows too, with ``*`` in every cell, insensitive ones included: the few rows
    that had to be suppressed are set apart, so that nothing may tell them from each other. Otherwise they are left
    out. Returns the table in canonical order, the original row of each published one, and the number of suppressed
    rows.
    """
    tuples = problem.tuples
    classes = published_classes(problem, parts)
    told: Mask = classes.told[tuples.number]
    rows = np.arange(tuples.rows) if keep_suppressed else np.flatnonzero(told)
    table = problem.table.take(rows)
    here, shown = tuples.number[rows], told[rows]
    quasi = {}
    for place, (column, texts) in enumerate(zip(problem.table.quasi, problem.texts, strict=True)):
        cells = texts.places[classes.level[place], tuples.codes[place]][here]
        labels = texts.labels
        if not shown.all():
            labels = labels if SUPPRESSED in labels else (*labels, SUPPRESSED)
            cells = np.where(shown, cells, labels.index(SUPPRESSED))
        quasi[column.name] = published_column(column, labels, cells)
    if not shown.all():
        table = Table(
            tuple(
                _starred(column, shown) if column.role in (Role.SENSITIVE, Role.INSENSITIVE) else column
                for column in table.columns
            )
        )
    made, order = published(table, quasi)
    return made, rows[order], int((~told).sum())


def published_column(column: Column, labels: tuple[str, ...], cells: Rows) -> Column:
    """A published column with the texts that occur; the missing value's comes last, as in every domain."""
    used = np.flatnonzero(np.bincount(cells, minlength=len(labels)))
    kept = [int(place) for place in used if labels[place]]
    missing = [int(place) for place in used if not labels[place]]
    code = np.zeros(len(labels), dtype=np.int32)
    code[kept + missing] = np.arange(len(used), dtype=np.int32)
    texts = tuple(labels[place] for place in kept + missing)
    domain = Domain(Kind.NOMINAL, texts, missing=len(texts) - 1) if missing else nominal(texts)
    return replace(column, domain=domain, codes=code[cells], hierarchy=None)


def _starred(column: Column, shown: Mask) -> Column:
    """A column with ``*`` where a row is suppressed."""
    labels = (*column.domain.labels, SUPPRESSED)
    cells: Codes = np.where(shown, column.codes, len(labels) - 1)
    return published_column(column, labels, cells.astype(np.int64))
