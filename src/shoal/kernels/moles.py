"""Moles of (h,k,p)-coherence: make sets one item longer, and judge which of them are moles.

Sets of one size are an array with one set per row, in lexicographic order; sets that share all but their last item
are a *group*. Items are ranks of ascending support, so that the first item of a set is its rarest. Sets of frequent
items are judged by bitmaps, and other sets by scanning the baskets that hold them.
"""

from typing import NamedTuple

import numpy as np

from shoal.kernels._jit import jit
from shoal.kernels.cohorts import (
    Array,
    Holders,
    cohort_bits,
    cohort_rows,
    count_listed,
    counts_by_rows,
    forget,
    gathered_rows,
    met_items,
    peak_of,
)
from shoal.kernels.popcount import count_all_three, count_both

SAFE, RARE, BREACH = 0, 1, 2
"""Kinds of sets: not a mole, a mole that too few baskets hold, a mole that reveals a secret."""

WORD_STEP, ROW_STEP = 0.15, 1.5
"""Nanoseconds to read a word of a bitmap, and an item of a basket; the cheaper way to count is taken."""


class Rule(NamedTuple):
    """The least support, and the largest share of a secret as a fraction."""

    k: int
    numerator: int
    denominator: int


class Level(NamedTuple):
    """The sets of one size that neither are nor contain moles."""

    sets: Array  # one set per row, ranks ascending, rows in lexicographic order
    group_indptr: Array  # where each group of sets that share all but their last item begins and ends
    supports: Array  # the number of baskets that hold each set
    peaks: Array  # for each set, an upper bound on the count of any secret among the baskets that hold it


class Found(NamedTuple):
    """Sets made from those of a level: the place of the parent there, the added item, the kind, support and peak."""

    parents: Array
    items: Array
    kinds: Array
    supports: Array
    peaks: Array


@jit
def group_of(sets: Array, group_indptr: Array, beginning: Array) -> int:
    """The group whose sets begin with the given items; -1 if there is none."""
    low, high = 0, len(group_indptr) - 1
    while low < high:
        middle = (low + high) // 2
        first = group_indptr[middle]
        order = 0
        for place in range(len(beginning)):
            if sets[first, place] != beginning[place]:
                order = -1 if sets[first, place] < beginning[place] else 1
                break
        if order == 0:
            return middle
        if order < 0:
            low = middle + 1
        else:
            high = middle
    return -1


@jit
def candidates(level: Level, place: int, end: int, items: Array, peaks: Array) -> int:
    """List the items that may be added to a set so that all subsets are in the level: the paper's join and prune.

    `level`: the sets of this size. `place`, `end`: the set, and the end of its group. `items`, `peaks`: filled with the
    items, and the least peak among the subsets. Returns how many items there are.
    """
    sets = level.sets
    size = sets.shape[1]
    count = 0
    for other in range(place + 1, end):
        items[count] = sets[other, size - 1]
        peaks[count] = min(level.peaks[place], level.peaks[other])
        count += 1
    beginning = np.empty(size - 1, dtype=np.int32)
    for left_out in range(size - 1):
        if count == 0:
            return 0
        for kept in range(size - 1):
            beginning[kept] = sets[place, kept + (kept >= left_out)]
        group = group_of(sets, level.group_indptr, beginning)
        if group < 0:
            return 0
        here, stop, kept = level.group_indptr[group], level.group_indptr[group + 1], 0
        for entry in range(count):
            while here < stop and sets[here, size - 1] < items[entry]:
                here += 1
            if here == stop:
                break
            if sets[here, size - 1] == items[entry]:
                items[kept] = items[entry]
                peaks[kept] = min(peaks[entry], level.peaks[here])
                kept += 1
        count = kept
    return count


class Room(NamedTuple):
    """Working arrays: for a cohort and that of its prefix, for each item, and for each candidate."""

    rows: Array
    beginning_rows: Array
    bits: Array
    beginning_bits: Array
    counts: Array
    ends: Array
    secret_counts: Array
    items: Array
    peaks: Array
    supports: Array
    kinds: Array


