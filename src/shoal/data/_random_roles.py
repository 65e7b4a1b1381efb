"""Draw at random which items of baskets are public, as experiments do; the others are sensitive or insensitive."""

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Literal, TypeAlias, TypeVar

import numpy as np

from shoal.arrays import Counts, Indptr, Items, Mask, Rows
from shoal.data.baskets import Baskets
from shoal.data.dataset import Dataset
from shoal.errors import WrongUse

Private: TypeAlias = Literal["none", "top", "bottom", "rest"]
"""Which of the items that are not public are sensitive."""

Data = TypeVar("Data", Baskets, Dataset)


def draw_roles(
    baskets: Data, share: float, seed: int, private: Private = "none", below: float | None = None
) -> Data:
    """Draw the roles of items at random: the same seed draws the same roles, whatever the order of the baskets.

    Items that are already sensitive or insensitive keep their role and are not drawn. An engine that holds the baskets
    elsewhere draws the same roles.

    `share`: δ: the share of all items, rounded to the nearest number, that becomes public. `private`: which of the
    other items become sensitive. ``none``: none of them; then only the sizes of cohorts matter. ``top``: those that are
    the most frequent non-public item of some basket, as in the paper on (h,k,p)-coherence. ``bottom``: those that are
    the rarest of some basket. ``rest``: all of them. Those that do not become sensitive become insensitive. `below`:
    only items that at most this share of the baskets hold become sensitive, because a promise with a smaller bound h
    could not be kept: even somebody without prior knowledge sees how frequent an item is. Raises `WrongUse` if a share
    is outside 0 … 1.

    >>> baskets = Baskets([0, 2, 4], [0, 1, 1, 2], ("a", "b", "c"), [], [])
    >>> drawn = draw_roles(baskets, 0.34, seed=7, private="rest")
    >>> len(drawn.public), len(drawn.sensitive)
    (1, 2)
    """
    if isinstance(baskets, Baskets):
        indptr, items = baskets.indptr, baskets.items

        def first(place: Rows) -> Rows:
            return least_places(place, indptr, items)

        return _drawn(baskets, baskets.supports, len(baskets), share, seed, private, below, first)

    from shoal.data._basket_frames import rows_of, supports_in

    def first_of_all(place: Rows) -> Rows:
        found = baskets.parts.fold(lambda frame: least_places(place, *rows_of(frame["items"])), np.union1d)
        return np.empty(0, dtype=np.int64) if found is None else found

    supports = supports_in(baskets)
    schema = _drawn(baskets.schema, supports, baskets.rows, share, seed, private, below, first_of_all)
    return replace(baskets, schema=schema)


def least_places(place: Rows, indptr: Indptr, items: Items) -> Rows:
    """The distinct smallest places of the items in each basket that is not empty."""
    filled: Mask = np.diff(indptr) > 0
    if not filled.any():
        return np.empty(0, dtype=np.int64)
    return np.unique(np.minimum.reduceat(place[items], indptr[:-1][filled]))


def _drawn(
    baskets: Baskets,
    supports: Counts,
    rows: int,
    share: float,
    seed: int,
    private: Private,
    below: float | None,
    first: Callable[[Rows], Rows],
) -> Baskets:
    """Baskets with drawn roles; only their vocabulary and roles are used for it."""
    for name, value in (("public", share), ("private", below)):
        if value is not None and not 0 <= value <= 1:
            raise WrongUse(f"The share of {name} items must lie between 0 and 1, not at {value:g}.")
    free = baskets.public
    count = int(Fraction(str(share)) * len(baskets.vocabulary) + Fraction(1, 2))
    drawn = np.random.default_rng(seed).permutation(len(free))[: min(count, len(free))]
    others = np.delete(free, drawn)
    able = others
    if below is not None:
        able = others[supports[others] <= int(Fraction(str(below)) * rows)]
    secret = able if private == "rest" else _of_some_basket(supports, able, private, first)
    return replace(
        baskets,
        sensitive=np.union1d(baskets.sensitive, secret),
        insensitive=np.union1d(baskets.insensitive, np.setdiff1d(others, secret)),
    )


def _of_some_basket(supports: Counts, able: Items, private: Private, first: Callable[[Rows], Rows]) -> Items:
    """The items that are the most frequent, or the rarest, in some basket; ties go to the smaller code."""
    if private == "none" or not len(able):
        return np.empty(0, dtype=np.int32)
    order = np.argsort(supports[able] * (-1 if private == "top" else 1), kind="stable")
    place = np.full(len(supports), len(able), dtype=np.int64)
    place[able[order]] = np.arange(len(able))
    found = first(place)
    return np.sort(able[order[found[found < len(able)]]])
