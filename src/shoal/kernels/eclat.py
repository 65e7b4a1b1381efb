"""Frequent itemsets by depth-first search over bitmaps (Eclat: Zaki 2000), and the supports of given sets.

Items are ranks 0, 1, 2, … of ascending support. A set is found from the set without its last, most frequent item, so
that all sets form a forest. It is stored as three numbers in a flat array: the place of that smaller set (-1 for a
single item), the item, and the support. A set comes after the smaller one.

The baskets of a root item are renumbered, and every item that is frequent among them becomes a bitmap with one bit per
basket: below a rare item, a bitmap is a handful of words, whatever the number of all baskets. If a set further down is
much rarer than the root, the bits are renumbered again. If most baskets are long, all baskets become bitmaps first, and
those of the roots are extracted from these.

To find only the most frequent sets, pass a heap with as many keys as sets are wanted. The key of a set is larger the
more baskets hold it and, with equal support, the fewer items it has. Sets below all keys of a full heap are skipped,
along with everything that would be found from them.
"""

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from shoal.kernels._jit import jit
from shoal.kernels.cohorts import shared
from shoal.kernels.popcount import count_both, ones
from shoal.kernels.sorting import sort

Array: TypeAlias = NDArray[Any]

ENTRY = 3
"""How many numbers represent a set that was found."""

BEGIN, WORDS, FIRST, END, NEXT, NODE = 0, 1, 2, 3, 4, 5
"""A frame of the search: where its bitmaps begin, the words of each, where its candidates begin and end, the next one,
and the set above them."""

SHRINK = 4
"""Bits are renumbered if that makes bitmaps at least this many times shorter."""

SIZES = 1 << 20
"""Sets have fewer items than this."""

ONE = np.uint64(1)
NONE = np.uint64(0)


@jit
def grown(array: Array, used: int, needed: int) -> Array:
    """The same array or, if it is too short, a longer copy of its used part."""
    if needed <= len(array):
        return array
    longer = np.empty(max(needed, 2 * len(array)), dtype=array.dtype)
    for place in range(used):
        longer[place] = array[place]
    return longer


@jit
def note(found: Array, count: int, node: int, item: int, support: int) -> Array:
    """Append a set."""
    found = grown(found, ENTRY * count, ENTRY * (count + 1))
    found[ENTRY * count] = node
    found[ENTRY * count + 1] = item
    found[ENTRY * count + 2] = support
    return found


@jit
def is_high(top: Array, support: int, size: int) -> bool:
    """Whether a set may be one of the most frequent ones; always true if all sets are wanted."""
    return len(top) == 0 or support * SIZES + (SIZES - 1 - size) >= top[0]


@jit
def rank(top: Array, support: int, size: int) -> None:
    """Replace the least key by that of a set, if the latter is larger."""
    key = support * SIZES + (SIZES - 1 - size)
    if len(top) == 0 or key <= top[0]:
        return
    place = 0
    while True:
        child = 2 * place + 1
        if child >= len(top):
            break
        if child + 1 < len(top) and top[child + 1] < top[child]:
            child += 1
        if key <= top[child]:
            break
        top[place] = top[child]
        place = child
    top[place] = key


