"""REFINE: clusters that hide the same items are joined, and publish those items together in shared chunks."""

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from shoal.arrays import Mask, Rows, indptr_by
from shoal.data.baskets import Baskets
from shoal.methods.disassociation._horpart import Parts
from shoal.methods.disassociation._verpart import HIDDEN, Chunks

if TYPE_CHECKING:
    from shoal.kernels.gain import Tally
    from shoal.kernels.hidden import Hidden, Roots
    from shoal.kernels.refine import Room

PASSES = 100
"""Passes after which refining ends, whatever happens; each one joins trees, so that far fewer are needed."""


@dataclass(frozen=True, slots=True, eq=False)
class Forest:
    """Clusters in trees, and the chunks of all: simple clusters first, then joint ones as they were made.

    `parents`: the joint cluster of each cluster, -1 for none. `chunks`: the pairs of simple clusters, with chunks that
    may be shared ones. `passes`: how many passes there were.
    """

    parents: Rows
    chunks: Chunks
    passes: int = 0


def plant(chunks: Chunks) -> Forest:
    """Every cluster as a tree of its own."""
    return Forest(np.full(len(chunks.covers), -1, dtype=np.int64), chunks)


def refine(
    baskets: Baskets, ignored: Mask, parts: Parts, chunks: Chunks, k: int, m: int, safe: Fraction
) -> Forest:
    """Join clusters and move items from their term chunks to shared chunks, until nothing changes.

    In each pass trees are put in the order of their virtual term chunks, the items that are hidden most often first,
    and each is joined with as many of those that follow, up to k in all, as it takes for an item to pay (see the
    kernel). Items that must not be linked, the ignored ones, never move.
    """
    from shoal.kernels import refine as kernel
    from shoal.kernels._jit import fitting
    from shoal.kernels.gain import NEVER
    from shoal.kernels.hidden import Leaves
    from shoal.kernels.verpart import Promise

    leaves = len(chunks.covers)
    width = len(baskets.vocabulary)
    movable = np.flatnonzero((chunks.chunks == HIDDEN) & ~ignored[chunks.items])
    if leaves < 2 or not len(movable):
        return plant(chunks)
    hidden = _hidden(baskets, chunks, movable)
    alive = np.bincount(chunks.owners, minlength=leaves)
    enough = parts.sizes + k * (np.clip(alive, 1, max(m, 1)) - 1)
    left = np.bincount(chunks.clusters[chunks.chunks == HIDDEN], minlength=leaves)
    state = Leaves(parts.sizes, left, (alive > 0) & (chunks.covers >= enough))
    promise = Promise(k, m, *safe.as_integer_ratio())
    made = len(chunks.owners)
    joined = kernel.Joined(
        np.full(2 * leaves, -1, dtype=np.int64),
        np.full(len(movable), HIDDEN, dtype=np.int64),
        np.concatenate((chunks.owners, np.empty(len(movable), dtype=np.int64))),
    )
    failed = np.full((2 * leaves, k - 1), NEVER, dtype=np.int32)
    rooms = _tally(width), _room(width, len(baskets), len(movable))
    join = fitting(kernel.join, len(baskets.items))
    roots, node, passes = _roots(chunks, hidden, parts), leaves, 0
    while passes < PASSES:
        order = _order(roots, hidden, width)
        before, after = node, _after(roots)
        trees, node, made = join(
            order, roots, hidden, state, promise, k, node, made, joined, failed, *rooms, after
        )
        roots = _first(after, trees)
        passes += 1
        if node == before:
            break
    moved = chunks.chunks.copy()
    moved[movable] = joined.chunks
    return Forest(joined.parents[:node], replace(chunks, chunks=moved, owners=joined.owners[:made]), passes)


def _hidden(baskets: Baskets, chunks: Chunks, movable: Rows) -> "Hidden":
    """The pairs that may move, with the baskets of each."""
    from shoal.kernels.hidden import Hidden, places_of

    number = np.full(len(chunks.items), -1, dtype=np.int64)
    number[movable] = np.arange(len(movable))
    indptr, places = places_of(chunks.pair_of, number, len(movable))
    rows = np.repeat(np.arange(len(baskets)), baskets.lengths)[places]
    return Hidden(chunks.items[movable], chunks.clusters[movable], np.diff(indptr), indptr, rows)


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


def _after(roots: "Roots") -> "Roots":
    """Room for trees that are joined; their items may become more, but by no more than they hide."""
    trees, pairs = len(roots.nodes), len(roots.pairs)
    return roots._replace(
        nodes=np.empty(trees, dtype=np.int64),
        sizes=np.empty(trees, dtype=np.int64),
        pair_indptr=np.zeros(trees + 1, dtype=np.int64),
        pairs=np.empty(pairs, dtype=np.int64),
        item_indptr=np.zeros(trees + 1, dtype=np.int64),
        items=np.empty(len(roots.items) + pairs, dtype=np.int32),
    )


def _first(roots: "Roots", trees: int) -> "Roots":
    """So many trees, without the room behind them."""
    return roots._replace(
        nodes=roots.nodes[:trees],
        sizes=roots.sizes[:trees],
        pair_indptr=roots.pair_indptr[: trees + 1],
        pairs=roots.pairs[: roots.pair_indptr[trees]],
        item_indptr=roots.item_indptr[: trees + 1],
        items=roots.items[: roots.item_indptr[trees]],
    )


def _tally(width: int) -> "Tally":
    """A tally without anything."""
    from shoal.kernels.gain import Tally

    supports, pairs, baskets, trees, touched, moved = np.zeros((6, width), dtype=np.int64)
    return Tally(supports, pairs, baskets, trees, np.full(width, -1, dtype=np.int64), touched, moved)


def _room(width: int, rows: int, pairs: int) -> "Room":
    """Room for the kernel to work in."""
    from shoal.kernels.refine import Room

    marks, places = np.full((2, width), -1, dtype=np.int64)
    moves, place_of_row = np.zeros(width, dtype=np.bool_), np.full(rows, -1, dtype=np.int64)
    return Room(marks, places, moves, place_of_row, np.empty(pairs, dtype=np.int64))


def _order(roots: "Roots", hidden: "Hidden", width: int) -> Rows:
    """Trees by the items of their virtual term chunks, those first that most baskets hide."""
    from shoal.kernels._jit import fitting
    from shoal.kernels.refine import LEADING, leading

    weight = np.bincount(hidden.items[roots.pairs], weights=hidden.supports[roots.pairs], minlength=width)
    ranks = np.empty(width, dtype=np.int64)
    ranks[np.argsort(-weight, kind="stable")] = np.arange(width)
    # A rank beyond all where there are fewer.
    first = np.full((len(roots.nodes), LEADING), width)
    fitting(leading, len(hidden.rows))(roots.pair_indptr, roots.pairs, hidden.items, ranks, first)
    return np.lexsort(first.T[::-1])
