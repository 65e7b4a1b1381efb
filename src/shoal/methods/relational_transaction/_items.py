"""The items of each class: generalized, or left out."""

from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from shoal.arrays import Codes, Counts, Floats, Mask, Rows
from shoal.data._item_sets import sets_of
from shoal.data.baskets import Baskets
from shoal.engines.local import Local
from shoal.errors import WrongUse
from shoal.methods.km_generalization._item_tree import ItemTree

OUT = -1
"""The node of what is left out."""


@dataclass(frozen=True, slots=True, eq=False)
class ItemNodes:
    """What items can be published as."""

    labels: tuple[str, ...]  # the text of each node, the items first
    parents: Codes  # the node above each
    sizes: Counts  # the number of leaves under each
    leaves: int  # and of all leaves

    @classmethod
    def of(cls, sets: Baskets) -> "ItemNodes":
        """The nodes of the hierarchy of items, or the items alone where there is none."""
        if sets.hierarchy is None:
            alone = np.full(len(sets.vocabulary), -1, dtype=np.int32)
            sizes = np.ones(len(sets.vocabulary), dtype=np.int64)
            return cls(sets.vocabulary, alone, sizes, len(sets.vocabulary))
        tree = ItemTree.of(sets.vocabulary, sets.hierarchy)
        return cls(tree.labels, tree.parents, tree.sizes, tree.leaves)

    @property
    def penalty(self) -> Floats:
        """The share of all leaves that each node stands for, 0 for an item."""
        return np.where(self.sizes > 1, self.sizes / max(self.leaves, 1), 0.0)

    @property
    def above(self) -> dict[str, int]:
        """The nodes that are no items, with the leaves under them."""
        return {text: int(size) for text, size in zip(self.labels, self.sizes, strict=True) if size > 1}


def protected(
    sets: Baskets, tree: ItemNodes, known: Mask, order: Rows, starts: Rows, k: int, m: int, engine: Local
) -> Codes:
    """The node of each occurrence, so that combinations of up to m known items are held by k rows of each class.

    `known`: which items an adversary may know; the others stay as they are. `order`, `starts`: the rows of each class.
    """
    from shoal.kernels import class_items as kernel

    m = min(m, int(sets.lengths.max(initial=1)))  # nobody holds more
    if len(tree.labels) ** (m - 1) >= 2**62:
        raise WrongUse(f"m = {m} is too large for {len(tree.labels):,} items; take a smaller one.")
    nodes = np.full(len(sets.items), OUT, dtype=np.int32)
    penalty, classes = tree.penalty, len(starts) - 1
    cuts = np.linspace(0, classes, min(classes, 4 * engine.threads) + 1).astype(np.int64).tolist()

    def work(bounds: tuple[int, int]) -> None:
        kernel.protect(
            sets.indptr, sets.items, order, starts, known, tree.parents, penalty, k, m, *bounds, nodes
        )

    engine.map(work, list(pairwise(cuts)))
    return nodes


def loss_of(nodes: Codes, known: Mask, items: Codes, tree: ItemNodes) -> float:
    """The mean share of the leaves that an occurrence is published as; one that is left out loses all."""
    counted = known[items]
    if not counted.any():
        return 0.0
    shown = nodes[counted]
    return float(np.where(shown == OUT, 1.0, tree.penalty[np.maximum(shown, 0)]).mean())


def published_sets(sets: Baskets, nodes: Codes, tree: ItemNodes) -> Baskets:
    """The sets with their nodes as items; what is left out is not there."""
    import polars as pl

    shown = np.flatnonzero(nodes != OUT)
    rows = np.repeat(np.arange(len(sets)), sets.lengths)[shown]
    labels = pl.Series(tree.labels, dtype=pl.String)
    made = sets_of(rows, labels.gather(pl.Series(nodes[shown])), len(sets))
    return replace(made, hierarchy=None)
