"""Search for moles in many baskets: compiled kernels on bitmaps and lists of baskets, on all threads."""

from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from shoal.arrays import AnyArray, Counts, Indptr, Items, Mask, flagged, indptr_of
from shoal.engines.local import Local
from shoal.methods.coherence._incidence import Incidence
from shoal.methods.coherence._thresholds import Promise

if TYPE_CHECKING:
    from shoal.kernels.cohorts import Holders
    from shoal.kernels.moles import Found, Level, Rule

BITS_MEMORY = 1 << 29
"""How many bytes the bitmaps of public items may take, and as many again those of private ones."""

LEAST_SHARE = 1024
"""An item gets no bitmap if fewer than one in this many baskets hold it."""

ROOM = 1 << 18
"""How many sets one call of a kernel may write."""

PARTS = 16
"""How many parts a level is cut into for each thread: many, because some take longer than others."""


class CompiledSearch:
    """Search for moles with compiled kernels.

    `public`, `private`: which basket holds which item; no public item is a mole itself. `promise`: what makes a set a
    mole; numerator and denominator of its share, times the number of baskets, must fit into 64 bits. `level`: the sets
    to begin with, in lexicographic order, and their supports; single items by default. `peaks`: if known, for each of
    those sets an upper bound on the count of any secret among the baskets that hold it.
    """

    def __init__(
        self,
        public: Incidence,
        private: Incidence,
        promise: Promise,
        engine: Local,
        level: tuple[Items, Counts] | None = None,
        peaks: Counts | None = None,
    ) -> None:
        from shoal.kernels.moles import Rule

        self._engine = engine
        self._holders, self._secrets = holders_of(public), holders_of(private)
        self._rule = Rule(promise.k, promise.h.numerator, promise.h.denominator)
        self._mean_length = _mean_length(public)
        sets, supports = level or (np.arange(len(public.codes), dtype=np.int32)[:, None], public.supports)
        # In a set that is not a mole, no secret exceeds the share.
        most = supports * promise.h.numerator // promise.h.denominator
        self._level = level_of(sets, supports, most if peaks is None else peaks)

    def __len__(self) -> int:
        return len(self._level.sets)

    def extend(self, keep_safe: bool) -> tuple[Items, int]:
        """Make the sets of this level one item longer; returns the moles, one per row, and how many were judged."""
        from shoal.kernels.moles import SAFE, Found

        parts = min(max(self._engine.threads * PARTS, 1), len(self))
        bounds = np.linspace(0, len(self), parts + 1).astype(np.int64).tolist()
        work = self._engine.map(
            lambda part: _extended(
                self._level,
                *part,
                (self._holders, self._secrets),
                self._rule,
                self._mean_length,
                keep_safe,
            ),
            pairwise(bounds),
        )
        found = Found(*(np.concatenate(arrays) for arrays in zip(*(part for part, _ in work), strict=True)))
        longer = np.column_stack((self._level.sets[found.parents], found.items)).astype(np.int32)
        safe = found.kinds == SAFE
        self._level = level_of(longer[safe], found.supports[safe], found.peaks[safe])
        return longer[~safe], sum(tried for _, tried in work)


def counted(public: Incidence, level: "Level", begin: int, end: int) -> "Found":
    """Count the baskets that hold each set that is one item longer than a set of a level, without judging it.

    Sets that no basket holds are left out. Their peaks are the smallest among the subsets.

    `public`: which basket holds which item; the supports are those in these baskets. `level`: sets that other baskets
    may hold too; their supports only serve to choose the fastest way to count.
    """
    from shoal.kernels.moles import Rule

    nothing = public.without(np.ones(len(public.codes), dtype=np.bool_))
    holders = holders_of(public), holders_of(nothing)
    # With this rule no set is a mole: none is rare, and there are no secrets.
    found, _ = _extended(level, begin, end, holders, Rule(1, 1, 0), _mean_length(public), keep_safe=True)
    return found


