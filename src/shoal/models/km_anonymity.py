"""k^m-anonymity: whoever knows up to m items of a basket finds at least k baskets."""

from collections.abc import Iterator
from dataclasses import dataclass
from math import comb
from typing import ClassVar

import numpy as np
from pydantic import Field

from shoal.arrays import Indptr, Items, Mask, Rows, grouped, owners
from shoal.data._plain_text import counted
from shoal.data.baskets import Baskets
from shoal.data.release import Published
from shoal.data.verdict import SHOWN, Offender, Verdict
from shoal.models.model import Model

BATCH = 4_000_000
"""How many combinations are counted at a time, so that memory stays bounded."""


class KmAnonymity(Model):
    """Every combination of 1 up to m items that some basket holds is held by at least k baskets.

    It protects who a basket belongs to against an adversary who knows up to m of its items. It says nothing about what
    the adversary learns of the other items once all those k baskets hold them. Sensitive items count like all others.
    """

    name: ClassVar[str] = "km-anonymity"
    accepts: ClassVar[tuple[type, ...]] = (Baskets,)
    paper: ClassVar[str] = (
        "Terrovitis, Mamoulis, Kalnis: Privacy-preserving anonymization of set-valued data. PVLDB 1(1), 2008"
    )

    k: int = Field(ge=2, description="how many baskets hold each combination at least")
    m: int = Field(ge=1, description="the most items of a combination")

    def sentence(self, of: str, known: str) -> str:
        """The promise for readers who know no model by its name."""
        return (
            f"Someone who knows up to {self.m} items of a person can guess that person's basket with a chance of at "
            f"most 1 in {self.k}."
        )

    def verify(self, published: Published) -> Verdict:
        """Count all combinations of up to m items."""
        self.accept(published)
        assert isinstance(published, Baskets)
        groups = np.zeros(len(published), dtype=np.int64)
        found = rarest(groups, published.indptr, published.items, self.k, self.m)
        return self.conclude_sets(found, published.vocabulary)

    def conclude_sets(self, found: "Rarity", vocabulary: tuple[str, ...]) -> Verdict:
        """The verdict that follows from the rarest combinations."""
        combinations = f"every combination of up to {counted(self.m, 'items')}"
        promise = f"{combinations} is held by at least {self.k} baskets, or by none"
        offenders = tuple(
            Offender(
                "{" + ", ".join(vocabulary[item] for item in one.items) + "}",
                f"{counted(one.support, 'baskets')} where {self.k} are promised",
            )
            for one in found.worst
        )
        return Verdict(self.name, promise, not found.count, found.least, self.k, offenders, found.count)


@dataclass(frozen=True, slots=True)
class Combination:
    """Items that occur together in a group of sets, and in how many of them."""

    group: int
    items: tuple[int, ...]
    support: int


@dataclass(frozen=True, slots=True)
class Rarity:
    """The rarest combinations: their support, how many are below k, and the worst of those."""

    least: int | None
    count: int
    worst: tuple[Combination, ...]


def rarest(groups: Rows, indptr: Indptr, items: Items, k: int, m: int, firsts: Mask | None = None) -> Rarity:
    """Count every combination of 1 up to m items that occurs in the sets of a group, in all groups.

    `firsts`: count only combinations whose first item is one of these (one entry an item).
    """
    if not len(items):
        return Rarity(None, 0, ())
    record = owners(indptr)
    width = int(items.max()) + 1
    key = groups[record] * width + items
    order = np.argsort(key, kind="stable")
    if firsts is not None and not len(order := order[firsts[items[order]]]):
        return Rarity(None, 0, ())
    least, count, found = len(items), 0, []
    for first in batches(key[order], (indptr[record + 1] - np.arange(len(items)) - 1)[order], m):
        for group, combination, support, _, _ in occurring(order[first], key, record, indptr, items, m):
            least = min(least, int(support.min()))
            rare = np.flatnonzero(support < k)
            count += len(rare)
            for place in rare[np.argsort(support[rare], kind="stable")][:SHOWN]:
                names = tuple(int(items[position]) for position in combination(int(place)))
                found.append(Combination(int(groups[record[group[place]]]), names, int(support[place])))
    found.sort(key=lambda one: (one.support, len(one.items)))
    return Rarity(least, count, tuple(found[:SHOWN]))


def batches(keys: Rows, rest: Rows, m: int) -> Iterator[slice]:
    """Ranges of first items, each with all sets it is the first item of, of bounded work."""
    longest = int(rest.max())
    work = np.array(
        [float(sum(comb(length, size) for size in range(m))) for length in range(longest + 1)],
        dtype=np.float64,
    )[rest]
    starts = np.flatnonzero(np.concatenate(([True], keys[1:] != keys[:-1])))
    batch = (np.cumsum(np.add.reduceat(work, starts)) // BATCH).astype(np.int64)
    cuts = starts[np.concatenate(([True], batch[1:] != batch[:-1]))]
    for begin, end in zip(cuts.tolist(), [*cuts[1:].tolist(), len(keys)], strict=True):
        yield slice(begin, end)


def occurring(first: Rows, key: Rows, record: Rows, indptr: Indptr, items: Items, m: int) -> Iterator[tuple]:  # type: ignore[type-arg]
    """The distinct combinations that begin with one of the first items, size by size.

    Yields an occurrence of each, how to list the positions of its items there, and its support; and of all occurrences,
    which combination and which last position they have.
    """
    width = int(items.max()) + 1
    last, number = first, key[first]
    trail: list[tuple[Rows, Rows]] = []
    came = np.arange(len(first))
    for size in range(1, m + 1):
        trail.append((last, came))
        example, number, support = grouped(number)

        def positions(place: int, example: Rows = example, size: int = size) -> list[int]:
            row, listed = int(example[place]), []
            for here, before in reversed(trail[:size]):
                listed.append(int(here[row]))
                row = int(before[row])
            return listed[::-1]

        yield last[example], positions, support, number, last
        more = indptr[record[last] + 1] - last - 1
        if size == m or not more.any():
            return
        came = np.repeat(np.arange(len(last)), more)
        step = np.arange(len(came)) - np.repeat(np.cumsum(more) - more, more)
        last = last[came] + 1 + step
        number = number[came] * width + items[last]
