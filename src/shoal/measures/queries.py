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
from dataclasses import replace
from fractions import Fraction
from math import ceil, fsum, prod
from pathlib import Path
from typing import Any, ClassVar, TypeAlias

import numpy as np
from pydantic import Field

from shoal.arrays import Codes, Counts, Floats, Mask, Rows, flagged
from shoal.data._equal_rows import RowClasses
from shoal.data._perturbed import matrix_of, weights_of
from shoal.data.domain import Kind
from shoal.data.linked import Linked
from shoal.data.table import Column, Table, canonical_order
from shoal.errors import BadData
from shoal.measures._comparison import Comparison, refuse_unlike
from shoal.measures._coverage import Coverage
from shoal.measures._interval_syntax import NodeTexts, day, number
from shoal.measures.measure import Score, TableMeasure

Wanted: TypeAlias = tuple[int, int] | Mask
"""The codes that are asked for: from one to before another, or one entry a code."""

FEW = 2**12
"""Codes of a column up to which what was found for a question is kept for others that ask the same of it."""

LEAD = 2**20
"""Combinations of the first columns that are counted, at most, to find the rows at some places."""

BLOCK = 2**18
"""Rows whose combinations of values are counted together."""

ROOM = 4
"""Counts of a class and a value, at most, for each row."""

Side: TypeAlias = tuple[Codes, int]
"""The codes of a column, and how many there are."""

Question: TypeAlias = Mapping[str, Wanted]
"""Column to what is asked of it."""


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


def true_answers(columns: Mapping[str, Column], questions: Sequence[Question]) -> list[float]:
    """The number of rows of the original for each question; those about the same columns are counted together.

    Where these have many values, those that no question tells apart count as one.
    """
    alike: dict[tuple[str, ...], list[int]] = {}
    for place, question in enumerate(questions):
        alike.setdefault(tuple(question), []).append(place)
    found: dict[int, float] = {}
    for names, places in alike.items():
        if len(places) > 1:
            sides = [(columns[name].codes, len(columns[name].domain)) for name in names]
            asked = [[questions[place][name] for name in names] for place in places]
            if prod(size for _, size in sides) > LEAD:
                sides, asked = _told_apart(sides, asked)
            if prod(size for _, size in sides) <= LEAD:
                counts = crosstab(sides)
                found |= zip(places, (asked_of(counts, one) for one in asked), strict=True)
    rest = [place for place in range(len(questions)) if place not in found]
    if rest:
        found |= zip(rest, Counter(columns).answers([questions[place] for place in rest]), strict=True)
    return [found[place] for place in range(len(questions))]


def _told_apart(
    sides: Sequence[Side], asked: Sequence[Sequence[Wanted]]
) -> tuple[list[Side], list[list[Wanted]]]:
    """Columns with one code for neighbors that all questions ask for together or not at all, and what is asked then."""
    coarse: list[Side] = []
    wanted: list[list[Wanted]] = []
    for (codes, size), ones in zip(sides, zip(*asked, strict=True), strict=True):
        edges = np.zeros(size + 1, dtype=np.bool_)
        for one in ones:
            edges[list(one) if isinstance(one, tuple) else 1 + np.flatnonzero(one[1:] != one[:-1])] = True
        edges[0], edges[size] = False, True
        number = np.cumsum(edges, dtype=np.int32)
        first = np.append(0, np.flatnonzero(edges)[:-1])
        coarse.append((number[codes], int(number[-1])))
        wanted.append(
            [
                (int(number[one[0]]), int(number[one[1]])) if isinstance(one, tuple) else one[first]
                for one in ones
            ]
        )
    return coarse, list(map(list, zip(*wanted, strict=True)))


def crosstab(sides: Sequence[Side]) -> Counts:
    """How many rows have each combination of values, an axis a column; in blocks, so that keys stay few."""
    shape = [size for _, size in sides]
    counts = np.zeros(prod(shape), dtype=np.int64)
    for begin in range(0, len(sides[0][0]), BLOCK):
        key = sides[0][0][begin : begin + BLOCK].copy()
        for codes, size in sides[1:]:
            key *= size
            key += codes[begin : begin + BLOCK]
        counts += np.bincount(key, minlength=len(counts))
    return counts.reshape(shape)


def asked_of(counts: Counts, asked: Sequence[Wanted]) -> float:
    """The rows in the part of a crosstab that is asked for."""
    for axis, wanted in enumerate(asked):
        part = slice(*wanted) if isinstance(wanted, tuple) else wanted
        counts = counts[(slice(None),) * axis + (part,)]
    return float(counts.sum())


