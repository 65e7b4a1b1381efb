"""REFINE: join clusters that hide the same items, and publish these items together in shared chunks."""

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from shoal.arrays import Mask, Rows, indptr_by, taken
from shoal.data.baskets import Baskets
from shoal.methods.disassociation._horpart import Parts
from shoal.methods.disassociation._verpart import HIDDEN, Chunks

if TYPE_CHECKING:
    from shoal.kernels.gain import Tally
    from shoal.kernels.hidden import Hidden, Roots
    from shoal.kernels.refine import Joined, Room

PASSES = 100
"""The most passes of refining; each one joins trees, so that far fewer are needed."""

BITS = 2**12
"""How many words of bits are allocated at first; larger groups get as many as they need."""


@dataclass(frozen=True, slots=True, eq=False)
class Forest:
    """Clusters in trees, with all chunks: simple clusters first, then joint ones in the order they were made.

    `parents`: the joint cluster that each cluster belongs to, or -1. `chunks`: the pairs of simple clusters; their
    chunks may be shared ones. `passes`: the number of passes.
    """

    parents: Rows
    chunks: Chunks
    passes: int = 0


def plant(chunks: Chunks) -> Forest:
    """A forest with every cluster as a tree of its own."""
    return Forest(np.full(len(chunks.covers), -1, dtype=np.int64), chunks)


def refine(
    baskets: Baskets, ignored: Mask, parts: Parts, chunks: Chunks, k: int, m: int, safe: Fraction
) -> Forest:
    """Join clusters and move items from their term chunks to shared chunks, until nothing changes.

    In each pass, trees are ordered by their virtual term chunks, most frequently hidden items first. Each tree is then
    joined with as many of those that follow, up to k in all, as it takes for an item to pay off (see the kernel).
    Ignored items, which must not be linked, never move.
    """
    from shoal.kernels import refine as kernel
    from shoal.kernels._jit import fitting
    from shoal.kernels.gain import ALWAYS, NEVER
    from shoal.kernels.verpart import Promise

    leaves = len(chunks.covers)
    width = len(baskets.vocabulary)
    movable = np.flatnonzero((chunks.chunks == HIDDEN) & ~ignored[chunks.items])
    if leaves < 2 or not len(movable):
        return plant(chunks)
    hidden = _hidden(baskets, parts, chunks, movable)
    alive = np.bincount(chunks.owners, minlength=leaves)
    enough = parts.sizes + k * (np.clip(alive, 1, max(m, 1)) - 1)
    left = np.bincount(chunks.clusters[chunks.chunks == HIDDEN], minlength=leaves)
    left[(alive > 0) & (chunks.covers >= enough)] += ALWAYS
    promise = Promise(k, m, *safe.as_integer_ratio())
    made = len(chunks.owners)
    joined = kernel.Joined(
        np.full(2 * leaves, -1, dtype=np.int64),
        np.full(len(movable), HIDDEN, dtype=np.int64),
        np.concatenate((chunks.owners, np.empty(len(movable), dtype=np.int64))),
    )
    failed = np.full((2 * leaves, k - 1), NEVER, dtype=np.int32)
    tally, room = _tally(width), _room(width, len(baskets), m)
    join = fitting(kernel.join, len(baskets.items))
    roots, node, passes = _roots(chunks, hidden, parts), leaves, 0
    while passes < PASSES:
        roots = _ordered(roots, hidden, width)
        at = kernel.Progress(0, node, made, 0, 0, 1)
        while at.words:
            if at.words > len(room.bits):
                room = room._replace(bits=np.empty(at.words, dtype=np.uint64))
            at = join(roots, hidden, left, promise, k, at, joined, failed, tally, room)
        before, node, made = node, at.node, at.chunk
        passes += 1
        if node == before:
            break
        roots = _joined(roots, hidden, joined)
    moved = chunks.chunks.copy()
    moved[movable] = joined.chunks
    return Forest(joined.parents[:node], replace(chunks, chunks=moved, owners=joined.owners[:made]), passes)


