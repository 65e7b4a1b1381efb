"""Search for moles in baskets in parts: each part counts its baskets that hold a set, and the counts are added up.

Sets are made and judged here, by the sums, so that the moles are those of all baskets together. A level takes one pass
over the parts for the supports, and another one for sets that may reveal a secret.
"""

from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import polars as pl

from shoal.arrays import Counts, Items, Mask, Rows
from shoal.data._basket_frames import baskets_in, cells_of
from shoal.data.baskets import Baskets
from shoal.data.dataset import Dataset, Parts
from shoal.methods.coherence._compiled import counted, holders_of, level_of
from shoal.methods.coherence._incidence import Incidence
from shoal.methods.coherence._moles import Moles, moles_by_levels
from shoal.methods.coherence._thresholds import Promise, largest_below

if TYPE_CHECKING:
    from shoal.kernels.moles import Level

CANDIDATES = 1 << 26
"""The most sets of a level that are counted in one pass."""

ENTRIES = 1 << 23
"""The most counts of a secret in a set that are added up in one pass: each part then sends up to 64 MB."""


def suppressed(data: Dataset, kept: Mask) -> Parts:
    """The baskets without suppressed items, recoded to the items that stay."""
    schema = data.schema

    def work(frame: pl.DataFrame) -> pl.DataFrame:
        baskets = baskets_in(frame, schema).keep(kept)
        return cells_of("items", baskets.indptr, baskets.items).to_frame()

    return data.parts.map(work, {"items": pl.List(pl.Int32)})


def find_moles(data: Dataset, promise: Promise, supports: Counts) -> Moles:
    """Find all minimal moles; `supports` are those of all items in all baskets."""
    promise = replace(promise, h=largest_below(promise.h, data.rows))
    schema = data.schema
    known = schema.public[supports[schema.public] > 0]
    codes = known[np.argsort(supports[known], kind="stable")]
    # No set can reveal a secret that is too rare to exceed the share even in the smallest allowed cohort.
    watched = schema.sensitive[supports[schema.sensitive] > promise.limit(promise.k)]
    search = DistributedSearch(data, codes, watched, supports, promise)
    singles = search.drop_single_moles()
    return moles_by_levels(search, codes, singles, promise.p)