@jit
def room_for(holders: Holders, secrets: Holders, width: int) -> Room:
    """The working arrays of one thread."""
    rows, words, items = len(holders.indptr) - 1, holders.bits.shape[1], len(holders.item_indptr) - 1
    return Room(
        np.empty(rows, dtype=np.int32),
        np.empty(rows, dtype=np.int32),
        np.empty(words, dtype=np.uint64),
        np.empty(words, dtype=np.uint64),
        np.zeros(items, dtype=np.int64),
        np.full(items, -1, dtype=np.int64),
        np.zeros(len(secrets.item_indptr) - 1, dtype=np.int64),
        np.empty(width, dtype=np.int32),
        np.empty(width, dtype=np.int64),
        np.empty(width, dtype=np.int64),
        np.empty(width, dtype=np.int8),
    )


@jit
def judge_by_rows(
    level: Level,
    last: int,
    count: int,
    rows: Array,
    holders: Holders,
    secrets: Holders,
    rule: Rule,
    room: Room,
) -> int:
    """Judge the candidates of a set by scanning the baskets that hold it.

    For a single item, all items that occur with it are candidates.

    Returns the number of candidates; their supports, kinds and peaks are left in the room.
    """
    counts, ends, items, peaks = room.counts, room.ends, room.items, room.peaks
    walked = counts_by_rows(holders, rows, last, counts)
    if level.sets.shape[1] == 1:
        count = met_items(holders, rows, last, counts, items)
        for place in range(count):
            peaks[place] = min(level.peaks[last], level.peaks[items[place]])
    total = 0
    for place in range(count):
        support = counts[items[place]]
        room.supports[place] = support
        room.kinds[place] = RARE if support < rule.k else SAFE
        if support >= rule.k and peaks[place] * rule.denominator > rule.numerator * support:
            ends[items[place]] = total
            total += support
    forget(holders, rows, last, counts, walked)
    if total == 0:
        return count
    gathered = np.empty(total, dtype=np.int32)
    gathered_rows(holders, rows, last, ends, gathered)
    for place in range(count):
        end = ends[items[place]]
        if end >= 0:
            support = room.supports[place]
            limit = rule.numerator * support // rule.denominator
            peaks[place] = peak_of(
                gathered[end - support : end], secrets.indptr, secrets.items, room.secret_counts, limit
            )
            room.kinds[place] = BREACH if peaks[place] > limit else SAFE
            ends[items[place]] = -1
    return count


@jit
def peak_by_bits(cohort: Array, other: Array, secrets: Holders, secret_counts: Array, limit: int) -> int:
    """An upper bound on the count of any secret in the baskets of both; above the limit only if some count really is.

    `secret_counts`: the counts in the cohort alone; secrets that are rare there need not be counted again.
    """
    peak = 0
    for secret in range(len(secret_counts)):
        count = secret_counts[secret]
        if count > limit:
            if secret >= secrets.first_bits:
                count = count_all_three(cohort, other, secrets.bits[secret - secrets.first_bits])
            else:
                own = secrets.baskets[secrets.item_indptr[secret] : secrets.item_indptr[secret + 1]]
                count = count_listed(cohort, other, own)
            if count > limit:
                return count
        peak = max(peak, count)
    return peak


@jit
def judge_by_bits(
    count: int, cohort: Array, holders: Holders, secrets: Holders, rule: Rule, room: Room
) -> None:
    """Judge the candidates of a set by the bitmap of the baskets that hold it."""
    secrets_counted = False
    for place in range(count):
        other = holders.bits[room.items[place] - holders.first_bits]
        support = count_both(cohort, other)
        room.supports[place] = support
        room.kinds[place] = RARE if support < rule.k else SAFE
        if support < rule.k or room.peaks[place] * rule.denominator <= rule.numerator * support:
            continue
        if not secrets_counted:
            secrets_counted = True
            for secret in range(len(room.secret_counts)):
                if secret >= secrets.first_bits:
                    bits = secrets.bits[secret - secrets.first_bits]
                    room.secret_counts[secret] = count_both(cohort, bits)
                else:
                    own = secrets.baskets[secrets.item_indptr[secret] : secrets.item_indptr[secret + 1]]
                    room.secret_counts[secret] = count_listed(cohort, cohort, own)
        limit = rule.numerator * support // rule.denominator
        room.peaks[place] = min(
            room.peaks[place], peak_by_bits(cohort, other, secrets, room.secret_counts, limit)
        )
        room.kinds[place] = BREACH if room.peaks[place] > limit else SAFE
    if secrets_counted:
        for secret in range(len(room.secret_counts)):
            room.secret_counts[secret] = 0


