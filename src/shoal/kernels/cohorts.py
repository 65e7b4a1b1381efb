"""Cohorts, the baskets that hold a set of items: found and counted by lists of baskets and by bitmaps.

Items are ranks 0, 1, 2, … of ascending support. Each item has the list of baskets that hold it; a frequent one also has
a bitmap with one bit per basket.
"""

from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from shoal.kernels._jit import jit
from shoal.kernels.sorting import sort

Array: TypeAlias = NDArray[Any]


class Holders(NamedTuple):
    """Which baskets hold which items, in all forms that the kernels need."""

    indptr: Array
    items: Array
    """`indptr`, `items`: the items of each basket, ascending ranks."""
    item_indptr: Array
    baskets: Array
    """`item_indptr`, `baskets`: the baskets of each item, ascending."""
    bits: Array
    first_bits: int
    """`bits`, `first_bits`: bitmaps of the items from rank `first_bits` on."""


@jit
def transposed(indptr: Array, items: Array, item_indptr: Array) -> Array:
    """The rows that hold each item, ascending, one item after another; `item_indptr` says where each item begins."""
    rows = np.empty(len(items), dtype=np.int32)
    ends = item_indptr[:-1].copy()
    for row in range(len(indptr) - 1):
        for entry in range(indptr[row], indptr[row + 1]):
            rows[ends[items[entry]]] = row
            ends[items[entry]] += 1
    return rows


@jit
def peak_of(rows: Array, secret_indptr: Array, secrets: Array, counts: Array, limit: int) -> int:
    """The count of the most frequent secret among some baskets; if it is above the limit, any number above that.

    `counts`: a working array of zeros, which is reset afterward.
    """
    peak = 0
    done = len(rows)
    for place in range(len(rows)):
        for entry in range(secret_indptr[rows[place]], secret_indptr[rows[place] + 1]):
            counts[secrets[entry]] += 1
            peak = max(peak, counts[secrets[entry]])
        if peak > limit:
            done = place + 1
            break
    for place in range(done):
        for entry in range(secret_indptr[rows[place]], secret_indptr[rows[place] + 1]):
            counts[secrets[entry]] = 0
    return peak


@jit
def peaks_of_items(
    item_indptr: Array, baskets: Array, secret_indptr: Array, secrets: Array, size: int
) -> Array:
    """For each item, the count of the most frequent secret among the baskets that hold it."""
    peaks = np.zeros(len(item_indptr) - 1, dtype=np.int64)
    counts = np.zeros(size, dtype=np.int64)
    for item in range(len(peaks)):
        holders = baskets[item_indptr[item] : item_indptr[item + 1]]
        peaks[item] = peak_of(holders, secret_indptr, secrets, counts, len(baskets))
    return peaks


@jit
def shared(rows: Array, count: int, baskets: Array, out: Array) -> int:
    """Write the baskets that are in both ascending lists to `out`, which may be `rows`; returns how many there are."""
    low, kept = 0, 0
    for place in range(count):
        row = rows[place]
        step = 1
        while low + step < len(baskets) and baskets[low + step] < row:
            low += step
            step *= 2
        high = min(low + step + 1, len(baskets))
        while low < high:
            middle = (low + high) // 2
            if baskets[middle] < row:
                low = middle + 1
            else:
                high = middle
        if low == len(baskets):
            break
        if baskets[low] == row:
            out[kept] = row
            kept += 1
    return kept


@jit
def cohort_rows(holders: Holders, rows: Array, count: int, items: Array, out: Array) -> int:
    """Write those of some baskets that hold all of some items to `out`, ascending; returns how many there are.

    If no baskets are given (a count of 0), it starts with all baskets of the first item. `out` may be `rows`.
    """
    first = 0
    if count == 0:
        begin, end = holders.item_indptr[items[0]], holders.item_indptr[items[0] + 1]
        rows, count, first = holders.baskets[begin:end], end - begin, 1
        for entry in range(count):
            out[entry] = rows[entry]
    for place in range(first, len(items)):
        item = items[place]
        source = rows if place == 0 else out
        if item >= holders.first_bits:
            bits = holders.bits[item - holders.first_bits]
            kept = 0
            for entry in range(count):
                row = source[entry]
                out[kept] = row
                kept += int((bits[row >> 6] >> np.uint64(row & 63)) & np.uint64(1))
            count = kept
        else:
            own = holders.baskets[holders.item_indptr[item] : holders.item_indptr[item + 1]]
            count = shared(source, count, own, out)
    return count


@jit
def cohort_bits(holders: Holders, items: Array, out: Array) -> None:
    """Write the bitmap of the baskets that hold all of some frequent items."""
    first = holders.bits[items[0] - holders.first_bits]
    for word in range(len(out)):
        out[word] = first[word]
    for place in range(1, len(items)):
        other = holders.bits[items[place] - holders.first_bits]
        for word in range(len(out)):
            out[word] &= other[word]


@jit
def count_listed(one: Array, other: Array, rows: Array) -> int:
    """The number of listed baskets whose bits are set in both bitmaps."""
    total = np.uint64(0)
    for place in range(len(rows)):
        row = rows[place]
        total += ((one[row >> 6] & other[row >> 6]) >> np.uint64(row & 63)) & np.uint64(1)
    return int(total)


@jit
def counts_by_rows(holders: Holders, rows: Array, last: int, counts: Array) -> int:
    """Count the items above `last` in some baskets; returns the number of occurrences counted."""
    walked = 0
    for place in range(len(rows)):
        entry = holders.indptr[rows[place] + 1] - 1
        begin = holders.indptr[rows[place]]
        while entry >= begin and holders.items[entry] > last:
            counts[holders.items[entry]] += 1
            entry -= 1
            walked += 1
    return walked


@jit
def met_items(holders: Holders, rows: Array, last: int, counts: Array, items: Array) -> int:
    """List the items above `last` that some baskets hold, ascending, given their counts; returns how many there are."""
    found = 0
    for place in range(len(rows)):
        entry = holders.indptr[rows[place] + 1] - 1
        begin = holders.indptr[rows[place]]
        while entry >= begin and holders.items[entry] > last:
            item = holders.items[entry]
            if counts[item] > 0:
                items[found] = item
                found += 1
                counts[item] = -counts[item]
            entry -= 1
    sort(items, 0, found)
    for place in range(found):
        counts[items[place]] = -counts[items[place]]
    return found


@jit
def forget(holders: Holders, rows: Array, last: int, counts: Array, walked: int) -> None:
    """Reset the counts of the items above `last` to zero."""
    if len(counts) - last < 4 * walked:
        for item in range(last + 1, len(counts)):
            counts[item] = 0
        return
    for place in range(len(rows)):
        entry = holders.indptr[rows[place] + 1] - 1
        begin = holders.indptr[rows[place]]
        while entry >= begin and holders.items[entry] > last:
            counts[holders.items[entry]] = 0
            entry -= 1


@jit
def gathered_rows(holders: Holders, rows: Array, last: int, ends: Array, out: Array) -> None:
    """Write each basket to the lists of those items above `last` that it holds.

    `ends`: for each item where its next basket goes, or -1 for items without a list; it is advanced.
    """
    for place in range(len(rows)):
        entry = holders.indptr[rows[place] + 1] - 1
        begin = holders.indptr[rows[place]]
        while entry >= begin and holders.items[entry] > last:
            item = holders.items[entry]
            if ends[item] >= 0:
                out[ends[item]] = rows[place]
                ends[item] += 1
            entry -= 1
