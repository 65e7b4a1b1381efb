"""The fewest removals that hide all rules, by integer programming.

Baskets that hold the same of the rules' items are of one kind: it only matters how many of them lose which items. So
the program has one variable for each kind of basket and each set of items that it may lose, whatever the number of
baskets, and two rows per rule: either its support or its confidence is below the border.
"""

from dataclasses import dataclass

import numpy as np

from shoal.arrays import Counts, Rows
from shoal.errors import WrongUse
from shoal.methods.basket_rule_hiding._item_index import Border, ItemIndex, Rule

RULES = 100
"""The most rules for which a program is made."""

MOST = 20_000
"""The most variables of a program that is solved."""


@dataclass(frozen=True, slots=True, eq=False)
class Kinds:
    """Baskets grouped by which of the rules' items they hold."""

    items: tuple[int, ...]  # the items of all rules
    held: list[frozenset[int]]  # the items of each kind
    of_row: Rows  # the kind of each basket
    counts: Counts  # the number of baskets of each kind

    @classmethod
    def of(cls, index: ItemIndex, rules: list[Rule]) -> "Kinds":
        """Group the baskets."""
        items = tuple(sorted({item for rule in rules for item in rule.items}))
        index.prepare(items)
        table = np.stack([index.column(item) for item in items], axis=1)
        packed = np.packbits(table, axis=1)
        keys = np.ascontiguousarray(packed).view(f"V{packed.shape[1]}").ravel()
        _, first, of_row, counts = np.unique(keys, return_index=True, return_inverse=True, return_counts=True)
        held = [frozenset(items[place] for place in np.flatnonzero(table[row])) for row in first]
        return cls(items, held, of_row, counts)


@dataclass(frozen=True, slots=True)
class Solution:
    """The items that each kind of basket loses."""

    removals: tuple[tuple[int, frozenset[int], int], ...]
    """A kind of basket, items, and how many baskets of the kind lose these items."""
    cost: int  # how many occurrences are removed
    bound: int  # no way to hide the rules removes fewer


def choices_of(held: frozenset[int], rules: list[Rule]) -> list[frozenset[int]]:
    """The sets of items that may be worth removing from a basket.

    Every item of such a set breaks a rule that the basket supports and that no other item of the set breaks. Otherwise
    the same rules would be broken without that item, and no left side would lose more. Subsets of such sets have the
    same property, so they are grown item by item.
    """
    supported = [frozenset(rule.items) for rule in rules if held.issuperset(rule.items)]
    items = sorted(frozenset[int]().union(*supported))
    found = [frozenset[int]()]
    stack = [(frozenset[int](), 0)]
    while stack and len(found) <= MOST:
        chosen, first = stack.pop()
        for place in range(first, len(items)):
            longer = chosen | {items[place]}
            if all(any(rule & longer == {item} for rule in supported) for item in longer):
                found.append(longer)
                stack.append((longer, place + 1))
    return sorted(found, key=lambda one: (len(one), sorted(one)))


def solve(kinds: Kinds, rules: list[Rule], border: Border, seconds: float) -> Solution:
    """Find the fewest occurrences to remove so that all rules are hidden.

    Raises `WrongUse` if the program is too large, or no solution is found in time.
    """
    if len(rules) > RULES:
        raise WrongUse(
            f"The exact strategy is out of reach: {len(rules)} rules, at most {RULES}; take dsr or fewer rules."
        )
    from scipy.optimize import Bounds, LinearConstraint, milp
    from scipy.sparse import coo_array

    variables = [(kind, lost) for kind, held in enumerate(kinds.held) for lost in choices_of(held, rules)]
    if len(variables) > MOST:
        raise WrongUse(
            f"The exact strategy is out of reach: {len(variables)} variables, at most {MOST}; take dsr or fewer rules."
        )
    width = len(variables) + len(rules)
    entries: list[tuple[int, int, float]] = []
    lower, upper = [], []
    for place, (kind, _) in enumerate(variables):
        entries.append((kind, place, 1.0))
    lower += kinds.counts.tolist()
    upper += kinds.counts.tolist()
    for number, rule in enumerate(rules):
        whole, left = frozenset(rule.items), frozenset(rule.antecedent)
        support_row, confidence_row = len(kinds.held) + 2 * number, len(kinds.held) + 2 * number + 1
        p, q = border.share.numerator, border.share.denominator
        both = sum(int(count) for held, count in zip(kinds.held, kinds.counts, strict=True) if whole <= held)
        for place, (kind, lost) in enumerate(variables):
            rest = kinds.held[kind] - lost
            if whole <= rest:
                entries.append((support_row, place, 1.0))
            if left <= rest:
                entries.append((confidence_row, place, float(q * (whole <= rest) - p)))
        entries.append((support_row, len(variables) + number, -float(both)))
        entries.append((confidence_row, len(variables) + number, float(q * both)))
        lower += [-np.inf, -np.inf]
        upper += [border.least - 1, q * both - 1]
    *places, values = zip(*entries, strict=True)
    short = tuple(np.array(places, dtype=np.int32))  # the solver does not take longer integers
    matrix = coo_array((values, short), shape=(len(lower), width)).tocsr()
    cost = np.array([len(lost) for _, lost in variables] + [0] * len(rules), dtype=np.float64)
    most = np.array([kinds.counts[kind] for kind, _ in variables] + [1] * len(rules), dtype=np.float64)
    answer = milp(
        cost,
        constraints=LinearConstraint(matrix, lower, upper),
        bounds=Bounds(0, most),
        integrality=np.ones(width),
        options={"time_limit": seconds},
    )
    if answer.x is None:
        raise WrongUse(
            f"The exact strategy found nothing in {seconds:g} seconds; give more time (--time-limit) or use dsr."
        )
    taken = np.rint(answer.x[: len(variables)]).astype(np.int64)
    removals = tuple(
        (kind, lost, int(number))
        for (kind, lost), number in zip(variables, taken, strict=True)
        if number and lost
    )
    bound = int(np.ceil(answer.mip_dual_bound - 1e-6))
    return Solution(removals, sum(len(lost) * number for _, lost, number in removals), bound)