@jit
def write(place: int, count: int, keep_safe: bool, room: Room, found: Found, written: int) -> int:
    """Write the candidates of a set that occur; safe ones only if they are wanted."""
    for entry in range(count):
        if room.supports[entry] == 0 or (room.kinds[entry] == SAFE and not keep_safe):
            continue
        found.parents[written] = place
        found.items[written] = room.items[entry]
        found.kinds[written] = room.kinds[entry]
        found.supports[written] = room.supports[entry]
        found.peaks[written] = room.peaks[entry]
        written += 1
    return written


@jit
def fill_bits(holders: Holders, items: Array, is_new: bool, room: Room) -> None:
    """Make the bitmap of a set's cohort; that of its prefix is kept for the next set of the group."""
    last = holders.bits[items[-1] - holders.first_bits]
    if len(items) == 1:
        for word in range(len(last)):
            room.bits[word] = last[word]
        return
    if is_new:
        cohort_bits(holders, items[:-1], room.beginning_bits)
    for word in range(len(last)):
        room.bits[word] = room.beginning_bits[word] & last[word]


@jit
def fill_rows(holders: Holders, items: Array, beginning: int, room: Room) -> tuple[int, int]:
    """List the cohort of a set; that of its prefix is kept for the next set of the group.

    `beginning`: the length of the prefix's cohort, or -1 in a new group. Returns the lengths of both cohorts.
    """
    if len(items) == 1:
        return cohort_rows(holders, room.rows, 0, items, room.rows), -1
    if beginning < 0:
        beginning = cohort_rows(holders, room.beginning_rows, 0, items[:-1], room.beginning_rows)
    if beginning == 0:
        # Possible if these baskets are only a part of all; an empty list would mean all baskets of the last item.
        return 0, 0
    return cohort_rows(holders, room.beginning_rows, beginning, items[-1:], room.rows), beginning


@jit
def extend(
    level: Level,
    begin: int,
    end: int,
    holders: Holders,
    secrets: Holders,
    rule: Rule,
    mean_length: float,
    keep_safe: bool,
    found: Found,
) -> tuple[int, int, int]:
    """Make sets of a level one item longer, and judge them.

    `level`: sets that neither are nor contain moles; for single items, all ranks. `begin`, `end`: the sets to extend.
    `holders`, `secrets`: public and private items; the private items of a basket need not be ascending. `rule`: what
    makes a set a mole. `mean_length`: the length of the basket of a typical occurrence. `keep_safe`: whether to write
    sets that are not moles. `found`: where to write, with room for at least as many sets as there are items. Returns
    the set at which the room ran out (or `end`), how many were written, and how many were judged.
    """
    size = level.sets.shape[1]
    room = room_for(holders, secrets, len(holders.item_indptr))
    group = np.searchsorted(level.group_indptr, begin, side="right") - 1
    written, tried, words = 0, 0, holders.bits.shape[1]
    beginning, bits_new = -1, True
    for place in range(begin, end):
        if place >= level.group_indptr[group + 1]:
            group += 1
            beginning, bits_new = -1, True
        after = level.group_indptr[group + 1]
        if written + after - place - 1 > len(found.parents):
            return place, written, tried
        items = level.sets[place]
        count = after - place - 1 if size == 1 else candidates(level, place, after, room.items, room.peaks)
        if count == 0:
            continue
        row_cost = level.supports[place] * mean_length * ROW_STEP
        if items[0] >= holders.first_bits and count * words * WORD_STEP < row_cost:
            if size == 1:
                candidates(level, place, after, room.items, room.peaks)
            fill_bits(holders, items, bits_new, room)
            bits_new = False
            judge_by_bits(count, room.bits, holders, secrets, rule, room)
        else:
            rows, beginning = fill_rows(holders, items, beginning, room)
            count = judge_by_rows(level, items[-1], count, room.rows[:rows], holders, secrets, rule, room)
        tried += count
        written = write(place, count, keep_safe, room, found, written)
    return end, written, tried
