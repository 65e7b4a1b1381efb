"""Baskets published in groups: exact sets of public items, and counts of sensitive ones (CAHD)."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

import numpy as np

from shoal.arrays import Counts, Indptr, Items, Rows, freeze, owners
from shoal.data._plural import counted
from shoal.data.baskets import descents


@dataclass(frozen=True, slots=True)
class Group:
    """One published group: the public items of each basket, and how many of them hold each sensitive item."""

    baskets: tuple[tuple[str, ...], ...]
    sensitive: Mapping[str, int]


@dataclass(frozen=True, slots=True, eq=False)
class Groups:
    """Groups of baskets, each with a summary of its sensitive items.

    Group g holds the baskets ``group_indptr[g]:group_indptr[g + 1]``; basket i holds the public items
    ``items[basket_indptr[i]:basket_indptr[i + 1]]``; the summary of group g lies at
    ``sensitive_indptr[g]:sensitive_indptr[g + 1]`` of `sensitive_items` and `sensitive_counts`. Items ascend; those of
    the groups `unsorted` did not where they were read.
    """

    group_indptr: Indptr
    basket_indptr: Indptr
    items: Items
    sensitive_indptr: Indptr
    sensitive_items: Items
    sensitive_counts: Counts
    vocabulary: tuple[str, ...]
    unsorted: Rows = field(default_factory=lambda: np.empty(0, dtype=np.int64))

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
        """The groups whose baskets do not ascend, and those that belong before the one ahead of them.

        Groups ascend by their baskets, then by their sensitive items and counts.
        """
        falls = descents(self.basket_indptr, self.items)
        group = np.searchsorted(self.group_indptr, falls, side="right") - 1
        mixed = np.unique(group[falls > self.group_indptr[group]])
        # A group as one list: 0 ends a basket and -1 the last of them, and both come before any item.
        begins = self.basket_indptr[self.group_indptr] + self.group_indptr
        begins = begins + np.arange(len(begins)) + 2 * self.sensitive_indptr
        shift = np.arange(len(self)) + 2 * self.sensitive_indptr[:-1]
        numbers = np.zeros(begins[-1], dtype=np.int64)
        basket = owners(self.basket_indptr)
        of_basket = basket + np.repeat(shift, self.sizes)[basket]
        numbers[np.arange(len(self.items)) + of_basket] = self.items + 1
        numbers[begins[1:] - 2 * np.diff(self.sensitive_indptr) - 1] = -1
        of_secret = np.repeat(np.arange(len(self)), np.diff(self.sensitive_indptr))
        place = begins[1:][of_secret] - 2 * (self.sensitive_indptr[1:][of_secret] - np.arange(len(of_secret)))
        numbers[place], numbers[place + 1] = self.sensitive_items, self.sensitive_counts
        return mixed, descents(begins, numbers)

    @property
    def sizes(self) -> Counts:
        """The number of baskets of each group."""
        return np.diff(self.group_indptr)