def expected_answers(both: Comparison, names: Sequence[str], questions: Sequence[Question]) -> list[float]:
    """How many rows a reader expects for each question.

    The rows of a class are alike in all quasi-identifiers: it is looked at once, with how often it has each value of
    another column that a question is about.

    `names`: the columns that are asked for.
    """
    pairs = [both.column(name) for name in names]
    published, coverage = (
        {one.name: one.published for one in pairs},
        {one.name: one.coverage for one in pairs},
    )
    classes, known = both.classes, {column.name for column in both.tables[1].quasi}
    alike = {
        name: replace(column, codes=column.codes[classes.first])
        for name, column in published.items()
        if name in known
    }
    by_others: dict[tuple[str, ...], list[int]] = {}
    for place, question in enumerate(questions):
        by_others.setdefault(tuple(name for name in question if name not in known), []).append(place)
    found: dict[int, float] = {}
    for others, places in by_others.items():
        asked = [questions[place] for place in places]
        size = prod(len(published[name].domain) for name in others)
        if (
            len(others) > 1
            or min(map(len, asked)) == len(others)
            or len(classes) * size > ROOM * both.published_rows
        ):
            counter = Counter(published, coverage)
        else:
            counter = Counter(alike, coverage, class_counts(classes, [published[name] for name in others]))
        found |= zip(places, counter.answers(asked), strict=True)
    return [found[place] for place in range(len(questions))]


def class_counts(classes: RowClasses, columns: Sequence[Column]) -> Counts:
    """How many rows each class has, or of each value of a column, if one is given: a line a value."""
    if not columns:
        return classes.sizes[None]
    mixed = columns[0].codes.astype(np.int64)
    mixed *= len(classes)
    mixed += classes.number
    size = len(columns[0].domain)
    return np.bincount(mixed, minlength=len(classes) * size).reshape(size, -1)


class Counter:
    """Counts the rows that questions ask for.

    A question is answered from the rows that have what it asks of one of its columns, the one with fewest such rows:
    its pivot. Questions of one pivot are answered together, with the rows in the order of that column.

    `columns`: the columns that are asked for, of the original or of a published table. `coverage`: of published
    columns: what their texts stand for. `counts`: where a row stands for several: how many, a line for each value of
    the one column that questions are about beside the others, or one line where there is none.
    """

    def __init__(
        self,
        columns: Mapping[str, Column],
        coverage: Mapping[str, Coverage] | None = None,
        counts: Counts | None = None,
    ) -> None:
        self._columns = columns
        self._coverage = coverage
        self._counts = counts
        self._sizes = {name: np.maximum(one.sizes, 1) for name, one in (coverage or {}).items()}
        self._held = {
            name: np.bincount(column.codes, minlength=len(column.domain)) for name, column in columns.items()
        }
        self._kept: dict[tuple[str, int, int], tuple[Floats | Mask, int]] = {}

    def answers(self, questions: Sequence[Question]) -> list[float]:
        """The number of rows for each question, or how many a reader expects."""
        found = [0.0] * len(questions)
        by_pivot: dict[str, list[int]] = {}
        for place, question in enumerate(questions):
            rows = {name: self._asked(name, question[name])[1] for name in question if name in self._columns}
            by_pivot.setdefault(min(rows, key=rows.__getitem__), []).append(place)
        for pivot, places in by_pivot.items():
            runs = _Runs(self._columns[pivot])
            # Questions about the same values one after the other: their rows are looked up once.
            for place in sorted(places, key=lambda place: str(questions[place][pivot])):
                found[place] = self._answer(questions[place], pivot, runs)
        return found

    def _answer(self, question: Question, pivot: str, runs: "_Runs") -> float:
        share = self._asked(pivot, question[pivot])[0]
        rows = runs.rows(np.flatnonzero(share > 0))
        weights: Floats | Counts | Mask = share[runs.codes(self._columns[pivot], rows)]
        for name, wanted in question.items():
            if name in self._columns and name != pivot:
                weights = weights * self._asked(name, wanted)[0][runs.codes(self._columns[name], rows)]
        if self._counts is not None:
            weights = weights * self._stood_for(question, self._counts, rows)
        return float(weights.sum())

    def _stood_for(self, question: Question, counts: Counts, rows: Rows) -> Floats | Counts:
        """How many rows some rows stand for, as far as these have what is asked of the column that is counted."""
        for name, wanted in question.items():
            if name not in self._columns:
                shares, found = self.shares(name, wanted), np.zeros(len(rows))
                for code in np.flatnonzero(shares).tolist():
                    found += shares[code] * counts[code][rows]
                return found
        whole: Counts = counts[0][rows]
        return whole

    def _asked(self, name: str, wanted: Wanted) -> tuple[Floats | Mask, int]:
        """The share of each code that is asked for, and the rows that have some of it; those of few codes are kept."""
        key = (name, *wanted) if isinstance(wanted, tuple) else None
        if key is not None and key in self._kept:
            return self._kept[key]
        shares = self.shares(name, wanted)
        found = shares, int(self._held[name][shares > 0].sum())
        if key is not None and len(shares) <= FEW:
            self._kept[key] = found
        return found

    def shares(self, name: str, wanted: Wanted) -> Floats | Mask:
        """The share of the values of each code that is asked for."""
        if self._coverage is None:
            size = len(self._columns[name].domain)
            return flagged(slice(*wanted) if isinstance(wanted, tuple) else wanted, size)
        cover = self._coverage[name]
        if not isinstance(wanted, tuple):
            return cover.total(wanted) / self._sizes[name]
        begin, end = wanted
        inside = np.maximum(np.minimum(cover.end, end) - np.maximum(cover.begin, begin), 0)
        if len(cover.texts):
            apart: Mask = (cover.members >= begin) & (cover.members < end)
            inside = inside + np.bincount(cover.texts[apart], minlength=len(cover.begin))
        found: Floats = inside / self._sizes[name]
        return found


