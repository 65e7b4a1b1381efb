"""Clusters of similar baskets: gathered one after another, then improved by swapping baskets.

Row r has the items ``items[indptr[r]:indptr[r + 1]]``, each of which is worth ``worth[n]``, where n is their number.
The similarity of two rows is the number of items they share, times the worth of both: if the worth is one over the
square root of the row's length, this is the cosine. A cluster is the rows ``members[starts[c]:starts[c + 1]]``. All
numbers are integers, so that ties are exact.

Most of the time is spent waiting for memory. So numbers are short, and data used together is stored together.
"""

from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from shoal.kernels._jit import jit, lean
from shoal.kernels.prefetching import LINE, prefetch
from shoal.kernels.sorting import sort

Array: TypeAlias = NDArray[Any]
Whole: TypeAlias = int | np.int64

TOP = 4
"""How many rows of each of two clusters are tried for a swap: those that gain most by moving to the other one."""


class Rows(NamedTuple):
    """Rows with their items, the worth of an item by the length of its row, and the number of distinct items."""

    indptr: Array
    items: Array
    worth: Array
    width: int


def linked(orders: Array) -> Array:
    """Link the rows in several orders: for each row and order, the row after it and the one before it, or -1."""
    tables, rows = orders.shape
    links = np.full((rows, 2 * tables), -1, dtype=np.int32)
    for table, order in enumerate(orders):
        links[order[:-1], 2 * table], links[order[1:], 2 * table + 1] = order[1:], order[:-1]
    return links


@lean
def unlink(row: Whole, links: Array) -> None:
    """Remove a row from all orders."""
    for side in range(0, links.shape[1], 2):
        forth, back = links[row, side], links[row, side + 1]
        if back >= 0:
            links[back, side] = forth
        if forth >= 0:
            links[forth, side + 1] = back


@lean
def near(
    row: Whole, links: Array, first: Whole, window: Whole, listed: Array, stamp: Whole, found: Array
) -> int:
    """List the rows near a row: `first` to each side in the first order, and `window` in each other order."""
    listed[row] = stamp
    count = 0
    for side in range(0, links.shape[1], 2):
        forth, back = links[row, side], links[row, side + 1]
        for _ in range(window if side else first):
            if forth >= 0:
                if listed[forth] != stamp:
                    listed[forth] = stamp
                    found[count] = forth
                    count += 1
                forth = links[forth, side]
            if back >= 0:
                if listed[back] != stamp:
                    listed[back] = stamp
                    found[count] = back
                    count += 1
                back = links[back, side + 1]
    return count


@lean
def _count(row: Whole, indptr: Array, items: Array, worth: Array, times: Whole, sums: Array) -> None:
    """Add the items of a row to the sums."""
    begin, end = indptr[row], indptr[row + 1]
    step = times * worth[end - begin]
    for place in range(begin, end):
        sums[items[place]] += step


@lean
def _forget(row: Whole, indptr: Array, items: Array, sums: Array) -> None:
    for place in range(indptr[row], indptr[row + 1]):
        sums[items[place]] = 0


@lean
def _likeness(row: Whole, indptr: Array, items: Array, worth: Array, sums: Array) -> np.int64:
    """The similarity of a row to all rows that were added to the sums."""
    total = np.int64(0)
    begin, end = indptr[row], indptr[row + 1]
    for place in range(begin, end):
        total += sums[items[place]]
    return np.int64(total * worth[end - begin])


