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
from collections.abc import Sequence
from fractions import Fraction
from math import ceil, fsum
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from pydantic import Field

from shoal.arrays import Mask, Rows, flagged
from shoal.data.domain import Kind
from shoal.data.linked import Linked
from shoal.data.table import Column, Table, canonical_order
from shoal.errors import BadData
from shoal.measures._comparison import Comparison, refuse_unlike
from shoal.measures._interval_syntax import NodeTexts, day, number
from shoal.measures._question_counts import (
    LEAD,
    LinkedCounter,
    PerturbedCounter,
    Question,
    Wanted,
    expected_answers,
    true_answers,
)
from shoal.measures.measure import Score, TableMeasure


class Queries(TableMeasure):
    """The relative error of counts: how many rows have these values? Asked of the original and of the release.

    A reader of the release counts each published row with the share of its cells' values that are asked for, as if
    values were spread evenly. A row that is left out is not counted. Of linked tables a row counts with the share of
    its group's secrets that are asked for, and of perturbed columns with what it speaks for by the published matrix.

    are, are_median
        Average relative error (SECRETA; Xiao and Tao 2006): the mean over the questions of |estimate − truth| / truth,
        and the median. A truth below the least share of the rows counts as so much: otherwise a few questions about
        hardly anybody would decide.
    """

    name: ClassVar[str] = "queries"
    accepts: ClassVar[tuple[type, ...]] = (Table, Linked)
    not_distributable: ClassVar[str | None] = "questions are answered from single rows"
    scores_named: ClassVar[tuple[str, ...]] = ("are", "are_median")

    questions: int = Field(default=200, ge=1, description="questions that are drawn")
    columns: int = Field(default=2, ge=1, description="quasi-identifiers of a drawn question")
    width: float = Field(default=0.2, gt=0, le=1, description="share of the values that a drawn range covers")
    selectivity: float | None = Field(
        default=None,
        gt=0,
        le=1,
        description="ask for sets of random values instead of ranges, which cover so large a share of all combinations",
    )
    least: float = Field(
        default=0.001, ge=0, le=1, description="share of the rows that a truth counts as at least"
    )
    seed: int = Field(default=0, ge=0, description="draws the same questions again")
    workload: str | None = Field(
        default=None, description="a file of questions instead of drawn ones, one JSON object a line"
    )

    def compare(self, both: Comparison) -> tuple[Score, ...]:
        """Ask both sides the same questions."""
        linked = both.release.data if isinstance(both.release.data, Linked) else None
        before, after = self.tables(both) if linked is None else (_original(both), linked.public)
        if not before.quasi:
            return ()
        asked = self.asked(before, after.names if linked is None else (*after.names, *linked.secrets.names))
        names = list(dict.fromkeys(name for one in asked for name in one))
        truth = true_answers({name: before.column(name) for name in names}, asked)
        if linked is not None:
            answered = list(map(LinkedCounter(before, linked, names).answer, asked))
        elif any(name in both.release.details.get("perturbed", ()) for name in names):
            answered = list(map(PerturbedCounter(both, names).answer, asked))
        else:
            answered = expected_answers(both, names, asked)
        bound = max(ceil(Fraction(str(self.least)) * before.rows), 1)
        errors = [abs(one - count) / max(count, bound) for one, count in zip(answered, truth, strict=True)]
        source = "of the workload" if self.workload else "drawn by chance"
        meaning = f"relative error of the answers to {len(asked)} counting questions {source}."
        return (
            Score("are", fsum(errors) / len(errors), f"Mean {meaning}"),
            Score("are_median", float(np.median(errors)), f"Median {meaning}"),
        )

    def asked(self, original: Table, published: Sequence[str]) -> list[Question]:
        """The questions; drawn ones are about columns that are published."""
        if self.workload is not None:
            shown = tuple(one for one in original.columns if one.name in published)
            return read(self.workload, Table(shown))
        generator = np.random.default_rng(self.seed)
        if self.selectivity is not None:
            return draw_sets(original, self.questions, self.columns, self.selectivity, generator)
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
            wanted = flagged(
                generator.permutation(size)[: min(ceil(size * share ** (1 / len(asked))), size)], size
            )
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
    chosen = flagged(leads, width)
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
                said = f"{json.dumps(asked, ensure_ascii=False)} is not a value, node or range of the column."
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


def _original(both: Comparison) -> Table:
    """The original of linked tables, which have all its rows.

    Raises `BadData` if they cannot have been made from it.
    """
    original, data = both.original, both.release.data
    assert isinstance(original, Table)
    assert isinstance(data, Linked)
    refuse_unlike(original, data.public, original.rows, data.rows, both.release.suppressed)
    return original
