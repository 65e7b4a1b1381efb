"""Generalize or leave out items of classes until k rows of a class hold every combination of up to m of them.

Classes are treated one at a time. The rare combinations of one size are listed, sizes going up. Then the change that
fixes the most of them for its cost is made, over and over: publish everything under a node as that node, or leave an
item or node out. What was left out needlessly is put back, and combinations are counted again, until none is rare.
"""

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from shoal.kernels._jit import jit
from shoal.kernels.sorting import sort

Array: TypeAlias = NDArray[Any]

MOST = 1_000_000
"""How many rare combinations are fixed together; more of them take several rounds."""

OUT = -1
"""Stands in place of a node for occurrences that are left out."""

NOTHING = 1e-9
"""Added to every cost, because leaving out a root costs nothing."""


@jit
def protect(
    indptr: Array,
    items: Array,
    order: Array,
    starts: Array,
    known: Array,
    parents: Array,
    penalty: Array,
    k: int,
    m: int,
    first: int,
    last: int,
    nodes: Array,
) -> None:
    """Choose the node of every occurrence of some classes.

    `indptr`, `items`: the items of each row. `order`, `starts`: the rows of class c are ``order[starts[c]:starts[c +
    1]]``. `known`: which items may be known; the others stay as they are. `parents`, `penalty`: the node above each
    node, -1 for none, and the share of all leaves below it, 0 for an item. The first nodes are the items themselves.
    `first`, `last`: the classes. `nodes`: the node of each occurrence, `OUT` where it is left out: written here.
    """
    local = np.full(len(parents), -1, dtype=np.int64)
    for one in range(first, last):
        rows = order[starts[one] : starts[one + 1]]
        _protect_class(indptr, items, rows, known, parents, penalty, k, m, local, nodes)


@jit
def _protect_class(
    indptr: Array,
    items: Array,
    rows: Array,
    known: Array,
    parents: Array,
    penalty: Array,
    k: int,
    m: int,
    local: Array,
    nodes: Array,
) -> None:
    """Choose the nodes of one class."""
    count = 0
    for row in rows:
        count += indptr[row + 1] - indptr[row]
    begins = np.zeros(len(rows) + 1, dtype=np.int64)
    current = np.empty(count, dtype=np.int64)
    places = np.empty(count, dtype=np.int64)
    filled = 0
    for number in range(len(rows)):
        for place in range(indptr[rows[number]], indptr[rows[number] + 1]):
            if known[items[place]]:
                current[filled] = items[place]
                places[filled] = place
                filled += 1
            else:
                nodes[place] = items[place]
        begins[number + 1] = filled
    current, places = current[:filled], places[:filled]
    size = 1
    while size <= m:
        names, occurrences = _distinct(current)
        if len(names) < size:
            break
        for number in range(len(names)):
            local[names[number]] = number
        held_begins, held = _rows_in(begins, current, local, len(names))
        combinations = _rare(held_begins, held, len(names), k, size)
        if len(combinations):
            image = _mend(combinations, names, occurrences, parents, penalty)
            for place in range(filled):
                if current[place] != OUT:
                    current[place] = image[local[current[place]]]
        else:
            size += 1
        for name in names:
            local[name] = -1
    for place in range(filled):
        nodes[places[place]] = current[place]


@jit
def _distinct(current: Array) -> tuple[Array, Array]:
    """The distinct nodes that are published, ascending, and how often each occurs."""
    ordered = current.copy()
    sort(ordered, 0, len(ordered))
    names = np.empty(len(ordered), dtype=np.int64)
    counts = np.zeros(len(ordered), dtype=np.int64)
    found = 0
    for node in ordered:
        if node == OUT:
            continue
        if found == 0 or names[found - 1] != node:
            names[found] = node
            found += 1
        counts[found - 1] += 1
    return names[:found], counts[:found]


