"""Prices of rows that no class undercuts: their sum is a bound of what every release by nodes loses."""

from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from shoal.kernels._jit import jit

Array: TypeAlias = NDArray[Any]
Whole: TypeAlias = int | np.int64


class Tuples(NamedTuple):
    """Distinct tuples in descending order of their prices."""

    codes: Array  # the codes of each tuple (rows) in each column (columns)
    counts: Array
    prices: Array
    """`counts`, `prices`: the rows of each tuple, and the price of each of them."""
    free: Array  # tuples whose price may still rise
    raises: Array
    """By how much each price may rise: what is looked for. It holds a bound at first, which may be any number."""


class Levels(NamedTuple):
    """What each level of each column publishes."""

    first: Array  # where the levels of each column begin, with the number of all at the end
    keys: Array
    losses: Array
    """`keys`, `losses`: for each level (rows) and code (columns): a random number of the text that is published, and
    what it loses; a negative loss marks a text that a further level publishes for more codes."""


class Stack(NamedTuple):
    """The tuples that matter below each vector of some columns: for each depth, their numbers, keys and losses."""

    tuples: Array
    keys: Array
    losses: Array
    sizes: Array
    level: Array


class Groups(NamedTuple):
    """Tuples that look the same: a table of keys, and for each group its rows, prices, and what else is summed."""

    slots: Array
    stamps: Array
    stamp: Array
    numbers: Array
    of_tuple: Array
    rows: Array
    loss: Array
    highest: Array
    room: Array
    taken: Array
    sums: Array
    rising: Array


@jit
def _grouped(depth: Whole, tuples: Tuples, stack: Stack, groups: Groups) -> int:
    """Number the tuples that look the same, and sum up what there is to know of them; how many groups there are."""
    groups.stamp[0] += 1
    stamp, mask, count = groups.stamp[0], np.uint64(len(groups.slots) - 1), 0
    for place in range(stack.sizes[depth]):
        key = stack.keys[depth, place]
        slot = key & mask
        while groups.stamps[slot] == stamp and groups.slots[slot] != key:
            slot = (slot + np.uint64(1)) & mask
        one = stack.tuples[depth, place]
        if groups.stamps[slot] != stamp:
            groups.stamps[slot], groups.slots[slot], groups.numbers[slot] = stamp, key, count
            groups.rows[count] = 0
            groups.loss[count] = stack.losses[depth, place]
            groups.highest[count] = tuples.prices[one]
            groups.room[count] = 0.0
            count += 1
        number = groups.numbers[slot]
        groups.of_tuple[place] = number
        groups.rows[number] += tuples.counts[one]
        groups.loss[number] = min(groups.loss[number], stack.losses[depth, place])
        groups.room[number] = max(groups.room[number], tuples.raises[one])
    return count


@jit
def _narrowed(depth: Whole, k: int, stack: Stack, groups: Groups) -> int:
    """Keep the tuples of groups that can be classes, and can be so cheap that a price is bounded; how many."""
    kept = 0
    for place in range(stack.sizes[depth]):
        number = groups.of_tuple[place]
        if groups.rows[number] >= k and groups.loss[number] - groups.highest[number] < groups.room[number]:
            stack.tuples[depth, kept] = stack.tuples[depth, place]
            stack.keys[depth, kept] = stack.keys[depth, place]
            stack.losses[depth, kept] = stack.losses[depth, place]
            groups.of_tuple[kept] = number
            kept += 1
    stack.sizes[depth] = kept
    return kept


@jit
def _bounded(depth: Whole, k: int, count: Whole, tuples: Tuples, stack: Stack, groups: Groups) -> None:
    """Bound the prices of the groups of a whole vector: the k highest of a group are worth no more than k rows cost."""
    groups.taken[:count] = 0
    groups.sums[:count] = 0.0
    groups.rising[:count] = 0
    for place in range(stack.sizes[depth]):
        one, number = stack.tuples[depth, place], groups.of_tuple[place]
        more = min(tuples.counts[one], k - groups.taken[number])
        groups.taken[number] += more
        groups.sums[number] += more * tuples.prices[one]
        if tuples.free[one]:
            groups.rising[number] = min(groups.rising[number] + tuples.counts[one], k)
    for place in range(stack.sizes[depth]):
        one, number = stack.tuples[depth, place], groups.of_tuple[place]
        if groups.rising[number] > 0:
            slack = max(k * groups.loss[number] - groups.sums[number], 0.0)
            tuples.raises[one] = min(tuples.raises[one], slack / groups.rising[number])


@jit
def bound_raises(k: int, tuples: Tuples, levels: Levels, stack: Stack, groups: Groups) -> int:
    """Bound by how much all prices may rise together, by all vectors that can bound one; how many these are.

    Columns are gone through one after the other. Tuples that look the same in the columns so far are dropped as soon as
    they are fewer than k, or lose so much already that no price is bounded by them.
    """
    columns = len(levels.first) - 1
    stack.sizes[0] = len(tuples.counts)
    for one in range(len(tuples.counts)):
        stack.tuples[0, one], stack.keys[0, one], stack.losses[0, one] = one, np.uint64(0), 0.0
    stack.level[:] = 0
    depth, seen = 0, 0
    while depth >= 0:
        line = levels.first[depth] + stack.level[depth]
        if line == levels.first[depth + 1]:
            stack.level[depth] = 0
            depth -= 1
            continue
        stack.level[depth] += 1
        size = 0
        for place in range(stack.sizes[depth]):
            one = stack.tuples[depth, place]
            code = tuples.codes[one, depth]
            loss = levels.losses[line, code]
            if loss >= 0.0:
                stack.tuples[depth + 1, size] = one
                stack.keys[depth + 1, size] = stack.keys[depth, place] + levels.keys[line, code]
                stack.losses[depth + 1, size] = stack.losses[depth, place] + loss
                size += 1
        stack.sizes[depth + 1] = size
        count = _grouped(depth + 1, tuples, stack, groups)
        if _narrowed(depth + 1, k, stack, groups) == 0:
            continue
        if depth + 1 < columns:
            depth += 1
        else:
            seen += 1
            _bounded(depth + 1, k, count, tuples, stack, groups)
    return seen