def gather(orders: Array, rows: Rows, clusters: int, window: int) -> tuple[Array, Array]:
    """Gather clusters: take the next free row of the first order, then the near rows most similar to those taken.

    This makes `clusters` clusters, no two of which differ in size by more than one row. Of equally similar rows, the
    one listed first is taken.

    Returns the rows cluster by cluster, and where each cluster begins.
    """
    tables, count = orders.shape
    starts = np.arange(clusters + 1, dtype=np.int64) * count // clusters
    members = np.empty(count, dtype=np.int32)
    given = orders, rows.indptr, rows.items, rows.worth, window, starts, members
    _gather(
        *given,
        linked(orders),
        np.ones(count, dtype=np.bool_),
        np.full(count, -1, dtype=np.int32),
        np.empty(2 * (count // clusters + 1 + window * (tables - 1)), dtype=np.int32),
        np.zeros(rows.width, dtype=np.int64),
    )
    return members, starts


@lean
def _gather(
    orders: Array,
    indptr: Array,
    items: Array,
    worth: Array,
    window: Whole,
    starts: Array,
    members: Array,
    links: Array,
    free: Array,
    listed: Array,
    found: Array,
    sums: Array,
) -> None:
    step = 0
    for cluster in range(len(starts) - 1):
        begin, end = starts[cluster], starts[cluster + 1]
        while not free[orders[0, step]]:
            step += 1
        row = orders[0, step]
        listed_now = near(row, links, end - begin - 1, window, listed, cluster, found)
        for entry in range(listed_now):
            prefetch(indptr, found[entry])
        for entry in range(listed_now):
            prefetch(items, indptr[found[entry]])
        for place in range(begin, end):
            if place > begin:
                best, best_likeness = 0, np.int64(-1)
                for entry in range(listed_now):
                    likeness = _likeness(found[entry], indptr, items, worth, sums)
                    if likeness > best_likeness:
                        best, best_likeness = entry, likeness
                row = found[best]
                # The remaining rows stay in the order in which they were listed.
                for entry in range(best, listed_now - 1):
                    found[entry] = found[entry + 1]
                listed_now -= 1
            members[place] = row
            free[row] = False
            unlink(row, links)
            _count(row, indptr, items, worth, 1, sums)
        for place in range(begin, end):
            _forget(members[place], indptr, items, sums)


class Side(NamedTuple):
    """The items of a cluster laid out side by side, so that one loop goes over the items of all rows.

    `items`: the items, one row after another, and room for one more row. `at`: where each row begins, and the end.
    `steps`: what each item adds to the sums. `totals`: running totals over the items. `scores`: what each row gains by
    leaving. `best`: the rows that gain most.
    """

    items: Array
    at: Array
    steps: Array
    totals: Array
    scores: Array
    best: Array


def _side(items: Array, rows: int, entries: int, longest: int) -> Side:
    """Allocate room for a number of rows with a number of items in all, and in the longest row."""
    return Side(
        np.empty(entries + longest, dtype=items.dtype),
        np.zeros(rows + 1, dtype=np.uint32),
        np.empty(entries, dtype=np.int64),
        np.zeros(entries + 1, dtype=np.int64),
        np.empty(rows, dtype=np.int64),
        np.empty(TOP, dtype=np.uint32),
    )


@lean
def _lay(
    cluster: Whole,
    times: Whole,
    indptr: Array,
    items: Array,
    worth: Array,
    members: Array,
    starts: Array,
    sums: Array,
    side: Side,
) -> None:
    """Lay out the items of a cluster's rows, and add them to the sums."""
    laid, at, steps, _, _, _ = side
    put, first = 0, starts[cluster]
    for place in range(first, starts[cluster + 1]):
        begin, end = indptr[members[place]], indptr[members[place] + 1]
        step = times * worth[end - begin]
        for entry in range(begin, end):
            item = items[entry]
            laid[put] = item
            steps[put] = step
            sums[item] += step
            put += 1
        at[place - first + 1] = put


@lean
def _unlay(rows: Whole, side: Side, sums: Array) -> None:
    """Subtract a laid-out cluster from the sums."""
    for place in range(side.at[rows]):
        sums[side.items[place]] -= side.steps[place]


@lean
def _refit(row: Whole, rows: Whole, length: Whole, step: Whole, side: Side) -> None:
    """Change the length of a laid-out row and the step of its items; the rows after it are moved."""
    laid, at, steps, _, _, _ = side
    begin, end = np.int64(at[row + 1]), np.int64(at[rows])
    change = at[row] + length - begin
    if change > 0:
        for place in range(end - 1, begin - 1, -1):
            laid[place + change], steps[place + change] = laid[place], steps[place]
    elif change < 0:
        for place in range(begin, end):
            laid[place + change], steps[place + change] = laid[place], steps[place]
    for later in range(row + 1, rows + 1):
        at[later] += change
    for place in range(at[row], at[row + 1]):
        steps[place] = step


@lean
def _trade(
    one: Whole, other: Whole, rows: Whole, others: Whole, worth: Array, sums: Array, here: Side, there: Side
) -> None:
    """Swap two rows in the layouts of both clusters, the second of which has negative steps."""
    (laid, at, _, _, _, _), (far, far_at, _, _, _, _) = here, there
    begin, first = np.int64(at[one]), np.int64(far_at[other])
    mine, theirs = at[one + 1] - begin, far_at[other + 1] - first
    spare = len(laid) - mine
    for place in range(mine):
        item = laid[begin + place]
        laid[spare + place] = item
        sums[item] -= 2 * worth[mine]
    _refit(one, rows, theirs, worth[theirs], here)
    for place in range(theirs):
        item = far[first + place]
        laid[begin + place] = item
        sums[item] += 2 * worth[theirs]
    _refit(other, others, mine, -worth[mine], there)
    for place in range(mine):
        far[first + place] = laid[spare + place]


@lean
def _score(rows: Whole, sign: Whole, worth: Array, sums: Array, side: Side) -> np.int64:
    """Score what each row gains by moving to the other cluster, without a partner; returns the largest score."""
    laid, at, _, totals, scores, _ = side
    total, most = np.int64(0), np.int64(-(2**62))
    for place in range(at[rows]):
        total += sums[laid[place]]
        totals[place + 1] = total
    for row in range(rows):
        length = np.int64(at[row + 1] - at[row])
        likeness = totals[at[row + 1]] - totals[at[row]]
        scores[row] = worth[length] * (worth[length] * length + sign * likeness)
        most = max(most, scores[row])
    return most


@lean
def _list_best(rows: Whole, scores: Array, best: Array) -> int:
    """List the `TOP` rows with the best scores; returns how many there are."""
    kept = 0
    for row in range(rows):
        score = scores[row]
        if kept == TOP and score <= scores[best[kept - 1]]:
            continue
        if kept < TOP:
            kept += 1
        at = kept - 1
        while at > 0 and scores[best[at - 1]] < score:
            best[at] = best[at - 1]
            at -= 1
        best[at] = row
    return kept


@lean
def _best_swap(
    rows: Whole, others: Whole, worth: Array, sums: Array, marked: Array, here: Side, there: Side
) -> tuple[int, int]:
    """The best swap of two rows, as their places in their clusters; -1 if no swap gains anything."""
    gain, one, other = np.int64(0), -1, -1
    if _score(rows, -1, worth, sums, here) + _score(others, 1, worth, sums, there) <= 0:
        return one, other
    few, many = _list_best(rows, here.scores, here.best), _list_best(others, there.scores, there.best)
    for left in range(few):
        row = here.best[left]
        first = here.scores[row]
        if first + there.scores[there.best[0]] <= gain:
            break
        begin, end = here.at[row], here.at[row + 1]
        for place in range(begin, end):
            marked[here.items[place]] = 1
        for right in range(many):
            partner = there.best[right]
            both = first + there.scores[partner]
            if both <= gain:
                break
            common, length = np.int64(0), there.at[partner + 1] - there.at[partner]
            for place in range(there.at[partner], there.at[partner] + length):
                common += marked[there.items[place]]
            both -= 2 * common * worth[end - begin] * worth[length]
            if both > gain:
                gain, one, other = both, row, partner
        for place in range(begin, end):
            marked[here.items[place]] = 0
    return one, other


@lean
def _exchange(
    indptr: Array,
    items: Array,
    worth: Array,
    members: Array,
    cluster_of: Array,
    starts: Array,
    near: Whole,
    far: Whole,
    sums: Array,
    marked: Array,
    here: Side,
    there: Side,
) -> int:
    """Swap rows of two clusters as long as that increases the similarity within both clusters together.

    The first cluster must be laid out, and stays so.
    """
    begin, first = starts[near], starts[far]
    rows, others = starts[near + 1] - begin, starts[far + 1] - first
    swaps = 0
    _lay(far, -1, indptr, items, worth, members, starts, sums, there)
    while swaps < rows + others:
        one, other = _best_swap(rows, others, worth, sums, marked, here, there)
        if one < 0:
            break
        row, partner = members[begin + one], members[first + other]
        members[begin + one], members[first + other] = partner, row
        cluster_of[row], cluster_of[partner] = far, near
        _trade(one, other, rows, others, worth, sums, here, there)
        swaps += 1
    _unlay(others, there, sums)
    return swaps


@lean
def _worth_comparing(here: Whole, there: Whole, seen: Array) -> bool:
    """Whether two clusters were not compared recently, or one of them has changed since."""
    last = 0
    for place in range(1, seen.shape[1], 2):
        if seen[here, place] == there:
            last = max(last, seen[here, place + 1])
        if seen[there, place] == here:
            last = max(last, seen[there, place + 1])
    return bool(last == 0 or max(seen[here, 0], seen[there, 0]) > last)


@lean
def _remember(here: Whole, there: Whole, now: Whole, seen: Array) -> None:
    """Note that two clusters were compared, in place of the oldest note."""
    oldest = 1
    for place in range(1, seen.shape[1], 2):
        if seen[here, place] == there:
            oldest = place
            break
        if seen[here, place + 1] < seen[here, oldest + 1]:
            oldest = place
    seen[here, oldest], seen[here, oldest + 1] = there, now


@lean
def _call_for(
    found: Whole, nearest: Array, starts: Array, members: Array, indptr: Array, items: Array, seen: Array
) -> None:
    """Prefetch the rows of some clusters, all at once, before they are read one after another."""
    for entry in range(found):
        there = nearest[entry]
        prefetch(seen, there)
        for place in range(starts[there], starts[there + 1], LINE):
            prefetch(members, place)
    for entry in range(found):
        for place in range(starts[nearest[entry]], starts[nearest[entry] + 1]):
            prefetch(indptr, members[place])
    for entry in range(found):
        for place in range(starts[nearest[entry]], starts[nearest[entry] + 1]):
            prefetch(items, indptr[members[place]])


def swap_rows(
    orders: Array, rows: Rows, members: Array, starts: Array, passes: int, reach: int, most: int
) -> int:
    """Swap rows between clusters that are near each other, so that the rows of each cluster become more similar.

    Clusters are near if rows of both are at most `reach` places apart in one of the orders; each is compared with the
    `most` clusters for which that happens most often. Clusters unchanged since they were compared are skipped.

    `members`: changed in place. Returns the number of swaps.
    """
    tables, count = orders.shape
    sizes, clusters = np.diff(starts), len(starts) - 1
    cluster_of = np.empty(count, dtype=np.uint32)
    cluster_of[members] = np.repeat(np.arange(clusters, dtype=np.uint32), sizes)
    largest = int(sizes.max())
    # The longest rows, as many as the largest cluster has: no cluster needs more room than these.
    longest = np.partition(np.diff(rows.indptr), -largest)[-largest:]
    room = largest, int(longest.sum()), int(longest.max())
    beside = np.empty((count, 2 * reach * tables), dtype=np.uint32)
    # For each cluster, when it last changed; then pairs of a cluster it was recently compared with, and when.
    seen = np.zeros((clusters, 1 + 2 * most), dtype=np.uint32)
    seen[:, 1::2] = clusters
    given = orders, rows.indptr, rows.items, rows.worth, members, starts, passes, reach
    return _swap(
        *given,
        cluster_of,
        beside,
        seen,
        np.zeros(rows.width, dtype=np.int64),
        np.zeros(rows.width, dtype=np.uint8),
        np.zeros(clusters, dtype=np.uint32),
        np.empty(most, dtype=np.uint32),
        np.empty(beside.shape[1] * largest, dtype=np.uint32),
        _side(rows.items, *room),
        _side(rows.items, *room),
    )


@lean
def _swap(
    orders: Array,
    indptr: Array,
    items: Array,
    worth: Array,
    members: Array,
    starts: Array,
    passes: Whole,
    reach: Whole,
    cluster_of: Array,
    beside: Array,
    seen: Array,
    sums: Array,
    marked: Array,
    counts: Array,
    nearest: Array,
    touched: Array,
    one: Side,
    other: Side,
) -> int:
    _list_beside(orders, reach, beside)
    swaps, clock = 0, 0
    for _ in range(passes):
        before = swaps
        for here in range(len(starts) - 1):
            found = _neighbors(here, beside, members, starts, cluster_of, counts, touched)
            found = _most_often(found, counts, touched, nearest)
            _call_for(found, nearest, starts, members, indptr, items, seen)
            _lay(here, 1, indptr, items, worth, members, starts, sums, one)
            for entry in range(found):
                there = np.int64(nearest[entry])
                if not _worth_comparing(here, there, seen):
                    continue
                clock += 1
                made = _exchange(
                    indptr, items, worth, members, cluster_of, starts, here, there, sums, marked, one, other
                )
                if made:
                    seen[here, 0], seen[there, 0] = clock, clock
                    swaps += made
                _remember(here, there, clock, seen)
            _unlay(starts[here + 1] - starts[here], one, sums)
        if swaps == before:
            break
    return swaps


@lean
def _list_beside(orders: Array, reach: Whole, beside: Array) -> None:
    """List, one line per row, the rows at most `reach` from it in each order; where there is none, the row itself."""
    tables, count = orders.shape
    for table in range(tables):
        for place in range(count):
            row, at = orders[table, place], 2 * reach * table
            for other in range(place - reach, place + reach + 1):
                if other != place:
                    beside[row, at] = orders[table, other] if 0 <= other < count else row
                    at += 1


@lean
def _neighbors(
    here: Whole,
    beside: Array,
    members: Array,
    starts: Array,
    cluster_of: Array,
    counts: Array,
    touched: Array,
) -> int:
    """Count how often rows of other clusters are near rows of this one; returns how many such clusters there are."""
    # First look up all clusters, then count them, so that the loads do not wait for each other.
    listed = 0
    for member in range(starts[here], starts[here + 1]):
        row = members[member]
        for side in range(beside.shape[1]):
            touched[listed] = cluster_of[beside[row, side]]
            listed += 1
    found = 0
    for entry in range(listed):
        other = touched[entry]
        if other != here:
            if counts[other] == 0:
                touched[found] = other
                found += 1
            counts[other] += 1
    return found


@lean
def _most_often(found: Whole, counts: Array, touched: Array, nearest: Array) -> int:
    """List the clusters with the largest counts, of equals those found first; reset the counts to zero."""
    kept = 0
    for entry in range(found):
        other = touched[entry]
        if kept == len(nearest) and counts[other] <= counts[nearest[kept - 1]]:
            continue
        if kept < len(nearest):
            kept += 1
        at = kept - 1
        while at > 0 and counts[nearest[at - 1]] < counts[other]:
            nearest[at] = nearest[at - 1]
            at -= 1
        nearest[at] = other
    for entry in range(found):
        counts[touched[entry]] = 0
    return kept


@jit
def count_items(
    indptr: Array, items: Array, width: Whole, rows: Array, starts: Array
) -> tuple[Array, Array, Array]:
    """Count how many rows of each cluster hold each item: where each cluster begins, ascending items, and counts."""
    entries = 0
    for place in range(len(rows)):
        entries += indptr[rows[place] + 1] - indptr[rows[place]]
    begins = np.zeros(len(starts), dtype=np.int64)
    held, counts = np.empty(entries, dtype=np.int32), np.empty(entries, dtype=np.int32)
    times = np.zeros(width, dtype=np.int32)
    found = 0
    for cluster in range(len(starts) - 1):
        for member in range(starts[cluster], starts[cluster + 1]):
            prefetch(indptr, rows[min(member + 2 * LINE, len(rows) - 1)])
            prefetch(items, indptr[rows[min(member + LINE, len(rows) - 1)]])
            for place in range(indptr[rows[member]], indptr[rows[member] + 1]):
                item = items[place]
                if times[item] == 0:
                    held[found] = item
                    found += 1
                times[item] += 1
        sort(held, begins[cluster], found)
        for entry in range(begins[cluster], found):
            counts[entry] = times[held[entry]]
            times[held[entry]] = 0
        begins[cluster + 1] = found
    return begins, held[:found].copy(), counts[:found].copy()
