"""An attack on groups: to name the sensitive member of each."""

from typing import ClassVar

import numpy as np

from shoal.arrays import Counts, Floats, Mask, Rows, ascending, indptr_by, indptr_of, taken, turns_of
from shoal.data._basket_orders import Distinct, orders_of
from shoal.data._near_clusters import clusters_of
from shoal.data.groups import Groups
from shoal.data.release import Release
from shoal.measures._comparison import Comparison
from shoal.measures.measure import BasketMeasure, Score
from shoal.risks._group_members import central, largest, shares_and_members


class Pivot(BasketMeasure):
    """How often a reader who names one member of a group names one that holds a sensitive item of the group.

    All groups with a sensitive item are attacked, and each counts once. The reader names a basket, and thereby
    everybody whose public items are these; the attack succeeds with the share of them in the original who hold one
    of the group's sensitive items. (Equal baskets of public items cannot be distinguished, neither by the reader nor by
    this measure: which of them stands in which group is nowhere to be read.)

    pivot_guess
        The reader names any member: what a group gives away by its counts. With one sensitive item that is at most
        1 / p where no two baskets have the same public items; a basket that many hold counts with all of them, wherever
        they stand.
    pivot_largest
        The reader names the member with most public items (any of them, where several have). No group is needed to
        know that large baskets are likelier to hold any item: what this attack gains over a guess is what no
        grouping hides, and what `pivot_central` gains beyond it, groups betray.
    pivot_central
        The reader names the member that has most items in common with all others together (any of them, where
        several have). Where groups are formed around a sensitive basket, that is often the one.
    pivot_replay, pivot_certain
        The reader knows the method and computes its order from the published baskets. If groups were formed around a
        basket, every member is tried for the part: it cannot have played it if a basket that nobody took lies nearer
        to it than one that was taken. If they were cut, the reader leaves out the members that came from another
        block, and all of the half that holds fewer sensitive items on average, given that one of both halves would
        have broken the promise. If they are clusters of like baskets, the reader finds
        these again, and learns which pair of them in a group holds most, which is more than can be known: an upper
        bound. The reader names any of those that remain; `pivot_certain` is the share of groups where one
        remained and was right.

    Where the release does not say how groups were formed, there is no replay.
    """

    name: ClassVar[str] = "pivot"
    not_distributable: ClassVar[str | None] = "the attack looks at all groups at once"
    accepts: ClassVar[tuple[type, ...]] = (Groups,)
    scores_named: ClassVar[tuple[str, ...]] = (
        "pivot_guess",
        "pivot_largest",
        "pivot_central",
        "pivot_replay",
        "pivot_certain",
    )

    def compare(self, both: Comparison) -> tuple[Score, ...]:
        """Attack every group that has a sensitive item."""
        original, groups = self.baskets(both)
        asked = np.flatnonzero(np.diff(groups.sensitive_indptr))
        if not len(asked):
            return ()
        shares, members = shares_and_members(original, groups)
        beside = "".join(
            f"; 1/p is {1 / promise['p']:.4g}"
            for promise in both.release.promises
            if promise.get("model") == "privacy-degree"
        )
        every = np.ones(len(shares), dtype=np.bool_)
        scores = [
            _score("guess", _success(groups, shares, every)[asked], "names any member of a group", beside),
            _score(
                "largest",
                _success(groups, shares, largest(groups))[asked],
                "names the member with most public items",
                beside,
            ),
            _score(
                "central",
                _success(groups, shares, central(groups))[asked],
                "names the member with most items in common with the others",
                beside,
            ),
        ]
        replay = _replay(groups, both.release, asked, shares, members)
        if replay is not None:
            found, alone = replay
            scores.append(_score("replay", found, "replays the method and names one who fits", beside))
            scores.append(
                Score(
                    "pivot_certain",
                    float(np.where(alone, found, 0.0).mean()),
                    "share of groups with a sensitive item where the replay leaves one member, who has it",
                )
            )
        return tuple(scores)


