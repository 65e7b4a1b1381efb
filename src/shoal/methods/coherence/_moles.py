"""Minimal moles, level by level (Xu, Wang, Fu, Yu, KDD 2008).

A set of at most p public items that some basket holds is a *mole* if fewer than k baskets hold it, or if more than
a share h of them hold one private item. It is *minimal* if no subset is a mole. Sets of one size are joined from
those one item shorter that are no moles and hold none; each is judged by counting.
"""

import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Protocol

import numpy as np

from shoal.arrays import Indptr, Items, Mask
from shoal.data.baskets import Baskets
from shoal.engines.local import Local
from shoal.kernels._compiling import is_eager
from shoal.methods.coherence import _compiled as compiled
from shoal.methods.coherence import _integers as integers
from shoal.methods.coherence._compiled import CompiledSearch
from shoal.methods.coherence._incidence import Incidence
from shoal.methods.coherence._integers import IntegerSearch
from shoal.methods.coherence._thresholds import Promise, largest_below

PATIENCE, STARTED = 0.7, 0.005
"""Seconds of work that starting the compiled search is worth, and that calling it is worth once it is started."""


@dataclass(frozen=True, slots=True, eq=False)
class Moles:
    """The minimal moles of some baskets."""

    singles: Items  # items that are moles themselves, ascending codes
    indptr: Indptr
    items: Items
    """`indptr`, `items`: the larger ones in compressed rows: by size, and in lexicographic order of their codes, which
    ascend."""
    tried: dict[int, int]  # how many sets of each size were judged

    def __len__(self) -> int:
        return len(self.indptr) - 1

    def sizes(self) -> dict[int, int]:
        """How many moles there are of each size that was looked at."""
        counts = np.bincount(np.diff(self.indptr), minlength=max(self.tried) + 1)
        counts[1] = len(self.singles)
        return {size: int(counts[size]) for size in self.tried}

    def sets(self) -> Iterator[tuple[int, ...]]:
        """The larger moles one by one."""
        codes, bounds = self.items.tolist(), self.indptr.tolist()
        return (tuple(codes[begin:end]) for begin, end in pairwise(bounds))


class Search(Protocol):
    """A search for moles that stands at the sets of one size that are no moles and hold none."""

    def __len__(self) -> int:
        """How many sets there are."""

    def extend(self, keep_safe: bool) -> tuple[Items, int]:
        """Make them one item longer; the moles, a row of ranks a mole, and how many sets were judged."""


def find_moles(
    baskets: Baskets, promise: Promise, engine: Local | None = None, patience: float | None = None
) -> Moles:
    """Find all minimal moles.

    Parameters
    ----------
    baskets
        Public and private items; others are not looked at.
    promise
        What makes a mole. The empty set must not be one.
    engine
        Where to work.
    patience
        A level that would take longer than so many seconds without compiled kernels is left to them; 0 leaves all.
        Found out unless told.
    """
    if is_eager():
        patience = 0.0
    elif patience is None:
        patience = STARTED if "shoal.kernels.moles" in sys.modules else PATIENCE
    engine = engine or Local()
    promise = replace(promise, h=largest_below(promise.h, len(baskets)))
    supports = baskets.supports
    known = baskets.public[supports[baskets.public] > 0]
    public = Incidence.of(baskets, known, supports)
    private = Incidence.of(baskets, baskets.sensitive, supports)
    search: Search
    if integers.seconds_to_begin(public, private) < patience:
        singles = integers.single_moles(public, private, promise)
        kept = public.without(singles)
        search = IntegerSearch(kept, private, promise)
    else:
        singles, peaks = compiled.single_moles(public, private, promise, engine)
        kept = public.without(singles)
        search = CompiledSearch(kept, private, promise, engine, peaks=peaks[~singles])

    def chosen(search: Search) -> Search:
        if isinstance(search, IntegerSearch) and search.seconds() >= patience:
            return CompiledSearch(kept, private, promise, engine, search.level())
        return search

    return moles_by_levels(search, public.codes, singles, promise.p, chosen)


def moles_by_levels(
    search: Search,
    codes: Items,
    singles: Mask,
    p: int,
    chosen: Callable[[Search], Search] = lambda search: search,
) -> Moles:
    """Find the moles of two to p items, level by level.

    Parameters
    ----------
    search
        It stands at the single items that are no moles.
    codes, singles
        The codes of the public items that occur, by rank, and which of them are moles themselves.
    chosen
        Says before each level how to go on with the search.
    """
    kept = codes[~singles]
    found, tried = [], {1: len(codes)}
    for size in range(2, min(p, len(codes)) + 1):
        search = chosen(search)
        if not len(search):
            break
        moles, tried[size] = search.extend(keep_safe=size < p)
        found.append(_in_order(kept[moles]))
    lengths = [np.full(len(sets), sets.shape[1], dtype=np.int64) for sets in found]
    indptr = np.concatenate(([0], *lengths)).cumsum()
    items = np.concatenate([np.empty(0, dtype=np.int32), *(sets.ravel() for sets in found)])
    return Moles(np.sort(codes[singles]), indptr, items, tried)


def _in_order(sets: Items) -> Items:
    """Sets with ascending items, in lexicographic order."""
    sets = np.sort(sets, axis=1)
    return sets[np.lexsort(sets.T[::-1])]
