"""Groups of baskets around sensitive ones, and groups made by halving an ordered list.

Rows are numbered by their place in the order. Row r has the public items of the distinct basket ``basket[r]`` and the
sensitive items ``secrets[secret_indptr[r]:secret_indptr[r + 1]]``.
"""

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from shoal.kernels._jit import jit
from shoal.kernels.sorting import sort

Array: TypeAlias = NDArray[Any]
Whole: TypeAlias = int | np.int64

SKIPPED = 16
"""How many rows a search for candidates visits at most for each one wanted, so that it ends among conflicting rows."""


@jit
def _conflicts(row: Whole, secret_indptr: Array, secrets: Array, held: Array, stamp: Whole) -> bool:
    """Whether a row holds a sensitive item that is marked with the stamp."""
    conflict = False
    for place in range(secret_indptr[row], secret_indptr[row + 1]):
        conflict |= held[secrets[place]] == stamp
    return conflict


@jit
def _hold(row: Whole, secret_indptr: Array, secrets: Array, held: Array, stamp: Whole) -> None:
    """Mark the sensitive items of a row."""
    for place in range(secret_indptr[row], secret_indptr[row + 1]):
        held[secrets[place]] = stamp


@jit
def _offer(
    row: Whole, secret_indptr: Array, secrets: Array, held: Array, listed: Array, stamp: Whole
) -> tuple[bool, bool]:
    """Make a row a candidate unless it conflicts with listed ones; returns whether it is one, and whether it is new."""
    if listed[row] == stamp:
        return True, False
    if _conflicts(row, secret_indptr, secrets, held, stamp):
        return False, False
    _hold(row, secret_indptr, secrets, held, stamp)
    listed[row] = stamp
    return True, True


@jit
def _collect(
    pivot: Whole,
    after: Array,
    before: Array,
    window: Whole,
    secret_indptr: Array,
    secrets: Array,
    held: Array,
    listed: Array,
    stamp: Whole,
    found: Array,
) -> Whole:
    """List the candidates of a pivot: rows on both sides that conflict neither with it nor with each other.

    Nearer rows come first and, of two equally near ones, the earlier. Returns how many candidates there are.
    """
    count = 0
    limit = SKIPPED * window
    for table in range(len(after)):
        back, forth = before[table, pivot], after[table, pivot]
        wanted_back, wanted_forth, looked = window, window, 0
        while looked < limit and ((wanted_back > 0 and back >= 0) or (wanted_forth > 0 and forth >= 0)):
            looked += 1
            if wanted_back > 0 and back >= 0:
                fits, new = _offer(back, secret_indptr, secrets, held, listed, stamp)
                found[count] = back
                count += new
                wanted_back -= fits
                back = before[table, back]
            if wanted_forth > 0 and forth >= 0:
                fits, new = _offer(forth, secret_indptr, secrets, held, listed, stamp)
                found[count] = forth
                count += new
                wanted_forth -= fits
                forth = after[table, forth]
    return count


@jit
def _choose(
    pivot: Whole,
    found: Array,
    count: Whole,
    wanted: Whole,
    basket: Array,
    indptr: Array,
    items: Array,
    marked: Array,
    stamp: Whole,
    keys: Array,
) -> None:
    """Move the candidates that share the most items with the pivot to the front; ties keep their order."""
    here = basket[pivot]
    length = indptr[here + 1] - indptr[here]
    for place in range(indptr[here], indptr[here + 1]):
        marked[items[place]] = stamp
    for entry in range(count):
        other = basket[found[entry]]
        common = 0
        if other == here:
            common = length
        else:
            for place in range(indptr[other], indptr[other + 1]):
                if marked[items[place]] == stamp:
                    common += 1
        keys[entry] = ((length - common) * count + entry) * (np.int64(1) << 32) + found[entry]
    sort(keys, 0, int(count))
    for entry in range(wanted):
        found[entry] = keys[entry] & ((np.int64(1) << 32) - 1)


