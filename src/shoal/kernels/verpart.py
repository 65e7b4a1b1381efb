"""Vertical partitioning: the items of a cluster go to chunks in which no combination is rare.

The baskets that hold an item are a row of bits, one bit a basket of the cluster; the support of a combination is the
number of bits that its items have in common.
"""

from typing import NamedTuple

import numpy as np

from shoal.arrays import AnyArray, Counts, Indptr, Items, Mask, Rows
from shoal.kernels._jit import jit, lean
from shoal.kernels.popcount import ones
from shoal.kernels.sorting import sort

HIDDEN = -1
"""The chunk of an item that goes to the term chunk; also the pair of an occurrence that is left out."""


NONE = np.uint64(0)


class Promise(NamedTuple):
    """No combination of up to `m` items of a chunk is held by fewer than `k` baskets, unless by none.

    No item of a record chunk is held by more than ``above / below`` of its cluster, where the cluster has anything else
    to link it with.
    """

    k: int
    m: int
    above: int
    below: int


class Pairs(NamedTuple):
    """Where the items of clusters go. Those of a cluster lie from the place of its first occurrence on.

    `items`: the distinct items of a cluster, the most frequent first. `supports`: how many of its baskets hold each.
    `chunks`: the chunk of each inside its cluster, `HIDDEN` for the term chunk. `counts`: the number of distinct items
    of each cluster. `covers`: the number of sub-records of all record chunks of a cluster together. `of`: for each
    occurrence, at its place in the baskets, the number of its pair inside its cluster; `HIDDEN` for one that is left
    out. `made`: the number of chunks of each cluster that hold an item.
    """

    items: Items
    supports: Counts
    chunks: Items
    counts: Counts
    covers: Counts
    of: Items
    made: Counts


class Gathered(NamedTuple):
    """The same without gaps: a pair after the other, and chunks numbered through.

    `items`, `supports`, `chunks`: as above; the number of a chunk is that among all chunks. `owners`: the cluster of
    each chunk. `of`: for each occurrence the number of its pair among all.
    """

    items: Items
    supports: Counts
    chunks: Rows
    owners: Rows
    of: Rows


class Desk(NamedTuple):
    """Room to partition a cluster at a time. `counts`, `ranked`: an entry an item, the counts zero between any two.

    `bits`: a row after the other for each item that is frequent enough in a cluster, as wide as the cluster. `numbers`,
    `current`: an entry for each. `following`, `scratch`: an entry, or a row of bits, for each item of a combination,
    and one or two more.
    """

    counts: Counts
    ranked: Counts
    bits: AnyArray
    numbers: Items
    current: Counts
    scratch: AnyArray
    following: Counts


