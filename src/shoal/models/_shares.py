"""The share that single sensitive values have in classes, and bounds of it."""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from shoal.arrays import Codes, Floats, Mask, Rows
from shoal.data.group_statistics import Histogram
from shoal.models._equivalence_classes import Tally
from shoal.models._exact import at_most, group_of, group_sums


@dataclass(frozen=True, slots=True)
class Bounds:
    """The largest share that values may have in a class: `named` ones, and all `others` (None: any share)."""

    named: Mapping[str, Fraction]
    others: Fraction | None = None

    def entries(self, values: Codes, labels: tuple[str, ...]) -> list[tuple[Fraction, Rows]]:
        """The places of the bounded values among given ones, bound by bound."""
        bounds = list(dict.fromkeys([*self.named.values(), *(() if self.others is None else (self.others,))]))
        kinds = np.full(len(labels), -1 if self.others is None else bounds.index(self.others), dtype=np.int32)
        for label, bound in self.named.items():
            if label in labels:
                kinds[labels.index(label)] = bounds.index(bound)
        kind_of = kinds[values]
        return [(bound, np.flatnonzero(kind_of == kind)) for kind, bound in enumerate(bounds)]


def shares_kept(histogram: Histogram, bounds: Bounds) -> Mask:
    """Which groups have no value with a share above its bound."""
    assert histogram.domain is not None
    groups = group_of(histogram.indptr)
    sizes = histogram.sizes
    above = np.zeros(len(histogram.counts), dtype=np.int64)
    for bound, places in bounds.entries(histogram.values, histogram.domain.labels):
        above[places] = ~at_most(histogram.counts[places], sizes[groups[places]], bound)
    mask: Mask = group_sums(histogram.indptr, above) == 0
    return mask


def told_share(tally: Tally, place: int, value: str, count: int) -> str:
    """The share of a value in a class, in words: ``3 of 4 rows are flu``."""
    verb = "are" if tally.noun == "rows" else "have"
    return f"{count} of {tally.sizes[place]} {tally.noun} {verb} {value}"


@dataclass(frozen=True, slots=True, eq=False)
class Shares:
    """The bounded values of published classes."""

    broken: Mask  # the classes in which a value has a share above its bound
    worst: Floats  # the largest share of a bounded value in each class
    value: Fraction | None  # the largest of all, exactly

    @classmethod
    def of(cls, tally: Tally, bounds: Bounds) -> "Shares":
        """Look at every class of a release."""
        broken = np.zeros(len(tally.sizes), dtype=np.bool_)
        worst = np.zeros(len(tally.sizes))
        value: Fraction | None = None
        for bound, places in bounds.entries(tally.values, tally.column.domain.labels):
            if not len(places):
                continue
            classes, counts = group_of(tally.indptr)[places], tally.counts[places]
            sizes = tally.sizes[classes]
            shares = counts / sizes
            np.maximum.at(worst, classes, shares)
            largest = int(np.argmax(shares))
            share = Fraction(int(counts[largest]), int(sizes[largest]))
            value = share if value is None else max(value, share)
            broken[classes[~at_most(counts, sizes, bound)]] = True
        return cls(broken, worst, value)
