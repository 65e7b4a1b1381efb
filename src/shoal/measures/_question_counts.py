"""Counts the rows that questions ask for: in the original, and as a reader of the release expects them."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import prod
from typing import TypeAlias

import numpy as np

from shoal.arrays import Codes, Counts, Floats, Mask, Rows, flagged
from shoal.data._equal_rows import RowClasses
from shoal.data._perturbed import matrix_of, weights_of
from shoal.data.linked import Linked
from shoal.data.table import Column, Table
from shoal.measures._comparison import Comparison
from shoal.measures._coverage import Coverage

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
