"""When refining pays off: which trees of clusters to join, and which items they then publish together."""

from typing import NamedTuple

from shoal.arrays import AnyArray, Counts, Items, Rows
from shoal.kernels._jit import lean
from shoal.kernels.hidden import Hidden, Roots
from shoal.kernels.sorting import sort
from shoal.kernels.verpart import Promise

END, ANY, NEVER = -1, -2, -3
"""In place of the number of a following cluster: there is none, any may follow, nothing was tried."""

ALWAYS = 2**40
"""Added to the number of terms of clusters that may lose all of them."""


class Tally(NamedTuple):
    """Sums for each item over a run of trees: support, pairs, baskets of their clusters, trees, the latest tree.

    All are zero between runs, and the latest tree is -1. `touched`, `moved`: room for all items.
    """

    supports: Counts
    pairs: Counts
    baskets: Counts
    trees: Counts
    latest: Rows
    touched: Rows
    moved: Rows


@lean
def tried(begin: int, end: int, nodes: Rows, failed: AnyArray) -> bool:
    """Whether the same trees were tried in an earlier pass: it did not pay off to join them then, nor does it now.

    A line of `failed` has the clusters that came after the first one, then `END` after the last of all trees, or `ANY`
    from the first one that was not considered.
    """
    node = nodes[begin]
    for number in range(failed.shape[1]):
        after = begin + number + 1
        if failed[node, number] == ANY:
            return True
        if failed[node, number] != (nodes[after] if after < end else END):
            return False
    return True


@lean
def run(
    begin: int,
    end: int,
    roots: Roots,
    hidden: Hidden,
    left: Counts,
    promise: Promise,
    tally: Tally,
    failed: AnyArray,
) -> tuple[int, int]:
    """Decide how many of some trees to join; returns that, and how many items then move to shared chunks.

    Returns one and zero if joining does not pay off. The items are left in the tally. `left`: how many terms each
    simple cluster hides, plus `ALWAYS` if it may lose all of them.
    """
    nodes, sizes, pair_indptr, pairs, _, _ = roots
    items, leaf_of, rows_of, held_by, _, _ = hidden
    supports, seen, baskets, trees, latest, touched, moving = tally
    found, size, count, moved = 0, 0, 1, 0
    first = nodes[begin]
    for number in range(failed.shape[1]):
        failed[first, number] = ANY
    for root in range(begin, end):
        number = root - begin
        if number:
            failed[first, number - 1] = nodes[root]
        size += sizes[root]
        related = number == 0
        for place in range(pair_indptr[root], pair_indptr[root + 1]):
            pair = pairs[place]
            item = items[pair]
            if seen[item] == 0:
                touched[found] = item
                found += 1
            if latest[item] != root:
                related |= trees[item] > 0
                trees[item] += 1
                latest[item] = root
            supports[item] += held_by[pair]
            seen[item] += 1
            baskets[item] += rows_of[pair]
        if not related:
            break
        if number:
            moved = _worth(tally, found, size, promise)
            if moved:
                first_place, last_place = pair_indptr[begin], pair_indptr[root + 1]
                moved = _allowed(first_place, last_place, pairs, items, leaf_of, left, moving, moved, trees)
            if moved:
                count = number + 1
                break
        if root + 1 == end and number < failed.shape[1]:
            failed[first, number] = END
    for place in range(found):
        item = touched[place]
        supports[item] = seen[item] = baskets[item] = trees[item] = 0
        latest[item] = -1
    return count, moved


@lean
def _worth(tally: Tally, touched: int, size: int, promise: Promise) -> int:
    """List the items that are frequent enough in the joint cluster, and at least as dense there as term chunks say.

    A term chunk says that at least one basket of its cluster holds an item. An item moves if its share of the joint
    cluster is at least its share of the clusters that hide it when counting one basket in each. The most frequent items
    come first.
    """
    supports, pairs, baskets, trees, _, found_items, keys = tally
    k, _, above, below = promise
    width = len(keys)
    found = 0
    for place in range(touched):
        item = found_items[place]
        support = supports[item]
        if (
            trees[item] > 1
            and support >= k
            and support * baskets[item] >= pairs[item] * size
            and (above >= below or support * below <= above * size)
        ):
            keys[found] = -support * width + item
            found += 1
    sort(keys, 0, found)
    for place in range(found):
        keys[place] %= width
    return found


@lean
def _allowed(
    first: int,
    last: int,
    pairs: Rows,
    items: Items,
    leaf_of: Rows,
    left: Counts,
    moved: Rows,
    listed: int,
    trees: Counts,
) -> int:
    """Keep the items that can move without emptying a term chunk that must not be empty; returns how many.

    At first all are moved, and the numbers in `left` shrink. Then the least frequent ones are given back where a term
    chunk has become empty. The tally of trees is -1 for items that move.
    """
    for place in range(listed):
        trees[moved[place]] = -1
    emptied = False
    for place in range(first, last):
        if trees[items[pairs[place]]] < 0:
            leaf = leaf_of[pairs[place]]
            left[leaf] -= 1
            emptied |= left[leaf] == 0
    if not emptied:
        return listed
    for turn in range(2 * listed):
        # In the first of two turns, see whether an item must go back; in the second, give it back.
        item, back = moved[listed - 1 - turn // 2], turn % 2
        if back and trees[item] < 0:
            continue
        for place in range(first, last):
            if items[pairs[place]] == item:
                leaf = leaf_of[pairs[place]]
                left[leaf] += back
                if left[leaf] == 0:
                    trees[item] = 2
    kept = 0
    for place in range(listed):
        if trees[moved[place]] < 0:
            moved[kept] = moved[place]
            kept += 1
    return kept
