"""Swap rows between groups, so that all groups together show which public items go with sensitive ones."""

import math
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from shoal.kernels._jit import jit

Array: TypeAlias = NDArray[Any]
Whole: TypeAlias = int | np.int64

PASSES = 4
"""The most passes over all rows."""


class Baskets(NamedTuple):
    """The distinct basket of each row, and the items of each."""

    of_row: Array
    indptr: Array
    items: Array


class Summary(NamedTuple):
    """The sensitive items of each group, ascending, and the count of each divided by the size of the group."""

    indptr: Array
    secrets: Array
    rates: Array


class Pairs(NamedTuple):
    """How many rows hold a sensitive and a public item, true and estimated: one line for each sensitive item."""

    truth: Array
    estimates: Array


@jit
def _moved(pairs: Pairs, secret: Whole, item: Whole, step: float) -> float:
    """The change of the loss if an estimate changes by a step."""
    change = step
    if pairs.truth[secret, item] > 0.0:
        change -= pairs.truth[secret, item] * math.log1p(step / pairs.estimates[secret, item])
    return change


@jit
def _item_change(
    item: Whole, sign: float, here: Whole, there: Whole, summary: Summary, pairs: Pairs
) -> float:
    """The change of the loss if one group gains (or loses) an item and another group loses (or gains) it."""
    secrets, rates = summary.secrets, summary.rates
    change = 0.0
    one, one_end = summary.indptr[here], summary.indptr[here + 1]
    two, two_end = summary.indptr[there], summary.indptr[there + 1]
    while one < one_end or two < two_end:
        step = 0.0
        if two == two_end or (one < one_end and secrets[one] < secrets[two]):
            secret, step = secrets[one], rates[one]
            one += 1
        elif one == one_end or secrets[two] < secrets[one]:
            secret, step = secrets[two], -rates[two]
            two += 1
        else:
            secret, step = secrets[one], rates[one] - rates[two]
            one += 1
            two += 1
        if step != 0.0:
            change += _moved(pairs, secret, item, sign * step)
    return change


@jit
def _change(
    row: Whole, other: Whole, groups: Array, baskets: Baskets, summary: Summary, pairs: Pairs
) -> float:
    """The change of the loss if two rows are swapped."""
    items = baskets.items
    left, left_end = baskets.indptr[baskets.of_row[row]], baskets.indptr[baskets.of_row[row] + 1]
    right, right_end = baskets.indptr[baskets.of_row[other]], baskets.indptr[baskets.of_row[other] + 1]
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
        change += _item_change(item, sign, groups[row], groups[other], summary, pairs)
    return change


@jit
def _count(
    row: Whole, group: Whole, sign: float, baskets: Baskets, summary: Summary, estimates: Array
) -> None:
    """Add a row to the estimates of a group, or subtract it."""
    basket = baskets.of_row[row]
    for entry in range(summary.indptr[group], summary.indptr[group + 1]):
        for place in range(baskets.indptr[basket], baskets.indptr[basket + 1]):
            estimates[summary.secrets[entry], baskets.items[place]] += sign * summary.rates[entry]


@jit
def _best(
    row: Whole,
    sensitive: Array,
    groups: Array,
    window: Whole,
    baskets: Baskets,
    summary: Summary,
    pairs: Pairs,
) -> tuple[Whole, float]:
    """The best row to swap with a given one, or -1, and the change of the loss."""
    best, best_change = -1, -1e-9
    for other in range(max(row - window, 0), min(row + window + 1, len(groups))):
        same = baskets.of_row[other] == baskets.of_row[row]
        if groups[other] == groups[row] or sensitive[other] or same:
            continue
        change = _change(row, other, groups, baskets, summary, pairs)
        if change < best_change:
            best, best_change = other, change
    return best, best_change


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
    """Swap rows without sensitive items between groups as long as the loss falls.

    For a sensitive and a public item, let T be how many rows hold both, and E what a reader estimates from the groups.
    The loss is the sum of E − T·ln E over all pairs, which is least if E = T. Only rows at most a window apart are
    swapped; the sizes of groups and their sensitive items stay the same.

    `groups`: the group of each row; changed in place. `sensitive`: which rows hold a sensitive item, and stay.
    `basket`, `indptr`, `items`: the distinct basket of each row, and the items of each. `summary_indptr`, `summary`,
    `rates`: the sensitive items of each group, ascending, and the count of each divided by the size of the group.
    `truth`, `estimates`: T and E, one line for each sensitive item; E is changed in place. Returns the number of swaps,
    and by how much the loss fell.
    """
    baskets, summaries = Baskets(basket, indptr, items), Summary(summary_indptr, summary, rates)
    pairs = Pairs(truth, estimates)
    swaps, gained = 0, 0.0
    for _ in range(PASSES):
        moved = False
        for row in range(len(groups)):
            here = groups[row]
            if sensitive[row] or summary_indptr[here] == summary_indptr[here + 1]:
                continue
            best, change = _best(row, sensitive, groups, window, baskets, summaries, pairs)
            if best < 0:
                continue
            there = groups[best]
            _count(row, here, -1.0, baskets, summaries, estimates)
            _count(best, there, -1.0, baskets, summaries, estimates)
            groups[row], groups[best] = there, here
            _count(row, there, 1.0, baskets, summaries, estimates)
            _count(best, here, 1.0, baskets, summaries, estimates)
            swaps += 1
            gained -= change
            moved = True
        if not moved:
            break
    return swaps, gained