def replay_near(groups: Groups, distinct: Distinct, shares: Floats, p: int) -> Floats:
    """How often a reader of each group is right who knows all clusters, and learns which pair of them to look at.

    Clusters follow from the published baskets, but for which of equal ones is in which. A group of one cluster, or of
    one pair, tells nothing more: which cluster of a pair broke the degree cannot be seen. Where there are more, the
    sensitive items decided which pair began and which ones were passed over. All of that could be said by naming a
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
    rare = ascending(pair, contents.holders(kind))[first]
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
    found = clusters_of(distinct, p)
    basket = np.repeat(np.arange(len(distinct)), distinct.counts)[found.rows]
    keys = found.pair[found.cluster_of] * len(distinct) + basket
    entries, times = np.unique(keys, return_counts=True)
    return entries // len(distinct), entries % len(distinct), times


class _Contents:
    """The baskets of some groups: by group and kind of basket, how often it is there and what its share is."""

    def __init__(self, groups: Groups, distinct: Distinct, some: Rows, shares: Floats) -> None:
        number = turns_of(some, len(groups))
        member = np.flatnonzero(np.repeat(number, groups.sizes) >= 0)
        self._kinds = len(distinct)
        keys = np.repeat(number, groups.sizes)[member] * self._kinds + distinct.of_row[member]
        self._keys, example, self.times = np.unique(keys, return_index=True, return_counts=True)
        self.shares = shares[member[example]]
        by_kind = ascending(self._keys % self._kinds)
        self._groups = (self._keys // self._kinds)[by_kind]
        self._indptr = indptr_by(self._keys % self._kinds, self._kinds)

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


def _score(name: str, found: Floats, words: str, beside: str) -> Score:
    return Score(
        f"pivot_{name}",
        float(found.mean()),
        f"chance that a reader is right who {words}, over groups with a sensitive item{beside}",
    )


def _success(groups: Groups, shares: Floats, named: Mask) -> Floats:
    """The mean share of the named members of each group; of all members where none is named."""
    begin = groups.group_indptr[:-1]
    count = np.add.reduceat(named.astype(np.float64), begin)
    some = np.add.reduceat(np.where(named, shares, 0.0), begin) / np.maximum(count, 1)
    return np.where(count > 0, some, np.add.reduceat(shares, begin) / groups.sizes)


def _replay(
    groups: Groups, release: Release, asked: Rows, shares: Floats, members: Distinct
) -> tuple[Floats, Mask] | None:
    """How often a reader is right who replays the method, for each group asked about, and where one member is left."""
    degrees = [promise["p"] for promise in release.promises if promise.get("model") == "privacy-degree"]
    if release.parameters.get("form") == "near" and degrees:
        found = replay_near(groups, members, shares, int(degrees[0]))[asked]
        return found, np.zeros(len(asked), dtype=np.bool_)
    named = _replayed(groups, release, asked, members)
    if named is None:
        return None
    alone = np.add.reduceat(named.astype(np.int64), groups.group_indptr[:-1])[asked] == 1
    return _success(groups, shares, named)[asked], alone


def _replayed(groups: Groups, release: Release, asked: Rows, distinct: Distinct) -> Mask | None:
    """The members that a reader names who replays the method; None where the release does not say how."""
    form, order = release.parameters.get("form"), release.parameters.get("order")
    degrees = [promise["p"] for promise in release.promises if promise.get("model") == "privacy-degree"]
    if form not in ("pivots", "blocks") or not isinstance(order, str) or not degrees:
        return None
    orders = orders_of(order, distinct)
    if form == "blocks":
        return _replay_blocks(groups, distinct, orders[0], int(degrees[0]))
    return _replay_pivots(groups, distinct, orders, asked, int(release.parameters["alpha"]) * int(degrees[0]))


def _replay_pivots(
    groups: Groups, distinct: Distinct, orders: tuple[Rows, ...], asked: Rows, window: int
) -> Mask:
    from shoal.kernels.pivots import possible_pivots

    count = len(distinct.of_row)
    lines, places = np.empty((len(orders), count), np.int64), np.empty((len(orders), count), np.int64)
    for table, order in enumerate(orders):
        place = turns_of(order, len(distinct))
        lines[table] = ascending(place[distinct.of_row])
        places[table, lines[table]] = np.arange(count)
    leftover = int(np.argmax(groups.sizes))
    possible: Mask = possible_pivots(
        lines,
        places,
        distinct.of_row,
        distinct.indptr,
        distinct.items,
        groups.group_indptr,
        leftover,
        asked,
        window,
    )
    return possible


def _replay_blocks(groups: Groups, distinct: Distinct, order: Rows, p: int) -> Mask:
    """The members of the denser half of each block, without those that came from another block.

    The middle members of the groups tell the order of the blocks, and sizes tell where they begin.
    """
    from shoal.kernels.pivots import denser_halves

    place = turns_of(order, len(distinct))
    run = place[distinct.of_row]
    group = np.repeat(np.arange(len(groups)), groups.sizes)
    middle = run[ascending(group, run)][groups.group_indptr[:-1] + groups.sizes // 2]
    by_place = np.argsort(middle, kind="stable")
    ends, begin = indptr_of(distinct.counts[order]), indptr_of(groups.sizes[by_place])
    first = np.searchsorted(ends, begin)
    cuts, side = denser_halves(ends, first, p, by_place, groups.sensitive_indptr, groups.sensitive_counts)
    number = turns_of(by_place, len(groups))
    block = number[group]
    second = run >= cuts[block]
    inside = (run >= first[block]) & (run < first[block + 1])
    named: Mask = inside & ((side[block] == 0) | (second == (side[block] > 0)))
    return named
