"""How well an adversary who knows a few items of a basket can find it."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from shoal.arrays import Counts, Items, Rows, indptr_of, owners
from shoal.data.baskets import Baskets

SAMPLES = 5_000
"""The most baskets that are examined: the standard error of a share is then at most 0.7 percentage points."""

COMMON = 64
"""An item that more than one in this many baskets holds is stored as a bitmap, others as a list of baskets."""


@dataclass(frozen=True, slots=True)
class KnownItems:
    """How many baskets can be found by a number of known items.

    A basket with at least that many public items is drawn at random, and then that many of its public items. It is
    unique if no other basket holds all of them. An adversary who picks one of the baskets that do is right with
    probability 1 / (number of baskets that hold them).

    The table of re-identification probabilities in the CAHD paper (Ghinita, Tao, Kalnis, ICDE 2008) has 0.3, 9.5,
    24.3 and 50.0 % for BMS-WebView-1 and 0.8, 18.8, 41.6 and 91.1 % for BMS-WebView-2, with one to four known items.
    This definition of the probability gives 0.3, 5.4, 15.8, 25.8 %, and 0.8, 20.2, 49.2, 67.7 %: the first of each
    agrees with the paper, the others do not; how it drew the items is not known here.
    """

    known: int  # the number of items that the adversary knows
    baskets: int  # how many baskets have at least that many public items
    sampled: int  # how many of them were examined
    unique: float  # the share of unique ones
    probability: float  # the mean probability to pick the right one


def known_items(
    baskets: Baskets, known: Sequence[int] = (1, 2, 3, 4), samples: int = SAMPLES, seed: int = 0
) -> tuple[KnownItems, ...]:
    """How many baskets an adversary finds who knows some of their public items.

    For one known item the result is exact; for more it is estimated from a sample, with exact counts of the baskets
    that hold them. The same seed draws the same sample.
    """
    if len(baskets.public) < len(baskets.vocabulary):
        wanted = np.zeros(len(baskets.vocabulary), dtype=np.bool_)
        wanted[baskets.public] = True
        baskets = baskets.keep(wanted)
    generator = np.random.default_rng(seed)
    holders = Holders(baskets)
    return tuple(
        _one_known(baskets) if count == 1 else _more_known(baskets, holders, count, samples, generator)
        for count in known
    )


class Holders:
    """An index of the baskets that hold each item, to count those that hold several."""

    def __init__(self, baskets: Baskets) -> None:
        self.supports = baskets.supports
        self._baskets = len(baskets)
        self._indptr = indptr_of(self.supports)
        rows = owners(baskets.indptr)
        self._rows = rows[np.argsort(baskets.items, kind="stable")]
        self._bits: dict[int, NDArray[np.uint8]] = {}

    def count(self, items: Sequence[int]) -> int:
        """The number of baskets that hold all of the items."""
        rarest, *others = sorted(items, key=self.supports.__getitem__)
        if self._is_common(rarest):
            shared = self._bits_of(rarest)
            for item in others:
                shared = shared & self._bits_of(item)
            return int(np.bitwise_count(shared).sum(dtype=np.int64))
        rows = self._list_of(rarest)
        for item in others:
            rows = rows[self._holds(item, rows)]
        return len(rows)

    def _is_common(self, item: int) -> bool:
        return bool(self.supports[item] * COMMON > self._baskets)

    def _list_of(self, item: int) -> Rows:
        return self._rows[self._indptr[item] : self._indptr[item + 1]]

    def _bits_of(self, item: int) -> NDArray[np.uint8]:
        if item not in self._bits:
            flags = np.zeros(self._baskets, dtype=np.bool_)
            flags[self._list_of(item)] = True
            self._bits[item] = np.packbits(flags, bitorder="little")
        return self._bits[item]

    def _holds(self, item: int, rows: Rows) -> NDArray[np.bool_]:
        """A mask of the given baskets that hold an item."""
        if self._is_common(item):
            bits = self._bits_of(item)[rows >> 3] >> (rows & 7).astype(np.uint8)
            return np.asarray(bits & 1 == 1)
        holders = self._list_of(item)
        places = np.minimum(np.searchsorted(holders, rows), len(holders) - 1)
        return np.asarray(holders[places] == rows)


def _one_known(baskets: Baskets) -> KnownItems:
    """The exact result for one known item, over all baskets and all of their items."""
    supports, lengths = baskets.supports[baskets.items], baskets.lengths
    filled = lengths > 0
    count = int(filled.sum())
    if not count:
        return KnownItems(1, 0, 0, 0.0, 0.0)
    rows = np.repeat(np.arange(len(baskets)), lengths)

    def mean_over_baskets(values: NDArray[np.float64]) -> float:
        return float((np.bincount(rows, values, len(baskets))[filled] / lengths[filled]).mean())

    unique = mean_over_baskets((supports == 1).astype(np.float64))
    return KnownItems(1, count, count, unique, mean_over_baskets(1 / supports))


def _more_known(
    baskets: Baskets, holders: Holders, known: int, samples: int, generator: np.random.Generator
) -> KnownItems:
    able = np.flatnonzero(baskets.lengths >= known)
    if not len(able):
        return KnownItems(known, 0, 0, 0.0, 0.0)
    chosen = able if len(able) <= samples else generator.choice(able, samples, replace=False)
    sets, repeats = np.unique(_drawn(baskets, chosen, known, generator), axis=0, return_counts=True)
    counts: Counts = np.array([holders.count(items) for items in sets.tolist()], dtype=np.int64)
    unique = float(repeats[counts == 1].sum() / len(chosen))
    return KnownItems(known, len(able), len(chosen), unique, float((repeats / counts).sum() / len(chosen)))


def _drawn(baskets: Baskets, rows: Rows, known: int, generator: np.random.Generator) -> Items:
    """Draw `known` different items of each basket, ascending."""
    lengths = baskets.lengths[rows]
    places = np.empty((len(rows), 0), dtype=np.int64)
    for drawn in range(known):
        # Draw a place among those that are left, and shift it past the places that were drawn before.
        place = (generator.random(len(rows)) * (lengths - drawn)).astype(np.int64)
        for earlier in places.T:
            place += place >= earlier
        places = np.sort(np.column_stack((places, place)), axis=1)
    return np.asarray(baskets.items[baskets.indptr[rows][:, None] + places])
