"""Moles of few baskets or few items: long integers as sets of baskets.

Python's integers AND and count thousands of bits in a microsecond, and need no compiler: a compiled search starts two
seconds later. The search is the same, level by level.
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations, groupby
from typing import TypeAlias

import numpy as np

from shoal.arrays import Counts, Items, Mask
from shoal.methods.coherence._incidence import Incidence
from shoal.methods.coherence._thresholds import Promise

Set: TypeAlias = tuple[int, ...]

EACH_SET, EACH_BASKET, EACH_OCCURRENCE = 1e-6, 0.2e-9, 80e-9
"""Seconds to look at a candidate, and at every basket of it; and to put an item of a basket in its place."""


class IntegerSearch:
    """Moles by integers, whose bit *i* says whether basket *i* holds an item.

    `public`, `private`: who holds what; no public item is a mole itself. `promise`: what makes a mole.
    """

    def __init__(self, public: Incidence, private: Incidence, promise: Promise) -> None:
        self._holders, self._secrets = _integers(public), _integers(private)
        self._promise = promise
        self._set_seconds = EACH_SET + seconds_each(public, private)
        self._level: dict[Set, int] = {(item,): holder for item, holder in enumerate(self._holders)}

    def __len__(self) -> int:
        return len(self._level)

    def seconds(self) -> float:
        """About how long one more level takes, at most."""
        pairs = sum(
            size * (size - 1) // 2 for size in (sum(1 for _ in group) for group in _groups(self._level))
        )
        return pairs * self._set_seconds

    def level(self) -> tuple[Items, Counts]:
        """The sets of this level, a row a set, in lexicographic order, and their supports."""
        width = len(next(iter(self._level), ()))
        sets = np.array(list(self._level), dtype=np.int32).reshape(-1, width)
        return sets, np.array([cohort.bit_count() for cohort in self._level.values()], dtype=np.int64)

    def extend(self, keep_safe: bool) -> tuple[Items, int]:
        """Make the sets of this level one item longer; the moles, a row a mole, and how many sets were judged."""
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
                    if cohort and self._is_mole(cohort):
                        moles.append(longer)
                    elif cohort and keep_safe:
                        longer_sets[longer] = cohort
        width = len(next(iter(self._level), ())) + 1
        self._level = longer_sets
        return np.array(moles, dtype=np.int32).reshape(-1, width), tried

    def _is_mole(self, cohort: int) -> bool:
        return _is_mole(cohort, self._secrets, self._promise)


def single_moles(public: Incidence, private: Incidence, promise: Promise) -> Mask:
    """Which public items are moles themselves."""
    secrets = _integers(private)
    return np.array([_is_mole(cohort, secrets, promise) for cohort in _integers(public)], dtype=np.bool_)


def _is_mole(cohort: int, secrets: Sequence[int], promise: Promise) -> bool:
    """Whether a set is a mole, by the baskets that hold it, of which there are some."""
    support = cohort.bit_count()
    if support < promise.k:
        return True
    limit = promise.limit(support)
    return any((cohort & secret).bit_count() > limit for secret in secrets)


def seconds_each(public: Incidence, private: Incidence) -> float:
    """About how long it takes to judge one set, at most."""
    return (1 + len(private.codes)) * public.baskets * EACH_BASKET


def seconds_to_begin(public: Incidence, private: Incidence) -> float:
    """About how long it takes to judge the single items."""
    occurrences = len(public.items) + len(private.items)
    return len(public.codes) * seconds_each(public, private) + 2 * occurrences * EACH_OCCURRENCE


def _integers(incidence: Incidence) -> list[int]:
    """For each item an integer whose bit *i* says whether basket *i* holds it."""
    rows = np.repeat(np.arange(incidence.baskets), np.diff(incidence.indptr))
    rows = rows[np.argsort(incidence.items, kind="stable")]
    ends = np.cumsum(incidence.supports)
    found = []
    for begin, end in zip((ends - incidence.supports).tolist(), ends.tolist(), strict=True):
        flags = np.zeros(incidence.baskets, dtype=np.bool_)
        flags[rows[begin:end]] = True
        found.append(int.from_bytes(np.packbits(flags, bitorder="little").tobytes(), "little"))
    return found


def _groups(sets: Iterable[Set]) -> Iterator[Iterator[Set]]:
    """Sets that share all but their last item."""
    return (group for _, group in groupby(sets, key=lambda items: items[:-1]))