class DistributedSearch:
    """Search for moles by counts that are added up over the parts.

    `codes`, `supports`: public items by rank, the rarest first, and the supports of all items. `watched`: private
    items that can be revealed at all.
    """

    def __init__(
        self, data: Dataset, codes: Items, watched: Items, supports: Counts, promise: Promise
    ) -> None:
        self._data, self._promise = data, promise
        self._shelf = _Shelf(data.schema, codes, watched, supports)
        self._level = self._level_of(np.arange(len(codes), dtype=np.int32)[:, None], supports[codes])

    def __len__(self) -> int:
        return len(self._level.sets)

    def drop_single_moles(self) -> Mask:
        """Drop the items that are moles themselves from the search; returns which ones they are."""
        moles, peaks = self._judged(self._level)
        shelf = self._shelf
        self._shelf = replace(shelf, codes=shelf.codes[~moles])
        ranks = np.arange(len(self._shelf.codes), dtype=np.int32)[:, None]
        self._level = self._level_of(ranks, shelf.supports[self._shelf.codes], peaks[~moles])
        return moles

    def extend(self, keep_safe: bool) -> tuple[Items, int]:
        """Make the sets of this level one item longer; returns the moles, one per row, and how many were judged."""
        level = self._level
        parts = [self._extended(level, begin, end) for begin, end in pairwise(_slices(level))]
        sets, supports, peaks = (np.concatenate(arrays) for arrays in zip(*parts, strict=True))
        longer = self._level_of(sets, supports, peaks)
        moles, peaks = self._judged(longer)
        safe = ~moles if keep_safe else np.zeros(len(moles), dtype=np.bool_)
        self._level = self._level_of(sets[safe], supports[safe], peaks[safe])
        return sets[moles], len(sets)

    def _extended(self, level: "Level", begin: int, end: int) -> tuple[Items, Counts, Counts]:
        """The sets that occur and are one item longer than some of a level, with supports and bounds on secrets."""
        shelf, rows = self._shelf, self._data.rows
        width = max(len(shelf.codes), 1)

        def work(frame: pl.DataFrame) -> _Sums:
            public = shelf.public(baskets_in(frame, shelf.schema))
            here = level._replace(supports=level.supports * public.baskets // rows)
            found = counted(public, here, begin, end)
            keys = found.parents * width + found.items
            return _Sums(keys, found.supports, found.peaks, len(keys))

        sums = self._data.parts.fold(work, _added)
        assert sums is not None
        sums = _summed(sums)
        parents, items = np.divmod(sums.keys, width)
        sets = np.column_stack((level.sets[parents], items)).astype(np.int32)
        return sets, sums.supports, sums.peaks

    def _judged(self, level: "Level") -> tuple[Mask, Counts]:
        """Which sets are moles, and for the others a bound on the count of any secret among their baskets."""
        k, share = self._promise.k, self._promise.h
        limits = level.supports * share.numerator // share.denominator
        moles, peaks = level.supports < k, level.peaks.copy()
        doubtful = np.flatnonzero(~moles & (peaks > limits))
        step = ENTRIES // max(len(self._shelf.watched), 1) + 1
        for begin in range(0, len(doubtful), step):
            some = doubtful[begin : begin + step]
            peaks[some] = self._secret_counts(level.sets[some]).max(axis=1)
        return np.asarray(moles | (peaks > limits)), peaks

    def _secret_counts(self, sets: Items) -> Counts:
        """How many baskets hold both a set (row) and a secret (column)."""
        shelf = self._shelf

        def work(frame: pl.DataFrame) -> Counts:
            from shoal.kernels.secret_counts import secret_counts

            baskets = baskets_in(frame, shelf.schema)
            private = Incidence.of(baskets, shelf.watched, shelf.supports)
            holders = holders_of(shelf.public(baskets))
            counts: Counts = secret_counts(sets, holders, private.indptr, private.items, len(shelf.watched))
            return counts

        counts: Counts | None = self._data.parts.fold(work, lambda one, other: one + other)
        assert counts is not None
        return counts

    def _level_of(self, sets: Items, supports: Counts, peaks: Counts | None = None) -> "Level":
        watched = self._shelf.supports[self._shelf.watched]
        most = np.minimum(supports, watched.max(initial=0))
        return level_of(sets, supports, most if peaks is None else peaks)


@dataclass(frozen=True, slots=True, eq=False)
class _Shelf:
    """What a part needs for counting: public items by rank, the watched secrets, and the supports of all items."""

    schema: Baskets
    codes: Items
    watched: Items
    supports: Counts

    def public(self, baskets: Baskets) -> Incidence:
        """The public items of some baskets, with their supports in these baskets."""
        everywhere = Incidence.of(baskets, self.codes, self.supports)
        here = np.bincount(everywhere.items, minlength=len(self.codes)).astype(np.int64)
        return replace(everywhere, supports=here)


class _Sums(NamedTuple):
    """Supports of sets by key; keys may repeat, and at least `distinct` of them are distinct."""

    keys: Rows
    supports: Counts
    peaks: Counts
    distinct: int


def _added(one: _Sums, other: _Sums) -> _Sums:
    """The sums of two parts; equal keys are added up once there are twice as many keys as distinct ones."""
    keys, supports, peaks = (np.concatenate(pair) for pair in zip(one[:3], other[:3], strict=True))
    sums = _Sums(keys, supports, peaks, max(one.distinct, other.distinct))
    return _summed(sums) if len(sums.keys) > 2 * sums.distinct else sums


def _summed(sums: _Sums) -> _Sums:
    """Add up equal keys: each key once, ascending."""
    order = np.argsort(sums.keys, kind="stable")
    keys = sums.keys[order]
    first = np.flatnonzero(np.concatenate(([True], keys[1:] != keys[:-1]))) if len(keys) else order
    supports = np.add.reduceat(sums.supports[order], first) if len(keys) else sums.supports
    return _Sums(keys[first], supports, sums.peaks[order][first], len(first))


def _slices(level: "Level") -> list[int]:
    """Where to cut a level so that not too many sets can be made from each piece."""
    lengths = np.diff(level.group_indptr)
    ends = np.repeat(level.group_indptr[1:], lengths)
    made = np.cumsum(ends - np.arange(len(ends)) - 1)
    pieces = int(made[-1]) // CANDIDATES + 1
    cuts = np.searchsorted(made, np.arange(1, pieces) * CANDIDATES)
    return [0, *np.unique(cuts[(cuts > 0) & (cuts < len(ends))]).tolist(), len(ends)]
