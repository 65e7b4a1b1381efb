"""What a table with a column of items loses of the items, and of cells and items together."""

from typing import ClassVar

import numpy as np

from shoal.arrays import Floats, Indptr
from shoal.data._item_sets import item_sets
from shoal.data.clustered_table import ClusteredTable
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
    - **pair_loss**: One minus what is kept of the pairs of items that a person has: a pair of items that is published
      together keeps 1, one with a node the product of what both keep.
    - **mixed_loss**: The mean of item_loss and of the loss of the cells, one minus granularity.

    Where items are in clusters, those in chunks keep all, those that are only named nothing, and pairs are kept in
    sub-records.

    Tables without a column of items have no such scores.
    """

    name: ClassVar[str] = "item-loss"
    scores_named: ClassVar[tuple[str, ...]] = ("item_loss", "left_out_items", "pair_loss", "mixed_loss")

    def concerns(self, release: Release) -> bool:
        """Whether there are items."""
        data = release.data
        return isinstance(data, ClusteredTable) or (isinstance(data, Table) and data.items_column is not None)

    def compare(self, both: Comparison) -> tuple[Score, ...]:
        """Weigh what is published of the items."""
        release = both.release
        if not self.concerns(release) or not isinstance(both.original, Table):
            return ()
        original, published = self.tables(both)
        before = original.items_column
        if before is None or not len((held := item_sets(before)).items):
            return ()
        indptr, kept, there = _shown(published, release)
        loss = 1 - float(kept.sum()) / len(held.items)
        pairs = _pairs(held.indptr, np.ones(len(held.items)))
        tree = before.hierarchy
        above = {path[0]: set(path) for path in tree.paths()} if tree is not None else {}
        gone = sum(above.get(item, {item}).isdisjoint(there) for item in held.vocabulary)
        cells = next((one.value for one in Loss().compare(both) if one.name == "granularity"), 1.0)
        return (
            Score("item_loss", loss, "Share of the detail of items that is lost, 0 to 1."),
            Score(
                "left_out_items",
                gone / len(held.vocabulary),
                "Share of the items of which nothing is published.",
            ),
            Score(
                "pair_loss",
                1 - _pairs(indptr, kept) / pairs if pairs else 0.0,
                "Share of the pairs of items of a person that is lost, 0 to 1.",
            ),
            Score("mixed_loss", (loss + 1 - cells) / 2, "Mean of the losses of items and of cells, 0 to 1."),
        )


def _shown(published: Table, release: Release) -> tuple[Indptr, Floats, set[str]]:
    """Published sets, what each entry keeps of an item, and what is named at all."""
    if isinstance(published, ClusteredTable):
        clusters = published.clusters
        return clusters.item_indptr, np.ones(len(clusters.items)), set(clusters.vocabulary)
    column = published.items_column
    assert column is not None
    shown = item_sets(column)
    nodes, leaves = release.details.get("nodes", {}), release.details.get("leaves", 1)
    sizes = np.array([nodes.get(text, 0) for text in shown.vocabulary], dtype=np.int64)
    return shown.indptr, (1 - sizes / max(leaves, 1))[shown.items], set(shown.vocabulary)


def _pairs(indptr: Indptr, kept: Floats) -> float:
    """The sum over all pairs of entries of a set of the product of what both keep."""
    sums, squares = (np.concatenate(([0.0], np.cumsum(one))) for one in (kept, kept**2))
    whole, own = (one[indptr[1:]] - one[indptr[:-1]] for one in (sums, squares))
    return float((whole**2 - own).sum() / 2)
