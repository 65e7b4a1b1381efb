"""What a few known items of a basket give away: counted over all choices, or on a sample with its interval."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from shoal.arrays import Counts, Floats, Rows, flagged
from shoal.data._item_adversary import known_items as sampled_items
from shoal.data.baskets import Baskets
from shoal.risks.interval import wilson

ROOM = 20_000_000
"""Up to so many choices of items are all counted."""

SAMPLES = 20_000


@dataclass(frozen=True, slots=True)
class KnownItemsRisk:
    """What an adversary finds who knows so many public items of a basket.

    A basket with at least that many public items is drawn, and then that many of its public items. It is unique if no
    other basket holds them all; who picks one of those that do is right with the chance 1 / (their number).
    """

    known: int  # the number of items that are known
    baskets: int  # how many baskets have so many
    tried: int  # how many baskets were looked at
    unique: float
    chance: float
    """`unique`, `chance`: the share of unique ones, and the mean chance to be right."""
    interval: tuple[float, float]
    """Of the share of unique ones: 95 %, from the sample; twice the same number where all choices were counted."""
    exact: bool  # whether all baskets and all choices of their items were counted

    def as_dict(self) -> dict[str, Any]:
        """The same as plain data."""
        return {**asdict(self), "interval": list(self.interval)}


def known_items_risk(
    baskets: Baskets, known: Sequence[int] = (1, 2, 3, 4), *, samples: int = SAMPLES, seed: int = 0
) -> tuple[KnownItemsRisk, ...]:
    """Measure what one to four known items give away."""
    public = baskets.keep(flagged(baskets.public, len(baskets.vocabulary)))
    return tuple(_risk(public, count, samples, seed) for count in known)


def _risk(baskets: Baskets, known: int, samples: int, seed: int) -> KnownItemsRisk:
    lengths = baskets.lengths
    able = lengths >= known
    if not able.any():
        return KnownItemsRisk(known, 0, 0, 0.0, 0.0, (0.0, 0.0), True)
    choices = _choices(lengths[able], known)
    if choices.sum() <= ROOM and max(len(baskets.vocabulary), 2) ** known < 2**63:
        return _counted(baskets.take(np.flatnonzero(able)), known)
    found = sampled_items(baskets, (known,), samples, seed)[0]
    right = round(found.unique * found.sampled)
    whole = found.sampled == found.baskets
    return KnownItemsRisk(
        known,
        found.baskets,
        found.sampled,
        found.unique,
        found.probability,
        wilson(right, found.sampled),
        whole and known == 1,
    )


def _choices(lengths: Counts, known: int) -> Floats:
    """In how many ways so many items are chosen of each basket."""
    choices = np.ones(len(lengths))
    for place in range(known):
        choices *= (lengths - place) / (place + 1)
    return choices


def _counted(baskets: Baskets, known: int) -> KnownItemsRisk:
    """Over all choices of items of all baskets: the same key in another basket is the same choice of items."""
    rows, keys = _keys(baskets, known)
    _, inverse, supports = np.unique(keys, return_inverse=True, return_counts=True)
    held = supports[inverse]
    ways = np.bincount(rows, minlength=len(baskets))
    unique = float((np.bincount(rows, held == 1, len(baskets)) / ways).mean())
    chance = float((np.bincount(rows, 1 / held, len(baskets)) / ways).mean())
    return KnownItemsRisk(known, len(baskets), len(baskets), unique, chance, (unique, unique), True)


def _keys(baskets: Baskets, known: int) -> tuple[Rows, Rows]:
    """Each basket with each choice of so many of its items, as one integer."""
    width = len(baskets.vocabulary)
    rows = np.repeat(np.arange(len(baskets), dtype=np.int64), baskets.lengths)
    ends = baskets.indptr[1:][rows]
    last = np.arange(len(baskets.items), dtype=np.int64)
    keys = baskets.items.astype(np.int64)
    for _ in range(known - 1):
        more = ends - last - 1
        rows, keys, ends = np.repeat(rows, more), np.repeat(keys, more), np.repeat(ends, more)
        first = np.cumsum(more) - more
        last = np.repeat(last + 1 - first, more) + np.arange(len(rows))
        keys = keys * width + baskets.items[last]
    return rows, keys
