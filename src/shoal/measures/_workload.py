"""Questions of the kind "how many rows have these values": drawn by chance, or read from a file.

A file holds one question a line, as a JSON object of columns and what is asked of them:

=====================================================  ==========================================================
``{"age": [20, 30], "sex": "Female"}``                 a range of numbers, dates or ordered names, both ends included
``{"age": [null, 30]}``                                a range without one end
``{"city": ["Rome", "Milan"], "disease": "Flu"}``      one of some names
``{"city": "Italy"}``                                  a node of the column's hierarchy
=====================================================  ==========================================================
"""

import json
from collections.abc import Mapping, Sequence
from math import ceil
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from shoal.arrays import Mask, Rows
from shoal.data.domain import Kind
from shoal.data.table import Column, Table, canonical_order
from shoal.errors import BadData
from shoal.measures._interval_syntax import day, number
from shoal.measures._nodes import NodeTexts

Wanted: TypeAlias = tuple[int, int] | Mask
"""The codes that are asked for: from one to before another, or one entry a code."""

LEAD = 2**20
"""Combinations of the first columns that are counted, at most, to find the rows at some places."""

Question: TypeAlias = Mapping[str, Wanted]
"""Column to what is asked of it."""


def draw(
    table: Table,
    questions: int,
    columns: int,
    width: float,
    generator: np.random.Generator,
) -> list[Question]:
    """Questions by chance: each is about some quasi-identifiers and, where there is one, a sensitive column.

    A question is drawn around a row of the table, so that at least this row is counted. Names are asked for
    themselves; numbers, dates and ordered names in a range that covers a share of the values that there are. Rows are
    drawn in canonical order, so that the same rows in another order are asked the same.

    Parameters
    ----------
    columns
        Quasi-identifiers of a question.
    width
        The share of the values that a range covers.
    """
    quasi, sensitive = table.quasi, table.sensitive
    found: list[Question] = []
    for row in rows_at((*quasi, *sensitive), generator.integers(0, table.rows, questions)).tolist():
        chosen = generator.permutation(len(quasi))[:columns].tolist()
        asked = [quasi[place] for place in sorted(chosen)]
        if sensitive:
            asked.append(sensitive[int(generator.integers(len(sensitive)))])
        found.append({column.name: _around(column, row, width, generator) for column in asked})
    return found


def draw_sets(
    table: Table, questions: int, columns: int, share: float, generator: np.random.Generator
) -> list[Question]:
    """Questions by chance as Xiao and Tao (2006, section 6.1) draw them: a set of random values of each column.

    Each question is about some quasi-identifiers and, where there is one, a sensitive column. Of each column so many
    values are asked for that the expected share of all combinations is the given one.
    """
    quasi, sensitive = table.quasi, table.sensitive
    found: list[Question] = []
    for _ in range(questions):
        asked = [quasi[place] for place in sorted(generator.permutation(len(quasi))[:columns].tolist())]
        if sensitive:
            asked.append(sensitive[int(generator.integers(len(sensitive)))])
        question: dict[str, Wanted] = {}
        for column in asked:
            size = len(column.domain)
            wanted = np.zeros(size, dtype=np.bool_)
            wanted[generator.permutation(size)[: min(ceil(size * share ** (1 / len(asked))), size)]] = True
            question[column.name] = wanted
        found.append(question)
    return found


def rows_at(columns: Sequence[Column], places: Rows) -> Rows:
    """The rows at some places of the canonical order; of equal rows any.

    Only rows that agree with one of them in the first columns are sorted.
    """
    key, width = np.zeros(len(columns[0].codes), dtype=np.int64), 1
    for column in columns:
        if width * len(column.domain) > LEAD and width > 1:
            break
        key *= len(column.domain)
        key += column.domain.ranks()[column.codes]
        width *= len(column.domain)
    counts = np.bincount(key, minlength=width)
    leads = np.searchsorted(np.cumsum(counts), places, side="right")
    chosen = np.zeros(width, dtype=np.bool_)
    chosen[leads] = True
    rows = np.flatnonzero(chosen[key])
    ordered = rows[canonical_order([column.take(rows) for column in columns])]
    passed = np.cumsum(np.where(chosen, 0, counts))
    found: Rows = ordered[places - passed[leads]]
    return found


