"""How well columns, and pairs of them, are still distributed as they were."""

from math import fsum
from typing import ClassVar

import numpy as np
from pydantic import Field

from shoal.arrays import Floats
from shoal.data.baskets import Baskets
from shoal.data.release import Release
from shoal.data.table import Column, Table
from shoal.measures._coverage import Coverage
from shoal.measures._crosstabs import BINS, Axis, Crosstabs, axis_of
from shoal.measures._row_keys import mixed_codes
from shoal.measures.measure import FACT, Score, TableMeasure

NOISE = 1e-12
"""Shares and correlations below this are what rounding leaves of nothing."""

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
    """

    name: ClassVar[str] = "distributions"
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

    def scores(self, original: Table | Baskets, release: Release) -> tuple[Score, ...]:
        """Compare each column and each pair of columns."""
        before, after = self.tables(original, release)
        columns = [one for one in (*before.quasi, *before.sensitive) if one.name in after.names]
        if not columns:
            return ()
        axes = [axis_of(column, after.column(column.name), self.bins) for column in columns]
        absent = before.rows - after.rows
        scores = _marginals(axes, absent)
        if len(axes) < 2:
            return tuple(scores)
        kl: dict[str, float] = {}
        hellinger: dict[str, float] = {}
        strength: dict[str, tuple[float, float]] = {}
        classes = np.unique(mixed_codes(after.quasi), return_inverse=True)[1]
        middles = {axis.original.name: _middles(axis) for axis in axes if axis.measured}
        for left, right, truth, expected in Crosstabs(axes, classes).pairs():
            name = f"{left.original.name} × {right.original.name}"
            even = np.outer(left.spread_evenly(), right.spread_evenly())
            kl[name], hellinger[name] = distances(truth, expected + absent * even, even)
            if left.measured and right.measured:
                found = tuple(
                    pearson(
                        *(side[place] for side in (middles[left.original.name], middles[right.original.name]))
                    )
                    for place in (0, 1)
                )
            else:
                found = cramer(truth, truth), cramer(expected, truth)
            if found[0] is not None:
                strength[name] = (found[0], found[1] or 0.0)
        scores += [
            Score("pair_kl", _mean(kl), "Kullback-Leibler divergence of pairs of columns.", parts=_worst(kl)),
            Score(
                "pair_hellinger",
                _mean(hellinger),
                "Hellinger distance of pairs of columns, 0 to 1.",
                parts=_worst(hellinger),
            ),
            *_correlations(strength),
        ]
        return tuple(scores)


def _marginals(axes: list[Axis], absent: int) -> list[Score]:
    kl: dict[str, float] = {}
    hellinger: dict[str, float] = {}
    for axis in axes:
        size = len(axis.original.domain)
        truth = np.bincount(axis.original.codes, minlength=size).astype(np.float64)
        even = np.full(size, 1 / max(size, 1))
        held = np.bincount(axis.published.codes, minlength=len(axis.published.domain))
        expected = axis.coverage.spread(held) + absent * even
        kl[axis.original.name], hellinger[axis.original.name] = distances(truth, expected, even)
    return [
        Score("marginal_kl", _mean(kl), "Kullback-Leibler divergence of single columns.", parts=kl),
        Score(
            "marginal_hellinger",
            _mean(hellinger),
            "Hellinger distance of single columns, 0 to 1.",
            parts=hellinger,
        ),
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

    Parameters
    ----------
    shape
        The table whose rows and columns that are not empty say how many values there are.
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


def pearson(one: Floats, other: Floats) -> float | None:
    """Pearson's correlation of the rows where both are known; None where one of them does not vary."""
    known = np.isfinite(one) & np.isfinite(other)
    if not known.all():
        one, other = one[known], other[known]
    if len(one) < 2:
        return None
    one, other = one - one.mean(), other - other.mean()
    product = float(np.sqrt((one @ one) * (other @ other)))
    return float(one @ other) / product if product > 0 else None


def _middles(axis: Axis) -> tuple[Floats, Floats]:
    """The coordinate of each original row, and the middle of what each published cell stands for."""
    values = axis.original.domain.values
    assert values is not None
    middle = middle_of(axis.original, axis.coverage)
    return values[axis.original.codes], middle[axis.published.codes]


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
