"""What a table with a column of items loses of the items, and of cells and items together."""

from typing import ClassVar

import numpy as np

from shoal.data._item_sets import item_sets, items_of
from shoal.data.release import Release
from shoal.data.table import Table
from shoal.measures._comparison import Comparison
from shoal.measures.loss import Loss
from shoal.measures.measure import Score, TableMeasure


class ItemLoss(TableMeasure):
    """How much of the items of a table is lost: 0 where all are published as they are, 1 where none is.

    - **item_loss**: One minus what published occurrences keep, over the occurrences of the original: an item keeps 1, a
      node one minus the share of all leaves under it, and an item that is left out nothing. Two items of a row that
      become the same node are one occurrence.
    - **left_out_items**: The share of the different items of the original of which neither the item nor a node above it
      is published anywhere.
    - **mixed_loss**: The mean of item_loss and of the loss of the cells, one minus granularity.

    Tables without a column of items have no such scores.
    """

    name: ClassVar[str] = "item-loss"
    scores_named: ClassVar[tuple[str, ...]] = ("item_loss", "left_out_items", "mixed_loss")

    def concerns(self, release: Release) -> bool:
        """Whether there are items."""
        return isinstance(release.data, Table) and items_of(release.data) is not None

    def compare(self, both: Comparison) -> tuple[Score, ...]:
        """Weigh what is published of the items."""
        release = both.release
        if not self.concerns(release) or not isinstance(both.original, Table):
            return ()
        original, published = self.tables(both)
        before, after = items_of(original), items_of(published)
        if before is None or after is None:
            return ()
        held, shown = item_sets(before), item_sets(after)
        if not len(held.items):
            return ()
        nodes, leaves = release.details.get("nodes", {}), release.details.get("leaves", 1)
        sizes = np.array([nodes.get(text, 0) for text in shown.vocabulary], dtype=np.int64)
        kept = float((shown.supports * (1 - sizes / max(leaves, 1))).sum())
        loss = 1 - kept / len(held.items)
        tree = before.hierarchy
        above = {path[0]: set(path) for path in tree.paths()} if tree is not None else {}
        there = set(shown.vocabulary)
        gone = sum(above.get(item, {item}).isdisjoint(there) for item in held.vocabulary)
        cells = next((one.value for one in Loss().compare(both) if one.name == "granularity"), 1.0)
        return (
            Score("item_loss", loss, "Share of the detail of items that is lost, 0 to 1."),
            Score(
                "left_out_items",
                gone / len(held.vocabulary),
                "Share of the items of which nothing is published.",
            ),
            Score("mixed_loss", (loss + 1 - cells) / 2, "Mean of the losses of items and of cells, 0 to 1."),
        )
