"""How well a release answers how many rows have some values."""

from collections.abc import Mapping, Sequence
from fractions import Fraction
from math import ceil, fsum
from typing import ClassVar

import numpy as np
from pydantic import Field

from shoal.arrays import Codes, Floats, Mask, Rows
from shoal.data.table import Column, Table
from shoal.measures._comparison import Comparison
from shoal.measures._coverage import Coverage
from shoal.measures._workload import Question, Wanted, draw, read
from shoal.measures.measure import Score, TableMeasure


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
        told = Counter(published, {one.name: one.coverage for one in columns}).answers(asked)
        bound = max(ceil(Fraction(str(self.least)) * before.rows), 1)
        errors = [abs(one - count) / max(count, bound) for one, count in zip(told, truth, strict=True)]
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