@jit
def _most_left(
    found: Array,
    count: Whole,
    secret_indptr: Array,
    secrets: Array,
    left: Array,
    with_count: Array,
    most: Whole,
) -> Whole:
    """The largest number of remaining rows with the same sensitive item, once the found rows are gone."""
    full = 0
    for entry in range(count):
        for place in range(secret_indptr[found[entry]], secret_indptr[found[entry] + 1]):
            if left[secrets[place]] == most:
                full += 1
    return most - 1 if most > 0 and full == with_count[most] else most


@jit
def _take(
    found: Array,
    count: Whole,
    number: Whole,
    groups: Array,
    after: Array,
    before: Array,
    secret_indptr: Array,
    secrets: Array,
    left: Array,
    with_count: Array,
) -> None:
    """Make the found rows a group: remove them from the lists, and their sensitive items from the counts."""
    for entry in range(count):
        row = found[entry]
        groups[row] = number
        for table in range(len(after)):
            back, forth = before[table, row], after[table, row]
            if back >= 0:
                after[table, back] = forth
            if forth >= 0:
                before[table, forth] = back
        for place in range(secret_indptr[row], secret_indptr[row + 1]):
            item = secrets[place]
            with_count[left[item]] -= 1
            left[item] -= 1
            with_count[left[item]] += 1


@jit
def _linked(orders: Array) -> tuple[Array, Array]:
    """The row after each row and the one before it, in each order; -1 at the ends."""
    tables, rows = orders.shape
    after = np.full((tables, rows), -1, dtype=np.int32)
    before = np.full((tables, rows), -1, dtype=np.int32)
    for table in range(tables):
        for place in range(1, rows):
            after[table, orders[table, place - 1]] = orders[table, place]
            before[table, orders[table, place]] = orders[table, place - 1]
    return after, before


@jit
def form_groups(
    orders: Array,
    basket: Array,
    indptr: Array,
    items: Array,
    width: Whole,
    secret_indptr: Array,
    secrets: Array,
    kinds: Whole,
    p: Whole,
    window: Whole,
    elsewhere: Array,
) -> tuple[Array, Whole]:
    """Group every sensitive row, in order, with the p - 1 candidates that share the most items with it.

    A group is given up if the remaining rows could then not be one group that keeps the degree p. So the rows that
    remain at the end can be one.

    `orders`: one or more orders of the rows, one per line; candidates are neighbors in any of them. The first is 0, 1,
    2, … `basket`, `indptr`, `items`, `width`: the distinct basket of each row, the items of each basket, and how many
    items there are. `secret_indptr`, `secrets`, `kinds`: the sensitive items of each row, and how many there are. `p`,
    `window`: the degree, and the number of candidates to each side in each order. `elsewhere`: for each sensitive item,
    how many rows with it join the remaining rows from elsewhere, without other rows; negative if the rows elsewhere
    have room for that many. Returns the group of each row (-1 for remaining rows), and how many groups were given up.
    """
    tables, rows = orders.shape
    after, before = _linked(orders)
    # Counts are shifted by `base`, so that none is negative.
    base: Whole = min(0, elsewhere.min()) if kinds else 0
    left = elsewhere - base
    for item in secrets:
        left[item] += 1
    most: Whole = left.max() if kinds else 0
    with_count = np.zeros(most + 1, dtype=np.int64)
    for held_by in left:
        with_count[held_by] += 1
    groups = np.full(rows, -1, dtype=np.int64)
    held = np.zeros(kinds, dtype=np.int64)
    listed = np.zeros(rows, dtype=np.int64)
    lonely = np.zeros(rows, dtype=np.bool_)
    marked = np.zeros(width, dtype=np.int64)
    found = np.empty(2 * window * tables + 1, dtype=np.int64)
    keys = np.empty(2 * window * tables + 1, dtype=np.int64)
    remaining, number, given_up, stamp = rows, 0, 0, 0
    # Rows in a crowd of conflicting ones are tried again in reverse order, from where the crowd thins out.
    for step in range(2 * rows):
        pivot = step if step < rows else 2 * rows - 1 - step
        if groups[pivot] >= 0 or secret_indptr[pivot] == secret_indptr[pivot + 1]:
            continue
        if step >= rows and not lonely[pivot]:
            continue
        stamp += 1
        listed[pivot] = stamp
        _hold(pivot, secret_indptr, secrets, held, stamp)
        count = _collect(pivot, after, before, window, secret_indptr, secrets, held, listed, stamp, found)
        if count < p - 1:
            lonely[pivot] = True
            continue
        lonely[pivot] = False
        _choose(pivot, found, count, p - 1, basket, indptr, items, marked, stamp, keys)
        found[p - 1] = pivot
        most_left = _most_left(found, p, secret_indptr, secrets, left, with_count, most)
        if (most_left + base) * p > remaining - p:
            given_up += 1
            continue
        _take(found, p, number, groups, after, before, secret_indptr, secrets, left, with_count)
        most = most_left
        remaining -= p
        number += 1
    for pivot in range(rows):
        given_up += lonely[pivot] and groups[pivot] < 0
    return groups, given_up


