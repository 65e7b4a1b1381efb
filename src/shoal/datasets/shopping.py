"""Synthetic baskets of a given size, density and skew."""

from typing import ClassVar

import numpy as np
from pydantic import Field

from shoal.arrays import Floats, Rows
from shoal.data.baskets import Baskets, baskets_of_pairs
from shoal.parameters import Parameters

HIGHEST = 0.95
"""The largest probability of an item: above it, nearly all baskets would hold the item."""

EVENNESS = 4.0
"""Shape of the gamma distribution of how much a person buys: the smaller it is, the more the sizes of baskets vary."""


class Shopping(Parameters):
    """Baskets of shoppers: popular and rare items, large and small baskets, and optional tastes.

    The truth: the probability that a basket holds item *r* is ``probabilities()[r - 1]``, which is
    ``min(0.95, c / r**skew)`` with the *c* that gives the density. How much a person buys varies by a factor drawn
    from a gamma distribution (shape 4, mean 1); given that factor, and the person's taste, items are independent. Items
    are named 1, 2, 3, … in the order of their popularity. A basket may be empty; items that nobody bought are absent.
    """

    name: ClassVar[str] = "baskets"

    rows: int = Field(default=10_000, ge=1, le=100_000_000, description="number of baskets")
    items: int = Field(default=500, ge=1, le=1_000_000, description="number of items on offer")
    density: float = Field(
        default=0.01, gt=0, lt=0.9, description="mean share of the items that a basket holds"
    )
    skew: float = Field(
        default=1.0,
        ge=0,
        le=4,
        description="Zipf exponent of the items' popularity; 0 makes all equally popular",
    )
    topics: int = Field(
        default=1,
        ge=1,
        le=1000,
        description="number of tastes: each person has one, each item appeals to one",
    )
    correlation: float = Field(
        default=0.5,
        ge=0,
        le=0.9,
        description="how much a person keeps to items of the own taste; 0 is not at all",
    )

    def make(self, seed: int | None = None) -> Baskets:
        """Make the baskets; the same seed makes the same baskets.

        Purchases are thrown like darts: a Poisson number for each item, each of which hits a person with a probability
        in proportion to how much that person buys. The work is proportional to the number of purchases.
        """
        generator = np.random.default_rng(seed)
        activity = generator.gamma(EVENNESS, 1 / EVENNESS, self.rows)
        taste = np.sort(generator.integers(self.topics, size=self.rows))
        edges = np.concatenate(([0.0], np.cumsum(activity)))
        first = edges[np.searchsorted(taste, np.arange(self.topics))]
        last = edges[np.searchsorted(taste, np.arange(self.topics), side="right")]
        appeal = np.arange(self.items) % self.topics
        intensity = self._intensities()
        inside, outside = self._weights()
        own = generator.poisson(intensity * inside * (last - first)[appeal])
        foreign = generator.poisson(intensity * outside * np.maximum(edges[-1] - (last - first)[appeal], 0))

        target = np.repeat(appeal, own)
        hits = first[target] + generator.random(len(target)) * (last - first)[target]
        target = np.repeat(appeal, foreign)
        others = generator.random(len(target)) * (edges[-1] - (last - first)[target])
        others += np.where(others >= first[target], (last - first)[target], 0)
        bought = np.concatenate(
            (np.repeat(np.arange(self.items), own), np.repeat(np.arange(self.items), foreign))
        )
        people = np.searchsorted(edges, np.concatenate((hits, others)), side="right") - 1
        # So far, people are in the order of their tastes.
        shuffled = generator.permutation(self.rows)
        return _baskets(shuffled[np.clip(people, 0, self.rows - 1)], bought, self.rows, self.items)

    def probabilities(self) -> Floats:
        """The probability of each item, most popular first."""
        popularity = np.arange(1, self.items + 1, dtype=np.float64) ** -self.skew
        low, high = 0.0, HIGHEST / float(popularity[-1])
        for _ in range(200):
            middle = (low + high) / 2
            if np.minimum(HIGHEST, middle * popularity).sum() < self.density * self.items:
                low = middle
            else:
                high = middle
        return np.minimum(HIGHEST, high * popularity)

    def _weights(self) -> tuple[float, float]:
        """The factors by which items of a person's own taste, and of other tastes, are bought more or less often."""
        correlation = self.correlation if self.topics > 1 else 0.0
        return 1 + (self.topics - 1) * correlation, 1 - correlation

    def _intensities(self) -> Floats:
        """For each item, the expected number of darts per person of activity 1 that gives the item its probability."""
        wanted = self.probabilities()
        inside, outside = self._weights()

        def reached(intensity: Floats) -> Floats:
            own = 1 - (1 + intensity * inside / EVENNESS) ** -EVENNESS
            foreign = 1 - (1 + intensity * outside / EVENNESS) ** -EVENNESS
            return np.asarray((own + (self.topics - 1) * foreign) / self.topics)

        low, high = np.zeros(self.items), np.full(self.items, 100.0)
        for _ in range(60):
            middle = (low + high) / 2
            enough = reached(middle) >= wanted
            low, high = np.where(enough, low, middle), np.where(enough, middle, high)
        return np.asarray(high)


def _baskets(people: Rows, bought: Rows, rows: int, items: int) -> Baskets:
    """Baskets from purchases, with repeated ones merged; items are named by their number, counted from 1."""
    used = np.flatnonzero(np.bincount(bought, minlength=items))
    names = sorted(str(item + 1) for item in used)
    code = np.zeros(items, dtype=np.int64)
    code[[int(name) - 1 for name in names]] = np.arange(len(names))
    return baskets_of_pairs(people, code[bought], rows, tuple(names))
