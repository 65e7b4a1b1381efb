"""Join classes until no rule is left: no cell is starred, and the worst case equals what is published."""

from dataclasses import dataclass

import numpy as np

from shoal.arrays import Counts, Floats, Mask, Rows, indptr_of, mixed, owners, ranges, summed, turns_of
from shoal.methods.mondrian._partition import partition
from shoal.methods.table_rule_hiding._class_counts import Classes, Values
from shoal.methods.table_rule_hiding._star_counts import Bound

DENSE = 8
"""Keys are counted in an array of their whole range if it has at most this many times as many entries as there are
keys."""

BITS = 63
"""How many bits a place along the curve has."""


@dataclass(frozen=True, slots=True, eq=False)
class Ends:
    """The extent of classes: the first and last place of each class (row) in each column, between 0 and 1."""

    low: Floats
    high: Floats

    def joined(self, first: Rows, second: Rows) -> Floats:
        """The width of two classes joined, summed over the columns."""
        low = np.minimum(self.low[first], self.low[second])
        high = np.maximum(self.high[first], self.high[second])
        widths: Floats = (high - low).sum(axis=1)
        return widths


def safe_regions(classes: Classes, columns: list[Values], bound: Bound, ends: Ends) -> Rows:
    """Assign each class to a region such that all classes of a region joined have no rule.

    Regions are cut as Mondrian cuts rows, at medians of the classes' midpoints, as long as neither half has a rule.
    """
    middles = (ends.low + ends.high) / 2
    positions, codes = [], np.empty(middles.shape, dtype=np.int32)
    for column, places in enumerate(middles.T):
        distinct, codes[:, column] = np.unique(places, return_inverse=True)
        positions.append(distinct)
    depths = [np.zeros(len(distinct) - 1, dtype=np.int32) for distinct in positions]

    def allowed(order: Rows, begin: Rows, middle: Rows, end: Rows) -> Mask:
        starts, places = ranges(begin, end - begin)
        cut = owners(starts)
        half = np.full(len(classes), 2 * len(begin), dtype=np.int64)
        half[order[places]] = 2 * cut + (places >= middle[cut])
        sizes = summed(half, classes.sizes, 2 * len(begin) + 1)
        good = ~_has_rule(half, columns, bound, sizes)[:-1]
        both: Mask = good[::2] & good[1::2]
        return both

    parts = partition(codes, positions, depths, least=1, allowed=allowed)
    region = np.empty(len(classes), dtype=np.int64)
    region[parts.order] = owners(parts.starts)
    return region


def along_curve(ends: Ends, region: Rows) -> Rows:
    """The classes ordered by region, then along a space-filling curve (Morton), on which neighbors are near."""
    width = ends.low.shape[1]
    bits = min(max(BITS // max(width, 1), 1), 20)
    middle = ((ends.low + ends.high) / 2 * ((1 << bits) - 1)).astype(np.int64)
    keys = np.zeros(len(middle), dtype=np.int64)
    for bit in range(bits - 1, -1, -1):
        for column in range(min(width, BITS)):
            keys = keys << 1 | ((middle[:, column] >> bit) & 1)
    return np.lexsort((keys, region))


def merged(classes: Classes, columns: list[Values], bound: Bound, ends: Ends) -> Rows:
    """Join classes with neighbors on the curve, inside regions that have no rule, until no class has a rule.

    In each round, every class with a rule asks to be joined with one of its two neighbors: preferably one that leaves
    no rule, and of those the one that makes the narrower class. Joins are made if they do not share a class; of two
    that do, a pseudorandom number decides, so that few rounds are needed.

    Returns the joined class of each class, numbered along the curve.
    """
    region = safe_regions(classes, columns, bound, ends)
    order = along_curve(ends, region)
    group = turns_of(order, len(classes))
    turn = 0
    while True:
        count = int(group.max()) + 1
        sizes = summed(group, classes.sizes, count)
        bad = _has_rule(group, columns, bound, sizes)
        if not bad.any() or count == 1:
            return group
        here = _grouped(ends, group, count)
        left = np.arange(count - 1)
        safe = np.zeros(count - 1, dtype=np.bool_)
        for parity in (0, 1):
            pairs = left[parity::2]
            into = np.arange(count)
            into[pairs + 1] = pairs
            numbers = np.cumsum(np.bincount(into, minlength=count) > 0) - 1
            together = numbers[into]
            total = summed(together, sizes, int(together.max()) + 1)
            safe[pairs] = ~_has_rule(together[group], columns, bound, total)[together[pairs]]
        of = np.empty(count, dtype=np.int64)
        of[group] = region
        width = here.joined(left, left + 1) * (sizes[:-1] + sizes[1:])
        width[of[1:] != of[:-1]] = np.inf
        group = _joins(bad, np.where(safe, width, np.inf), width, turn)[group]
        turn += 1


def _joins(bad: Mask, cost: Floats, plain: Floats, turn: int) -> Rows:
    """Make the joins of one round; returns the new number of each class.

    `cost`, `plain`: how bad it is to join each class and the next one: `cost` is infinite if that leaves a rule.
    """
    count = len(bad)
    before = np.concatenate(([np.inf], cost))
    after = np.concatenate((cost, [np.inf]))
    neither = np.isinf(before) & np.isinf(after)
    before = np.where(neither, np.concatenate(([np.inf], plain)), before)
    after = np.where(neither, np.concatenate((plain, [np.inf])), after)
    asks = np.zeros(count - 1, dtype=np.bool_)
    rows = np.flatnonzero(bad)
    lefts = rows[before[rows] <= after[rows]]
    asks[lefts - 1] = True
    asks[np.setdiff1d(rows, lefts)] = True
    # Pseudorandom numbers above 0 that do not tie between neighbors.
    weight = mixed(np.arange(count - 1) + turn * count) | np.uint64(1)
    weight[~asks] = 0
    around = np.pad(weight, 1)
    made = asks & (weight > around[:-2]) & (weight > around[2:])
    numbers = indptr_of(~made)
    return numbers.astype(np.int64)


def _has_rule(group: Rows, columns: list[Values], bound: Bound, sizes: Counts) -> Mask:
    """Which joined classes have a rule, in any sensitive column."""
    bad = np.zeros(len(sizes), dtype=np.bool_)
    for values in columns:
        entries = np.flatnonzero(values.guarded)
        width = len(values.column.domain)
        numbers = group[values.classes[entries]] * width + values.codes[entries]
        keys, shown = _summed_by(numbers, values.counts[entries], len(sizes) * width)
        of = keys // width
        stars = summed(group, values.stars, len(sizes))
        bad[of[bound.broken(shown, stars[of], sizes[of])]] = True
    return bad


def _summed_by(keys: Rows, numbers: Counts, bound: int) -> tuple[Rows, Counts]:
    """The distinct keys, and the sum of the numbers of each; needs no sorting if the keys below `bound` are dense."""
    if bound <= DENSE * len(keys):
        sums = summed(keys, numbers, bound)
        used = np.flatnonzero(sums)
        return used, sums[used]
    distinct, place = np.unique(keys, return_inverse=True)
    return distinct, summed(place, numbers, len(distinct))


def _grouped(ends: Ends, group: Rows, count: int) -> Ends:
    """The extent of joined classes."""
    low = np.full((count, ends.low.shape[1]), np.inf)
    high = np.full((count, ends.low.shape[1]), -np.inf)
    np.minimum.at(low, group, ends.low)
    np.maximum.at(high, group, ends.high)
    return Ends(low, high)
