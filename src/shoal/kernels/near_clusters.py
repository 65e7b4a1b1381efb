"""Clusters of like baskets: gathered one after the other, and improved by baskets that change places.

A row holds the items ``items[indptr[r]:indptr[r + 1]]``, each of which is worth ``worth[r]``. How alike two rows are is
the number of items they share, times the worth of both: with a worth of one over the square root of the row's length,
that is the cosine. A cluster is the rows ``members[starts[c]:starts[c + 1]]``. All numbers are whole, so that ties are
ties.
"""

from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from shoal.kernels._jit import jit
from shoal.kernels.sorting import sort

Array: TypeAlias = NDArray[Any]
Whole: TypeAlias = int | np.int64

SKIPPED = 8
"""Clusters that a search passes over, for each that it wants: it ends in a crowd of those that do not help."""

TOP = 4
"""Rows of each of two clusters that are tried for a swap: those that would rather be in the other one."""


class Rows(NamedTuple):
    """Rows, their items and what these are worth, and how many items there are."""

    indptr: Array
    items: Array
    worth: Array
    width: int


class Lists(NamedTuple):
    """Free rows, linked in several orders, a line each: the row after each row and the one before it, or -1."""

    after: Array
    before: Array


@jit
def linked(orders: Array) -> Lists:
    """Link all rows."""
    tables, rows = orders.shape
    after = np.full((tables, rows), -1, dtype=np.int32)
    before = np.full((tables, rows), -1, dtype=np.int32)
    for table in range(tables):
        for place in range(1, rows):
            after[table, orders[table, place - 1]] = orders[table, place]
            before[table, orders[table, place]] = orders[table, place - 1]
    return Lists(after, before)


@jit
def unlink(row: Whole, lists: Lists) -> None:
    """Take a row out of all lists."""
    for table in range(len(lists.after)):
        back, forth = lists.before[table, row], lists.after[table, row]
        if back >= 0:
            lists.after[table, back] = forth
        if forth >= 0:
            lists.before[table, forth] = back


@jit
def near(
    row: Whole, lists: Lists, first: Whole, window: Whole, listed: Array, stamp: Whole, found: Array
) -> int:
    """List the rows near a row: so many to each side in the first order, and a window of them in each other one."""
    listed[row] = stamp
    count = 0
    for table in range(len(lists.after)):
        back, forth = lists.before[table, row], lists.after[table, row]
        for _ in range(first if table == 0 else window):
            if forth >= 0:
                if listed[forth] != stamp:
                    listed[forth] = stamp
                    found[count] = forth
                    count += 1
                forth = lists.after[table, forth]
            if back >= 0:
                if listed[back] != stamp:
                    listed[back] = stamp
                    found[count] = back
                    count += 1
                back = lists.before[table, back]
    return count


@jit
def _count(row: Whole, rows: Rows, times: Whole, sums: Array) -> None:
    """Count the items of a row into sums."""
    step = times * rows.worth[row]
    for item in rows.items[rows.indptr[row] : rows.indptr[row + 1]]:
        sums[item] += step


@jit
def _forget(row: Whole, rows: Rows, sums: Array) -> None:
    for item in rows.items[rows.indptr[row] : rows.indptr[row + 1]]:
        sums[item] = 0


@jit
def _likeness(row: Whole, rows: Rows, sums: Array) -> Any:
    """How alike a row is to all that were counted into sums."""
    total = np.int64(0)
    for item in rows.items[rows.indptr[row] : rows.indptr[row + 1]]:
        total += sums[item]
    return total * rows.worth[row]


