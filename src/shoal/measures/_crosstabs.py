"""Two tables side by side in a few bins a column: how often values go together, before and after.

A reader of a release can only spread a cell evenly over the values that it stands for. A row of two cells is then
spread over all pairs of their values. Rows that are published alike are spread together, as a product of matrices.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TypeAlias

import numpy as np

from shoal.arrays import Codes, Counts, Floats, Rows
from shoal.data._equal_rows import RowClasses
from shoal.data.domain import Domain, Kind
from shoal.data.table import Column
from shoal.measures._coverage import Coverage, read_coverage

BINS = 20
"""Bins of a column beside others; the missing value has one more of its own."""

AT_ONCE = 4096
"""Classes that are spread together: so few that they stay at hand."""

BLOCK = 16_384
"""Rows that are counted together."""

Places: TypeAlias = tuple[int, int]
"""Two columns by their places, the first one first."""

SMALL = 2**18
"""Multiplications that are done by one thread."""


@dataclass(frozen=True, slots=True, eq=False)
class Axis:
    """A column in bins."""

    original: Column
    published: Column
    """`original`, `published`: the column before and after."""
    coverage: Coverage  # what the published texts stand for
    bins: Codes  # the bin of each value of the original domain
    shares: Floats
    """For each published text (rows) the share of its values in each bin (columns); zeros for a text that no row has.
    """

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


def axis_of(
    original: Column,
    published: Column,
    bins: int = BINS,
    coverage: Coverage | None = None,
    counts: Counts | None = None,
) -> Axis:
    """Read a published column and put its values into bins.

    `coverage`, `counts`: what the published texts stand for, and the rows of each value of the original, where it is
    known. Raises `BadData` if a text makes no sense in the column.
    """
    coverage = read_coverage(original, published) if coverage is None else coverage
    places = bins_of(original, bins, counts)
    sizes = np.maximum(coverage.sizes, 1)
    shares = np.stack(
        [coverage.total(places == place) / sizes for place in range(int(places.max(initial=0)) + 1)], axis=1
    )
    return Axis(original, published, coverage, places, shares)


def bins_of(column: Column, bins: int = BINS, counts: Counts | None = None) -> Codes:
    """The bin of each value: each its own where they are few.

    Names: the most frequent values have bins of their own, all others share one. Numbers, dates and ordered names: runs
    of neighbors with about equally many rows. The missing value always has its own.
    """
    domain: Domain = column.domain
    present = domain.present
    if present <= bins:
        return np.arange(len(domain), dtype=np.int32)
    counts = np.bincount(column.codes, minlength=len(domain)) if counts is None else counts
    rows = counts[:present]
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

    `axes`: the columns. `classes`: the published rows that agree on all quasi-identifiers: a class is one row that
    counts several times.
    """

    def __init__(self, axes: Sequence[Axis], classes: RowClasses) -> None:
        self.axes = axes
        self._classes = classes
        self._quasi = [place for place, axis in enumerate(axes) if axis.original.role == "quasi"]

    def pairs(self) -> Iterator[tuple[Axis, Axis, Floats, Floats]]:
        """Two columns each, and the rows in each pair of their bins, before and as a reader expects them after."""
        before, after = self.before(), self.after()
        for one, other in combinations(range(len(self.axes)), 2):
            yield self.axes[one], self.axes[other], before[one, other], after[one, other]

    def before(self) -> dict[Places, Floats]:
        """The rows in each pair of bins; block by block, so that what is looked at stays at hand."""
        sizes = [axis.size for axis in self.axes]
        found = {
            (one, other): np.zeros(sizes[one] * sizes[other], dtype=np.int64)
            for one, other in combinations(range(len(sizes)), 2)
        }
        bins = [axis.bins.astype(np.int64) for axis in self.axes]
        for begin in range(0, len(self.axes[0].original.codes), BLOCK):
            part = slice(begin, begin + BLOCK)
            here = [of[axis.original.codes[part]] for of, axis in zip(bins, self.axes, strict=True)]
            for one in range(len(sizes) - 1):
                for other in range(one + 1, len(sizes)):
                    mixed = here[one] * sizes[other] + here[other]
                    found[one, other] += np.bincount(mixed, minlength=sizes[one] * sizes[other])
        return {
            (one, other): counts.reshape(sizes[one], sizes[other]).astype(np.float64)
            for (one, other), counts in found.items()
        }

    def after(self) -> dict[Places, Floats]:
        """The rows that a reader expects in each pair of bins."""
        found = {
            (one, other): self._apart(one, other)
            for one, other in combinations(range(len(self.axes)), 2)
            if one not in self._quasi and other not in self._quasi
        }
        return {**found, **self._by_class()}

    def _apart(self, one: int, other: int) -> Floats:
        """Two columns of which a class may hold several values."""
        left, right = self.axes[one], self.axes[other]
        width = max(len(right.published.domain), 1)
        mixed = left.published.codes.astype(np.int64) * width + right.published.codes
        kinds, counts = np.unique(mixed, return_counts=True)
        return product(left.shares[kinds // width] * counts[:, None], right.shares[kinds % width])

    def _by_class(self) -> dict[Places, Floats]:
        """Pairs with a quasi-identifier, whose cell is the same in all rows of a class."""
        classes, quasi = self._classes, self._quasi
        others = [place for place in range(len(self.axes)) if place not in quasi]
        sums = [_sums_by_class(self.axes[place], classes.number, len(classes)) for place in others]
        order = [*quasi, *others]
        edges = np.concatenate(([0], np.cumsum([self.axes[place].size for place in order]))).tolist()
        total = np.zeros((edges[len(quasi)], edges[-1]))
        for begin in range(0, len(classes), AT_ONCE):
            part = slice(begin, begin + AT_ONCE)
            shown = [(self.axes[place], self.axes[place].published.codes) for place in quasi]
            shares = np.hstack([axis.shares[codes[classes.first[part]]] for axis, codes in shown])
            weighed = np.hstack([shares * classes.sizes[part, None], *(one[part] for one in sums)])
            for place in range(len(quasi) if others else len(quasi) - 1):
                rows = slice(edges[place], edges[place + 1])
                total[rows, rows.stop :] += product(shares[:, rows], weighed[:, rows.stop :])
        found: dict[Places, Floats] = {}
        for place, one in enumerate(quasi):
            for later in range(place + 1, len(order)):
                table = total[edges[place] : edges[place + 1], edges[later] : edges[later + 1]]
                found[min(one, order[later]), max(one, order[later])] = (
                    table if one < order[later] else table.T
                )
        return found


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


def _sums_by_class(axis: Axis, classes: Rows, count: int) -> Floats:
    """The rows of each class that are expected in each bin, for a column that differs inside classes."""
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
    return found
