"""Protection of the items of each class: generalized or left out, so that no secret is learned; or disassociated."""

from collections import Counter
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import combinations, pairwise

import numpy as np

from shoal.arrays import Codes, Counts, Floats, Mask, Rows, flagged
from shoal.data._item_sets import sets_of
from shoal.data._ties import part_key
from shoal.data.baskets import Baskets
from shoal.data.clusters import Clusters, together
from shoal.engines.local import Local
from shoal.errors import WrongUse
from shoal.methods.disassociation.method import Disassociation
from shoal.methods.km_generalization._item_tree import ItemTree

OUT = -1
"""Stands in place of a node for occurrences that are left out."""


@dataclass(frozen=True, slots=True, eq=False)
class ItemNodes:
    """The nodes that items can be published as."""

    labels: tuple[str, ...]  # the text of each node, the items first
    parents: Codes  # the node above each node
    sizes: Counts  # the number of leaves under each node
    leaves: int  # the number of all leaves

    @classmethod
    def of(cls, sets: Baskets) -> "ItemNodes":
        """The nodes of the hierarchy of items, or the items alone if there is no hierarchy."""
        if sets.hierarchy is None:
            alone = np.full(len(sets.vocabulary), -1, dtype=np.int32)
            sizes = np.ones(len(sets.vocabulary), dtype=np.int64)
            return cls(sets.vocabulary, alone, sizes, len(sets.vocabulary))
        tree = ItemTree.of(sets.vocabulary, sets.hierarchy)
        return cls(tree.labels, tree.parents, tree.sizes, tree.leaves)

    @property
    def penalty(self) -> Floats:
        """The share of all leaves that each node covers; 0 for an item."""
        return np.where(self.sizes > 1, self.sizes / max(self.leaves, 1), 0.0)

    @property
    def above(self) -> dict[str, int]:
        """The nodes that are not items, with the number of leaves under each."""
        return {text: int(size) for text, size in zip(self.labels, self.sizes, strict=True) if size > 1}


def protected(
    sets: Baskets, tree: ItemNodes, known: Mask, order: Rows, starts: Rows, k: int, m: int, engine: Local
) -> Codes:
    """Generalize or leave out items so that k rows of each class hold every combination of up to m known ones.

    `known`: which items an adversary may know; the others stay as they are. `order`, `starts`: the rows of each class.
    Returns the node of each occurrence.
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
    """The mean loss of an occurrence of a known item: the share of leaves under its node, or 1 if it is left out."""
    counted = known[items]
    if not counted.any():
        return 0.0
    shown = nodes[counted]
    return float(np.where(shown == OUT, 1.0, tree.penalty[np.maximum(shown, 0)]).mean())


def published_sets(sets: Baskets, nodes: Codes, tree: ItemNodes) -> Baskets:
    """The sets with nodes as items, without occurrences that are left out."""
    import polars as pl

    shown = np.flatnonzero(nodes != OUT)
    rows = np.repeat(np.arange(len(sets)), sets.lengths)[shown]
    labels = pl.Series(tree.labels, dtype=pl.String)
    made = sets_of(rows, labels.gather(pl.Series(nodes[shown])), len(sets))
    return replace(made, hierarchy=None)


Held = list[tuple[frozenset[int], frozenset[int]]]
"""For each row of a class, its public nodes and its sensitive items."""


def coherent(
    sets: Baskets, nodes: Codes, known: Mask, order: Rows, starts: Rows, m: int, h: Fraction
) -> Codes:
    """Leave out occurrences until no combination of up to m public nodes reveals a sensitive item; returns all nodes.

    A sensitive item that too many rows of a class hold is left out in that class. Then public nodes are left out one
    after another, always the one in the most combinations of up to m whose rows hold a sensitive item too often. That
    does not affect other combinations.

    `nodes`: the node of each occurrence, `OUT` if it is left out. `known`: the items that an adversary may know.
    """
    found = nodes.copy()
    secret = flagged(sets.sensitive, len(sets.vocabulary))
    for begin, end in zip(starts[:-1].tolist(), starts[1:].tolist(), strict=True):
        places = [np.arange(sets.indptr[row], sets.indptr[row + 1]) for row in order[begin:end].tolist()]
        held: Held = [
            (
                frozenset(found[own[known[sets.items[own]] & (found[own] != OUT)]].tolist()),
                frozenset(sets.items[own[secret[sets.items[own]]]].tolist()),
            )
            for own in places
        ]
        secrets, public = _telling(held, m, h)
        for own in places if secrets or public else ():
            items = sets.items[own]
            gone = np.isin(items, list(secrets)) & secret[items]
            gone |= np.isin(found[own], list(public)) & known[items]
            found[own[gone]] = OUT
    return found


def _telling(held: Held, m: int, h: Fraction) -> tuple[set[int], set[int]]:
    """The sensitive items and the public nodes to leave out in a class."""
    shares = Counter(item for _, secrets in held for item in secrets)
    secrets = {item for item, count in shares.items() if count > h * len(held)}
    supports: Counter[tuple[int, ...]] = Counter()
    learned: Counter[tuple[tuple[int, ...], int]] = Counter()
    for public, own in held:
        left = own - secrets
        ordered = sorted(public)
        for some in (one for size in range(1, m + 1) for one in combinations(ordered, size)):
            supports[some] += 1
            learned.update((some, item) for item in left)
    broken = {some for (some, _), count in learned.items() if count > h * supports[some]}
    gone: set[int] = set()
    while broken:
        often = Counter(node for some in broken for node in some)
        worst = max(often, key=lambda node: (often[node], -supports[(node,)], -node))
        gone.add(worst)
        broken = {some for some in broken if worst not in some}
    return secrets, gone


@dataclass(frozen=True, slots=True, eq=False)
class Chunked:
    """The clusters of all classes, and the class that each line belongs to."""

    clusters: Clusters
    classes: Rows
    loss: float
    """The share of occurrences of nonsensitive items that are in no chunk; at most, their items are named as terms."""


def chunked(
    sets: Baskets, order: Rows, ranks: Rows, method: Disassociation, seed: int, engine: Local
) -> Chunked:
    """Disassociate the items of each class separately.

    `order`, `ranks`: the rows of the sets, and the rank of each row's class among all classes.
    """
    by_class = np.argsort(ranks, kind="stable")
    starts = np.searchsorted(ranks[by_class], np.arange(int(ranks.max()) + 2))

    def work(place: int) -> Clusters:
        rows = order[by_class[starts[place] : starts[place + 1]]]
        return method.divided(sets.take(rows), Local(threads=1), part_key(seed, place))[0].data

    parts = engine.map(work, range(len(starts) - 1))
    clusters = together(parts)
    held = int((~flagged(sets.sensitive, len(sets.vocabulary)))[sets.items].sum())
    return Chunked(
        clusters,
        np.repeat(np.arange(len(parts)), [one.count for one in parts]),
        1 - len(clusters.items) / held if held else 0.0,
    )