@jit
def gather(orders: Array, rows: Rows, clusters: Whole, window: Whole) -> tuple[Array, Array]:
    """Take the next free row of the first order, and those near it that are most alike to what was taken, until enough.

    So many clusters are made, and no two differ in size by more than a row. Of rows that are equally alike the one
    that is listed first is taken.

    Returns
    -------
    The rows cluster by cluster, and where each begins.
    """
    tables, count = orders.shape
    starts = np.empty(clusters + 1, dtype=np.int64)
    for cluster in range(clusters + 1):
        starts[cluster] = cluster * count // clusters
    lists = linked(orders)
    free = np.ones(count, dtype=np.bool_)
    listed = np.full(count, -1, dtype=np.int64)
    found = np.empty(2 * (count // clusters + 1 + window * (tables - 1)), dtype=np.int64)
    sums = np.zeros(rows.width, dtype=np.int64)
    members = np.empty(count, dtype=np.int64)
    step = 0
    for cluster in range(clusters):
        begin, end = starts[cluster], starts[cluster + 1]
        while not free[orders[0, step]]:
            step += 1
        row = np.int64(orders[0, step])
        listed_now = near(row, lists, end - begin - 1, window, listed, cluster, found)
        for place in range(begin, end):
            if place > begin:
                best, best_likeness = 0, np.int64(-1)
                for entry in range(listed_now):
                    likeness = _likeness(found[entry], rows, sums)
                    if likeness > best_likeness:
                        best, best_likeness = entry, likeness
                row = found[best]
                # Those that are left stay in the order in which they were listed.
                for entry in range(best, listed_now - 1):
                    found[entry] = found[entry + 1]
                listed_now -= 1
            members[place] = row
            free[row] = False
            unlink(row, lists)
            _count(row, rows, 1, sums)
        for place in range(begin, end):
            _forget(members[place], rows, sums)
    return members, starts


class Desk(NamedTuple):
    """Room to exchange rows in: what two clusters differ by, marks of items, and scores of rows."""

    sums: Array
    marked: Array
    scores: Array
    best: Array


@jit
def _score(rows: Rows, members: Array, begin: Whole, end: Whole, sign: Whole, desk: Desk, line: Whole) -> int:
    """What it gains to move each row to the other cluster, without a partner; the best few are listed."""
    kept = 0
    best = desk.best[line]
    for place in range(begin, end):
        row = members[place]
        worth, length = rows.worth[row], rows.indptr[row + 1] - rows.indptr[row]
        score = worth * worth * length + sign * _likeness(row, rows, desk.sums)
        desk.scores[line, place - begin] = score
        if kept == TOP and score <= desk.scores[line, best[kept - 1]]:
            continue
        if kept < TOP:
            kept += 1
        at = kept - 1
        while at > 0 and desk.scores[line, best[at - 1]] < score:
            best[at] = best[at - 1]
            at -= 1
        best[at] = place - begin
    return kept


@jit
def _best_swap(
    rows: Rows, members: Array, here: Whole, there: Whole, counts: tuple[int, int], desk: Desk
) -> tuple[int, int]:
    """The two rows that had best change places, by their places in their clusters; -1 where no swap gains."""
    gain, one, other = np.int64(0), -1, -1
    scores, best = desk.scores, desk.best
    for left in range(counts[0]):
        first = scores[0, best[0, left]]
        if first + scores[1, best[1, 0]] <= gain:
            break
        row = members[here + best[0, left]]
        for place in range(rows.indptr[row], rows.indptr[row + 1]):
            desk.marked[rows.items[place]] = True
        for right in range(counts[1]):
            both = first + scores[1, best[1, right]]
            if both <= gain:
                break
            partner = members[there + best[1, right]]
            common = 0
            for place in range(rows.indptr[partner], rows.indptr[partner + 1]):
                common += desk.marked[rows.items[place]]
            both -= 2 * common * rows.worth[row] * rows.worth[partner]
            if both > gain:
                gain, one, other = both, best[0, left], best[1, right]
        for place in range(rows.indptr[row], rows.indptr[row + 1]):
            desk.marked[rows.items[place]] = False
    return one, other


@jit
def exchange(
    rows: Rows, members: Array, cluster_of: Array, starts: Array, here: Whole, there: Whole, desk: Desk
) -> int:
    """Let rows of two clusters change places as long as those of each become more alike, both clusters taken together.

    The sums of the desk hold the first cluster, before and after.
    """
    begin, end, first, last = starts[here], starts[here + 1], starts[there], starts[there + 1]
    for place in range(first, last):
        _count(members[place], rows, -1, desk.sums)
    swaps = 0
    while swaps < end - begin + last - first:
        counts = (
            _score(rows, members, begin, end, -1, desk, 0),
            _score(rows, members, first, last, 1, desk, 1),
        )
        one, other = _best_swap(rows, members, begin, first, counts, desk)
        if one < 0:
            break
        row, partner = members[begin + one], members[first + other]
        members[begin + one], members[first + other] = partner, row
        cluster_of[row], cluster_of[partner] = there, here
        _count(row, rows, -2, desk.sums)
        _count(partner, rows, 2, desk.sums)
        swaps += 1
    for place in range(first, last):
        _count(members[place], rows, 1, desk.sums)
    return swaps


class Seen(NamedTuple):
    """When each cluster changed, which ones it was compared with of late, and when; a place each."""

    changed: Array
    others: Array
    times: Array


@jit
def _worth_comparing(here: Whole, there: Whole, seen: Seen) -> bool:
    """Whether one of two clusters changed since they were compared, if they were."""
    last = np.int64(0)
    for place in range(seen.others.shape[1]):
        if seen.others[here, place] == there:
            last = max(last, seen.times[here, place])
        if seen.others[there, place] == here:
            last = max(last, seen.times[there, place])
    return bool(last == 0 or max(seen.changed[here], seen.changed[there]) > last)


@jit
def _remember(here: Whole, there: Whole, now: Whole, seen: Seen) -> None:
    """Note that two clusters were compared, in the place of what was so longest ago."""
    oldest = 0
    for place in range(seen.others.shape[1]):
        if seen.others[here, place] == there:
            oldest = place
            break
        if seen.times[here, place] < seen.times[here, oldest]:
            oldest = place
    seen.others[here, oldest], seen.times[here, oldest] = there, now


@jit
def swap_rows(
    orders: Array, rows: Rows, members: Array, starts: Array, passes: Whole, reach: Whole, most: Whole
) -> int:
    """Let rows change places between clusters that are near each other, so that those of a cluster become more alike.

    Clusters are near each other if rows of both stand at most `reach` apart in one of the orders; each looks at those
    that are so most often, at most so many. Two that did not change since they were compared are not compared again.

    Parameters
    ----------
    members
        Changed in place.

    Returns
    -------
    The number of swaps.
    """
    tables, count = orders.shape
    clusters = len(starts) - 1
    places = np.empty((tables, count), dtype=np.int32)
    for table in range(tables):
        for place in range(count):
            places[table, orders[table, place]] = place
    cluster_of = np.empty(count, dtype=np.int32)
    largest = 0
    for cluster in range(clusters):
        for place in range(starts[cluster], starts[cluster + 1]):
            cluster_of[members[place]] = cluster
        largest = max(largest, starts[cluster + 1] - starts[cluster])
    desk = Desk(
        np.zeros(rows.width, dtype=np.int64),
        np.zeros(rows.width, dtype=np.bool_),
        np.zeros((2, largest), dtype=np.int64),
        np.zeros((2, TOP), dtype=np.int64),
    )
    counts = np.zeros(clusters, dtype=np.int64)
    touched = np.empty(2 * reach * tables * largest, dtype=np.int64)
    nearest = np.empty(most, dtype=np.int64)
    seen = Seen(
        np.zeros(clusters, dtype=np.int64),
        np.full((clusters, most), -1, dtype=np.int32),
        np.zeros((clusters, most), dtype=np.int64),
    )
    swaps, clock = 0, 0
    for _ in range(passes):
        before = swaps
        for here in range(clusters):
            found = _neighbors(here, orders, places, members, starts, cluster_of, reach, counts, touched)
            found = _most_often(found, counts, touched, nearest)
            for place in range(starts[here], starts[here + 1]):
                _count(members[place], rows, 1, desk.sums)
            for there in nearest[:found]:
                if not _worth_comparing(here, there, seen):
                    continue
                clock += 1
                made = exchange(rows, members, cluster_of, starts, here, there, desk)
                if made:
                    seen.changed[here], seen.changed[there] = clock, clock
                    swaps += made
                _remember(here, there, clock, seen)
            for place in range(starts[here], starts[here + 1]):
                _forget(members[place], rows, desk.sums)
        if swaps == before:
            break
    return swaps


@jit
def _neighbors(
    here: Whole,
    orders: Array,
    places: Array,
    members: Array,
    starts: Array,
    cluster_of: Array,
    reach: Whole,
    counts: Array,
    touched: Array,
) -> int:
    """Count how often rows of other clusters stand near those of this one; say how many clusters there are."""
    found = 0
    tables, count = orders.shape
    for member in range(starts[here], starts[here + 1]):
        row = members[member]
        for table in range(tables):
            at = places[table, row]
            for place in range(max(at - reach, 0), min(at + reach + 1, count)):
                other = cluster_of[orders[table, place]]
                if other != here:
                    if counts[other] == 0:
                        touched[found] = other
                        found += 1
                    counts[other] += 1
    return found


@jit
def _most_often(found: Whole, counts: Array, touched: Array, nearest: Array) -> int:
    """List the clusters with the largest counts, of equals those that were found first; counts are zero again."""
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
def summed(rows: Rows, members: Array, starts: Array) -> tuple[Array, Array, Array]:
    """How many rows of each cluster hold each item: indptr, items, which ascend, and counts."""
    clusters = len(starts) - 1
    counts = np.zeros(rows.width, dtype=np.int64)
    indptr = np.zeros(clusters + 1, dtype=np.int64)
    total = 0
    for row in members:
        total += rows.indptr[row + 1] - rows.indptr[row]
    items, held = np.empty(total, dtype=np.int32), np.empty(total, dtype=np.int64)
    made = 0
    for cluster in range(clusters):
        begin = made
        for row in members[starts[cluster] : starts[cluster + 1]]:
            for place in range(rows.indptr[row], rows.indptr[row + 1]):
                item = rows.items[place]
                if counts[item] == 0:
                    items[made] = item
                    made += 1
                counts[item] += 1
        sort(items, begin, made)
        for place in range(begin, made):
            held[place] = counts[items[place]]
            counts[items[place]] = 0
        indptr[cluster + 1] = made
    return indptr, items[:made], held[:made]


class Units(NamedTuple):
    """Clusters: how many rows of each hold each item, its rows, and how many of them hold each sensitive item."""

    indptr: Array
    items: Array
    held: Array
    sizes: Array
    secret_indptr: Array
    secrets: Array
    secret_counts: Array


@jit
def most_held(unit: Whole, units: Units, counts: Array, most: Whole) -> Any:
    """Add the sensitive items of a cluster to counts; the largest count, if it was so much before."""
    for place in range(units.secret_indptr[unit], units.secret_indptr[unit + 1]):
        secret = units.secrets[place]
        counts[secret] += units.secret_counts[place]
        most = max(most, counts[secret])
    return most


@jit
def _nearest(unit: Whole, units: Units, vector: Array, norms: Array, found: Array, count: Whole) -> Any:
    """Which of those found is most alike to a cluster, by the cosine; of equals the first."""
    for place in range(units.indptr[unit], units.indptr[unit + 1]):
        vector[units.items[place]] = units.held[place]
    best, best_likeness = found[0], -1.0
    for entry in range(count):
        other = found[entry]
        common = np.int64(0)
        for place in range(units.indptr[other], units.indptr[other + 1]):
            common += vector[units.items[place]] * units.held[place]
        likeness = common / norms[other]
        if likeness > best_likeness:
            best, best_likeness = other, likeness
    for place in range(units.indptr[unit], units.indptr[unit + 1]):
        vector[units.items[place]] = 0
    return best


@jit
def _helps(unit: Whole, units: Units, counts: Array, size: Whole, p: Whole) -> bool:
    """Whether a cluster holds less than its part of every sensitive item that a group has too many of."""
    for place in range(units.secret_indptr[unit], units.secret_indptr[unit + 1]):
        full = units.secret_counts[place] * p >= units.sizes[unit]
        if full and counts[units.secrets[place]] * p > size:
            return False
    return True


@jit
def _candidates(
    unit: Whole,
    units: Units,
    counts: Array,
    size: Whole,
    p: Whole,
    lists: Lists,
    window: Whole,
    listed: Array,
    stamp: Whole,
    found: Array,
    any_will_do: bool,
) -> int:
    """List free clusters near one that help its group: a window of them to each side, in each order."""
    count = 0
    listed[unit] = stamp
    for table in range(len(lists.after)):
        for links in (lists.after[table], lists.before[table]):
            other, wanted, looked = links[unit], window, 0
            while other >= 0 and wanted > 0 and looked < SKIPPED * window:
                if listed[other] == stamp:
                    wanted -= 1
                elif any_will_do or _helps(other, units, counts, size, p):
                    listed[other] = stamp
                    found[count] = other
                    count, wanted = count + 1, wanted - 1
                other, looked = links[other], looked + 1
    return count


@jit
def take_in(orders: Array, units: Units, width: Whole, kinds: Whole, p: Whole, window: Whole) -> Array:
    """Let each cluster that breaks the degree take in the nearest free one, and the next, until all together keep it.

    A cluster is free as long as it was neither taken in nor took in another. The nearest is the one most alike to the
    cluster that began, among those a window away from it in one of the orders. The first is taken in whatever it
    holds; after that, one that holds its full part of what the group has too many of is passed over, unless there is no
    other. Where none is free any more, the group takes in those that were made, one after the other.

    Parameters
    ----------
    orders
        Several orders of the clusters.
    width, kinds, p
        How many items there are, how many sensitive ones, and the degree.

    Returns
    -------
    For each cluster the one that began its group.
    """
    clusters = len(units.sizes)
    lists = linked(orders)
    home = np.arange(clusters)
    free = np.ones(clusters, dtype=np.bool_)
    norms = np.ones(clusters)
    for unit in range(clusters):
        for place in range(units.indptr[unit], units.indptr[unit + 1]):
            norms[unit] += np.float64(units.held[place]) ** 2
    norms = np.sqrt(norms)
    vector, counts = np.zeros(width, dtype=np.int64), np.zeros(kinds, dtype=np.int64)
    listed = np.full(clusters, -1, dtype=np.int64)
    found = np.empty(2 * window * len(orders), dtype=np.int64)
    group = np.empty(clusters, dtype=np.int64)
    stamp = 0
    for unit in range(clusters):
        if not free[unit]:
            continue
        group[0], taken, size = unit, 1, units.sizes[unit]
        most = most_held(unit, units, counts, 0)
        while most * p > size:
            free[unit] = False
            count = 0
            for any_will_do in (taken == 1, True):
                if count == 0:
                    count = _candidates(
                        unit, units, counts, size, p, lists, window, listed, stamp, found, any_will_do
                    )
                    stamp += 1
            if count == 0:
                _close(home, unit, units, counts, most, size, p)
                return home
            nearest = _nearest(unit, units, vector, norms, found, count)
            unlink(nearest, lists)
            home[nearest], free[nearest], group[taken] = unit, False, nearest
            taken += 1
            size += units.sizes[nearest]
            most = most_held(nearest, units, counts, most)
        if not free[unit]:
            unlink(unit, lists)
        for entry in range(taken):
            for place in range(units.secret_indptr[group[entry]], units.secret_indptr[group[entry] + 1]):
                counts[units.secrets[place]] = 0
    return home


@jit
def _close(home: Array, last: Whole, units: Units, counts: Array, most: Whole, size: Whole, p: Whole) -> None:
    """Let the last group take in others, until it keeps the degree; all together do."""
    after = np.full(len(home), -1, dtype=np.int64)
    for unit in range(len(home)):
        if home[unit] != unit:
            after[unit] = after[home[unit]]
            after[home[unit]] = unit
    for group in range(len(home)):
        if most * p <= size:
            return
        if home[group] != group or group == last:
            continue
        unit = group
        while unit >= 0:
            size += units.sizes[unit]
            most = most_held(unit, units, counts, most)
            home[unit] = last
            unit = after[unit]
