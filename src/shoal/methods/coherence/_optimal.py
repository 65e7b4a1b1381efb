"""The least loss: a weighted hitting set of the minimal moles.

To suppress items at the least loss so that no mole is left means to choose items of least weight so that every mole
contains one. This is NP-hard (vertex cover), and is solved here in three stages, each at least as good as the one
before.

1. The three greedy picks; from each, superfluous items are dropped, the greatest loss first.
2. Local search: keep an item after all, and hit the moles that only it hit by others, where that is cheaper.
3. The exact optimum by integer programming (HiGHS). Moles of two items are given to it as cliques. Of larger moles only
   those that matter are given: it starts with some, and those that its answer misses are added until none is missed.
   Every answer on the way is a lower bound on the loss, because fewer moles can only cost less.
"""

import time
from dataclasses import dataclass
from math import ceil, inf

import numpy as np

from shoal.arrays import Counts, Items, Mask, Rows, flagged, indptr_of, turns_of
from shoal.methods.coherence._pick import GREEDY, Hits, greedy

LARGEST = 4_000
"""If more items than this are in pairs, no cliques are searched: a table of all pairs would be too large."""

MOST = 4_000
"""The most cliques that are made."""


def cliques(pairs: Items, losses: Counts) -> list[Rows]:
    """Cliques of at least two items that cover as many of the pairs as possible, each as large as possible.

    Of a clique, all items but one must go. A program that knows only single pairs considers half of every item enough.
    With cliques its lower bound is far better: on Retail the gap falls from 28 % to a few percent.

    `pairs`: two items per row. `losses`: the loss of each item; expensive items are gathered first.
    """
    items, places = np.unique(pairs, return_inverse=True)
    if not 1 < len(items) <= LARGEST:
        return []
    places = places.reshape(-1, 2)
    joined = np.zeros((len(items), len(items)), dtype=np.bool_)
    joined[places[:, 0], places[:, 1]] = True
    joined |= joined.T
    open_pairs = joined.copy()
    order = np.argsort(-losses[items], kind="stable")
    rank = turns_of(order, len(items))
    found: list[Rows] = []
    for item in order.tolist():
        while len(found) < MOST and open_pairs[item].any():
            members = _clique(item, joined, open_pairs, rank)
            open_pairs[np.ix_(members, members)] = False
            found.append(items[members].astype(np.int64))
    return found


def _clique(item: int, joined: Mask, open_pairs: Mask, rank: Rows) -> Rows:
    """A maximal clique around an item, grown by the items that cover the most open pairs, then the most expensive."""
    members = [item]
    able = joined[item].copy()
    gain = open_pairs[item].astype(np.int64)
    while able.any():
        choice = np.flatnonzero(able)
        best = int(choice[np.lexsort((rank[choice], -gain[choice]))[0]])
        members.append(best)
        able &= joined[best]
        gain += open_pairs[best]
    return np.array(sorted(members), dtype=np.int64)


SEARCHING = 0.25
"""The share of the time that local search may take; the rest is for the proof."""

ROUNDS = 20
"""How many times local search goes through all chosen items at most."""

FIRST, MORE = 5_000, 2_000
"""How many larger moles the exact stage starts with, and how many are added at a time, at most."""

TOLERANCE = 1e-6
"""The error that the solver's bound may have, relative to the loss."""


@dataclass(frozen=True, slots=True)
class Optimum:
    """The best choice found, and how good it is."""

    items: tuple[int, ...]  # the items to suppress, ascending
    loss: int  # their loss
    bound: int  # no choice has a smaller loss
    rounds: int  # how many integer programs were solved

    @property
    def gap(self) -> float:
        """How far the loss may be above the least, as a share of the loss; 0 if it is proven to be the least."""
        return (self.loss - self.bound) / self.loss if self.loss else 0.0


def least_loss(hits: Hits, losses: Counts, seconds: float) -> Optimum:
    """Choose items of little loss that hit every mole.

    `losses`: the loss of each item, at least 1 if it is in a mole. `seconds`: how long to search for something better
    than the greedy picks, and for a proof that there is nothing better.
    """
    begin = time.perf_counter()
    if not len(hits):
        return Optimum((), 0, 0, 0)
    starts = []
    for pick in GREEDY:
        chosen = flagged(greedy(hits, losses, pick), len(losses))
        starts.append(without_superfluous(hits, losses, chosen))
    best = min(starts, key=lambda chosen: int(losses[chosen].sum()))
    best = improved(hits, losses, best, begin + SEARCHING * seconds)
    best, bound, rounds = _exact(hits, losses, best, begin + seconds)
    return Optimum(tuple(np.flatnonzero(best).tolist()), int(losses[best].sum()), bound, rounds)