@jit
def mine_roots(
    first: int,
    last: int,
    indptr: Array,
    items: Array,
    item_indptr: Array,
    baskets: Array,
    least: int,
    size: int,
    limit: int,
    top: Array,
    rows: Array,
) -> tuple[Array, int]:
    """Find the frequent sets whose rarest item is one of ``first`` … ``last - 1``.

    `indptr`, `items`: the items of each basket, ascending ranks. `item_indptr`, `baskets`: the baskets of each item.
    `least`: the least support of a frequent set; every item has it. `size`: the most items of a set. `limit`: stop when
    more sets than this are found. `top`: a heap of the keys of the most frequent sets found so far, with 0 for no set;
    empty if all sets are wanted. `rows`: a bitmap for each item, one bit per basket; if there are none, the items of
    the baskets are scanned. Returns the sets, and how many there are.
    """
    found = np.empty(ENTRY * 1024, dtype=np.int64)
    count = 0
    counts = np.zeros(len(item_indptr) - 1, dtype=np.int64)
    for turn in range(last - first):
        # The most frequent sets have no rare item, so start with the most frequent root.
        root = last - 1 - turn if len(top) else first + turn
        holders = baskets[item_indptr[root] : item_indptr[root + 1]]
        if not is_high(top, len(holders), 1):
            continue
        node = count
        found = note(found, count, -1, root, len(holders))
        count += 1
        rank(top, len(holders), 1)
        if size == 1:
            continue
        enough = max(least, top[0] // SIZES) if len(top) else least
        if len(rows):
            met = companions_by_bits(root, rows, counts, enough)
        else:
            met = frequent_companions(root, holders, indptr, items, counts, enough)
        if size == 2 or len(met) == 1:
            for item in met:
                if is_high(top, counts[item], 2):
                    found = note(found, count, node, item, counts[item])
                    count += 1
                    rank(top, counts[item], 2)
        elif len(met):
            if len(rows):
                bits, words = shared_bits(root, len(holders), rows, met)
            else:
                bits, words = bits_of(root, holders, indptr, items, met, counts)
            supports = np.empty(len(met), dtype=np.int64)
            for place in range(len(met)):
                supports[place] = counts[met[place]]
            found, count = search(bits, words, met, supports, node, (least, size, limit), top, found, count)
        if not len(rows):
            forget(root, holders, indptr, items, counts)
        if count > limit:
            break
    return found[: ENTRY * count], count


@jit
def frequent_companions(
    root: int, holders: Array, indptr: Array, items: Array, counts: Array, least: int
) -> Array:
    """The items above a root that enough of its baskets hold, ascending; their counts are left in `counts`."""
    met = np.empty(64, dtype=np.int64)
    found = 0
    for row in holders:
        for entry in range(indptr[row + 1] - 1, indptr[row] - 1, -1):
            item = items[entry]
            if item <= root:
                break
            counts[item] += 1
            if counts[item] == least:
                met = grown(met, found, found + 1)
                met[found] = item
                found += 1
    sort(met, 0, found)
    return met[:found]


@jit
def rows_of_bits(item_indptr: Array, baskets: Array, count: int) -> Array:
    """A bitmap for each item: which of all baskets hold it."""
    rows = np.zeros((len(item_indptr) - 1, (count + 63) // 64), dtype=np.uint64)
    for item in range(len(rows)):
        for entry in range(item_indptr[item], item_indptr[item + 1]):
            rows[item, baskets[entry] >> 6] |= ONE << np.uint64(baskets[entry] & 63)
    return rows


@jit
def companions_by_bits(root: int, rows: Array, counts: Array, least: int) -> Array:
    """The items above a root that enough of its baskets hold, ascending; their counts are left in `counts`."""
    met = np.empty(len(rows), dtype=np.int64)
    found = 0
    for item in range(root + 1, len(rows)):
        counts[item] = count_both(rows[root], rows[item])
        if counts[item] >= least:
            met[found] = item
            found += 1
    return met[:found]


@jit
def shared_bits(root: int, held: int, rows: Array, met: Array) -> tuple[Array, int]:
    """A bitmap for each companion, made from those of all baskets: which of the root's hold it; and its words."""
    wide = rows.shape[1]
    words, listed = wide, 0
    positions = np.empty(held, dtype=np.int64)
    if (held + 63) // 64 * SHRINK <= wide:
        words = (held + 63) // 64
        listed = list_positions(rows[root], positions)
    bits = np.empty(len(met) * words, dtype=np.uint64)
    both = np.empty(wide, dtype=np.uint64)
    for slot in range(len(met)):
        for word in range(wide):
            both[word] = rows[root, word] & rows[met[slot], word]
        store(both, wide, positions, listed, bits, slot * words)
    return bits, words


@jit
def forget(root: int, holders: Array, indptr: Array, items: Array, counts: Array) -> None:
    """Reset the counts of a root's companions to zero."""
    for row in holders:
        for entry in range(indptr[row + 1] - 1, indptr[row] - 1, -1):
            if items[entry] <= root:
                break
            counts[items[entry]] = 0


@jit
def bits_of(
    root: int, holders: Array, indptr: Array, items: Array, met: Array, counts: Array
) -> tuple[Array, int]:
    """A bitmap for each companion, made from the items of the root's baskets: which of them hold it; and its words."""
    words = (len(holders) + 63) // 64
    bits = np.zeros(len(met) * words, dtype=np.uint64)
    slots = np.full(len(counts), -1, dtype=np.int32)
    for slot in range(len(met)):
        slots[met[slot]] = slot
    for place in range(len(holders)):
        row = holders[place]
        mark = ONE << np.uint64(place & 63)
        for entry in range(indptr[row + 1] - 1, indptr[row] - 1, -1):
            if items[entry] <= root:
                break
            slot = slots[items[entry]]
            if slot >= 0:
                bits[slot * words + (place >> 6)] |= mark
    return bits, words


@jit
def search(
    bits: Array,
    words: int,
    items: Array,
    supports: Array,
    root: int,
    bounds: tuple[int, int, int],
    top: Array,
    found: Array,
    count: int,
) -> tuple[Array, int]:
    """Find all frequent sets below a root; `bits`, `items` and `supports` describe its companions."""
    least, size, limit = bounds
    width = len(items)
    frames = np.empty((width + 2, 6), dtype=np.int64)
    enter(frames[0], 0, words, root, 0, width)
    positions = np.empty(words * 64, dtype=np.int64)
    both = np.empty(words, dtype=np.uint64)
    depth = 0
    while depth >= 0 and count <= limit:
        place, end = frames[depth, NEXT], frames[depth, END]
        if place == end:
            depth -= 1
            continue
        frames[depth, NEXT] += 1
        if not is_high(top, supports[place], depth + 2):
            continue
        node = count
        found = note(found, count, frames[depth, NODE], items[place], supports[place])
        count += 1
        rank(top, supports[place], depth + 2)
        more = end - place - 1
        if depth + 2 >= size or more == 0:
            continue
        begin, wide = frames[depth, BEGIN], frames[depth, WORDS]
        own = begin + (place - frames[depth, FIRST]) * wide
        narrow, listed = 0, 0
        # Sets of the largest size are only counted, without keeping their bitmaps.
        longest = depth + 3 >= size
        if not longest:
            narrow, listed = row_length(bits, own, wide, supports[place], positions)
        free = begin + (end - frames[depth, FIRST]) * wide
        bits = grown(bits, free, free + more * narrow)
        items, supports = grown(items, end, end + more), grown(supports, end, end + more)
        kept = 0
        for other in range(place + 1, end):
            theirs = own + (other - place) * wide
            if longest:
                support = count_both(bits[own : own + wide], bits[theirs : theirs + wide])
            else:
                support = intersect(bits, own, theirs, wide, both)
            if support < least or not is_high(top, support, depth + 3):
                continue
            if not longest:
                store(both, wide, positions, listed, bits, free + kept * narrow)
            items[end + kept], supports[end + kept] = items[other], support
            kept += 1
        if kept:
            depth += 1
            enter(frames[depth], free, narrow, node, end, end + kept)
    return found, count


@jit
def enter(frame: Array, begin: int, words: int, node: int, first: int, end: int) -> None:
    """Initialize a frame of the search."""
    frame[BEGIN], frame[WORDS], frame[NODE] = begin, words, node
    frame[FIRST], frame[END], frame[NEXT] = first, end, first


@jit
def row_length(bits: Array, own: int, wide: int, support: int, positions: Array) -> tuple[int, int]:
    """How many words a bitmap below a set takes, and how many of its bits are listed if they are renumbered."""
    narrow = (support + 63) // 64
    if narrow * SHRINK <= wide:
        return narrow, list_positions(bits[own : own + wide], positions)
    return wide, 0


@jit
def intersect(bits: Array, one: int, other: int, words: int, both: Array) -> int:
    """Write the bits that two bitmaps share, and count them."""
    total = NONE
    for word in range(words):
        shared = bits[one + word] & bits[other + word]
        both[word] = shared
        total += ones(shared)
    return np.int64(total)  # type: ignore[return-value]


@jit
def list_positions(row: Array, positions: Array) -> int:
    """List the places of the set bits of a bitmap, ascending; returns how many there are."""
    count = 0
    for word in range(len(row)):
        rest = row[word]
        while rest != NONE:
            lowest = rest & (~rest + ONE)
            positions[count] = word * 64 + np.int64(ones(lowest - ONE))
            count += 1
            rest ^= lowest
    return count


@jit
def store(both: Array, words: int, positions: Array, listed: int, bits: Array, begin: int) -> None:
    """Store a bitmap, or only its bits at the listed positions, packed together."""
    if listed == 0:
        for word in range(words):
            bits[begin + word] = both[word]
        return
    for word in range((listed + 63) // 64):
        packed = NONE
        for place in range(word * 64, min(listed, word * 64 + 64)):
            position = positions[place]
            bit = (both[position >> 6] >> np.uint64(position & 63)) & ONE
            packed |= bit << np.uint64(place & 63)
        bits[begin + word] = packed


@jit
def count_sets(
    first: int, last: int, set_indptr: Array, sets: Array, item_indptr: Array, baskets: Array, out: Array
) -> None:
    """Count the supports of some sets of items by intersecting lists of baskets, starting with the rarest item.

    `set_indptr`, `sets`: the items of each set, as ascending ranks of ascending support. No set is empty.
    `item_indptr`, `baskets`: the baskets of each item, ascending. `out`: filled with the supports of the sets ``first``
    … ``last - 1``.
    """
    rows = np.empty(64, dtype=np.int64)
    for place in range(first, last):
        members = sets[set_indptr[place] : set_indptr[place + 1]]
        own = baskets[item_indptr[members[0]] : item_indptr[members[0] + 1]]
        count = len(own)
        rows = grown(rows, 0, count)
        for entry in range(count):
            rows[entry] = own[entry]
        for entry in range(1, len(members)):
            if count == 0:
                break
            item = members[entry]
            count = shared(rows, count, baskets[item_indptr[item] : item_indptr[item + 1]], rows)
        out[place] = count
