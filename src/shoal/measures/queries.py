"""How well a release answers how many rows have some values.

Questions of the kind "how many rows have these values" are drawn by chance, or read from a file, which holds one
question a line, as a JSON object of columns and what is asked of them:

=====================================================  ==========================================================
``{"age": [20, 30], "sex": "Female"}``                 a range of numbers, dates or ordered names, both ends included
``{"age": [null, 30]}``                                a range without one end
``{"city": ["Rome", "Milan"], "disease": "Flu"}``      one of some names
``{"city": "Italy"}``                                  a node of the column's hierarchy
=====================================================  ==========================================================
"""

import json
from collections.abc import Mapping, Sequence
from fractions import Fraction
from math import ceil, fsum
from pathlib import Path
from typing import Any, ClassVar, TypeAlias

import numpy as np
from pydantic import Field

from shoal.arrays import Codes, Floats, Mask, Rows
from shoal.data.domain import Kind
from shoal.data.table import Column, Table, canonical_order
from shoal.errors import BadData
from shoal.measures._comparison import Comparison
from shoal.measures._coverage import Coverage
from shoal.measures._interval_syntax import NodeTexts, day, number
from shoal.measures.measure import Score, TableMeasure

Wanted: TypeAlias = tuple[int, int] | Mask
"""The codes that are asked for: from one to before another, or one entry a code."""

LEAD = 2**20
"""Combinations of the first columns that are counted, at most, to find the rows at some places."""

Question: TypeAlias = Mapping[str, Wanted]
"""Column to what is asked of it."""


class Queries(TableMeasure):
    """The relative error of counts: how many rows have these values? Asked of the original and of the release.

    A reader of the release counts each published row with the share of its cells' values that are asked for, as if
    values were spread evenly. A row that is left out is not counted.

    are, are_median
        Average relative error (SECRETA; Xiao and Tao 2006): the mean over the questions of |estimate − truth| / truth,
        and the median. A truth below the least share of the rows counts as so much: otherwise a few questions about
        hardly anybody would decide.
    """

    name: ClassVar[str] = "queries"
    not_distributable: ClassVar[str | None] = "questions are answered from single rows"
    scores_named: ClassVar[tuple[str, ...]] = ("are", "are_median")

    questions: int = Field(default=200, ge=1, description="questions that are drawn")
    columns: int = Field(default=2, ge=1, description="quasi-identifiers of a drawn question")
    width: float = Field(default=0.2, gt=0, le=1, description="share of the values that a drawn range covers")
    least: float = Field(
        default=0.001, ge=0, le=1, description="share of the rows that a truth counts as at least"
    )
    seed: int = Field(default=0, ge=0, description="draws the same questions again")
    workload: str | None = Field(
        default=None, description="a file of questions instead of drawn ones, one JSON object a line"
    )

    def compare(self, both: Comparison) -> tuple[Score, ...]:
        """Ask both sides the same questions."""
        before, after = self.tables(both)
        if not before.quasi:
            return ()
        asked = self.asked(before, after)
        columns = [both.column(name) for name in dict.fromkeys(name for one in asked for name in one)]
        truth = Counter({one.name: one.original for one in columns}).answers(asked)
        published = {one.name: one.published for one in columns}
        answered = Counter(published, {one.name: one.coverage for one in columns}).answers(asked)
        bound = max(ceil(Fraction(str(self.least)) * before.rows), 1)
        errors = [abs(one - count) / max(count, bound) for one, count in zip(answered, truth, strict=True)]
        source = "of the workload" if self.workload else "drawn by chance"
        meaning = f"relative error of the answers to {len(asked)} counting questions {source}."
        return (
            Score("are", fsum(errors) / len(errors), f"Mean {meaning}"),
            Score("are_median", float(np.median(errors)), f"Median {meaning}"),
        )

    def asked(self, original: Table, published: Table) -> list[Question]:
        """The questions; drawn ones are about columns that are published."""
        if self.workload is not None:
            shown = tuple(one for one in original.columns if one.name in published.names)
            return read(self.workload, Table(shown))
        generator = np.random.default_rng(self.seed)
        return draw(original, self.questions, self.columns, self.width, generator)


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

    `columns`: quasi-identifiers of a question. `width`: the share of the values that a range covers.
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

    Raises `BadData`: naming the line, if it is no question about this table.
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


