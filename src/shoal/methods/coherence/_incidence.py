"""The incidence of items in baskets: which baskets hold which items."""

from dataclasses import dataclass

import numpy as np

from shoal.arrays import Counts, Indptr, Items, Mask, indptr_of
from shoal.data.baskets import Baskets


@dataclass(frozen=True, slots=True, eq=False)
class Incidence:
    """Some items of baskets, recoded to the ranks of their supports, rarest first."""

    codes: Items
    supports: Counts
    """`codes`, `supports`: the code of each rank, and how many baskets hold it."""
    indptr: Indptr
    items: Items
    """`indptr`, `items`: the ranks that each basket holds, in any order."""

    @classmethod
    def of(cls, baskets: Baskets, codes: Items, supports: Counts) -> "Incidence":
        """The incidence of the given items; `supports` are those of all items of the baskets."""
        codes = codes[np.argsort(supports[codes], kind="stable")]
        ranks = np.full(len(baskets.vocabulary), -1, dtype=np.int32)
        ranks[codes] = np.arange(len(codes), dtype=np.int32)
        return cls(codes, supports[codes], *_kept(baskets.indptr, ranks[baskets.items]))

    def without(self, dropped: Mask) -> "Incidence":
        """The same incidence without some of the items."""
        if not dropped.any():
            return self
        ranks = np.where(dropped, -1, np.cumsum(~dropped) - 1).astype(np.int32)
        kept = _kept(self.indptr, ranks[self.items])
        return Incidence(self.codes[~dropped], self.supports[~dropped], *kept)

    @property
    def baskets(self) -> int:
        """The number of baskets."""
        return len(self.indptr) - 1


def _kept(indptr: Indptr, ranks: Items) -> tuple[Indptr, Items]:
    """Compressed rows without their negative entries."""
    stays = ranks >= 0
    return indptr_of(stays)[indptr], ranks[stays]
