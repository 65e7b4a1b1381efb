"""What baskets lose when items are taken out of them; rows of tables that are suppressed are those of `classes.py`."""

from typing import ClassVar

import numpy as np

from shoal.data.baskets import Baskets
from shoal.measures._comparison import Comparison
from shoal.measures.measure import BasketMeasure, Score


class Suppression(BasketMeasure):
    """How many occurrences and items of the original are not published any more under their own names.

    An item that fewer published baskets hold than original ones has lost the difference; an item that is published
    under a more general name has lost all its occurrences.

    information_loss
        Lost occurrences over all occurrences of the original, 0 to 1: the *distortion* of Xu et al. 2008 and the
        information loss of their IL(e) = support.
    items_suppressed, items_suppressed_share
        Items of the original that no published basket holds, and their share of all items.
    emptied_baskets
        Published baskets without any item, less those that were empty already.
    """

    name: ClassVar[str] = "suppression"
    not_distributable: ClassVar[str | None] = None
    accepts: ClassVar[tuple[type, ...]] = (Baskets,)
    scores_named: ClassVar[tuple[str, ...]] = (
        "information_loss",
        "items_suppressed",
        "items_suppressed_share",
        "emptied_baskets",
    )

    def compare(self, both: Comparison) -> tuple[Score, ...]:
        """Compare the supports of the items."""
        original, _ = self.baskets(both)
        items = both.items
        before = items.before
        after = np.array([items.after.get(item, 0) for item in original.vocabulary], dtype=np.int64)
        total, lost = int(before.sum()), int(np.maximum(before - after, 0).sum())
        occurring = int(np.count_nonzero(before))
        gone = int(np.count_nonzero((before > 0) & (after == 0)))
        emptied = items.published_empty - items.empty
        return (
            Score(
                "information_loss",
                lost / total if total else 0.0,
                "Occurrences of items that are not published any more, as a share of all.",
            ),
            Score("items_suppressed", gone, "Items that no published basket holds any more."),
            Score(
                "items_suppressed_share",
                gone / occurring if occurring else 0.0,
                "Items that no published basket holds any more, as a share of all.",
            ),
            Score("emptied_baskets", max(emptied, 0), "Baskets that lost all their items."),
        )
