"""Baskets published in groups: exact sets of public items, and counts of sensitive ones (CAHD)."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from shoal.arrays import Counts, Indptr, Items, Rows, flagged, freeze
from shoal.data._plain_text import counted
from shoal.data.baskets import beginnings, compared


@dataclass(frozen=True, slots=True)
class Group:
    """One published group: the public items of each basket, and how many of them hold each sensitive item."""

    baskets: tuple[tuple[str, ...], ...]
    sensitive: Mapping[str, int]


@dataclass(frozen=True, slots=True, eq=False)
class Groups:
    """Groups of baskets, each with a summary of its sensitive items.

    Group g holds the baskets ``group_indptr[g]:group_indptr[g + 1]``; basket i holds the public items
    ``items[basket_indptr[i]:basket_indptr[i + 1]]``; the summary of group g is at
    ``sensitive_indptr[g]:sensitive_indptr[g + 1]`` in `sensitive_items` and `sensitive_counts`. Items ascend;
    `unsorted` lists the groups in which they did not when they were read.
    """

    group_indptr: Indptr
    basket_indptr: Indptr
    items: Items
    sensitive_indptr: Indptr
    sensitive_items: Items
    sensitive_counts: Counts
    vocabulary: tuple[str, ...]
    unsorted: Rows = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    canonical: bool = field(default=False, init=False, repr=False)
    """Whether the groups are already in canonical order, so that they are not sorted again."""
    kept: dict[str, Any] = field(default_factory=dict, init=False, repr=False)  # cached results

    def __post_init__(self) -> None:
        places = ("group_indptr", "basket_indptr", "sensitive_indptr")
        freeze(self, np.int64, *places, "sensitive_counts", "unsorted")
        freeze(self, np.int32, "items", "sensitive_items")

    def __len__(self) -> int:
        return len(self.group_indptr) - 1

    def __iter__(self) -> Iterator[Group]:
        """The groups with the texts of their items."""
        return map(self.group, range(len(self)))

    def group(self, place: int) -> Group:
        """One group with the texts of its items."""
        text, ends = self.vocabulary.__getitem__, self.basket_indptr
        baskets = range(self.group_indptr[place], self.group_indptr[place + 1])
        secret = slice(self.sensitive_indptr[place], self.sensitive_indptr[place + 1])
        counted_items = zip(self.sensitive_items[secret], self.sensitive_counts[secret].tolist(), strict=True)
        return Group(
            tuple(tuple(map(text, self.items[ends[one] : ends[one + 1]])) for one in baskets),
            {text(item): count for item, count in counted_items},
        )

    def __repr__(self) -> str:
        baskets = counted(len(self.basket_indptr) - 1, "baskets")
        return (
            f"<Groups: {counted(len(self), 'groups')} of {baskets}, {counted(len(self.vocabulary), 'items')}>"
        )

    def out_of_order(self) -> tuple[Rows, Rows]:
        """The groups whose baskets do not ascend, and the groups that should come before their predecessor.

        Groups ascend by their baskets, then by their sensitive items and counts.
        """
        begins, lengths = self.basket_indptr[:-1], np.diff(self.basket_indptr)
        key, whole, _ = beginnings(
            np.zeros(len(begins), dtype=np.int64), begins, lengths, self.items, len(self.vocabulary) + 2
        )

        def placed(here: Rows, ahead: Rows) -> tuple[Rows, Rows]:
            """Which baskets come before others, and which are equal; the first items decide most cases."""
            before, same = key[here] < key[ahead], key[here] == key[ahead]
            tied = np.flatnonzero(same & ~whole[here])
            less, equal = compared(begins, lengths, self.items, here[tied], ahead[tied])
            before[tied[less]], same[tied] = True, False
            same[tied[equal]] = True
            return np.flatnonzero(before), np.flatnonzero(same)

        inside = np.flatnonzero(~flagged(self.group_indptr, len(begins) + 1)[:-1])
        falls = inside[placed(inside, inside - 1)[0]]
        mixed = np.unique(np.searchsorted(self.group_indptr, falls, side="right") - 1)
        # Groups that tie so far are compared by their next baskets; those that tie on all, by their sensitive items.
        sizes, tied = self.sizes, np.arange(1, max(len(self), 1))
        found, ended = [tied[:0]], [tied[:0]]
        position = 0
        while len(tied):
            short, short_ahead = sizes[tied] <= position, sizes[tied - 1] <= position
            found.append(tied[short & ~short_ahead])
            ended.append(tied[short & short_ahead])
            tied = tied[~short & ~short_ahead]
            here, ahead = self.group_indptr[tied] + position, self.group_indptr[tied - 1] + position
            before, same = placed(here, ahead)
            found.append(tied[before])
            tied = tied[same]
            position += 1
        tied = np.sort(np.concatenate(ended))
        secrets = np.empty(2 * len(self.sensitive_items), dtype=np.int64)
        secrets[0::2], secrets[1::2] = self.sensitive_items, self.sensitive_counts
        kinds = 2 * np.diff(self.sensitive_indptr)
        found.append(tied[compared(2 * self.sensitive_indptr[:-1], kinds, secrets, tied, tied - 1)[0]])
        return mixed, np.sort(np.concatenate(found))

    @property
    def sizes(self) -> Counts:
        """The number of baskets of each group."""
        return np.diff(self.group_indptr)
