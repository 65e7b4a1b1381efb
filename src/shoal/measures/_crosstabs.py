"""Two tables side by side in a few bins a column: how often values go together, before and after.

A reader of a release can only spread a cell evenly over the values that it stands for. A row of two cells is then
spread over all pairs of their values. Rows that are published alike are spread together, as a product of matrices.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from shoal.arrays import Codes, Floats, Rows
from shoal.data.domain import Domain, Kind
from shoal.data.table import Column
from shoal.measures._coverage import Coverage, read_coverage

BINS = 20
"""Bins of a column beside others; the missing value has one more of its own."""

AT_ONCE = 200_000
"""Classes that are spread together."""

SMALL = 2**18
"""Multiplications that are done by one thread."""


@dataclass(frozen=True, slots=True, eq=False)
class Axis:
    """A column in bins.

    Parameters
    ----------
    original, published
        The column before and after.
    coverage
        What the published texts stand for.
    bins
        The bin of each value of the original domain.
    shares
        For each published text (rows) the share of its values in each bin (columns); zeros for a text that no row has.
    """

    original: Column
    published: Column
    coverage: Coverage
    bins: Codes
    shares: Floats

    @property
    def size(self) -> int:
        """The number of bins."""
        return int(self.shares.shape[1])

    @property
    def measured(self) -> bool:
        """Whether differences of values mean something."""
        return self.original.domain.values is not None

    def spread_evenly(self) -> Floats:
        """The share of the values in each bin: what a cell that tells nothing stands for."""
        return np.bincount(self.bins, minlength=self.size) / max(len(self.bins), 1)


def axis_of(original: Column, published: Column, bins: int = BINS) -> Axis:
    """Read a published column and put its values into bins.

    Raises
    ------
    BadData
        If a text makes no sense in the column.
    """
    coverage = read_coverage(original, published)
    places = bins_of(original, bins)
    sizes = np.maximum(coverage.sizes, 1)
    shares = np.stack(
        [coverage.total(places == place) / sizes for place in range(int(places.max(initial=0)) + 1)], axis=1
    )
    return Axis(original, published, coverage, places, shares)


def bins_of(column: Column, bins: int = BINS) -> Codes:
    """The bin of each value: each its own where they are few.

    Names: the most frequent values have bins of their own, all others share one. Numbers, dates and ordered names: runs
    of neighbors with about equally many rows. The missing value always has its own.
    """
    domain: Domain = column.domain
    present = domain.present
    if present <= bins:
        return np.arange(len(domain), dtype=np.int32)
    rows = np.bincount(column.codes, minlength=len(domain))[:present]
    if domain.kind is Kind.NOMINAL:
        places = np.full(present, bins - 1, dtype=np.int32)
        frequent = np.argsort(-rows, kind="stable")[: bins - 1]
        places[frequent] = np.arange(bins - 1, dtype=np.int32)
    else:
        middle = np.cumsum(rows) - rows / 2
        runs = (middle * bins / max(int(rows.sum()), 1)).astype(np.int32)
        places = np.unique(np.minimum(runs, bins - 1), return_inverse=True)[1].astype(np.int32)
    missing = [] if domain.missing is None else [int(places.max()) + 1]
    return np.append(places, missing).astype(np.int32)


class Crosstabs:
    """The tables of all pairs of some columns, before and after.

    Parameters
    ----------
    axes
        The columns.
    classes
        The class of each published row: rows that agree on all quasi-identifiers.
    """

    def __init__(self, axes: list[Axis], classes: Rows) -> None:
        self.axes = axes
        self._classes = classes
        self._first = np.unique(classes, return_index=True)[1]
        self._sizes = np.bincount(classes, minlength=len(self._first)).astype(np.float64)
        self._quasi = [axis.original.role == "quasi" for axis in axes]
        self._by_class: dict[int, Floats] = {}

    def pairs(self) -> Iterator[tuple[Axis, Axis, Floats, Floats]]:
        """Two columns each, and the rows in each pair of their bins, before and as a reader expects them after."""
        binned = [axis.bins[axis.original.codes] for axis in self.axes]
        for one, other in combinations(range(len(self.axes)), 2):
            left, right = self.axes[one], self.axes[other]
            mixed = binned[one] * np.int32(right.size) + binned[other]
            before = np.bincount(mixed, minlength=left.size * right.size).reshape(left.size, right.size)
            yield left, right, before.astype(np.float64), self._after(one, other)

    def _after(self, one: int, other: int) -> Floats:
        left, right = self.axes[one], self.axes[other]
        if not (self._quasi[one] or self._quasi[other]):
            width = max(len(right.published.domain), 1)
            mixed = left.published.codes.astype(np.int64) * width + right.published.codes
            kinds, counts = np.unique(mixed, return_counts=True)
            return product(left.shares[kinds // width] * counts[:, None], right.shares[kinds % width])
        expected = np.zeros((left.size, right.size))
        for begin in range(0, len(self._first), AT_ONCE):
            part = slice(begin, begin + AT_ONCE)
            weighed = self._inside(one, part) * self._sizes[part, None]
            expected += product(weighed, self._inside(other, part))
        return expected

    def _inside(self, place: int, part: slice) -> Floats:
        """The share of each bin in some classes. A quasi-identifier is the same in all rows of a class."""
        axis = self.axes[place]
        if self._quasi[place]:
            shares: Floats = axis.shares[axis.published.codes[self._first[part]]]
            return shares
        if place not in self._by_class:
            self._by_class[place] = _shares_by_class(axis, self._classes, len(self._first))
        return self._by_class[place][part]


def product(left: Floats, right: Floats) -> Floats:
    """The transposed left matrix times the right one.

    It is added up from parts that are small enough for one thread: for matrices as narrow as these, threads only wait
    for each other, and where others use the machine too, that takes fifty times as long.
    """
    step = max(SMALL // max(left.shape[1] * right.shape[1], 1), 1)
    whole = len(left) // step * step
    rest: Floats = left[whole:].T @ right[whole:]
    parts = left[:whole].reshape(-1, step, left.shape[1]).transpose(0, 2, 1) @ right[:whole].reshape(
        -1, step, right.shape[1]
    )
    total: Floats = parts.sum(axis=0) + rest
    return total


def _shares_by_class(axis: Axis, classes: Rows, count: int) -> Floats:
    """The share of each bin in each class, for a column that differs inside classes."""
    found = np.zeros((count, axis.size))
    widths = (axis.shares > 0).sum(axis=1)
    bins = axis.shares.argmax(axis=1)
    single = (widths == 1)[axis.published.codes]
    held = bins[axis.published.codes[single]] + classes[single] * axis.size
    found += np.bincount(held, minlength=count * axis.size).reshape(count, axis.size)
    rest = np.flatnonzero(~single)
    for place in range(axis.size if len(rest) else 0):
        weights = axis.shares[axis.published.codes[rest], place]
        found[:, place] += np.bincount(classes[rest], weights=weights, minlength=count)
    sizes = np.bincount(classes, minlength=count)
    return found / np.maximum(sizes, 1)[:, None]
