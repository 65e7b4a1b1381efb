"""When refining pays: which trees of clusters to join, and which items they publish together then."""

from typing import NamedTuple

from shoal.arrays import AnyArray, Counts, Items, Rows
from shoal.kernels._jit import lean
from shoal.kernels.hidden import Hidden, Roots
from shoal.kernels.sorting import sort
from shoal.kernels.verpart import Promise

END, ANY, NEVER = -1, -2, -3
"""Instead of a cluster that follows: there is none, any may follow, nothing was tried."""

ALWAYS = 2**40
"""Terms of a cluster that may lose all: so many more than it hides."""


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
def tried(begin: int, end: int, nodes: Rows, failed: AnyArray) -> bool:
    """Whether the same trees were tried in an earlier pass: they did not pay then, and do not now.

    A line of `failed` holds the clusters that came after the first one, `END` behind the last of all, and `ANY` from
    where on they were not looked at.
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
    """How many of some trees to join, and how many items move to shared chunks then.

    One and none if it never pays. The items are in the tally's room. `left`: how many terms each simple cluster hides,
    and `ALWAYS` more if all may be taken away.
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
    """List the items that are frequent enough together, and as dense there as term chunks say; most frequent first.

    A term chunk says of an item that at least one basket of its cluster holds it. An item moves if the share of the
    joint cluster that holds it is at least that of those clusters, with one basket each.
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
    """Keep the items that can move without emptying a term chunk that must not be empty; those chunks shrink by them.

    All are taken at first; then the least frequent ones are given back where a term chunk came to be empty. The tally
    of trees is -1 for items that move.
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
        # Each item is looked at first, and given back then.
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
