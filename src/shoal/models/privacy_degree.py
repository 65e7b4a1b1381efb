"""Privacy degree of groups (Ghinita, Tao and Kalnis 2008, section II)."""

from fractions import Fraction
from typing import ClassVar

import numpy as np
from pydantic import Field

from shoal.arrays import Counts, Rows
from shoal.data.groups import Groups
from shoal.data.release import Published
from shoal.models.model import Model
from shoal.models.verdict import SHOWN, Offender, Verdict

LONG = 60
"""Letters of a basket that names a group."""


class PrivacyDegree(Model):
    """In every group, at most one p-th of the baskets holds any one sensitive item.

    So a reader who knows all public items of a person, finds the group and takes every member to be equally likely
    gives each sensitive item a chance of at most 1/p. It is no promise against readers who know more: how the
    groups were formed, or that some baskets are likelier to hold the item than others.

    A basket that lists an item which is sensitive in any group breaks the promise too: there it is certain.
    """

    name: ClassVar[str] = "privacy-degree"
    accepts: ClassVar[tuple[type, ...]] = (Groups,)
    paper: ClassVar[str] = (
        "Ghinita, Tao, Kalnis: On the anonymization of sparse high-dimensional data. ICDE 2008"
    )

    p: int = Field(ge=2, description="degree: at most one p-th of a group's baskets holds a sensitive item")

    def verify(self, published: Published) -> Verdict:
        """Compare each count of each group with the number of its baskets."""
        self.accept(published)
        assert isinstance(published, Groups)
        promise = f"no sensitive item is in more than 1/{self.p} of a group's baskets"
        counts = published.sensitive_counts
        if not len(counts):
            return Verdict(self.name, promise, holds=True, value=None, threshold=self.p)
        group = np.searchsorted(published.sensitive_indptr, np.arange(len(counts)), side="right") - 1
        sizes = published.group_indptr[1:][group] - published.group_indptr[:-1][group]
        listed = _listed(published)
        value = min(Fraction(int(sizes[place]), int(counts[place])) for place in _worst(sizes, counts))
        if len(listed):
            value = Fraction(1)
        broken = np.flatnonzero(counts * self.p > sizes)
        shown = broken[np.argsort(sizes[broken] / counts[broken], kind="stable")][:SHOWN]
        offenders = [
            Offender(
                _where(published, int(group[place])),
                f"{counts[place]} of {sizes[place]} baskets hold {_item(published, place)!r}, where at most "
                f"{sizes[place] // self.p} may",
            )
            for place in shown.tolist()
        ]
        offenders += [
            Offender(
                f"basket {basket + 1}", f"lists {published.vocabulary[item]!r}, which is sensitive elsewhere"
            )
            for basket, item in listed[: SHOWN - len(offenders)]
        ]
        count = len(broken) + len(listed)
        return Verdict(self.name, promise, not count, value, self.p, tuple(offenders), count)


def _worst(sizes: Counts, counts: Counts) -> Rows:
    """Places among which is the smallest quotient, for each size the one with the largest count."""
    by_size = np.lexsort((-counts, sizes))
    first = np.concatenate(([True], sizes[by_size][1:] != sizes[by_size][:-1]))
    return by_size[first]


def _listed(groups: Groups) -> list[tuple[int, int]]:
    """Baskets that list an item which some group counts as sensitive."""
    secret = np.zeros(len(groups.vocabulary), dtype=np.bool_)
    secret[groups.sensitive_items] = True
    places = np.flatnonzero(secret[groups.items])
    baskets = np.searchsorted(groups.basket_indptr, places, side="right") - 1
    return list(zip(baskets.tolist(), groups.items[places].tolist(), strict=True))


def _item(groups: Groups, place: int) -> str:
    return groups.vocabulary[int(groups.sensitive_items[place])]


def _where(groups: Groups, group: int) -> str:
    """A group in words: its number in the file, its size and its first basket."""
    begin, end = groups.group_indptr[group], groups.group_indptr[group + 1]
    held = groups.items[groups.basket_indptr[begin] : groups.basket_indptr[begin + 1]]
    first = " ".join(groups.vocabulary[item] for item in held[:LONG].tolist())
    first = first if len(first) <= LONG else first[: LONG - 1] + "…"
    return f"group {group + 1} ({end - begin} baskets, the first is {{{first}}})"