def _hidden(baskets: Baskets, parts: Parts, chunks: Chunks, movable: Rows) -> "Hidden":
    """The hidden pairs that may move to shared chunks, with the baskets of each."""
    from shoal.kernels.hidden import Hidden, places_of

    number = np.full(len(chunks.items), -1, dtype=np.int64)
    number[movable] = np.arange(len(movable))
    indptr, places = places_of(chunks.pair_of, number, len(movable))
    rows = np.repeat(np.arange(len(baskets)), baskets.lengths)[places]
    leaves = chunks.clusters[movable]
    return Hidden(chunks.items[movable], leaves, parts.sizes[leaves], np.diff(indptr), indptr, rows)


def _roots(chunks: Chunks, hidden: "Hidden", parts: Parts) -> "Roots":
    """Every cluster as a tree of its own, for the kernel."""
    from shoal.kernels.hidden import Roots

    leaves = len(chunks.covers)
    shown = np.flatnonzero(chunks.chunks != HIDDEN)
    return Roots(
        np.arange(leaves),
        parts.sizes,
        indptr_by(hidden.leaves, leaves),
        np.arange(len(hidden.items)),
        indptr_by(chunks.clusters[shown], leaves),
        chunks.items[shown],
    )


def _joined(roots: "Roots", hidden: "Hidden", joined: "Joined") -> "Roots":
    """The trees after joining: each hides the pairs that did not move, and shows those that did."""
    from shoal.kernels.hidden import Roots

    above = joined.parents[roots.nodes]
    nodes = np.where(above >= 0, above, roots.nodes)
    first = np.concatenate(([True], nodes[1:] != nodes[:-1]))
    tree = np.cumsum(first) - 1
    tree_of_pair = np.repeat(tree, np.diff(roots.pair_indptr))
    tree_of_item = np.repeat(tree, np.diff(roots.item_indptr))
    stays = joined.chunks[roots.pairs] == HIDDEN
    trees = np.concatenate((tree_of_item, tree_of_pair[~stays]))
    order = np.argsort(trees, kind="stable")
    return Roots(
        nodes[first],
        np.add.reduceat(roots.sizes, np.flatnonzero(first)),
        indptr_by(tree_of_pair[stays], tree[-1] + 1),
        roots.pairs[stays],
        indptr_by(trees, tree[-1] + 1),
        np.concatenate((roots.items, hidden.items[roots.pairs[~stays]]))[order],
    )


def _tally(width: int) -> "Tally":
    """An empty tally."""
    from shoal.kernels.gain import Tally

    supports, pairs, baskets, trees, touched, moved = np.zeros((6, width), dtype=np.int64)
    return Tally(supports, pairs, baskets, trees, np.full(width, -1, dtype=np.int64), touched, moved)


def _room(width: int, rows: int, m: int) -> "Room":
    """The kernel's working arrays."""
    from shoal.kernels.refine import Room

    marks, places = np.full((2, width), -1, dtype=np.int64)
    return Room(
        marks,
        places,
        np.full(rows, -1, dtype=np.int64),
        np.empty(width, dtype=np.int32),
        np.empty(m + 1, dtype=np.int64),
        np.empty(BITS, dtype=np.uint64),
    )


def _ordered(roots: "Roots", hidden: "Hidden", width: int) -> "Roots":
    """The trees in the order of their virtual term chunks, items that the most baskets hide first."""
    from shoal.kernels._jit import fitting
    from shoal.kernels.hidden import Roots
    from shoal.kernels.refine import LEADING, leading

    weight = np.bincount(hidden.items[roots.pairs], weights=hidden.supports[roots.pairs], minlength=width)
    ranks = np.empty(width, dtype=np.int64)
    ranks[np.argsort(-weight, kind="stable")] = np.arange(width)
    # Where a tree hides fewer items, a rank beyond all others.
    first = np.full((len(roots.nodes), LEADING), width)
    fitting(leading, len(hidden.rows))(roots.pair_indptr, roots.pairs, hidden.items, ranks, first)
    order = np.lexsort(first.T[::-1])
    pair_indptr, pairs = taken(roots.pair_indptr, order)
    item_indptr, items = taken(roots.item_indptr, order)
    return Roots(
        roots.nodes[order],
        roots.sizes[order],
        pair_indptr,
        roots.pairs[pairs],
        item_indptr,
        roots.items[items],
    )