class LinkedCounter:
    """Counts, in linked tables, the rows that a reader expects for questions.

    `original`: whose codes questions are asked in. `names`: the columns that are asked for.
    """

    def __init__(self, original: Table, data: Linked, names: Sequence[str]) -> None:
        self._secret = {column.name for column in data.secrets.sensitive}
        self._groups, self._holders, self._sizes = data.groups, data.secret_groups, data.sizes
        self._codes = {}
        for name in names:
            table = data.secrets if name in self._secret else data.public
            known = {label: code for code, label in enumerate(original.column(name).domain.labels)}
            column = table.column(name)
            codes = np.array([known.get(label, -1) for label in column.domain.labels], dtype=np.int64)
            self._codes[name] = codes[column.codes]

    def answer(self, question: Question) -> float:
        """How many rows a reader expects for a question."""
        rows = np.ones(len(self._groups), dtype=np.bool_)
        held = np.ones(len(self._holders), dtype=np.bool_)
        for name, wanted in question.items():
            codes = self._codes[name]
            if isinstance(wanted, tuple):
                inside: Mask = (codes >= wanted[0]) & (codes < wanted[1])
            else:
                inside = (codes >= 0) & wanted[np.maximum(codes, 0)]
            if name in self._secret:
                held &= inside
            else:
                rows &= inside
        count = len(self._sizes)
        found = np.bincount(self._groups[rows], minlength=count)
        shares = np.bincount(self._holders[held], minlength=count) / np.maximum(self._sizes, 1)
        return float(found @ shares)


class PerturbedCounter:
    """Counts, in a table with perturbed columns, the rows that a reader expects for questions.

    `names`: the columns that are asked for.
    """

    def __init__(self, both: Comparison, names: Sequence[str]) -> None:
        self._pairs = {name: both.column(name) for name in names}
        self._plain = Counter(
            {name: one.published for name, one in self._pairs.items()},
            {name: one.coverage for name, one in self._pairs.items()},
        )
        found = {name: matrix_of(both.release.promises, name) for name in names}
        self._matrices = {name: one for name, one in found.items() if one is not None}

    def answer(self, question: Question) -> float:
        """How many rows a reader expects for a question."""
        weights: Floats = np.ones(1)
        for name, wanted in question.items():
            pair = self._pairs[name]
            if name in self._matrices:
                asked = flagged(
                    slice(*wanted) if isinstance(wanted, tuple) else wanted, len(pair.original.domain)
                )
                known = dict(zip(pair.original.domain.labels, asked.tolist(), strict=True))
                lines = [known.get(value, False) for value in self._matrices[name]]
                shares = weights_of(pair.published, self._matrices[name])[lines].sum(axis=0)
            else:
                shares = self._plain.shares(name, wanted).astype(np.float64)
            weights = weights * shares[pair.published.codes]
        return float(weights.sum())


def _original(both: Comparison) -> Table:
    """The original of linked tables, which have all its rows.

    Raises `BadData` if they cannot have been made from it.
    """
    original, data = both.original, both.release.data
    assert isinstance(original, Table)
    assert isinstance(data, Linked)
    refuse_unlike(original, data.public, original.rows, data.rows, both.release.suppressed)
    return original


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
