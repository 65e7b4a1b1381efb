"""Counts of cells that come in from many places: few of them as pairs, many of them laid out."""

from dataclasses import dataclass

import numpy as np

from shoal.arrays import Counts, Rows

DENSE = 8
"""Counts are laid out as soon as one of so many cells is filled."""


@dataclass(slots=True, eq=False)
class Tally:
    """How often each of `cells` cells was seen."""

    cells: int
    places: Rows | None
    counts: Counts
    """`places`, `counts`: the cells that were seen, ascending, and how often; or None and the counts of all cells."""

    @classmethod
    def of(cls, keys: Rows, cells: int) -> "Tally":
        """Count cells."""
        if cells <= DENSE * len(keys):
            return cls(cells, None, np.bincount(keys, minlength=cells).astype(np.int64))
        places, counts = np.unique(keys, return_counts=True)
        return cls(cells, places, counts.astype(np.int64))

    def merged(self, other: "Tally") -> "Tally":
        """The sums of two tallies; they are used up."""
        if other.places is None:
            self, other = other, self
        if self.places is None:
            if other.places is None:
                self.counts += other.counts
            else:
                self.counts[other.places] += other.counts
            return self
        assert other.places is not None
        keys, inverse = np.unique(np.concatenate([self.places, other.places]), return_inverse=True)
        sums = np.zeros(len(keys), dtype=np.int64)
        np.add.at(sums, inverse, np.concatenate([self.counts, other.counts]))
        total = Tally(self.cells, keys, sums)
        if self.cells > DENSE * len(keys):
            return total
        return Tally(self.cells, None, total.laid_out())

    def laid_out(self) -> Counts:
        """The counts of all cells."""
        if self.places is None:
            return self.counts
        counts = np.zeros(self.cells, dtype=np.int64)
        counts[self.places] = self.counts
        return counts