def _around(column: Column, row: int, width: float, generator: np.random.Generator) -> tuple[int, int]:
    """The value of a row, or a range that holds it."""
    code, domain = int(column.codes[row]), column.domain
    if domain.kind is Kind.NOMINAL or code == domain.missing or column.role == "sensitive":
        return code, code + 1
    span = min(max(round(width * domain.present), 1), domain.present)
    begin = code - int(generator.integers(span))
    begin = min(max(begin, 0), domain.present - span)
    return begin, begin + span


def read(path: str | Path, table: Table) -> list[Question]:
    """Read questions from a file, one a line.

    Raises
    ------
    BadData
        Naming the line, if it is no question about this table.
    """
    try:
        lines = Path(path).read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise BadData(f"the workload cannot be read ({error}).", path=path) from error
    readers: dict[str, _Reader] = {}
    found: list[Question] = []
    for line, text in enumerate(lines, 1):
        if not text.strip():
            continue
        try:
            plain = json.loads(text)
        except ValueError as error:
            raise BadData(f"this is not JSON: {error}.", path=path, line=line) from error
        if not isinstance(plain, dict) or not plain:
            raise BadData('a question is an object such as {"age": [20, 30]}.', path=path, line=line)
        question: dict[str, Wanted] = {}
        for name, asked in plain.items():
            if name not in table.names:
                known = ", ".join(table.names)
                raise BadData(
                    f"there is no such column; there are {known}.", path=path, line=line, column=name
                )
            reader = readers.setdefault(name, _Reader(table.column(name)))
            wanted = reader.wanted(asked)
            if wanted is None:
                said = f"{json.dumps(asked, ensure_ascii=False)} is no value, node or range of the column."
                raise BadData(said, path=path, line=line, column=name)
            question[name] = wanted
        found.append(question)
    if not found:
        raise BadData("the workload has no questions.", path=path)
    return found


class _Reader:
    """Reads what is asked of one column."""

    def __init__(self, column: Column) -> None:
        self._domain = column.domain
        self._codes = {label: code for code, label in enumerate(column.domain.labels)}
        self._nodes = None if column.hierarchy is None else NodeTexts(column.hierarchy)
        leaves = () if column.hierarchy is None else column.hierarchy.leaves
        self._leaf_codes = np.array([self._codes.get(leaf, -1) for leaf in leaves], dtype=np.int64)

    def wanted(self, asked: Any) -> Wanted | None:
        """The codes that are asked for, or None where it makes no sense."""
        if isinstance(asked, list):
            ordered = self._domain.kind is not Kind.NOMINAL
            return self._range(asked) if ordered and len(asked) == 2 else self._names(asked)
        return self._names([asked])

    def _range(self, ends: Sequence[Any]) -> Wanted | None:
        low, high = ends
        first = 0 if low is None else self._place(low, "left")
        last = self._domain.present if high is None else self._place(high, "right")
        return None if first is None or last is None else (first, max(first, last))

    def _place(self, end: Any, side: str) -> int | None:
        """The first code that is not below a value, or the first one above it."""
        text = str(end)
        if self._domain.values is None:
            code = self._codes.get(text)
            return None if code is None else code + (side == "right")
        place = day(text) if self._domain.kind is Kind.DATE else number(text)
        if place is None:
            return None
        present = self._domain.values[: self._domain.present]
        return int(np.searchsorted(present, place, "left" if side == "left" else "right"))

    def _names(self, names: Sequence[Any]) -> Mask | None:
        mask = np.zeros(len(self._domain), dtype=np.bool_)
        for name in names:
            text = "" if name is None else str(name)
            if self._nodes is not None and text in self._nodes:
                codes = self._leaf_codes[self._nodes.leaves(text)]
                mask[codes[codes >= 0]] = True
            elif text in self._codes:
                mask[self._codes[text]] = True
            else:
                return None
        return mask
