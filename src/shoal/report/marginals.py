"""One column before and after: what it held, and what a reader of the release takes it to hold."""

from dataclasses import dataclass
from itertools import pairwise
from math import ceil, floor, isfinite, log10

import numpy as np

from shoal.arrays import Codes, Floats
from shoal.data.domain import Domain, Kind
from shoal.report.wording import MISSING, compact, count, shown

BARS = 12
"""Most bars of a chart, besides one for the missing value and one for all others."""

PLACES = 12
"""Decimals that are kept: what lies beyond them is rounding error of sums."""


@dataclass(frozen=True, slots=True)
class Pair:
    """One bar before and after, as shares of all rows."""

    label: str
    full: str
    before: float
    after: float


@dataclass(frozen=True, slots=True)
class Marginal:
    """The distribution of one column before and after."""

    column: str  # its name
    pairs: tuple[Pair, ...]  # the bars
    upright: bool
    """Whether the bars are bins of an axis, whose order matters, or names, the most frequent first."""
    binned: bool  # whether labels name the lower edge of a bin; otherwise they name the bar
    shift: float
    """The share of rows that a reader puts into a bar other than their own: half the sum of the differences."""


@dataclass(frozen=True, slots=True, eq=False)
class _Bins:
    """The bar of each value of a domain, and the short and long label of each bar."""

    places: Codes
    labels: list[str]
    full: list[str]
    upright: bool
    binned: bool = False


def marginal_of(column: str, domain: Domain, before: Floats, after: Floats) -> Marginal:
    """Compare the rows of each value of a domain before and after, gathered into a few bars."""
    bins = _bins(domain, before)
    sums = [np.bincount(bins.places, weights=rows, minlength=len(bins.labels)) for rows in (before, after)]
    shares = [np.round(rows / (rows.sum() or 1.0), PLACES) for rows in sums]
    pairs = tuple(
        Pair(label, full, float(one), float(other))
        for label, full, one, other in zip(bins.labels, bins.full, *shares, strict=True)
    )
    shift = round(float(np.abs(shares[0] - shares[1]).sum() / 2), PLACES)
    return Marginal(column, pairs, bins.upright, bins.binned, shift)


def _bins(domain: Domain, rows: Floats) -> _Bins:
    few = domain.present <= BARS
    if domain.kind is Kind.NOMINAL:
        return _most_frequent(domain, rows)
    if domain.values is not None:
        return _each(domain, upright=True) if few else _with_missing(domain, _intervals(domain))
    return _each(domain, upright=False) if few else _with_missing(domain, _runs(domain))


def _each(domain: Domain, upright: bool) -> _Bins:
    labels = [shown(label) for label in domain.labels]
    return _Bins(np.arange(len(domain), dtype=np.int32), labels, labels, upright)


def _most_frequent(domain: Domain, rows: Floats) -> _Bins:
    """A bar for each of the most frequent values, and one for all others where there are more."""
    top = np.argsort(-rows, kind="stable")[: BARS + (len(domain) == BARS + 1)]
    places = np.full(len(domain), len(top), dtype=np.int32)
    places[top] = np.arange(len(top), dtype=np.int32)
    labels = [shown(domain.labels[code]) for code in top.tolist()]
    if len(domain) > len(top):
        labels.append(f"{count(len(domain) - len(top))} others")
    return _Bins(places, labels, labels, upright=False)


def _with_missing(domain: Domain, bins: _Bins) -> _Bins:
    """The same bins of the values that are present, and one for the missing value if there is one."""
    if domain.missing is None:
        return bins
    places = np.append(bins.places, len(bins.labels)).astype(np.int32)
    return _Bins(places, [*bins.labels, MISSING], [*bins.full, MISSING], bins.upright, bins.binned)


def _runs(domain: Domain) -> _Bins:
    """Bins of about equally many values in their order."""
    places = (np.arange(domain.present) * BARS // domain.present).astype(np.int32)
    first = np.searchsorted(places, np.arange(BARS))
    last = np.append(first[1:], domain.present) - 1
    ends = zip(first.tolist(), last.tolist(), strict=True)
    labels = [f"{shown(domain.labels[low], 20)} … {shown(domain.labels[high], 20)}" for low, high in ends]
    return _Bins(places, labels, labels, upright=False)


def _intervals(domain: Domain) -> _Bins:
    """Bins of equal width that begin at round numbers, or at the beginning of a day, month or year."""
    assert domain.values is not None
    low, high = domain.bounds
    if not isfinite(high - low) or high <= low:
        return _runs(domain)
    if domain.kind is Kind.DATE:
        return _date_intervals(domain)
    present = domain.values[: domain.present]
    step = round_step((high - low) / BARS)
    if bool((present == np.floor(present)).all()):
        step = max(step, 1.0)
    start = floor(low / step)
    bins = floor(high / step) - start + 1
    places = np.clip(np.floor(present / step).astype(np.int64) - start, 0, bins - 1).astype(np.int32)
    edges = [(start + place) * step for place in range(bins + 1)]
    labels = [compact(edge) for edge in edges[:-1]]
    full = [f"{compact(one)} to under {compact(next_one)}" for one, next_one in pairwise(edges)]
    return _Bins(places, labels, full, upright=True, binned=True)


def round_step(least: float) -> float:
    """The smallest of 1, 2, 5, 10, 20, … (or their fractions) that is at least `least`.

    >>> round_step(6.1), round_step(0.3), round_step(100.0)
    (10.0, 0.5, 100.0)
    """
    place = floor(log10(least))
    steps = (float(f"{factor}e{place}") for factor in (1, 2, 5, 10))
    return next(step for step in steps if step >= least * (1 - 1e-9))


def _date_intervals(domain: Domain) -> _Bins:
    assert domain.values is not None
    days = np.floor(domain.values[: domain.present]).astype("datetime64[D]")
    months = days.astype("datetime64[M]").astype(np.int64)
    month_steps = (1, 2, 3, 6, 12, 24, 60, 120, 240, 600, 1200)
    span = int(months[-1] - months[0]) + 1
    if span <= 2:
        numbers = days.astype(np.int64)
        step = max(ceil((int(numbers[-1] - numbers[0]) + 1) / BARS), 1)
        start, unit = int(numbers[0]), "D"
    else:
        numbers = months
        step = next((size for size in month_steps if span <= size * BARS), 12 * ceil(span / BARS / 12))
        start, unit = int(months[0]) // step * step, "M"
    places = ((numbers - start) // step).astype(np.int32)
    edges = start + step * np.arange(int(places[-1]) + 2)
    shown_unit = "Y" if unit == "M" and step % 12 == 0 else unit
    texts = edges.astype(f"datetime64[{unit}]").astype(f"datetime64[{shown_unit}]").astype(str).tolist()
    full = [f"{one} to before {next_one}" for one, next_one in pairwise(texts)]
    return _Bins(places, texts[:-1], full, upright=True, binned=True)
