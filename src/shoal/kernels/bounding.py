"""Prices of rows that no class undercuts: their sum is a lower bound on the loss of any release by nodes."""

from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from shoal.kernels._jit import lean

Array: TypeAlias = NDArray[Any]
Whole: TypeAlias = int | np.int64


class Tuples(NamedTuple):
    """Distinct tuples in descending order of their prices."""

    codes: Array  # the codes of each tuple (rows) in each column (columns)
    counts: Array
    prices: Array
    """`counts`, `prices`: the number of rows of each tuple, and the price of each of these rows."""
    free: Array  # which tuples have a price that may still rise
    raises: Array
    """By how much each price may rise: the result. At first it holds an upper bound, which may be any number."""


class Levels(NamedTuple):
    """The texts that each level of each column publishes, and their losses."""

    first: Array  # where the levels of each column begin, with the number of all levels at the end
    keys: Array
    losses: Array
    """`keys`, `losses`: for each level (rows) and code (columns), a random number that stands for the published text,
    and its loss; a negative loss marks a text that another level publishes for more codes."""


ROWS, TAKEN, RISING = 0, 1, 2
"""Integers about a group: its number of rows, how many of them were counted, and how many can rise in price."""

LOSS, HIGHEST, ROOM, SUM = 0, 1, 2, 3
"""Numbers about a group: the loss of a row, the highest price, by how much a price may rise at most, and the sum of the
prices that were counted."""

SIZE, LEVEL = 0, 1
"""Facts about a depth: how many tuples matter there, and the next level."""


class Stack(NamedTuple):
    """For each depth (a vector of the first columns), the tuples that matter: their numbers, keys and losses."""

    tuples: Array
    keys: Array
    losses: Array
    state: Array


class Groups(NamedTuple):
    """Groups of tuples that look the same.

    `slots`, `seen`: a hash table of keys, and for each slot when it was written (the last line has the current time)
    and the number of its group. `of_tuple`: the group of each tuple. `wholes`, `facts`: the facts about each group.
    """

    slots: Array
    seen: Array
    of_tuple: Array
    wholes: Array
    facts: Array


@lean
def _grouped(depth: Whole, tuples: Tuples, stack: Stack, groups: Groups) -> int:
    """Group the tuples that look the same, and compute the facts about each group; returns the number of groups."""
    seen, wholes, facts = groups.seen, groups.wholes, groups.facts
    mask, count = np.uint64(len(groups.slots) - 1), 0
    seen[-1, 0] += 1
    for place in range(stack.state[depth, SIZE]):
        key = stack.keys[depth, place]
        slot = key & mask
        while seen[slot, 0] == seen[-1, 0] and groups.slots[slot] != key:
            slot = (slot + np.uint64(1)) & mask
        one, loss = stack.tuples[depth, place], stack.losses[depth, place]
        if seen[slot, 0] != seen[-1, 0]:
            seen[slot, 0], seen[slot, 1], groups.slots[slot] = seen[-1, 0], count, key
            wholes[count, ROWS] = 0
            facts[count, LOSS], facts[count, HIGHEST], facts[count, ROOM] = loss, tuples.prices[one], 0.0
            count += 1
        number = seen[slot, 1]
        groups.of_tuple[place] = number
        wholes[number, ROWS] += tuples.counts[one]
        facts[number, LOSS] = min(facts[number, LOSS], loss)
        facts[number, ROOM] = max(facts[number, ROOM], tuples.raises[one])
    return count


@lean
def _narrowed(depth: Whole, k: int, stack: Stack, groups: Groups) -> int:
    """Keep the tuples of groups that can be classes and are cheap enough to bound a price; returns how many remain."""
    kept, facts = 0, groups.facts
    for place in range(stack.state[depth, SIZE]):
        number = groups.of_tuple[place]
        cheap = facts[number, LOSS] - facts[number, HIGHEST] < facts[number, ROOM]
        if cheap and groups.wholes[number, ROWS] >= k:
            stack.tuples[depth, kept] = stack.tuples[depth, place]
            stack.keys[depth, kept] = stack.keys[depth, place]
            stack.losses[depth, kept] = stack.losses[depth, place]
            groups.of_tuple[kept] = number
            kept += 1
    stack.state[depth, SIZE] = kept
    return kept


@lean
def _bounded(depth: Whole, k: int, count: Whole, tuples: Tuples, stack: Stack, groups: Groups) -> None:
    """Bound the prices in the groups of a complete vector: the k highest prices must not exceed the cost of k rows."""
    wholes, facts = groups.wholes, groups.facts
    for number in range(count):
        wholes[number, TAKEN], wholes[number, RISING], facts[number, SUM] = 0, 0, 0.0
    for place in range(stack.state[depth, SIZE]):
        one, number = stack.tuples[depth, place], groups.of_tuple[place]
        more = min(tuples.counts[one], k - wholes[number, TAKEN])
        wholes[number, TAKEN] += more
        facts[number, SUM] += more * tuples.prices[one]
        if tuples.free[one]:
            wholes[number, RISING] = min(wholes[number, RISING] + tuples.counts[one], k)
    for place in range(stack.state[depth, SIZE]):
        one, number = stack.tuples[depth, place], groups.of_tuple[place]
        if wholes[number, RISING] > 0:
            slack = max(k * facts[number, LOSS] - facts[number, SUM], 0.0)
            tuples.raises[one] = min(tuples.raises[one], slack / wholes[number, RISING])


@lean
def bound_raises(k: int, tuples: Tuples, levels: Levels, stack: Stack, groups: Groups) -> int:
    """Bound by how much all prices may rise together; returns how many vectors bound a price.

    Columns are added one after another. Tuples that look the same in the columns so far are dropped as soon as they
    have fewer than k rows, or already lose so much that they bound no price.
    """
    columns = len(levels.first) - 1
    stack.state[0, SIZE] = len(tuples.counts)
    for one in range(len(tuples.counts)):
        stack.tuples[0, one], stack.keys[0, one], stack.losses[0, one] = one, np.uint64(0), 0.0
    for depth in range(len(stack.state)):
        stack.state[depth, LEVEL] = 0
    depth, seen = 0, 0
    while depth >= 0:
        line = levels.first[depth] + stack.state[depth, LEVEL]
        if line == levels.first[depth + 1]:
            stack.state[depth, LEVEL] = 0
            depth -= 1
            continue
        stack.state[depth, LEVEL] += 1
        size = 0
        for place in range(stack.state[depth, SIZE]):
            one = stack.tuples[depth, place]
            code = tuples.codes[one, depth]
            loss = levels.losses[line, code]
            if loss >= 0.0:
                stack.tuples[depth + 1, size] = one
                stack.keys[depth + 1, size] = stack.keys[depth, place] + levels.keys[line, code]
                stack.losses[depth + 1, size] = stack.losses[depth, place] + loss
                size += 1
        stack.state[depth + 1, SIZE] = size
        count = _grouped(depth + 1, tuples, stack, groups)
        if _narrowed(depth + 1, k, stack, groups) == 0:
            continue
        if depth + 1 < columns:
            depth += 1
        else:
            seen += 1
            _bounded(depth + 1, k, count, tuples, stack, groups)
    return seen
