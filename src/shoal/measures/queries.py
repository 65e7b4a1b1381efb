"""How well a release answers how many rows have some values."""

from collections.abc import Sequence
from fractions import Fraction
from math import ceil, fsum
from typing import ClassVar

import numpy as np
from pydantic import Field

from shoal.arrays import Floats, Mask
from shoal.data.baskets import Baskets
from shoal.data.release import Release
from shoal.data.table import Table
from shoal.measures._coverage import Coverage, read_coverage
from shoal.measures._row_keys import mixed_codes
from shoal.measures._workload import Question, Wanted, draw, read
from shoal.measures.measure import Score, TableMeasure

RUNS = 50
"""Runs of values of a pivot that are looked at one by one; if there are more, all rows are looked at."""


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

    def scores(self, original: Table | Baskets, release: Release) -> tuple[Score, ...]:
        """Ask both sides the same questions."""
        before, after = self.tables(original, release)
        if not before.quasi:
            return ()
        asked = self.asked(before, after)
        bound = max(ceil(Fraction(str(self.least)) * before.rows), 1)
        errors: list[float] = []
        for names, questions in _by_pivot(asked, before).items():
            truth, reader = Counter(before, names), Counter(after, names, before)
            for question in questions:
                count = truth.count(question)
                errors.append(abs(reader.count(question) - count) / max(count, bound))
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


def _by_pivot(asked: Sequence[Question], table: Table) -> dict[tuple[str, ...], list[Question]]:
    """Questions by their sensitive column, or about none, and all columns that they are about, that one first."""
    secret = {column.name for column in table.sensitive}
    groups: dict[str | None, list[Question]] = {}
    for question in asked:
        groups.setdefault(next((name for name in question if name in secret), None), []).append(question)
    found = {}
    for pivot, questions in groups.items():
        names = dict.fromkeys(name for question in questions for name in question)
        found[tuple(sorted(names, key=lambda name: name != pivot))] = questions
    return found


class Counter:
    """Counts the rows of a table that questions ask for.

    Rows that agree on all columns that are asked for are counted together, in the order of one of the columns, the
    pivot: a question about one of its values looks at the rows of that value alone.

    Parameters
    ----------
    table
        The original, or a published table.
    names
        The columns that are asked for, the pivot first.
    original
        Of a published table: what questions are about.
    """

    def __init__(self, table: Table, names: Sequence[str], original: Table | None = None) -> None:
        self._pivot = names[0]
        self._columns = {name: table.column(name) for name in names}
        self._coverage: dict[str, Coverage] = {}
        if original is not None:
            self._coverage = {
                name: read_coverage(original.column(name), table.column(name)) for name in names
            }
        mixed = mixed_codes(list(self._columns.values()))
        order = np.argsort(mixed, kind="stable")
        mixed = mixed[order]
        starts = np.flatnonzero(np.concatenate((mixed[:1] == mixed[:1], mixed[1:] != mixed[:-1])))
        self._rows = np.diff(np.append(starts, len(mixed))).astype(np.float64)
        self._codes = {name: column.codes[order[starts]] for name, column in self._columns.items()}
        size = len(self._columns[self._pivot].domain)
        self._begins = np.searchsorted(self._codes[self._pivot], np.arange(size + 1))

    def count(self, question: Question) -> float:
        """The number of rows, or how many a reader expects."""
        shares = {name: self._shares(name, wanted) for name, wanted in question.items()}
        if self._pivot not in shares:
            return self._sum(shares, slice(None))
        edges = np.flatnonzero(np.diff(shares[self._pivot] > 0, prepend=False, append=False))
        if len(edges) > 2 * RUNS:
            return self._sum(shares, slice(None))
        runs = self._begins[edges].reshape(-1, 2).tolist()
        return fsum(self._sum(shares, slice(begin, end)) for begin, end in runs)

    def _sum(self, shares: dict[str, Floats], part: slice) -> float:
        weights = self._rows[part]
        for name, share in shares.items():
            weights = weights * share[self._codes[name][part]]
        return float(weights.sum())

    def _shares(self, name: str, wanted: Wanted) -> Floats:
        """The share of the values of each code that is asked for."""
        size = len(self._columns[name].domain)
        cover = self._coverage.get(name)
        if cover is None:
            shares = np.zeros(size)
            shares[slice(*wanted) if isinstance(wanted, tuple) else wanted] = 1
            return shares
        if not isinstance(wanted, tuple):
            return cover.total(wanted) / np.maximum(cover.sizes, 1)
        begin, end = wanted
        inside = np.maximum(np.minimum(cover.end, end) - np.maximum(cover.begin, begin), 0)
        if len(cover.texts):
            apart: Mask = (cover.members >= begin) & (cover.members < end)
            inside = inside + np.bincount(cover.texts[apart], minlength=size)
        found: Floats = inside / np.maximum(cover.sizes, 1)
        return found
