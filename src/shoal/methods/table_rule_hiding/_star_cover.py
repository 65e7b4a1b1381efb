"""Hide rules that share cells together, with the fewest stars by integer programming, or close to the fewest."""

from dataclasses import dataclass
from heapq import heapify, heappop, heappush

import numpy as np

from shoal.arrays import Counts, Rows, owners, turns_of
from shoal.methods.table_rule_hiding._antecedents import Found, broken_rules, joined
from shoal.methods.table_rule_hiding._class_counts import Classes, Values
from shoal.methods.table_rule_hiding._star_counts import Bound

LARGEST = 400_000
"""If rules have more cells than this, the exact solution is out of reach."""

NODES = 2_000
"""The most branches of the exact search. A count, not a time limit, so that the same data gives the same release."""

ROUNDS = 40
"""How many times rules may be added that a solution has newly broken."""


@dataclass(frozen=True, slots=True, eq=False)
class Cover:
    """The stars that hide all rules."""

    stars: Counts  # the stars of each entry
    least: int  # a proven lower bound on the number of stars; equal to it if it is proven to be the least
    found: Found  # the rules before anything was starred


def shared_stars(classes: Classes, values: Values, bound: Bound, size: int) -> Cover:
    """The stars of each entry that hide all rules with antecedents of up to `size` cells."""
    nothing = np.zeros(len(values.counts), dtype=np.int64)
    first = broken_rules(classes, values, bound, size, nothing)
    if not len(first):
        return Cover(nothing, 0, first)
    proven = _disjoint_bound(first)
    known, stars = first, nothing
    for _ in range(ROUNDS):
        if len(known.own) + len(known.all) > LARGEST:
            break
        solved = _solve(known, values, bound)
        if solved is None:
            break
        stars, least = solved
        proven = max(proven, least)
        again = broken_rules(classes, values, bound, size, stars)
        if not len(again):
            return Cover(stars, proven, first)
        if int(stars.sum()) > least:
            break
        seen = set(known.keys)
        fresh = [place for place, key in enumerate(again.keys) if key not in seen]
        known = joined([known, again.selected(fresh)])
    stars = nothing
    while len(broken := broken_rules(classes, values, bound, size, stars)):
        stars = stars + _greedy(broken, values.counts - stars, stars, bound)
    return Cover(stars, proven, first)


def _disjoint_bound(found: Found) -> int:
    """A lower bound on the stars: rules about one value whose antecedents have the same columns share no cells."""
    sums: dict[tuple[int, int], int] = {}
    for (columns, _, value), excess in zip(found.keys, (found.shown - found.most).tolist(), strict=True):
        sums[columns, value] = sums.get((columns, value), 0) + max(excess, 0)
    best: dict[int, int] = {}
    for (_, value), total in sums.items():
        best[value] = max(best.get(value, 0), total)
    return sum(best.values())


def _solve(found: Found, values: Values, bound: Bound) -> tuple[Counts, int] | None:
    """The fewest stars that hide the rules, and a lower bound; None if the search finds nothing.

    With `fewer_than` t, every rule has a binary switch: either at most t - 1 rows show it, or its rows and all stars of
    its antecedent together have a share of at most c. Stars on the rule's own rows do not change that sum.
    """
    from scipy.optimize import Bounds, LinearConstraint, milp
    from scipy.sparse import coo_array, csr_array

    entries = np.unique(np.concatenate([found.own, found.all]) if bound.fewer_than else found.own)
    place = turns_of(entries, len(values.counts))
    rules, switches = len(found), len(found) if bound.fewer_than else 0
    width = len(entries) + switches
    rule = owners(found.own_indptr)
    own = csr_array((np.ones(len(rule)), (rule, place[found.own])), shape=(rules, width))
    constraints = [LinearConstraint(own, lb=(found.shown - found.most).astype(np.float64))]
    if bound.fewer_than is not None:
        lack = np.maximum(found.shown - (bound.fewer_than - 1), 0)
        switch = coo_array((-lack, (np.arange(rules), len(entries) + np.arange(rules))), shape=(rules, width))
        constraints.append(LinearConstraint((own + switch.tocsr()).tocsr(), lb=np.zeros(rules)))
        rule_all = owners(found.all_indptr)
        everything = csr_array((np.ones(len(rule_all)), (rule_all, place[found.all])), shape=(rules, width))
        others = (everything - own).tocsr()
        limit = found.most - found.shown - found.stars
        slack = np.maximum(others[:, : len(entries)] @ values.counts[entries].astype(np.float64) - limit, 0)
        switch = coo_array(
            (-slack, (np.arange(rules), len(entries) + np.arange(rules))), shape=(rules, width)
        )
        constraints.append(LinearConstraint((others + switch.tocsr()).tocsr(), ub=limit.astype(np.float64)))
    cost = np.concatenate([np.ones(len(entries)), np.zeros(switches)])
    upper = np.concatenate([values.counts[entries], np.ones(switches)])
    answer = milp(
        cost,
        integrality=np.ones(width),
        bounds=Bounds(np.zeros(width), upper),
        constraints=constraints,
        options={"node_limit": NODES, "mip_rel_gap": 0.0},
    )
    if answer.x is None:
        return None
    stars = np.zeros(len(values.counts), dtype=np.int64)
    stars[entries] = np.rint(answer.x[: len(entries)]).astype(np.int64)
    least = int(stars.sum()) if answer.status == 0 else int(np.ceil(answer.mip_dual_bound - 1e-6))
    return stars, least


def _greedy(found: Found, room: Counts, starred: Counts, bound: Bound) -> Counts:
    """Star the cells that the most rules still need, one entry after another, then take back unneeded stars."""
    owned = np.add.reduceat(starred[found.own], found.own_indptr[:-1]) if len(found) else starred[:0]
    cap = found.most if bound.fewer_than is None else np.minimum(found.most, bound.fewer_than - 1)
    lacks = (found.shown - cap - owned).tolist()
    rules_of: dict[int, list[int]] = {}
    for rule, (begin, end) in enumerate(
        zip(found.own_indptr[:-1].tolist(), found.own_indptr[1:].tolist(), strict=True)
    ):
        for entry in found.own[begin:end].tolist():
            rules_of.setdefault(entry, []).append(rule)
    stars = np.zeros(len(room), dtype=np.int64)
    heap = [(-len(rules), entry) for entry, rules in rules_of.items() if room[entry]]
    heapify(heap)
    while heap:
        asked, entry = heappop(heap)
        asking = [lacks[rule] for rule in rules_of[entry] if lacks[rule] > 0]
        left = int(room[entry] - stars[entry])
        if not asking or not left:
            continue
        if len(asking) < -asked:
            heappush(heap, (-len(asking), entry))
            continue
        taken = min(left, *asking)
        stars[entry] += taken
        for rule in rules_of[entry]:
            lacks[rule] -= taken
        heappush(heap, (-len(asking), entry))
    _take_back(stars, lacks, rules_of)
    return stars


def _take_back(stars: Counts, lacks: list[int], rules_of: dict[int, list[int]]) -> None:
    """Remove stars that no rule needs any more, first those that the fewest rules use."""
    used: Rows = np.flatnonzero(stars)
    for entry in sorted(used.tolist(), key=lambda entry: (len(rules_of[entry]), entry)):
        spare = min(-lacks[rule] for rule in rules_of[entry])
        back = min(spare, int(stars[entry]))
        if back > 0:
            stars[entry] -= back
            for rule in rules_of[entry]:
                lacks[rule] += back