def without_superfluous(hits: Hits, losses: Counts, chosen: Mask) -> Mask:
    """Drop items whose moles are all hit by other items too, the greatest loss first."""
    chosen = chosen.copy()
    times = hits.times_hit(chosen)
    items = np.flatnonzero(chosen)
    for item in items[np.argsort(-losses[items], kind="stable")].tolist():
        moles = hits.moles_of(item)
        if (times[moles] > 1).all():
            times[moles] -= 1
            chosen[item] = False
    return chosen


def improved(hits: Hits, losses: Counts, chosen: Mask, end: float = inf) -> Mask:
    """Keep chosen items after all and hit their moles by others, as long as that reduces the loss.

    `hits`, `losses`: the moles, and the loss of each item. `end`: the time at which to stop.
    """
    least = int(losses[chosen].sum())
    for _ in range(ROUNDS):
        before = least
        items = np.flatnonzero(chosen)
        for item in items[np.argsort(-losses[items], kind="stable")].tolist():
            if time.perf_counter() > end:
                return chosen
            if not chosen[item]:
                continue
            other = _instead(hits, losses, chosen, item)
            if int(losses[other].sum()) < least:
                chosen, least = other, int(losses[other].sum())
        if least == before:
            break
    return chosen


def _instead(hits: Hits, losses: Counts, chosen: Mask, item: int) -> Mask:
    """A choice without one of its items, whose moles are hit by others."""
    other = chosen.copy()
    other[item] = False
    missed = hits.times_hit(other) == 0
    other[greedy(hits, losses, "mm/il", missed, barred=item)] = True
    return without_superfluous(hits, losses, other)


def _exact(hits: Hits, losses: Counts, best: Mask, end: float) -> tuple[Mask, int, int]:
    """The exact optimum, or the best found in time; a proven lower bound; the number of programs solved."""
    sizes = np.diff(hits.indptr)
    pairs = hits.items_of(np.flatnonzero(sizes == 2)).reshape(-1, 2)
    gathered = cliques(pairs, losses)
    larger = np.flatnonzero(sizes > 2) if gathered else np.arange(len(hits))
    among = _spread(larger, FIRST)
    least, bound, rounds = int(losses[best].sum()), 0, 0
    if (left := end - time.perf_counter()) > 0:
        # The linear relaxation, with fractions of items, is solved fast and already gives a bound.
        bound = min(_solved(hits, losses, among, gathered, left, whole=False)[1], least)
    while bound < least and (left := end - time.perf_counter()) > 0:
        answer, lower = _solved(hits, losses, among, gathered, left)
        rounds += 1
        bound = max(bound, min(lower, least))
        if answer is None:
            break
        missed = hits.times_hit(answer) == 0
        answer[greedy(hits, losses, "mm/il", missed)] = True
        answer = without_superfluous(hits, losses, answer)
        if int(losses[answer].sum()) < least:
            best, least = answer, int(losses[answer].sum())
        if not missed.any():
            break
        among = np.union1d(among, _spread(np.flatnonzero(missed), MORE))
    return best, min(bound, least), rounds


def _solved(
    hits: Hits, losses: Counts, among: Rows, gathered: list[Rows], seconds: float, whole: bool = True
) -> tuple[Mask | None, int]:
    """Solve a program for some of the moles: the items of least loss, if found in time, and a lower bound.

    One item of each of these moles must go, and all but one of each gathered clique. Without `whole`, fractions of
    items are allowed, which is easier and costs no more; then only the bound is returned.
    """
    from scipy.optimize import Bounds, LinearConstraint, milp
    from scipy.sparse import csr_array

    members = np.concatenate([hits.items_of(among), *gathered])
    lengths = np.concatenate(
        (hits.indptr[among + 1] - hits.indptr[among], [len(clique) for clique in gathered])
    ).astype(np.int64)
    demands = np.ones(len(lengths))
    demands[len(among) :] = lengths[len(among) :] - 1
    used, places = np.unique(members, return_inverse=True)
    indptr = indptr_of(lengths)
    matrix = csr_array((np.ones(len(members)), places, indptr), shape=(len(lengths), len(used)))
    result = milp(
        losses[used].astype(np.float64),
        constraints=LinearConstraint(matrix, lb=demands),
        integrality=np.full(len(used), int(whole)),
        bounds=Bounds(0, 1),
        options={"time_limit": max(seconds, 0.01), "mip_rel_gap": 0.0},
    )
    solved = result.fun if result.status == 0 else None
    lower = result.mip_dual_bound if whole else solved
    bound = ceil(max(lower or 0.0, 0.0) * (1 - TOLERANCE) - TOLERANCE)
    if result.x is None or not whole:
        return None, bound
    answer = flagged(used[result.x > 0.5], len(losses))
    return answer, bound


def _spread(moles: Rows, most: int) -> Rows:
    """At most `most` of the moles, evenly spread."""
    if len(moles) <= most:
        return moles
    return moles[np.linspace(0, len(moles) - 1, most).astype(np.int64)]
