"""When refining pays: which trees of clusters to join, and which items they publish together then."""

from typing import NamedTuple

from shoal.arrays import AnyArray, Counts, Rows
from shoal.kernels._jit import lean
from shoal.kernels.hidden import Hidden, Leaves, Roots
from shoal.kernels.sorting import sort
from shoal.kernels.verpart import Promise

END, ANY, NEVER = -1, -2, -3
"""Instead of a cluster that follows: there is none, any may follow, nothing was tried."""


class Tally(NamedTuple):
    """Sums for each item over a run of trees: support, pairs, baskets of their clusters, trees, the last tree.

    All are zero between runs, and the last tree -1. `touched`, `moved`: room for items, as many as there are.
    """

    supports: Counts
    pairs: Counts
    baskets: Counts
    trees: Counts
    latest: Rows
    touched: Rows
    moved: Rows


@lean
def tried(order: Rows, place: int, end: int, nodes: Rows, failed: AnyArray) -> bool:
    """Whether the same trees were tried in an earlier pass: they did not pay then, and do not now.

    A line of `failed` holds the clusters that came after the first one, `END` behind the last of all, and `ANY` from
    where on they were not looked at.
    """
    node = nodes[order[place]]
    for number in range(failed.shape[1]):
        if failed[node, number] == ANY:
            return True
        after = place + number + 1
        if failed[node, number] != (nodes[order[after]] if after < end else END):
            return False
    return True


@lean
def run(
    order: Rows,
    begin: int,
    end: int,
    roots: Roots,
    hidden: Hidden,
    leaves: Leaves,
    promise: Promise,
    tally: Tally,
    failed: AnyArray,
) -> tuple[int, int]:
    """How many of the trees of a part of the order to join, and how many items move to shared chunks then.

    One and none if it never pays. The items are in the tally's room.
    """
    nodes, sizes, pair_indptr, pairs = roots.nodes, roots.sizes, roots.pair_indptr, roots.pairs
    supports, seen, baskets, trees, latest, touched, _ = tally
    found, size, count, moved = 0, 0, 1, 0
    first = nodes[order[begin]]
    for number in range(failed.shape[1]):
        failed[first, number] = ANY
    for number in range(end - begin):
        root = order[begin + number]
        if number:
            failed[first, number - 1] = nodes[root]
        size += sizes[root]
        related = number == 0
        for place in range(pair_indptr[root], pair_indptr[root + 1]):
            pair = pairs[place]
            item = hidden.items[pair]
            if seen[item] == 0:
                touched[found] = item
                found += 1
            if latest[item] != root:
                related |= trees[item] > 0
                trees[item] += 1
                latest[item] = root
            supports[item] += hidden.supports[pair]
            seen[item] += 1
            baskets[item] += leaves.sizes[hidden.leaves[pair]]
        if not related:
            break
        if number:
            moved = _worth(tally, found, size, promise)
            if moved:
                moved = _allowed(order, begin, begin + number + 1, roots, hidden, leaves, moved, tally)
            if moved:
                count = number + 1
                break
        if begin + number + 1 == end and number < failed.shape[1]:
            failed[first, number] = END
    for place in range(found):
        item = touched[place]
        supports[item] = seen[item] = baskets[item] = trees[item] = 0
        latest[item] = -1
    return count, moved


@lean
def _worth(tally: Tally, touched: int, size: int, promise: Promise) -> int:
    """List the items that are frequent enough together, and as dense there as term chunks say; most frequent first.

    A term chunk says of an item that at least one basket of its cluster holds it. An item moves if the share of the
    joint cluster that holds it is at least that of those clusters, with one basket each.
    """
    keys = tally.moved
    width = len(keys)
    found = 0
    for place in range(touched):
        item = tally.touched[place]
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
    return found


@lean
def _allowed(
    order: Rows, begin: int, end: int, roots: Roots, hidden: Hidden, leaves: Leaves, listed: int, tally: Tally
) -> int:
    """Keep the items that can move without emptying a term chunk that must not be empty; those chunks shrink by them.

    All are taken at first; then the least frequent ones are given back where a term chunk came to be empty. The tally
    of trees is -1 for items that move.
    """
    pair_indptr, pairs, items, leaf_of = roots.pair_indptr, roots.pairs, hidden.items, hidden.leaves
    left, may_empty, moved, trees = leaves.left, leaves.may_empty, tally.moved, tally.trees
    for place in range(listed):
        trees[moved[place]] = -1
    emptied = False
    for at in range(begin, end):
        for place in range(pair_indptr[order[at]], pair_indptr[order[at] + 1]):
            leaf = leaf_of[pairs[place]]
            if trees[items[pairs[place]]] < 0:
                left[leaf] -= 1
                emptied |= left[leaf] == 0 and not may_empty[leaf]
    if not emptied:
        return listed
    for turn in range(2 * listed):
        # Each item is looked at first, and given back then.
        item, back = moved[listed - 1 - turn // 2], turn % 2 == 1
        if back and trees[item] < 0:
            continue
        for at in range(begin, end):
            for place in range(pair_indptr[order[at]], pair_indptr[order[at] + 1]):
                leaf = leaf_of[pairs[place]]
                if items[pairs[place]] == item:
                    if back:
                        left[leaf] += 1
                    elif left[leaf] == 0 and not may_empty[leaf]:
                        trees[item] = 2
    kept = 0
    for place in range(listed):
        if trees[moved[place]] < 0:
            moved[kept] = moved[place]
            kept += 1
    return kept
