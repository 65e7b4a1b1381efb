"""Pick the items to suppress one after another, by a score (Xu, Wang, Fu, Yu, KDD 2008).

MM(e) is the number of remaining minimal moles that contain the item e; IL(e), its information loss, is its support.
The scores:

mm/il
    MM(e) / IL(e): the most moles for the least loss. The paper's choice.
1/il
    1 / IL(e): the rarest item that is in a mole.
mm
    MM(e): the item that is in the most moles.

Among equal scores, the item with more moles goes first, then the one with less loss, then the first in the order of
the texts.
"""

from collections.abc import Callable
from heapq import heapify, heappop, heappush
from typing import TypeAlias

import numpy as np

from shoal.arrays import Counts, Indptr, Items, Mask, Rows, indptr_of, owners, taken
from shoal.methods.coherence._moles import Moles

GREEDY = ("mm/il", "1/il", "mm")
"""The names of the scores, the paper's choice first."""

Key: TypeAlias = tuple[float, int, int, int]
"""The key by which items are compared; the least goes first."""


def key_of(pick: str) -> Callable[[int, int, int], Key]:
    """The function that gives an item's key from its moles, its loss and its code.

    Quotients are rounded to 53 bits, so that different ones are distinguished as long as moles times loss stay below
    2⁵².
    """
    score: Callable[[int, int], float] = {
        "mm/il": lambda moles, loss: moles / loss,
        "1/il": lambda moles, loss: 1 / loss,
        "mm": lambda moles, loss: float(moles),
    }[pick]
    return lambda moles, loss, item: (-score(moles, loss), -moles, loss, item)


class Hits:
    """Which item is in which mole, in both directions.

    `moles`: the moles; those of a single item are ignored. `items`: the number of items.
    """

    def __init__(self, moles: Moles, items: int) -> None:
        self.indptr, self.items = moles.indptr, moles.items
        self._mole_of = owners(moles.indptr)
        self._by_item: Rows = self._mole_of[np.argsort(moles.items, kind="stable")]
        self.degrees: Counts = np.bincount(moles.items, minlength=items).astype(np.int64)
        self._item_indptr: Indptr = indptr_of(self.degrees)

    def __len__(self) -> int:
        return len(self.indptr) - 1

    def moles_of(self, item: int) -> Rows:
        """The moles that contain an item, ascending."""
        return self._by_item[self._item_indptr[item] : self._item_indptr[item + 1]]

    def items_of(self, moles: Rows) -> Items:
        """The items of some moles, one mole after another."""
        return np.asarray(self.items[taken(self.indptr, moles)[1]])

    def times_hit(self, chosen: Mask) -> Counts:
        """How many of the chosen items each mole contains."""
        return np.bincount(self._mole_of, chosen[self.items], len(self)).astype(np.int64)


def greedy(
    hits: Hits, losses: Counts, pick: str, wanted: Mask | None = None, barred: int | None = None
) -> list[int]:
    """Pick items until no mole is left; returns them in the order of the picks.

    Scores only fall, so that a heap of outdated scores is enough: an item whose score has fallen since is put back when
    it comes up.

    `wanted`: the moles that must go; all by default. `barred`: an item that must not be picked; every mole that must
    go contains another one.
    """
    alive = np.ones(len(hits), dtype=np.bool_) if wanted is None else wanted.copy()
    degrees = (
        hits.degrees.copy()
        if wanted is None
        else np.bincount(hits.items_of(np.flatnonzero(alive)), minlength=len(losses))
    )
    if barred is not None:
        degrees[barred] = 0
    key = key_of(pick)
    loss_of = losses.tolist()
    heap = [key(int(degrees[item]), loss_of[item], item) for item in np.flatnonzero(degrees).tolist()]
    heapify(heap)
    chosen = []
    while heap:
        _, negative, loss, item = heappop(heap)
        degree = int(degrees[item])
        if degree != -negative:
            if degree:
                heappush(heap, key(degree, loss, item))
            continue
        moles = hits.moles_of(item)
        moles = moles[alive[moles]]
        alive[moles] = False
        gone = hits.items_of(moles)
        if len(gone) > len(degrees):
            degrees -= np.bincount(gone, minlength=len(degrees))
        else:
            np.subtract.at(degrees, gone, 1)
        chosen.append(item)
    return chosen