def _extended(
    level: "Level",
    begin: int,
    end: int,
    holders: "tuple[Holders, Holders]",
    rule: "Rule",
    mean_length: float,
    keep_safe: bool,
) -> tuple["Found", int]:
    """Extend some sets of a level; `holders` are the baskets of public and of private items."""
    from shoal.kernels.moles import Found, extend

    width = max(ROOM, 2 * len(holders[0].item_indptr))
    room = Found(
        np.empty(width, dtype=np.int64),
        np.empty(width, dtype=np.int32),
        np.empty(width, dtype=np.int8),
        np.empty(width, dtype=np.int64),
        np.empty(width, dtype=np.int64),
    )
    pieces, tried_in_all = [], 0
    while True:
        begin, written, tried = extend(level, begin, end, *holders, rule, mean_length, keep_safe, room)
        pieces.append([array[:written].copy() for array in room])
        tried_in_all += tried
        if begin >= end:
            return Found(*map(np.concatenate, zip(*pieces, strict=True))), tried_in_all


def _mean_length(public: Incidence) -> float:
    """The mean length of a basket, weighted by length: the size of the basket that a typical occurrence is in."""
    lengths = np.diff(public.indptr)
    return float((lengths * lengths).sum() / max(lengths.sum(), 1))


def single_moles(
    public: Incidence, private: Incidence, promise: Promise, engine: Local
) -> tuple[Mask, Counts]:
    """Which public items are moles themselves; and how often each occurs with its most frequent secret."""
    from shoal.kernels.cohorts import peaks_of_items

    peaks = np.zeros(len(public.codes), dtype=np.int64)
    if len(private.codes) and len(public.codes):
        indptr, rows = _transposed(public.indptr, public.items, public.supports)
        # Parts of about equal numbers of occurrences.
        bounds = np.searchsorted(indptr, np.linspace(0, indptr[-1], engine.threads * PARTS + 1)).tolist()
        parts = engine.map(
            lambda part: peaks_of_items(
                indptr[part[0] : part[1] + 1], rows, private.indptr, private.items, len(private.codes)
            ),
            [part for part in pairwise(bounds) if part[1] > part[0]],
        )
        peaks = np.concatenate(parts)
    limits = public.supports * promise.h.numerator // promise.h.denominator
    return np.asarray((public.supports < promise.k) | (peaks > limits)), peaks


def _transposed(indptr: Indptr, items: Items, supports: Counts) -> tuple[Indptr, Items]:
    """Transpose compressed rows: the baskets of each item, ascending, in compressed rows."""
    from shoal.kernels.cohorts import transposed

    item_indptr = indptr_of(supports)
    return item_indptr, transposed(indptr, items, item_indptr)


def level_of(sets: Items, supports: Counts, peaks: Counts) -> "Level":
    """A level of sets in lexicographic order, grouped by all but their last item."""
    from shoal.kernels.moles import Level

    changes = (sets[1:, :-1] != sets[:-1, :-1]).any(axis=1)
    starts = np.flatnonzero(np.concatenate(([True], changes))) if len(sets) else np.empty(0, dtype=np.int64)
    group_indptr = np.append(starts, len(sets)).astype(np.int64)
    return Level(np.ascontiguousarray(sets), group_indptr, supports, peaks)


def holders_of(incidence: Incidence) -> "Holders":
    """The list of baskets of each item, and bitmaps of the frequent items."""
    from shoal.kernels.cohorts import Holders

    item_indptr, rows = _transposed(incidence.indptr, incidence.items, incidence.supports)
    indptr, items = _transposed(item_indptr, rows, np.diff(incidence.indptr))
    words = -(-incidence.baskets // 64)
    many = max(BITS_MEMORY // max(8 * words, 1), 1)
    frequent = int(np.count_nonzero(incidence.supports * LEAST_SHARE >= incidence.baskets))
    first_bits = len(incidence.codes) - min(many, frequent)
    bits = _bits(item_indptr, rows, first_bits, words)
    return Holders(indptr, items, item_indptr, rows, bits, first_bits)


def _bits(item_indptr: Indptr, rows: Items, first: int, words: int) -> AnyArray:
    """Bitmaps of the items from number `first` on."""
    bits = np.zeros((len(item_indptr) - 1 - first, words), dtype=np.uint64)
    for place in range(len(bits)):
        flags = flagged(rows[item_indptr[first + place] : item_indptr[first + place + 1]], words * 64)
        bits[place] = np.packbits(flags, bitorder="little").view(np.uint64)
    return bits
