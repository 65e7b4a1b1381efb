"""Rows that change places between groups, so that these tell together what the sensitive rows go with."""

import math
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from shoal.kernels._jit import jit

Array: TypeAlias = NDArray[Any]
Whole: TypeAlias = int | np.int64

PASSES = 4
"""Times that all rows are looked at, at most."""


@jit
def _moved(estimates: Array, truth: Array, secret: Whole, item: Whole, step: float) -> float:
    """How the loss changes if an estimate changes by a step."""
    change = step
    if truth[secret, item] > 0.0:
        change -= truth[secret, item] * math.log1p(step / estimates[secret, item])
    return change


@jit
def _item_change(
    item: Whole,
    sign: float,
    here: Whole,
    there: Whole,
    summary_indptr: Array,
    summary: Array,
    rates: Array,
    truth: Array,
    estimates: Array,
) -> float:
    """How the loss changes if one group gets an item (or loses it) and another one the other way round."""
    change = 0.0
    one, one_end = summary_indptr[here], summary_indptr[here + 1]
    two, two_end = summary_indptr[there], summary_indptr[there + 1]
    while one < one_end or two < two_end:
        step = 0.0
        if two == two_end or (one < one_end and summary[one] < summary[two]):
            secret, step = summary[one], rates[one]
            one += 1
        elif one == one_end or summary[two] < summary[one]:
            secret, step = summary[two], -rates[two]
            two += 1
        else:
            secret, step = summary[one], rates[one] - rates[two]
            one += 1
            two += 1
        if step != 0.0:
            change += _moved(estimates, truth, secret, item, sign * step)
    return change


@jit
def _change(
    row: Whole,
    other: Whole,
    groups: Array,
    basket: Array,
    indptr: Array,
    items: Array,
    summary_indptr: Array,
    summary: Array,
    rates: Array,
    truth: Array,
    estimates: Array,
) -> float:
    """How the loss changes if two rows change places."""
    left, left_end = indptr[basket[row]], indptr[basket[row] + 1]
    right, right_end = indptr[basket[other]], indptr[basket[other] + 1]
    here, there = groups[row], groups[other]
    change = 0.0
    while left < left_end or right < right_end:
        if right == right_end or (left < left_end and items[left] < items[right]):
            item, sign = items[left], -1.0
            left += 1
        elif left == left_end or items[right] < items[left]:
            item, sign = items[right], 1.0
            right += 1
        else:
            left += 1
            right += 1
            continue
        change += _item_change(item, sign, here, there, summary_indptr, summary, rates, truth, estimates)
    return change


@jit
def _count(
    row: Whole,
    group: Whole,
    sign: float,
    basket: Array,
    indptr: Array,
    items: Array,
    summary_indptr: Array,
    summary: Array,
    rates: Array,
    estimates: Array,
) -> None:
    """Count a row into the estimates of its group, or out of them."""
    for entry in range(summary_indptr[group], summary_indptr[group + 1]):
        for place in range(indptr[basket[row]], indptr[basket[row] + 1]):
            estimates[summary[entry], items[place]] += sign * rates[entry]


@jit
def swap_rows(
    groups: Array,
    sensitive: Array,
    basket: Array,
    indptr: Array,
    items: Array,
    summary_indptr: Array,
    summary: Array,
    rates: Array,
    truth: Array,
    estimates: Array,
    window: Whole,
) -> tuple[int, float]:
    """Let rows without sensitive items change places between groups as long as the loss falls.

    For a sensitive and a public item, let T be how many rows hold both, and E what a reader estimates from the groups.
    The loss is the sum of E − T·ln E over all pairs, which is least where E = T. Rows at most a window apart
    change places; the sizes of groups and their sensitive items stay what they are.

    Parameters
    ----------
    groups
        The group of each row; it is changed in place.
    sensitive
        Which rows hold a sensitive item: they stay.
    basket, indptr, items
        The distinct basket of each row, and the items of each.
    summary_indptr, summary, rates
        The sensitive items of each group, ascending, and the number of each over the size of the group.
    truth, estimates
        T and E, a line for each sensitive item; E is changed in place.

    Returns
    -------
    The number of swaps, and by how much the loss fell.
    """
    rows = len(groups)
    swaps, gained = 0, 0.0
    for _ in range(PASSES):
        moved = False
        for row in range(rows):
            here = groups[row]
            if sensitive[row] or summary_indptr[here] == summary_indptr[here + 1]:
                continue
            best, best_change = -1, -1e-9
            for other in range(max(row - window, 0), min(row + window + 1, rows)):
                if groups[other] == here or sensitive[other] or basket[other] == basket[row]:
                    continue
                change = _change(
                    row,
                    other,
                    groups,
                    basket,
                    indptr,
                    items,
                    summary_indptr,
                    summary,
                    rates,
                    truth,
                    estimates,
                )
                if change < best_change:
                    best, best_change = other, change
            if best < 0:
                continue
            there = groups[best]
            _count(row, here, -1.0, basket, indptr, items, summary_indptr, summary, rates, estimates)
            _count(best, there, -1.0, basket, indptr, items, summary_indptr, summary, rates, estimates)
            groups[row], groups[best] = there, here
            _count(row, there, 1.0, basket, indptr, items, summary_indptr, summary, rates, estimates)
            _count(best, here, 1.0, basket, indptr, items, summary_indptr, summary, rates, estimates)
            swaps += 1
            gained -= best_change
            moved = True
        if not moved:
            break
    return swaps, gained
