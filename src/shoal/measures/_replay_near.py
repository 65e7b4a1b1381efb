"""What a reader learns who finds the clusters again that groups of like baskets were put together from."""

import numpy as np

from shoal.arrays import Counts, Floats, Rows
from shoal.data._basket_orders import Distinct, taken
from shoal.data._near_clusters import GROUPS, orders_for_clusters, paired_clusters
from shoal.data.groups import Groups


def replay_near(groups: Groups, distinct: Distinct, shares: Floats, p: int) -> Floats:
    """How often a reader of each group is right who knows all clusters, and is told which pair of them to look at.

    Clusters follow from the published baskets, but for which of equal ones is in which. A group of one cluster, or of
    one pair, tells nothing more: which cluster of a pair broke the degree cannot be seen. Where there are more, the
    sensitive items decided which pair began and which ones were passed over. All of that could be told by naming a
    pair; as it is not published, of all pairs that the group can hold the one counts whose members hold most, so that
    this is an upper bound.

    `distinct`: the published baskets. `shares`: for each published basket, who of those with its public items holds a
    sensitive item of its group.
    """
    begin = groups.group_indptr[:-1]
    found = np.add.reduceat(shares, begin) / groups.sizes
    merged = np.flatnonzero(groups.sizes >= 4 * p)
    if not len(merged):
        return found
    pair, kind, times = _pairs(distinct, p)
    contents = _Contents(groups, distinct, merged, shares)
    first = np.flatnonzero(np.diff(pair, prepend=-1))
    size = np.add.reduceat(times, first)
    # Each pair is looked for in the groups that hold the rarest of its baskets.
    rare = np.lexsort((contents.holders(kind), pair))[first]
    unit, group = contents.holding(kind[rare])
    sure, entry = taken(np.concatenate((first, [len(pair)])), unit)
    place = contents.places(np.repeat(group, np.diff(sure)), kind[entry])
    enough = (place >= 0) & (contents.times[place] >= times[entry])
    if not len(unit):
        return found
    inside = np.add.reduceat(~enough, sure[:-1]) == 0
    right = np.add.reduceat(np.where(enough, contents.shares[place], 0.0) * times[entry], sure[:-1])
    best = np.zeros(len(merged))
    np.maximum.at(best, group[inside], (right / size[unit])[inside])
    found[merged] = np.maximum(found[merged], best)
    return found


def _pairs(distinct: Distinct, p: int) -> tuple[Rows, Rows, Counts]:
    """The pairs of clusters, the baskets in each, which ascend, and how often each is there."""
    orders = []
    for order in orders_for_clusters(distinct, GROUPS.tables):
        place = np.empty(len(distinct), dtype=np.int64)
        place[order] = np.arange(len(order))
        orders.append(np.argsort(place[distinct.of_row], kind="stable"))
    indptr, places = taken(distinct.indptr, distinct.of_row)
    found = paired_clusters(tuple(orders), indptr, distinct.items[places], distinct.width, p)
    keys = found.pair[found.cluster_of] * len(distinct) + distinct.of_row[found.rows]
    entries, times = np.unique(keys, return_counts=True)
    return entries // len(distinct), entries % len(distinct), times


class _Contents:
    """The baskets of some groups: by group and kind of basket, how often it is there and what its share is."""

    def __init__(self, groups: Groups, distinct: Distinct, some: Rows, shares: Floats) -> None:
        number = np.full(len(groups), -1, dtype=np.int64)
        number[some] = np.arange(len(some))
        member = np.flatnonzero(np.repeat(number, groups.sizes) >= 0)
        self._kinds = len(distinct)
        keys = np.repeat(number, groups.sizes)[member] * self._kinds + distinct.of_row[member]
        self._keys, example, self.times = np.unique(keys, return_index=True, return_counts=True)
        self.shares = shares[member[example]]
        by_kind = np.argsort(self._keys % self._kinds, kind="stable")
        self._groups = (self._keys // self._kinds)[by_kind]
        counts = np.bincount(self._keys % self._kinds, minlength=self._kinds)
        self._indptr = np.concatenate(([0], np.cumsum(counts)))

    def holders(self, kinds: Rows) -> Counts:
        """How many groups hold each kind of basket."""
        return np.diff(self._indptr)[kinds]

    def holding(self, kinds: Rows) -> tuple[Rows, Rows]:
        """Each place among the kinds with each group that holds it."""
        indptr, places = taken(self._indptr, kinds)
        return np.repeat(np.arange(len(kinds)), np.diff(indptr)), self._groups[places]

    def places(self, groups: Rows, kinds: Rows) -> Rows:
        """Where a group and a kind stand, -1 where the group lacks it."""
        keys = groups * self._kinds + kinds
        place = np.minimum(np.searchsorted(self._keys, keys), len(self._keys) - 1)
        return np.where(self._keys[place] == keys, place, -1)