def desk(width: int, occurrences: int, rows: int, promise: Promise) -> Desk:
    """Room for clusters of so many occurrences and baskets at the most."""
    wide, words = min(width, occurrences // promise.k), (rows + 63) // 64
    return Desk(
        np.zeros(width, dtype=np.int64),
        np.empty(width, dtype=np.int64),
        np.empty(wide * words, dtype=np.uint64),
        np.empty(wide, dtype=np.int32),
        np.empty(wide, dtype=np.int64),
        np.empty((promise.m + 2, words), dtype=np.uint64),
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
    """Partition the clusters from `first` up to `last`; the answer is written to `pairs`.

    `order`, `starts`: the baskets cluster by cluster, and where clusters begin. `places`: where the pairs of each
    cluster begin.
    """
    counts, ranked = desk.counts, desk.ranked
    for cluster in range(first, last):
        rows = order[starts[cluster] : starts[cluster + 1]]
        found = _by_support(indptr, items, rows, ignored, promise.k, counts, ranked)
        base = places[cluster]
        pairs.counts[cluster] = found
        wide = 0
        for place in range(found):
            item = ranked[place]
            pairs.items[base + place] = item
            pairs.supports[base + place] = counts[item]
            pairs.chunks[base + place] = HIDDEN
            wide += counts[item] >= promise.k and not ignored[item]
            counts[item] = place
        words = (len(rows) + 63) // 64
        masks = desk.bits[: wide * words].reshape((wide, words))
        for place in range(wide):
            for word in range(masks.shape[1]):
                masks[place, word] = NONE
        _mark(indptr, items, rows, counts, pairs.of, masks)
        chunks = pairs.chunks[base : base + wide]
        _fill(masks, promise.k, promise.m, chunks, desk.current, desk.scratch, desk.following)
        pairs.covers[cluster] = _settle(masks, chunks, found - wide, len(rows), promise, desk)
        pairs.made[cluster] = _number_through(chunks, desk.numbers)
        if promise.above < promise.below:
            _leave_out(indptr, items, rows, base, masks, chunks, counts, pairs)
        for place in range(found):
            counts[ranked[place]] = 0


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
    """Write the pairs of the clusters from `first` up to `last` to where they belong among all."""
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
def _chunks(chunks: Items) -> int:
    """The number of chunks, those without an item between them included."""
    last = HIDDEN
    for chunk in chunks:
        last = max(last, chunk)
    return last + 1


@lean
def _number_through(chunks: Items, number: Items) -> int:
    """Number the chunks that hold an item without gaps, in their order; how many there are."""
    all_chunks = _chunks(chunks)
    for chunk in range(all_chunks):
        number[chunk] = 0
    for chunk in chunks:
        if chunk != HIDDEN:
            number[chunk] = 1
    made = 0
    for chunk in range(all_chunks):
        number[chunk], made = made, made + number[chunk]
    for place in range(len(chunks)):
        if chunks[place] != HIDDEN:
            chunks[place] = number[chunks[place]]
    return made


@lean
def _by_support(
    indptr: Indptr, items: Items, rows: Rows, ignored: Mask, k: int, counts: Counts, ranked: Counts
) -> int:
    """Count the items of some baskets, and list them by falling support; how many there are. Of equals the first item.

    Those that are too rare or play no part come last.
    """
    width, found = len(ignored), 0
    for local in range(len(rows)):
        for place in range(indptr[rows[local]], indptr[rows[local] + 1]):
            item = items[place]
            if counts[item] == 0:
                ranked[found] = item
                found += 1
            counts[item] += 1
    for place in range(found):
        item = ranked[place]
        behind = ignored[item] or counts[item] < k
        ranked[place] = ((len(rows) + 1 if behind else 0) + len(rows) - counts[item]) * width + item
    sort(ranked, 0, found)
    for place in range(found):
        ranked[place] %= width
    return found


@lean
def _mark(indptr: Indptr, items: Items, rows: Rows, place_of: Counts, of: Items, masks: AnyArray) -> None:
    """Write the pair of each occurrence, and mark the baskets of the first pairs by bits."""
    for local in range(len(rows)):
        for place in range(indptr[rows[local]], indptr[rows[local] + 1]):
            pair = place_of[items[place]]
            of[place] = pair
            if pair < len(masks):
                masks[pair, local // 64] |= np.uint64(1) << np.uint64(local % 64)


@jit
def fill_chunks(masks: AnyArray, k: int, m: int, chunks: Items) -> int:
    """Give every item, a row of bits each, to the first chunk it fits in; say how many chunks there are."""
    scratch = np.empty((m + 1, masks.shape[1]), dtype=np.uint64)
    following, current = np.empty(m + 1, dtype=np.int64), np.empty(len(masks), dtype=np.int64)
    return _fill(masks, k, m, chunks, current, scratch, following)


@lean
def _fill(
    masks: AnyArray, k: int, m: int, chunks: Items, current: Counts, scratch: AnyArray, following: Counts
) -> int:
    """Do so with room to work in.

    One chunk is filled after the other, as in the paper: an item joins if no combination with it is rare.
    """
    left, made = len(masks), 0
    for place in range(left):
        chunks[place] = HIDDEN
    while left:
        held = 0
        for item in range(len(masks)):
            if chunks[item] == HIDDEN and fits(masks, current[:held], item, k, m, scratch, following):
                current[held] = item
                held += 1
                chunks[item] = made
                left -= 1
        made += 1
    return made


@lean
def fits(
    masks: AnyArray, current: Counts, item: int, k: int, m: int, scratch: AnyArray, following: Counts
) -> bool:
    """Whether no combination of the item and up to m - 1 of the current ones has a support of 1 up to k - 1."""
    for word in range(masks.shape[1]):
        scratch[0, word] = masks[item, word]
    following[0] = 0
    depth = 0
    while depth >= 0 and m > 1:
        place = following[depth]
        if place == len(current):
            depth -= 1
            continue
        following[depth] += 1
        support = 0
        for word in range(masks.shape[1]):
            both = scratch[depth, word] & masks[current[place], word]
            scratch[depth + 1, word] = both
            support += int(ones(both))
        if 0 < support < k:
            return False
        if support and depth + 2 < m:
            depth += 1
            following[depth] = place + 1
    return True


@lean
def _settle(masks: AnyArray, chunks: Items, hidden: int, rows: int, promise: Promise, desk: Desk) -> int:
    """Bound the links and see that sub-records suffice for all baskets; the number of sub-records.

    A cluster without term chunk needs so many sub-records that k baskets can hold one of each of up to m chunks while
    no other stays empty; if it has fewer, its rarest item goes to the term chunk.
    """
    while True:
        hidden += _bound(masks, chunks, hidden, rows, promise, desk)
        cover, alive = _cover(masks, chunks)
        enough = rows + promise.k * (max(1, min(promise.m, alive)) - 1)
        if hidden or not alive or cover >= enough:
            return cover
        rarest = -1
        for item in range(len(chunks)):
            if chunks[item] != HIDDEN and (rarest < 0 or _count(masks[item]) <= _count(masks[rarest])):
                rarest = item
        chunks[rarest] = HIDDEN
        hidden += 1


@lean
def _cover(masks: AnyArray, chunks: Items) -> tuple[int, int]:
    """The number of sub-records of all chunks, and the number of chunks that hold an item."""
    cover, alive = 0, 0
    for chunk in range(_chunks(chunks)):
        before = cover
        for word in range(masks.shape[1]):
            cover += int(ones(_in_word(masks, chunks, chunk, -1, word)))
        alive += cover > before
    return cover, alive


@lean
def _bound(masks: AnyArray, chunks: Items, hidden: int, rows: int, promise: Promise, desk: Desk) -> int:
    """Leave out occurrences of items that too large a share of the cluster holds; how many had to be hidden.

    Occurrences without another item of the same chunk go first. An item whose occurrences cannot be left out without
    making a combination rare is hidden as a whole.
    """
    moved = 0
    if promise.above >= promise.below:
        return 0
    allowed = promise.above * rows // promise.below
    item = 0
    while item < len(chunks):
        others = hidden + moved
        for other in range(len(chunks)):
            others += chunks[other] != HIDDEN and chunks[other] != chunks[item]
        excess = _count(masks[item]) - allowed
        if chunks[item] == HIDDEN or excess <= 0 or others == 0:
            item += 1
            continue
        before = desk.scratch[promise.m + 1]
        for word in range(masks.shape[1]):
            before[word] = masks[item, word]
        _clear(masks, chunks, item, excess)
        if allowed < promise.k or not _still_fits(masks, chunks, item, promise, desk):
            for word in range(masks.shape[1]):
                masks[item, word] = before[word]
            chunks[item] = HIDDEN
            moved += 1
            item = 0
    return moved


@lean
def _clear(masks: AnyArray, chunks: Items, item: int, excess: int) -> None:
    """Clear so many bits of an item, those that no other of its chunk has before those that another has."""
    for turn in range(2 * masks.shape[1]):
        word = turn % masks.shape[1]
        others = _in_word(masks, chunks, chunks[item], item, word)
        for bit in range(64):
            one = np.uint64(1) << np.uint64(bit)
            alone = others & one == NONE
            if excess > 0 and masks[item, word] & one != NONE and alone == (turn == word):
                masks[item, word] &= ~one
                excess -= 1


@lean
def _still_fits(masks: AnyArray, chunks: Items, item: int, promise: Promise, desk: Desk) -> bool:
    current, held = desk.current, 0
    for other in range(len(chunks)):
        if other != item and chunks[other] == chunks[item]:
            current[held] = other
            held += 1
    return fits(masks, current[:held], item, promise.k, promise.m, desk.scratch, desk.following)


@lean
def _in_word(masks: AnyArray, chunks: Items, chunk: int, without: int, word: int) -> np.uint64:
    """Which baskets, of those of a word of bits, hold another item of a chunk."""
    union = NONE
    for item in range(len(chunks)):
        if chunks[item] == chunk and item != without:
            union |= masks[item, word]
    return union


@lean
def _count(mask: AnyArray) -> int:
    total = 0
    for word in mask:
        total += int(ones(word))
    return total


@lean
def _leave_out(
    indptr: Indptr,
    items: Items,
    rows: Rows,
    base: int,
    masks: AnyArray,
    chunks: Items,
    place_of: Counts,
    pairs: Pairs,
) -> None:
    """Take the occurrences whose bits were cleared out of the release."""
    for item in range(len(chunks)):
        if chunks[item] != HIDDEN:
            pairs.supports[base + item] = _count(masks[item])
    for local in range(len(rows)):
        row = rows[local]
        for place in range(indptr[row], indptr[row + 1]):
            pair = place_of[items[place]]
            if pair < len(chunks) and chunks[pair] != HIDDEN:
                bit = masks[pair, local // 64] >> np.uint64(local % 64) & np.uint64(1)
                if bit == 0:
                    pairs.of[place] = HIDDEN
