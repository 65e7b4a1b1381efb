"""Attacks on CAHD groups: what a reader learns who knows how groups are formed, and tries every member as the pivot."""

import math
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from shoal.kernels._jit import jit
from shoal.kernels.cahd import half_of

Array: TypeAlias = NDArray[Any]
Whole: TypeAlias = int | np.int64


@jit
def _common(one: Whole, other: Whole, indptr: Array, items: Array) -> Whole:
    """The number of items that two baskets share."""
    left, left_end = indptr[one], indptr[one + 1]
    right, right_end = indptr[other], indptr[other + 1]
    common = 0
    while left < left_end and right < right_end:
        if items[left] == items[right]:
            common += 1
            left += 1
            right += 1
        elif items[left] < items[right]:
            left += 1
        else:
            right += 1
    return common


@jit
def possible_pivots(
    orders: Array,
    places: Array,
    basket: Array,
    indptr: Array,
    items: Array,
    group_indptr: Array,
    leftover: Whole,
    asked: Array,
    window: Whole,
) -> Array:
    """Which rows can have been the pivot that their group was formed around.

    The p - 1 members that joined the pivot were the closest candidates. So a row within the window that no group took
    cannot be closer to the pivot than any of them.

    `orders`, `places`: the rows in one or more orders, one per line, and the place of each row in each of them.
    `basket`, `indptr`, `items`: the distinct basket of each row, and the items of each. `group_indptr`: where each
    group begins; rows are numbered group by group. `leftover`: the group of rows that no other group took. `asked`:
    which groups to examine. `window`: how many rows to each side were candidates, at least.
    """
    rows = len(basket)
    possible = np.ones(rows, dtype=np.bool_)
    taken = np.ones(rows, dtype=np.bool_)
    for row in range(group_indptr[leftover], group_indptr[leftover + 1]):
        taken[row] = False
    for group in asked:
        if group == leftover:
            continue
        begin, end = group_indptr[group], group_indptr[group + 1]
        for row in range(begin, end):
            least: Whole = np.int64(1) << 60
            for member in range(begin, end):
                if member != row:
                    least = min(least, _common(basket[row], basket[member], indptr, items))
            for table in range(len(orders)):
                here = places[table, row]
                for place in range(max(here - window, 0), min(here + window + 1, rows)):
                    other = orders[table, place]
                    if not taken[other] and _common(basket[row], basket[other], indptr, items) > least:
                        possible[row] = False
                        break
                if not possible[row]:
                    break
    return possible


@jit
def _log_ways(size: Whole, count: Whole) -> float:
    """The logarithm of the number of ways to choose `count` of `size`."""
    return math.lgamma(size + 1) - math.lgamma(count + 1) - math.lgamma(size - count + 1)


@jit
def denser_halves(
    ends: Array, first: Array, p: Whole, group_of: Array, summary_indptr: Array, counts: Array
) -> tuple[Array, Array]:
    """In which half of each group a reader should look for sensitive items, knowing that the group was not cut.

    A group is not cut if one of its halves would break the degree. A priori, every way to spread the sensitive items
    over the rows is equally likely. Among the ways in which a half breaks the degree, the mean number of sensitive
    items per row may be larger in one half than in the other.

    `ends`, `first`: the number of rows up to each run, and the first run of each group. `group_of`: the published
    number of each group. `summary_indptr`, `counts`: the count of each sensitive item in each published group. Returns
    the run at which each group would be cut (-1 if it is too small), and which half holds more: -1 the first, 1 the
    second, 0 neither.
    """
    groups = len(first) - 1
    cuts = np.full(groups, -1, dtype=np.int64)
    side = np.zeros(groups, dtype=np.int64)
    for group in range(groups):
        cut = half_of(ends, first[group], first[group + 1], p)
        cuts[group] = cut
        published = group_of[group]
        begin, end = summary_indptr[published], summary_indptr[published + 1]
        if cut < 0 or begin == end:
            continue
        left, right = ends[cut] - ends[first[group]], ends[first[group + 1]] - ends[cut]
        broken = np.zeros(end - begin)
        mean_fine = np.zeros(end - begin)
        mean_broken = np.zeros(end - begin)
        some_broken = 0.0
        for entry in range(end - begin):
            count = counts[begin + entry]
            total = _log_ways(left + right, count)
            for inside in range(max(0, count - right), min(count, left) + 1):
                chance = math.exp(_log_ways(left, inside) + _log_ways(right, count - inside) - total)
                if inside * p <= left and (count - inside) * p <= right:
                    mean_fine[entry] += inside * chance
                else:
                    broken[entry] += chance
                    mean_broken[entry] += inside * chance
            some_broken += broken[entry] - some_broken * broken[entry]
        if some_broken <= 0.0:
            continue
        inside_mean, total_count = 0.0, 0.0
        for entry in range(end - begin):
            others = 0.0
            for other in range(end - begin):
                if other != entry:
                    others += broken[other] - others * broken[other]
            inside_mean += (mean_broken[entry] + mean_fine[entry] * others) / some_broken
            total_count += counts[begin + entry]
        first_rate, second_rate = inside_mean / left, (total_count - inside_mean) / right
        if abs(first_rate - second_rate) > 1e-9 * (first_rate + second_rate):
            side[group] = -1 if first_rate > second_rate else 1
    return cuts, side