@jit
def _rows_in(begins: Array, current: Array, local: Array, width: int) -> tuple[Array, Array]:
    """The nodes of each row as numbers, ascending, without duplicates."""
    held = np.empty(len(current), dtype=np.int64)
    ends = np.zeros(len(begins), dtype=np.int64)
    filled = 0
    for row in range(len(begins) - 1):
        begin = filled
        for place in range(begins[row], begins[row + 1]):
            if current[place] != OUT:
                held[filled] = local[current[place]]
                filled += 1
        sort(held, begin, filled)
        end, filled = filled, begin
        for place in range(begin, end):
            if place == begin or held[place] != held[filled - 1]:
                held[filled] = held[place]
                filled += 1
        ends[row + 1] = filled
    return ends, held[:filled]


@jit
def _rare(begins: Array, held: Array, width: int, k: int, size: int) -> Array:
    """The combinations of a size that some rows hold, but fewer than k; stops once there are `MOST` of them."""
    found = np.empty((64, size), dtype=np.int64)
    count = 0
    post_begins, post = _postings(begins, held, width)
    for first in range(width):
        begin, end = post_begins[first], post_begins[first + 1]
        if size == 1:
            if end - begin < k:
                found = _room(found, count)
                found[count, 0] = first
                count += 1
        else:
            keys = _keys(begins, held, post[begin:end], first, width, size)
            at = 0
            while at < len(keys):
                after = at
                while after < len(keys) and keys[after] == keys[at]:
                    after += 1
                if after - at < k:
                    found = _room(found, count)
                    found[count, 0] = first
                    rest = keys[at]
                    for place in range(size - 1, 0, -1):
                        found[count, place] = rest % width
                        rest //= width
                    count += 1
                at = after
        if count >= MOST:
            break
    return found[:count]


@jit
def _room(found: Array, count: int) -> Array:
    """The list, enlarged if needed to have room for one more."""
    if count < len(found):
        return found
    larger = np.empty((2 * len(found), found.shape[1]), dtype=np.int64)
    for one in range(count):
        for place in range(found.shape[1]):
            larger[one, place] = found[one, place]
    return larger


@jit
def _postings(begins: Array, held: Array, width: int) -> tuple[Array, Array]:
    """The places of each node among the nodes of all rows, each with the end of its row."""
    starts = np.zeros(width + 1, dtype=np.int64)
    for node in held:
        starts[node + 1] += 1
    for node in range(width):
        starts[node + 1] += starts[node]
    filled = starts[:-1].copy()
    post = np.empty((len(held), 2), dtype=np.int64)
    for row in range(len(begins) - 1):
        for place in range(begins[row], begins[row + 1]):
            node = held[place]
            post[filled[node], 0] = place
            post[filled[node], 1] = begins[row + 1]
            filled[node] += 1
    return starts, post


@jit
def _keys(begins: Array, held: Array, post: Array, first: int, width: int, size: int) -> Array:
    """Every combination that begins with a node, for every row that holds it, as a number; sorted."""
    more = size - 1
    total = 0
    for entry in range(len(post)):
        left = post[entry, 1] - post[entry, 0] - 1
        ways = 1
        for step in range(more):
            ways = ways * (left - step) // (step + 1)
        if left >= more:
            total += ways
    keys = np.empty(total, dtype=np.int64)
    chosen = np.empty(more, dtype=np.int64)
    filled = 0
    for entry in range(len(post)):
        begin, end = post[entry, 0] + 1, post[entry, 1]
        if end - begin < more:
            continue
        for step in range(more):
            chosen[step] = begin + step
        while True:
            key = 0
            for step in range(more):
                key = key * width + held[chosen[step]]
            keys[filled] = key
            filled += 1
            step = more - 1
            while step >= 0 and chosen[step] == end - more + step:
                step -= 1
            if step < 0:
                break
            chosen[step] += 1
            for later in range(step + 1, more):
                chosen[later] = chosen[later - 1] + 1
    sort(keys, 0, len(keys))
    return keys


