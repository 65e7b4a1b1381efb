"""How well columns, and pairs of them, are still distributed as they were."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from math import fsum
from typing import ClassVar

import numpy as np
from pydantic import Field

from shoal.arrays import Codes, Counts, Floats
from shoal.data.table import Column
from shoal.measures._comparison import ColumnPair, Comparison
from shoal.measures._coverage import Coverage
from shoal.measures._crosstabs import BINS, SMALL, Crosstabs
from shoal.measures.measure import FACT, Score, TableMeasure

NOISE = 1e-12
"""Shares and correlations below this are what rounding leaves of nothing."""

EXACT = 1e-14
"""Differences below this share of the numbers themselves are what rounding makes."""

PARTS = 60
"""Pairs of columns that a score lists, the worst first."""


class Distributions(TableMeasure):
    """The distributions of columns and of pairs, as a reader of the release expects them, beside the true ones.

    A published cell is spread evenly over the values of the original that it stands for; a row that is left out, over
    all values. Quasi-identifiers and sensitive columns count. Beside each other, columns of many values are taken in
    bins: numbers in runs of about equally many rows, names as the most frequent ones and all others.

    marginal_kl, marginal_hellinger
        The Kullback-Leibler divergence Σ p·ln(p / q) of the expected shares q from the true ones p, and the Hellinger
        distance √(1 − Σ √(p·q)), 0 to 1; means over the columns.
    pair_kl, pair_hellinger
        The same of the shares of pairs of values; means over the pairs of columns.
    correlation_before, correlation_after, correlation_error
        How strongly two columns go together, in the published rows: Pearson's correlation of two columns of numbers or
        dates, taken at the middle of what a cell stands for; Cramér's V of all others. The means over the pairs of the
        strength before and after, and of the difference without its sign.

    Of rows in parts single columns are measured, and no pairs.
    """

    name: ClassVar[str] = "distributions"
    not_distributable: ClassVar[str | None] = None
    scores_named: ClassVar[tuple[str, ...]] = (
        "marginal_kl",
        "marginal_hellinger",
        "pair_kl",
        "pair_hellinger",
        "correlation_before",
        "correlation_after",
        "correlation_error",
    )

    bins: int = Field(default=BINS, ge=2, le=200, description="bins of a column beside others")

    def lacking(self, both: Comparison) -> str | None:
        """The scores of pairs, where there are two columns."""
        *names, last = [name for name in self.scores_named if not name.startswith("marginal")]
        said = f"{', '.join(names)} and {last} (pairs of columns are counted from single rows)"
        return said if len(self._names(both)) > 1 else None

    def _names(self, both: Comparison) -> list[str]:
        before, after = self.tables(both)
        return [one.name for one in (*before.quasi, *before.sensitive) if one.name in after.names]

    def compare(self, both: Comparison) -> tuple[Score, ...]:
        """Compare each column and each pair of columns."""
        columns = [both.column(name) for name in self._names(both)]
        if not columns:
            return ()
        absent = both.rows - both.published_rows
        scores = _marginals(columns, absent)
        if len(columns) < 2 or both.distributed:
            return tuple(scores)
        kl: dict[str, float] = {}
        hellinger: dict[str, float] = {}
        strength: dict[str, tuple[float, float]] = {}
        measured = _pearsons(
            both, [column for column in columns if column.original.domain.values is not None]
        )
        crosstabs = Crosstabs([column.axis(self.bins) for column in columns], both.classes)
        for left, right, truth, expected in crosstabs.pairs():
            names = left.original.name, right.original.name
            name = " × ".join(names)
            even = np.outer(left.spread_evenly(), right.spread_evenly())
            kl[name], hellinger[name] = distances(truth, expected + absent * even, even)
            found = measured.get(names) or (cramer(truth, truth), cramer(expected, truth))
            if found[0] is not None:
                strength[name] = (found[0], found[1] or 0.0)
        return (*scores, *_apart("pair", kl, hellinger, "pairs of columns"), *_correlations(strength))


def _marginals(columns: Sequence[ColumnPair], absent: int) -> list[Score]:
    kl: dict[str, float] = {}
    hellinger: dict[str, float] = {}
    for column in columns:
        even = np.full(len(column.counts), 1 / max(len(column.counts), 1))
        expected = column.expected + absent * even
        kl[column.name], hellinger[column.name] = distances(column.counts.astype(np.float64), expected, even)
    return _apart("marginal", kl, hellinger, "single columns")


def _apart(name: str, kl: dict[str, float], hellinger: dict[str, float], of: str) -> list[Score]:
    parts = (_worst(kl), _worst(hellinger)) if name == "pair" else (kl, hellinger)
    return [
        Score(f"{name}_kl", _mean(kl), f"Kullback-Leibler divergence of {of}.", parts=parts[0]),
        Score(f"{name}_hellinger", _mean(hellinger), f"Hellinger distance of {of}, 0 to 1.", parts=parts[1]),
    ]


def _correlations(strength: dict[str, tuple[float, float]]) -> list[Score]:
    if not strength:
        return []
    before = {name: _plain(pair[0]) for name, pair in strength.items()}
    after = {name: _plain(pair[1]) for name, pair in strength.items()}
    error = {name: _plain(pair[0] - pair[1]) for name, pair in strength.items()}
    what = "strength of the correlation of two columns"
    return [
        Score("correlation_before", _mean(before), f"Mean {what} in the original.", FACT, _worst(before)),
        Score("correlation_after", _mean(after), f"Mean {what} in the release.", FACT, _worst(after)),
        Score(
            "correlation_error", _mean(error), f"Mean difference of the {what}, 0 to 2.", parts=_worst(error)
        ),
    ]


def _plain(number: float) -> float:
    """A size without its sign; what is left over from rounding is nothing.

    >>> _plain(-0.25), _plain(8.7e-17)
    (0.25, 0.0)
    """
    return abs(number) if abs(number) > NOISE else 0.0


def _mean(parts: dict[str, float]) -> float:
    return fsum(parts.values()) / len(parts)


def _worst(parts: dict[str, float]) -> dict[str, float]:
    """The largest parts, in the order of the columns."""
    if len(parts) <= PARTS:
        return parts
    kept = set(sorted(parts, key=lambda name: -parts[name])[:PARTS])
    return {name: value for name, value in parts.items() if name in kept}


def distances(truth: Floats, expected: Floats, even: Floats) -> tuple[float, float]:
    """The Kullback-Leibler divergence and the Hellinger distance of expected counts from true ones.

    Where a value is there that the expectation rules out, which no true release does, one row more is spread evenly,
    so that the divergence stays finite.
    """
    if ((truth > 0) & (expected <= 0)).any():
        expected = expected + even
    p, q = (truth / truth.sum()).ravel(), (expected / expected.sum()).ravel()
    filled = p > 0
    divergence = float((p[filled] * np.log(p[filled] / q[filled])).sum())
    overlap = float(np.sqrt(p * q).sum())
    return max(divergence, 0.0) if _plain(divergence) else 0.0, float(
        np.sqrt(_plain(max(1.0 - overlap, 0.0)))
    )


def cramer(table: Floats, shape: Floats) -> float | None:
    """Cramér's V of a table of counts; None where a column has a single value, so that there is nothing to tell.

    `shape`: the table whose rows and columns that are not empty say how many values there are.
    """
    values = min(int((shape.sum(axis=1) > 0).sum()), int((shape.sum(axis=0) > 0).sum()))
    total = float(table.sum())
    if values < 2:
        return None
    if total <= 0:
        return 0.0
    independent = np.outer(table.sum(axis=1), table.sum(axis=0)) / total
    filled = independent > 0
    squares = float(((table[filled] - independent[filled]) ** 2 / independent[filled]).sum())
    return float(np.sqrt(min(squares / total / (values - 1), 1.0)))


def _pearsons(
    both: Comparison, columns: Sequence[ColumnPair]
) -> dict[tuple[str, str], tuple[float | None, float | None]]:
    """Pearson's correlation of each two columns of numbers or dates, before and after.

    A published cell counts as the middle of what it stands for. Where all are quasi-identifiers, a class is one row.
    """
    coordinates = [(column.original.codes, _values(column), column.counts) for column in columns]
    middles = [
        (column.published.codes, middle_of(column.original, column.coverage), column.held)
        for column in columns
    ]
    weights = None
    if all(column.original.role == "quasi" for column in columns):
        middles = [(codes[both.classes.first], middle, held) for codes, middle, held in middles]
        weights = both.classes.sizes
    before, after = pearson(coordinates), pearson(middles, weights)
    names = [column.name for column in columns]
    return {
        (names[one], names[other]): (before[one, other], after[one, other])
        for one, other in combinations(range(len(names)), 2)
    }


def _values(column: ColumnPair) -> Floats:
    values = column.original.domain.values
    assert values is not None
    return values


def pearson(
    columns: Sequence[tuple[Codes, Floats, Counts]], weights: Counts | None = None
) -> dict[tuple[int, int], float | None]:
    """Pearson's correlation of each two columns, of the rows where both are known; None where one does not vary.

    `columns`: the code of each row, the number that a code stands for, NaN where it is not known, and the rows of each
    code. `weights`: how often each row counts; once by default.
    """
    if len(columns) < 2:
        return {}
    sums = Moments.of(columns, weights)
    return {(one, other): sums.correlation(one, other) for one, other in combinations(range(len(columns)), 2)}


@dataclass(frozen=True, slots=True, eq=False)
class Moments:
    """Sums over the rows where both of two columns are known, an entry a pair of columns.

    Numbers are taken from the mean of their column, so that nothing is lost where they are large.
    """

    rows: Floats  # the rows where both are known
    first: Floats
    squares: Floats
    """`first`, `squares`: of the column of the line: the sum, and the sum of the squares."""
    products: Floats  # the sum of the products of both
    noise: Floats  # squares of a column below this come from rounding

    @classmethod
    def of(cls, columns: Sequence[tuple[Codes, Floats, Counts]], weights: Counts | None) -> "Moments":
        """Add up block by block, so that what is looked at stays at hand."""
        known = [np.isfinite(values).astype(np.float64) for _, values, _ in columns]
        plain = [
            np.where(there > 0, values, 0.0) for there, (_, values, _) in zip(known, columns, strict=True)
        ]
        counts = [held * there for there, (_, _, held) in zip(known, columns, strict=True)]
        centered = [
            np.where(there > 0, values - float(values @ held) / max(float(held.sum()), 1.0), 0.0)
            for there, values, held in zip(known, plain, counts, strict=True)
        ]
        largest = np.array([float(np.abs(values).max(initial=0.0)) for values in plain])
        width, step = len(columns), max(SMALL // len(columns) ** 2, 64)
        everywhere = np.ones((width, step)) if all(there.all() for there in known) else None
        rows, first, squares, products = np.zeros((4, width, width))
        for begin in range(0, len(columns[0][0]), step):
            codes = [column[0][begin : begin + step] for column in columns]
            numbers = np.stack([values[here] for values, here in zip(centered, codes, strict=True)])
            if everywhere is None:
                there = np.stack([values[here] for values, here in zip(known, codes, strict=True)])
            else:
                there = everywhere[:, : numbers.shape[1]]
            weighed = numbers if weights is None else numbers * weights[begin : begin + step]
            rows += (there if weights is None else there * weights[begin : begin + step]) @ there.T
            first += weighed @ there.T
            squares += (weighed * numbers) @ there.T
            products += weighed @ numbers.T
        return cls(rows, first, squares, products, rows * (EXACT * largest[:, None]) ** 2)

    def correlation(self, one: int, other: int) -> float | None:
        """Pearson's correlation of two columns; None where one of them does not vary."""
        rows = self.rows[one, other]
        if rows < 2:
            return None
        spread = self.squares - self.first**2 / np.maximum(self.rows, 1)
        if spread[one, other] <= self.noise[one, other] or spread[other, one] <= self.noise[other, one]:
            return None
        joint = self.products[one, other] - self.first[one, other] * self.first[other, one] / rows
        return float(joint / np.sqrt(spread[one, other] * spread[other, one]))


def middle_of(original: Column, coverage: Coverage) -> Floats:
    """The middle between the least and the largest value that each text stands for; NaN for the missing value."""
    domain = original.domain
    assert domain.values is not None
    low = np.full(len(coverage.begin), np.inf)
    high = np.full(len(coverage.begin), -np.inf)
    end = np.minimum(coverage.end, domain.present)
    near = end > coverage.begin
    low[near], high[near] = domain.values[coverage.begin[near]], domain.values[end[near] - 1]
    known = coverage.members < domain.present
    np.minimum.at(low, coverage.texts[known], domain.values[coverage.members[known]])
    np.maximum.at(high, coverage.texts[known], domain.values[coverage.members[known]])
    known = high >= low
    return np.where(known, np.where(known, low, 0) / 2 + np.where(known, high, 0) / 2, np.nan)
