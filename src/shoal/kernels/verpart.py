"""Vertical partitioning: divide the items of a cluster among chunks in which no combination is rare.

The baskets that hold an item are a bitmap with one bit per basket of the cluster. The support of a combination is the
number of bits that its items have in common.
"""

from typing import NamedTuple

import numpy as np

from shoal.arrays import AnyArray, Counts, Indptr, Items, Mask, Rows
from shoal.kernels._jit import lean
from shoal.kernels.popcount import ones
from shoal.kernels.sorting import sort

HIDDEN = -1
"""Stands for the term chunk where a chunk number is expected; also for the pair of an occurrence that is left out."""


NONE = np.uint64(0)


class Promise(NamedTuple):
    """The promise: every combination of up to `m` items of a chunk is held by at least `k` baskets, or by none.

    Also, no item of a record chunk is held by more than ``above / below`` of its cluster, if the cluster has anything
    else to link it with.
    """

    k: int
    m: int
    above: int
    below: int


class Pairs(NamedTuple):
    """Pairs of a cluster and an item, and their chunks. Those of a cluster begin at the place of its first occurrence.

    `items`: the distinct items of a cluster, the most frequent first. `supports`: how many of its baskets hold each.
    `chunks`: the chunk of each item, numbered inside its cluster, `HIDDEN` for the term chunk. `counts`: the number of
    distinct items of each cluster. `covers`: the number of sub-records of all record chunks of a cluster together.
    `of`: for each occurrence in the baskets, the number of its pair inside its cluster; `HIDDEN` if it is left out.
    `made`: the number of nonempty chunks of each cluster.
    """

    items: Items
    supports: Counts
    chunks: Items
    counts: Counts
    covers: Counts
    of: Items
    made: Counts


class Gathered(NamedTuple):
    """The pairs of all clusters without gaps, and with chunks numbered across clusters.

    `items`, `supports`, `chunks`: as in `Pairs`, but with the number of a chunk among all chunks. `owners`: the cluster
    of each chunk. `of`: for each occurrence the number of its pair among all pairs.
    """

    items: Items
    supports: Counts
    chunks: Rows
    owners: Rows
    of: Rows


class Desk(NamedTuple):
    """Working arrays to partition one cluster at a time.

    `counts`, `ranked`: one entry per item; the counts are zero between clusters. `bits`: one bitmap for each frequent
    item, then one for each item of a combination, and two more. `current`: one entry for each frequent item.
    `following`: one for each item of a combination, and one more.
    """

    counts: Counts
    ranked: Counts
    bits: AnyArray
    current: Counts
    following: Counts