class Counter:
    """Counts the rows that questions ask for.

    A question is answered from the rows that have what it asks of one of its columns, the one with fewest such rows:
    its pivot. Questions of one pivot are answered together, with the rows in the order of that column.

    `columns`: the columns that are asked for, of the original or of a published table. `coverage`: of published
    columns: what their texts stand for.
    """

    def __init__(self, columns: Mapping[str, Column], coverage: Mapping[str, Coverage] | None = None) -> None:
        self._columns = columns
        self._coverage = coverage
        self._held = {
            name: np.bincount(column.codes, minlength=len(column.domain)) for name, column in columns.items()
        }

    def answers(self, questions: Sequence[Question]) -> list[float]:
        """The number of rows for each question, or how many a reader expects."""
        found = [0.0] * len(questions)
        by_pivot: dict[str, list[int]] = {}
        for place, question in enumerate(questions):
            rows = {name: self._held[name][self._shares(name, question[name]) > 0].sum() for name in question}
            by_pivot.setdefault(min(rows, key=rows.__getitem__), []).append(place)
        for pivot, places in by_pivot.items():
            runs = _Runs(self._columns[pivot])
            # Questions about the same values one after the other: their rows are looked up once.
            for place in sorted(places, key=lambda place: str(questions[place][pivot])):
                found[place] = self._answer(questions[place], pivot, runs)
        return found

    def _answer(self, question: Question, pivot: str, runs: "_Runs") -> float:
        share = self._shares(pivot, question[pivot])
        rows = runs.rows(np.flatnonzero(share > 0))
        weights = share[runs.codes(self._columns[pivot], rows)]
        for name, wanted in question.items():
            if name != pivot:
                weights = weights * self._shares(name, wanted)[runs.codes(self._columns[name], rows)]
        return float(weights.sum())

    def _shares(self, name: str, wanted: Wanted) -> Floats | Mask:
        """The share of the values of each code that is asked for."""
        size = len(self._columns[name].domain)
        if self._coverage is None:
            shares = np.zeros(size, dtype=np.bool_)
            shares[slice(*wanted) if isinstance(wanted, tuple) else wanted] = True
            return shares
        cover = self._coverage[name]
        if not isinstance(wanted, tuple):
            return cover.total(wanted) / np.maximum(cover.sizes, 1)
        begin, end = wanted
        inside = np.maximum(np.minimum(cover.end, end) - np.maximum(cover.begin, begin), 0)
        if len(cover.texts):
            apart: Mask = (cover.members >= begin) & (cover.members < end)
            inside = inside + np.bincount(cover.texts[apart], minlength=size)
        found: Floats = inside / np.maximum(cover.sizes, 1)
        return found


class _Runs:
    """The rows of each code of a column; what was looked up last is kept."""

    def __init__(self, column: Column) -> None:
        codes, size = column.codes, len(column.domain)
        # Short integers are sorted by counting.
        short = codes.astype(np.uint16) if size <= 2**16 else codes
        self._order = np.argsort(short, kind="stable")
        self._ends = np.cumsum(np.bincount(codes, minlength=size))
        self._wanted: Rows = np.empty(0, dtype=np.int64)
        self._rows: Rows = self._order[:0]
        self._codes: dict[str, Codes] = {}

    def rows(self, wanted: Rows) -> Rows:
        """The rows that have one of some codes."""
        if not np.array_equal(wanted, self._wanted):
            pieces = []
            breaks = np.flatnonzero(np.diff(wanted) > 1)
            for one, other in zip(
                wanted[np.append(0, breaks + 1)].tolist() if len(wanted) else [],
                wanted[np.append(breaks, -1)].tolist() if len(wanted) else [],
                strict=True,
            ):
                pieces.append(self._order[self._ends[one - 1] if one else 0 : self._ends[other]])
            self._rows = pieces[0] if len(pieces) == 1 else np.concatenate([self._order[:0], *pieces])
            self._wanted, self._codes = wanted, {}
        return self._rows

    def codes(self, column: Column, rows: Rows) -> Codes:
        """The codes of the rows that were looked up last."""
        if column.name not in self._codes:
            self._codes[column.name] = column.codes[rows]
        return self._codes[column.name]
