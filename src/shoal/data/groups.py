"""Baskets published in groups: exact sets of public items, and counts of sensitive ones (CAHD)."""

from dataclasses import dataclass, field

import numpy as np

from shoal.arrays import Counts, Indptr, Items, Rows
from shoal.data._frozen import frozen
from shoal.data._plural import counted


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
        for name in ("group_indptr", "basket_indptr", "sensitive_indptr", "sensitive_counts", "unsorted"):
            object.__setattr__(self, name, frozen(np.asarray(getattr(self, name), dtype=np.int64)))
        for name in ("items", "sensitive_items"):
            object.__setattr__(self, name, frozen(np.asarray(getattr(self, name), dtype=np.int32)))

    def __len__(self) -> int:
        return len(self.group_indptr) - 1

    def __repr__(self) -> str:
        baskets = counted(len(self.basket_indptr) - 1, "baskets")
        return (
            f"<Groups: {counted(len(self), 'groups')} of {baskets}, {counted(len(self.vocabulary), 'items')}>"
        )

    @property
    def sizes(self) -> Counts:
        """The number of baskets of each group."""
        return np.diff(self.group_indptr)