@jit
def _keeps(
    begin: Whole, end: Whole, weight: Whole, p: Whole, secret_indptr: Array, secrets: Array, counts: Array
) -> bool:
    """Whether no sensitive item is held by more than one p-th of the rows; resets the counts to zero."""
    holds = True
    last = secret_indptr[begin]
    for place in range(secret_indptr[begin], secret_indptr[end]):
        last = place + 1
        counts[secrets[place]] += 1
        if counts[secrets[place]] * p > weight:
            holds = False
            break
    for place in range(secret_indptr[begin], last):
        counts[secrets[place]] = 0
    return holds


@jit
def halve(ends: Array, secret_indptr: Array, secrets: Array, kinds: Whole, p: Whole) -> Array:
    """Cut an ordered list in half, and the halves again, as long as both halves keep the degree p.

    The list consists of runs of rows that are not divided. A cut lies between two runs, where the sizes of the halves
    differ least (the earlier of two such places), and each half has at least p rows.

    `ends`: the number of rows up to the beginning of each run, and of all. `secret_indptr`, `secrets`, `kinds`: the
    sensitive items of all rows of each run, and how many there are. Returns the first run of each group, and the number
    of runs at the end.
    """
    runs = len(ends) - 1
    counts = np.zeros(kinds, dtype=np.int64)
    first = np.empty(runs + 1, dtype=np.int64)
    stack = np.empty((runs + 1, 2), dtype=np.int64)
    stack[0, 0], stack[0, 1] = 0, runs
    depth, groups = 1, 0
    while depth:
        depth -= 1
        begin, end = stack[depth, 0], stack[depth, 1]
        cut = half_of(ends, begin, end, p)
        if cut > 0:
            left, right = ends[cut] - ends[begin], ends[end] - ends[cut]
            if _keeps(begin, cut, left, p, secret_indptr, secrets, counts) and _keeps(
                cut, end, right, p, secret_indptr, secrets, counts
            ):
                stack[depth, 0], stack[depth, 1] = cut, end
                stack[depth + 1, 0], stack[depth + 1, 1] = begin, cut
                depth += 2
                continue
        first[groups] = begin
        groups += 1
    first[groups] = runs
    return first[: groups + 1].copy()


@jit
def half_of(ends: Array, begin: Whole, end: Whole, least: Whole) -> Whole:
    """Where to cut the runs ``begin … end`` in half; -1 if a half would have fewer than `least` rows."""
    twice = ends[begin] + ends[end]
    low, high = begin, end
    while low < high:
        middle = (low + high) // 2
        if 2 * ends[middle] < twice:
            low = middle + 1
        else:
            high = middle
    cut = low
    if cut - 1 > begin and twice - 2 * ends[cut - 1] <= 2 * ends[cut] - twice:
        cut -= 1
    if cut <= begin or cut >= end or ends[cut] - ends[begin] < least or ends[end] - ends[cut] < least:
        return -1
    return cut
