"""Minimal moles, level by level (Xu, Wang, Fu, Yu, KDD 2008).

A set of at most p public items that some basket holds is a *mole* if fewer than k baskets hold it, or if more than
a share h of them hold one private item. It is *minimal* if no proper subset is a mole. Sets of one size are joined from
smaller sets, one item shorter, that neither are nor contain moles; each is judged by counting.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, groupby, pairwise
from typing import Protocol, TypeAlias

import numpy as np

from shoal.arrays import Counts, Indptr, Items, Mask, flagged, owners
from shoal.data.baskets import Baskets
from shoal.engines.local import Local
from shoal.kernels._compiling import are_loaded, is_eager
from shoal.methods.coherence import _compiled as compiled
from shoal.methods.coherence._compiled import CompiledSearch
from shoal.methods.coherence._incidence import Incidence
from shoal.methods.coherence._thresholds import Promise, largest_below

Set: TypeAlias = tuple[int, ...]

EACH_SET, EACH_BASKET, EACH_OCCURRENCE = 1e-6, 0.2e-9, 80e-9
"""Seconds to judge a candidate set, for each of its baskets, and to convert one occurrence of an item."""


class IntegerSearch:
    """Search for moles with Python integers, in which bit *i* says whether basket *i* holds an item.

    `public`, `private`: which basket holds which item; no public item is a mole itself. `promise`: what makes a set a
    mole.
    """

    def __init__(self, public: Incidence, private: Incidence, promise: Promise) -> None:
        self._holders, self._secrets = _integers(public), _integers(private)
        self._promise = promise
        self._set_seconds = EACH_SET + seconds_each(public, private)
        self._level: dict[Set, int] = {(item,): holder for item, holder in enumerate(self._holders)}

    def __len__(self) -> int:
        return len(self._level)

    def seconds(self) -> float:
        """Roughly how long one more level takes at most."""
        pairs = sum(
            size * (size - 1) // 2 for size in (sum(1 for _ in group) for group in _groups(self._level))
        )
        return pairs * self._set_seconds

    def level(self) -> tuple[Items, Counts]:
        """The sets of this level, one per row, in lexicographic order, and their supports."""
        width = len(next(iter(self._level), ()))
        sets = np.array(list(self._level), dtype=np.int32).reshape(-1, width)
        return sets, np.array([cohort.bit_count() for cohort in self._level.values()], dtype=np.int64)

    def extend(self, keep_safe: bool) -> tuple[Items, int]:
        """Make the sets of this level one item longer; returns the moles, one per row, and how many were judged."""
        moles: list[Set] = []
        longer_sets: dict[Set, int] = {}
        tried = 0
        for group in _groups(self._level):
            members = list(group)
            for place, first in enumerate(members):
                for second in members[place + 1 :]:
                    longer = (*first, second[-1])
                    if any(subset not in self._level for subset in combinations(longer, len(first))):
                        continue
                    tried += 1
                    cohort = self._level[first] & self._holders[second[-1]]
                    if cohort and _is_mole(cohort, self._secrets, self._promise):
                        moles.append(longer)
                    elif cohort and keep_safe:
                        longer_sets[longer] = cohort
        width = len(next(iter(self._level), ())) + 1
        self._level = longer_sets
        return np.array(moles, dtype=np.int32).reshape(-1, width), tried


def single_moles(public: Incidence, private: Incidence, promise: Promise) -> Mask:
    """Which public items are moles themselves."""
    secrets = _integers(private)
    return np.array([_is_mole(cohort, secrets, promise) for cohort in _integers(public)], dtype=np.bool_)


def _is_mole(cohort: int, secrets: Sequence[int], promise: Promise) -> bool:
    """Whether a set is a mole, given the baskets that hold it, which must not be none."""
    support = cohort.bit_count()
    if support < promise.k:
        return True
    limit = promise.limit(support)
    return any((cohort & secret).bit_count() > limit for secret in secrets)


def seconds_each(public: Incidence, private: Incidence) -> float:
    """Roughly how long it takes to judge one set at most."""
    return (1 + len(private.codes)) * public.baskets * EACH_BASKET


def seconds_to_begin(public: Incidence, private: Incidence) -> float:
    """Roughly how long it takes to judge the single items."""
    occurrences = len(public.items) + len(private.items)
    return len(public.codes) * seconds_each(public, private) + 2 * occurrences * EACH_OCCURRENCE


def _integers(incidence: Incidence) -> list[int]:
    """For each item, an integer whose bit *i* says whether basket *i* holds it."""
    rows = owners(incidence.indptr)
    rows = rows[np.argsort(incidence.items, kind="stable")]
    ends = np.cumsum(incidence.supports)
    found = []
    for begin, end in zip((ends - incidence.supports).tolist(), ends.tolist(), strict=True):
        flags = flagged(rows[begin:end], incidence.baskets)
        found.append(int.from_bytes(np.packbits(flags, bitorder="little").tobytes(), "little"))
    return found


def _groups(sets: Iterable[Set]) -> Iterator[Iterator[Set]]:
    """Group sets that share all but their last item."""
    return (group for _, group in groupby(sets, key=lambda items: items[:-1]))


PATIENCE, STARTED = 0.7, 0.005
"""The compiled search pays off if there is more than this many seconds of work, before and after it is loaded."""


@dataclass(frozen=True, slots=True, eq=False)
class Moles:
    """The minimal moles found in some baskets."""

    singles: Items  # items that are moles themselves, ascending codes
    indptr: Indptr
    items: Items
    """`indptr`, `items`: the larger moles in compressed rows, by size and then in lexicographic order of their codes,
    which ascend."""
    tried: dict[int, int]  # how many sets of each size were judged

    def __len__(self) -> int:
        return len(self.indptr) - 1

    def sizes(self) -> dict[int, int]:
        """How many moles there are of each size that was searched."""
        counts = np.bincount(np.diff(self.indptr), minlength=max(self.tried) + 1)
        counts[1] = len(self.singles)
        return {size: int(counts[size]) for size in self.tried}

    def sets(self) -> Iterator[tuple[int, ...]]:
        """The larger moles, one at a time."""
        codes, bounds = self.items.tolist(), self.indptr.tolist()
        return (tuple(codes[begin:end]) for begin, end in pairwise(bounds))


class Search(Protocol):
    """A level-wise search for moles; its current level is the sets of one size that neither are nor contain moles."""

    def __len__(self) -> int:
        """How many sets the current level has."""

    def extend(self, keep_safe: bool) -> tuple[Items, int]:
        """Make the sets one item longer; returns the moles, as rows of ranks, and how many sets were judged."""


def find_moles(
    baskets: Baskets, promise: Promise, engine: Local | None = None, patience: float | None = None
) -> Moles:
    """Find all minimal moles.

    `baskets`: public and private items count; others are ignored. `promise`: what makes a set a mole; the empty set
    must not be one. `patience`: levels that would take more than this many seconds without compiled kernels are left
    to them; 0 leaves all to them. By default it depends on whether the kernels are loaded.
    """
    if is_eager():
        patience = 0.0
    elif patience is None:
        patience = STARTED if are_loaded() else PATIENCE
    engine = engine or Local()
    promise = replace(promise, h=largest_below(promise.h, len(baskets)))
    supports = baskets.supports
    known = baskets.public[supports[baskets.public] > 0]
    public = Incidence.of(baskets, known, supports)
    private = Incidence.of(baskets, baskets.sensitive, supports)
    search: Search
    if seconds_to_begin(public, private) < patience:
        singles = single_moles(public, private, promise)
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

    `search`: its level is the single items that are not moles. `codes`, `singles`: the codes of the public items that
    occur, by rank, and which of them are moles themselves. `chosen`: called before each level, returns the search to go
    on with.
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
    """Sort the items in each set, and the sets in lexicographic order."""
    sets = np.sort(sets, axis=1)
    return sets[np.lexsort(sets.T[::-1])]