def desk(width: int, occurrences: int, rows: int, promise: Promise) -> Desk:
    """Working arrays for clusters with at most this many occurrences and baskets."""
    wide, words = min(width, occurrences // promise.k), (rows + 63) // 64
    return Desk(
        np.zeros(width, dtype=np.int64),
        np.empty(width, dtype=np.int64),
        np.empty((wide + promise.m + 2) * words, dtype=np.uint64),
        np.empty(wide, dtype=np.int64),
        np.empty(promise.m + 1, dtype=np.int64),
    )


@lean
def partition(
    indptr: Indptr,
    items: Items,
    ignored: Mask,
    order: Rows,
    starts: Rows,
    places: Rows,
    promise: Promise,
    pairs: Pairs,
    desk: Desk,
    first: int,
    last: int,
) -> None:
    """Partition the clusters from `first` up to `last`; the result is written to `pairs`.

    `order`, `starts`: the baskets cluster by cluster, and where clusters begin. `places`: where the pairs of each
    cluster begin.
    """
    k, m, above, below = promise
    held, supports, chunks, number, covers, of, made = pairs
    counts, ranked, bits, current, following = desk
    for cluster in range(first, last):
        begin, end, base = starts[cluster], starts[cluster + 1], places[cluster]
        found = _by_support(indptr, items, order, begin, end, ignored, k, counts, ranked)
        number[cluster] = found
        wide = 0
        for place in range(found):
            item = ranked[place]
            support = counts[item]
            held[base + place] = item
            supports[base + place] = support
            chunks[base + place] = HIDDEN
            wide += support >= k and not ignored[item]
            counts[item] = place
        for member in range(begin, end):
            for place in range(indptr[order[member]], indptr[order[member] + 1]):
                of[place] = counts[items[place]]
        for place in range(found):
            counts[ranked[place]] = 0
        words = (end - begin + 63) // 64
        _mark(indptr, order, begin, end, of, wide, bits, words)
        fill(bits, words, wide, k, m, chunks, base, current, following)
        hidden, cover, bounded = found - wide, -1, above < below
        while cover < 0:
            if bounded:
                allowed = above * (end - begin) // below
                hidden += _bound(bits, words, chunks, base, wide, hidden, allowed, k, m, current, following)
            cover = _settle(bits, words, chunks, base, wide, hidden, end - begin, k, m)
            hidden += 1
        covers[cluster] = cover
        made[cluster] = _number_through(chunks, base, wide, current)
        if bounded:
            _leave_out(indptr, order, begin, end, bits, words, chunks, base, wide, supports, of)


@lean
def gather(
    indptr: Indptr,
    order: Rows,
    starts: Rows,
    places: Rows,
    pairs: Pairs,
    pair_begins: Rows,
    chunk_begins: Rows,
    gathered: Gathered,
    first: int,
    last: int,
) -> None:
    """Write the pairs of the clusters from `first` up to `last` to their places among all pairs."""
    for cluster in range(first, last):
        begin, source = pair_begins[cluster], places[cluster]
        for pair in range(pairs.counts[cluster]):
            gathered.items[begin + pair] = pairs.items[source + pair]
            gathered.supports[begin + pair] = pairs.supports[source + pair]
            chunk = pairs.chunks[source + pair]
            gathered.chunks[begin + pair] = HIDDEN if chunk == HIDDEN else chunk_begins[cluster] + chunk
        for chunk in range(chunk_begins[cluster], chunk_begins[cluster + 1]):
            gathered.owners[chunk] = cluster
        for member in range(starts[cluster], starts[cluster + 1]):
            for place in range(indptr[order[member]], indptr[order[member] + 1]):
                pair = pairs.of[place]
                gathered.of[place] = HIDDEN if pair == HIDDEN else begin + pair


@lean
def _chunks(chunks: Items, base: int, wide: int) -> int:
    """The number of chunks of a cluster's frequent items, including empty ones in between."""
    last = HIDDEN
    for place in range(base, base + wide):
        last = max(last, chunks[place])
    return last + 1


@lean
def _number_through(chunks: Items, base: int, wide: int, number: Counts) -> int:
    """Renumber nonempty chunks without gaps, in their order; returns how many there are."""
    all_chunks, made = _chunks(chunks, base, wide), 0
    for chunk in range(all_chunks):
        number[chunk] = 0
    for place in range(base, base + wide):
        if chunks[place] != HIDDEN:
            number[chunks[place]] = 1
    for chunk in range(all_chunks):
        holds = number[chunk]
        number[chunk] = made
        made += holds
    for place in range(base, base + wide):
        if chunks[place] != HIDDEN:
            chunks[place] = number[chunks[place]]
    return made


@lean
def _by_support(
    indptr: Indptr,
    items: Items,
    order: Rows,
    begin: int,
    end: int,
    ignored: Mask,
    k: int,
    counts: Counts,
    ranked: Counts,
) -> int:
    """Count the items of some baskets, and list them by descending support, then by number; returns how many there are.

    Items that are too rare or ignored come last.
    """
    width, found, rows = len(ignored), 0, end - begin
    for member in range(begin, end):
        for place in range(indptr[order[member]], indptr[order[member] + 1]):
            item = items[place]
            if counts[item] == 0:
                ranked[found] = item
                found += 1
            counts[item] += 1
    for place in range(found):
        item = ranked[place]
        rarity = rows - counts[item]
        if ignored[item] or counts[item] < k:
            rarity += rows + 1
        ranked[place] = rarity * width + item
    sort(ranked, 0, found)
    for place in range(found):
        ranked[place] %= width
    return found


@lean
def _mark(
    indptr: Indptr, order: Rows, begin: int, end: int, of: Items, wide: int, bits: AnyArray, words: int
) -> None:
    """Set the bitmaps of the first `wide` pairs of a cluster."""
    for word in range(wide * words):
        bits[word] = NONE
    for member in range(begin, end):
        word, bit = (member - begin) // 64, np.uint64(1) << np.uint64((member - begin) % 64)
        for place in range(indptr[order[member]], indptr[order[member] + 1]):
            if of[place] < wide:
                bits[of[place] * words + word] |= bit


@lean
def fill(
    bits: AnyArray,
    words: int,
    wide: int,
    k: int,
    m: int,
    chunks: Items,
    base: int,
    current: Counts,
    following: Counts,
) -> int:
    """Give every item, known by its bitmap, to the first chunk that it fits into; returns how many chunks there are.

    Chunks are filled one after another, as in the paper: an item joins if no combination with it is rare. All items
    must be hidden at first.
    """
    left, made = wide, 0
    while left > 0:
        held = 0
        for item in range(wide):
            if chunks[base + item] == HIDDEN and _fits(
                bits, words, wide, current, held, item, k, m, following
            ):
                current[held] = item
                held += 1
                chunks[base + item] = made
        left -= held
        made += 1
    return made


@lean
def _fits(
    bits: AnyArray,
    words: int,
    wide: int,
    current: Counts,
    held: int,
    item: int,
    k: int,
    m: int,
    following: Counts,
) -> bool:
    """Whether no combination of an item and up to m - 1 of the current ones has a support from 1 to k - 1."""
    scratch = wide * words
    for word in range(words):
        bits[scratch + word] = bits[item * words + word]
    following[0] = 0
    depth = 0
    while depth >= 0 and m > 1:
        place = following[depth]
        if place == held:
            depth -= 1
            continue
        following[depth] += 1
        support, row, other = 0, scratch + depth * words, current[place] * words
        for word in range(words):
            both = bits[row + word] & bits[other + word]
            bits[row + words + word] = both
            support += int(ones(both))
        if 0 < support < k:
            return False
        if support and depth + 2 < m:
            depth += 1
            following[depth] = place + 1
    return True


@lean
def _settle(
    bits: AnyArray, words: int, chunks: Items, base: int, wide: int, hidden: int, rows: int, k: int, m: int
) -> int:
    """The number of sub-records of a cluster if they suffice for all baskets; else hide its rarest item and return -1.

    A cluster without a term chunk needs so many sub-records that k baskets can have one of each of up to m chunks while
    no other basket stays empty.
    """
    cover, alive = 0, 0
    for chunk in range(_chunks(chunks, base, wide)):
        before = cover
        for word in range(words):
            cover += int(ones(_in_word(bits, words, chunks, base, wide, chunk, -1, word)))
        alive += cover > before
    if hidden or not alive or cover >= rows + k * (max(1, min(m, alive)) - 1):
        return cover
    rarest, least = -1, rows + 1
    for item in range(wide):
        if chunks[base + item] != HIDDEN:
            support = _count(bits, words, item)
            if support <= least:
                rarest, least = item, support
    chunks[base + rarest] = HIDDEN
    return -1


@lean
def _bound(
    bits: AnyArray,
    words: int,
    chunks: Items,
    base: int,
    wide: int,
    hidden: int,
    allowed: int,
    k: int,
    m: int,
    current: Counts,
    following: Counts,
) -> int:
    """Leave out occurrences of items that too many baskets of the cluster hold; returns how many items were hidden.

    Occurrences without another item of the same chunk go first. If leaving out occurrences of an item would make a
    combination rare, the whole item is hidden.
    """
    moved, item, kept = 0, 0, (wide + m + 1) * words
    while item < wide:
        others, held, chunk = hidden + moved, 0, chunks[base + item]
        for other in range(wide):
            others += chunks[base + other] != HIDDEN and chunks[base + other] != chunk
            if other != item and chunks[base + other] == chunk:
                current[held] = other
                held += 1
        excess = _count(bits, words, item) - allowed
        if chunk == HIDDEN or excess <= 0 or others == 0:
            item += 1
            continue
        for word in range(words):
            bits[kept + word] = bits[item * words + word]
        _clear(bits, words, chunks, base, wide, item, excess)
        if allowed < k or not _fits(bits, words, wide, current, held, item, k, m, following):
            for word in range(words):
                bits[item * words + word] = bits[kept + word]
            chunks[base + item] = HIDDEN
            moved += 1
            item = 0
    return moved


@lean
def _clear(bits: AnyArray, words: int, chunks: Items, base: int, wide: int, item: int, excess: int) -> None:
    """Clear `excess` bits of an item, first those that no other item of its chunk has."""
    for turn in range(2 * words):
        word = turn % words
        others = _in_word(bits, words, chunks, base, wide, chunks[base + item], item, word)
        for bit in range(64):
            one = np.uint64(1) << np.uint64(bit)
            alone = others & one == NONE
            if excess > 0 and bits[item * words + word] & one != NONE and alone == (turn == word):
                bits[item * words + word] &= ~one
                excess -= 1


@lean
def _in_word(
    bits: AnyArray, words: int, chunks: Items, base: int, wide: int, chunk: int, without: int, word: int
) -> np.uint64:
    """Which baskets of one word of the bitmaps hold an item of a chunk, other than `without`."""
    union = NONE
    for item in range(wide):
        if chunks[base + item] == chunk and item != without:
            union |= bits[item * words + word]
    return union


@lean
def _count(bits: AnyArray, words: int, item: int) -> int:
    total = 0
    for word in range(item * words, item * words + words):
        total += int(ones(bits[word]))
    return total


@lean
def _leave_out(
    indptr: Indptr,
    order: Rows,
    begin: int,
    end: int,
    bits: AnyArray,
    words: int,
    chunks: Items,
    base: int,
    wide: int,
    supports: Counts,
    of: Items,
) -> None:
    """Leave the occurrences whose bits were cleared out of the release."""
    for item in range(wide):
        if chunks[base + item] != HIDDEN:
            supports[base + item] = _count(bits, words, item)
    for member in range(begin, end):
        word, bit = (member - begin) // 64, np.uint64(1) << np.uint64((member - begin) % 64)
        for place in range(indptr[order[member]], indptr[order[member] + 1]):
            pair = of[place]
            if pair < wide and chunks[base + pair] != HIDDEN and bits[pair * words + word] & bit == NONE:
                of[place] = HIDDEN
