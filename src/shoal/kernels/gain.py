"""When refining pays: which trees of clusters to join, and which items they publish together then."""

from typing import NamedTuple

import numpy as np

from shoal.arrays import AnyArray, Counts, Rows
from shoal.kernels._jit import jit
from shoal.kernels.hidden import Hidden, Leaves, Roots
from shoal.kernels.sorting import sort
from shoal.kernels.verpart import Promise

END, ANY, NEVER = -1, -2, -3
"""Instead of a cluster that follows: there is none, any may follow, nothing was tried."""


class Tally(NamedTuple):
    """Sums for each item over a run of trees: support, pairs, baskets of their clusters, trees, the last tree."""

    supports: Counts
    pairs: Counts
    baskets: Counts
    trees: Counts
    latest: Rows
    touched: Rows


@jit
def tally_of(width: int) -> Tally:
    """A tally without anything."""
    return Tally(
        np.zeros(width, dtype=np.int64),
        np.zeros(width, dtype=np.int64),
        np.zeros(width, dtype=np.int64),
        np.zeros(width, dtype=np.int64),
        np.full(width, -1, dtype=np.int64),
        np.empty(width, dtype=np.int64),
    )


@jit
def tried(order: Rows, roots: Roots, failed: AnyArray) -> bool:
    """Whether the same trees were tried in an earlier pass: they did not pay then, and do not now.

    A line of `failed` holds the clusters that came after the first one, `END` behind the last of all, and `ANY` from
    where on they were not looked at.
    """
    line = failed[roots.nodes[order[0]]]
    for number in range(len(line)):
        if line[number] == ANY:
            return True
        after = number + 1
        if line[number] != (roots.nodes[order[after]] if after < len(order) else END):
            return False
    return True


@jit
def run(
    order: Rows,
    roots: Roots,
    hidden: Hidden,
    leaves: Leaves,
    promise: Promise,
    tally: Tally,
    failed: AnyArray,
) -> tuple[int, Rows]:
    """How many of the trees to join, and the items that move to shared chunks then; one and none if it never pays."""
    found, size, count = 0, 0, 1
    moved = order[:0]
    line = failed[roots.nodes[order[0]]]
    for number in range(len(line)):
        line[number] = ANY
    for number in range(len(order)):
        root = order[number]
        if number:
            line[number - 1] = roots.nodes[root]
        size += roots.sizes[root]
        related = number == 0
        for pair in roots.pairs[roots.pair_indptr[root] : roots.pair_indptr[root + 1]]:
            item = hidden.items[pair]
            if tally.pairs[item] == 0:
                tally.touched[found] = item
                found += 1
            if tally.latest[item] != root:
                related |= tally.trees[item] > 0
                tally.trees[item] += 1
                tally.latest[item] = root
            tally.supports[item] += hidden.supports[pair]
            tally.pairs[item] += 1
            tally.baskets[item] += leaves.sizes[hidden.leaves[pair]]
        if not related:
            break
        if number:
            moved = _worth(tally, tally.touched[:found], size, promise)
            if len(moved):
                moved = _allowed(order[: number + 1], roots, hidden, leaves, moved, tally)
            if len(moved):
                count = number + 1
                break
        if number + 1 == len(order) and number < len(line):
            line[number] = END
    for item in tally.touched[:found]:
        tally.supports[item] = tally.pairs[item] = tally.baskets[item] = tally.trees[item] = 0
        tally.latest[item] = -1
    return count, moved


@jit
def _worth(tally: Tally, touched: Rows, size: int, promise: Promise) -> Rows:
    """The items that are frequent enough together, and as dense there as term chunks say; most frequent first.

    A term chunk says of an item that at least one basket of its cluster holds it. An item moves if the share of the
    joint cluster that holds it is at least that of those clusters, with one basket each.
    """
    width = len(tally.supports)
    keys = np.empty(len(touched), dtype=np.int64)
    found = 0
    for item in touched:
        support = tally.supports[item]
        if (
            tally.trees[item] > 1
            and support >= promise.k
            and support * tally.baskets[item] >= tally.pairs[item] * size
            and (promise.above >= promise.below or support * promise.below <= promise.above * size)
        ):
            keys[found] = -support * width + item
            found += 1
    sort(keys, 0, found)
    for place in range(found):
        keys[place] %= width
    return keys[:found]


@jit
def _allowed(order: Rows, roots: Roots, hidden: Hidden, leaves: Leaves, moved: Rows, tally: Tally) -> Rows:
    """The items that can move without emptying a term chunk that must not be empty. Those chunks shrink by them.

    All are taken at first; then the least frequent ones are given back where a term chunk came to be empty. The tally
    of trees is -1 for items that move.
    """
    for item in moved:
        tally.trees[item] = -1
    emptied = False
    for root in order:
        for pair in roots.pairs[roots.pair_indptr[root] : roots.pair_indptr[root + 1]]:
            if tally.trees[hidden.items[pair]] < 0:
                leaf = hidden.leaves[pair]
                leaves.left[leaf] -= 1
                emptied |= leaves.left[leaf] == 0 and not leaves.may_empty[leaf]
    if not emptied:
        return moved
    kept = np.empty(len(moved), dtype=np.int64)
    found = 0
    for place in range(len(moved) - 1, -1, -1):
        item = moved[place]
        empties = False
        for change in (0, 1):
            for root in order:
                for pair in roots.pairs[roots.pair_indptr[root] : roots.pair_indptr[root + 1]]:
                    leaf = hidden.leaves[pair]
                    if hidden.items[pair] == item:
                        if change == 0:
                            empties |= leaves.left[leaf] == 0 and not leaves.may_empty[leaf]
                        elif empties:
                            leaves.left[leaf] += 1
        if empties:
            tally.trees[item] = 2
        else:
            kept[found] = item
            found += 1
    for place in range(found // 2):
        kept[place], kept[found - 1 - place] = kept[found - 1 - place], kept[place]
    return kept[:found]