@jit
def _members(combinations: Array, width: int) -> tuple[Array, Array]:
    """Where the combinations that contain each node begin, and these combinations."""
    count, size = combinations.shape
    starts = np.zeros(width + 1, dtype=np.int64)
    for one in range(count):
        for place in range(size):
            starts[combinations[one, place] + 1] += 1
    for node in range(width):
        starts[node + 1] += starts[node]
    filled = starts[:-1].copy()
    member = np.empty(count * size, dtype=np.int64)
    for one in range(count):
        for place in range(size):
            node = combinations[one, place]
            member[filled[node]] = one
            filled[node] += 1
    return starts, member


@jit
def _cheapest(
    rare: Array,
    image: Array,
    occurrences: Array,
    parents: Array,
    penalty: Array,
    gain: Array,
    cost: Array,
) -> tuple[int, bool]:
    """The change that fixes the most combinations for its cost: a node to lift all below it to, or one to leave out.

    `gain`, `cost`: working arrays with one number per node of the tree, zero before and after.
    """
    best, ratio, lifts = -1, -1.0, False
    for number in range(len(image)):
        if image[number] == OUT:
            continue
        if rare[number] > 0:
            here = rare[number] / (occurrences[number] * (1.0 - penalty[image[number]]) + NOTHING)
            if here > ratio:
                best, ratio, lifts = number, here, False
        above = parents[image[number]]
        while above >= 0:
            gain[above] += rare[number]
            cost[above] += occurrences[number] * (penalty[above] - penalty[image[number]])
            above = parents[above]
    for number in range(len(image)):
        above = parents[image[number]] if image[number] != OUT else -1
        while above >= 0:
            if gain[above] > 0:
                here = gain[above] / (cost[above] + NOTHING)
                if here > ratio:
                    best, ratio, lifts = above, here, True
            gain[above], cost[above] = 0, 0.0
            above = parents[above]
    return best, lifts


@jit
def _mend(combinations: Array, names: Array, occurrences: Array, parents: Array, penalty: Array) -> Array:
    """Decide what every node is published as, so that no combination of the list stays as it is."""
    size, width = combinations.shape[1], len(names)
    starts, member = _members(combinations, width)
    rare = np.empty(width, dtype=np.int64)
    for node in range(width):
        rare[node] = starts[node + 1] - starts[node]
    mended = np.zeros(len(combinations), dtype=np.bool_)
    image = names.copy()
    gain = np.zeros(len(parents), dtype=np.int64)
    cost = np.zeros(len(parents), dtype=np.float64)
    dropped = np.empty(width, dtype=np.int64)
    drops, left = 0, len(combinations)
    while left > 0:
        best, lifts = _cheapest(rare, image, occurrences, parents, penalty, gain, cost)
        for number in range(width):
            if image[number] == OUT:
                continue
            if lifts:
                if not _under(image[number], best, parents):
                    continue
                image[number] = best
            elif number == best:
                image[number] = OUT
                dropped[drops] = number
                drops += 1
            else:
                continue
            for entry in range(starts[number], starts[number + 1]):
                one = member[entry]
                if not mended[one]:
                    mended[one] = True
                    left -= 1
                    for place in range(size):
                        rare[combinations[one, place]] -= 1
    for back in range(drops - 1, -1, -1):
        _put_back(dropped[back], combinations, names, starts, member, image, parents)
    return image


@jit
def _under(node: int, above: int, parents: Array) -> bool:
    """Whether a node lies under another one, or is the same."""
    while node >= 0:
        if node == above:
            return True
        node = parents[node]
    return False


@jit
def _put_back(
    number: int, combinations: Array, names: Array, starts: Array, member: Array, image: Array, parents: Array
) -> None:
    """Publish a node again if every combination with it is fixed by another node."""
    for entry in range(starts[number], starts[number + 1]):
        one = member[entry]
        needed = True
        for place in range(combinations.shape[1]):
            other = combinations[one, place]
            if other != number and image[other] != names[other]:
                needed = False
        if needed:
            return
    for other in range(len(names)):
        lifted = image[other] != OUT and image[other] != names[other]
        if lifted and _under(names[number], image[other], parents):
            return
    image[number] = names[number]
