"""Hide one rule after another (algorithms 1.a and 1.b of Verykios et al. 2004; DSR and ISL)."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np

from shoal.arrays import Rows
from shoal.methods.basket_rule_hiding._item_index import Border, ItemIndex, Rule, open_rules
from shoal.methods.basket_rule_hiding._victims import Protected

Strategy = Literal["dsr", "dsl", "isl", "exact", "random"]

SHARED = 200
"""The most other rules that are checked for whether they are weakened too."""


@dataclass(frozen=True, slots=True, eq=False)
class Plan:
    """What a greedy strategy needs to know."""

    border: Border  # the thresholds at which rules are found
    protected: Protected | None  # itemsets that should stay frequent
    random: np.random.Generator | None  # to draw victims at random; None to choose them by weight


def hide(index: ItemIndex, rules: list[Rule], plan: Plan, strategy: Strategy) -> int:
    """Hide all rules, the one that needs the most changes first.

    Returns how many rules `isl` could not hide by additions, and hid by removals instead.
    """
    needs = {rule: plan.border.right_removals(*index.supports(rule)) for rule in rules}
    weakened = _by_consequent(rules)
    left_over = 0
    for rule in sorted(rules, key=lambda one: (-needs[one], one)):
        if not plan.border.reached(*index.supports(rule)):
            continue
        if strategy == "isl" and _add_left(index, rule, plan):
            continue
        left_over += strategy == "isl"
        if strategy == "dsl":
            _remove(index, rule, weakened, rule.antecedent, plan, plan.border.left_removals)
        else:
            _remove(index, rule, weakened, rule.consequent, plan, plan.border.right_removals)
    return left_over


def _by_consequent(rules: list[Rule]) -> dict[int, list[Rule]]:
    """The rules with each item on their right side."""
    found: dict[int, list[Rule]] = {}
    for rule in rules:
        for item in rule.consequent:
            found.setdefault(item, []).append(rule)
    return found


def _remove(
    index: ItemIndex,
    rule: Rule,
    weakened: dict[int, list[Rule]],
    side: tuple[int, ...],
    plan: Plan,
    removals: Callable[[int, int], int],
) -> None:
    """Remove an item of one side from as many baskets as needed to hide a rule."""
    both, left = index.supports(rule)
    count = removals(both, left)
    rows = np.flatnonzero(index.holding(rule.items))
    if plan.random is not None:
        item = side[int(plan.random.integers(len(side)))]
        index.column(item)[plan.random.permutation(rows)[:count]] = False
        return
    best: tuple[float, int, Rows] | None = None
    for item in side:
        # One more than needed, because the rule itself may be among them.
        others = [other for other in weakened.get(item, [])[: SHARED + 1] if other != rule][:SHARED]
        chosen, cost = _victims(index, item, rows, count, others, plan)
        if best is None or (cost, item) < best[:2]:
            best = cost, item, chosen
    assert best is not None
    index.column(best[1])[best[2]] = False


def _victims(
    index: ItemIndex, item: int, rows: Rows, count: int, others: list[Rule], plan: Plan
) -> tuple[Rows, float]:
    """Choose the baskets that lose an item; returns them and the cost of that.

    First come those where the removal weakens the most other sensitive rules for its cost; then short baskets, as in
    the paper, because they hold fewer sets; then the order of the index: by public items, and equal baskets at random.

    `others`: rules with the item on their right side.
    """
    assert plan.protected is not None
    weights = plan.protected.weights(index, item, rows, count)
    helped = np.zeros(len(rows))
    for rule in open_rules(index, others, plan.border):
        helped += index.holding(rule.items)[rows]
    cost = (weights + 1e-3) / (1 + helped)
    order = np.lexsort((np.arange(len(rows)), index.baskets.lengths[rows], cost))[:count]
    return rows[order], float(cost[order].sum())


def _add_left(index: ItemIndex, rule: Rule, plan: Plan) -> bool:
    """Add the left side to baskets without the right side, first where the fewest items are missing.

    Returns whether there are enough such baskets; otherwise nothing is changed.
    """
    both, left = index.supports(rule)
    count = plan.border.left_additions(both, left)
    free = ~index.holding(rule.consequent) & ~index.holding(rule.antecedent)
    rows = np.flatnonzero(free)
    if count > len(rows):
        return False
    missing = np.zeros(len(rows), dtype=np.int64)
    for item in rule.antecedent:
        missing += ~index.column(item)[rows]
    keys = (
        plan.random.permutation(len(rows)) if plan.random is not None else np.arange(len(rows)),
        index.baskets.lengths[rows],
        missing,
    )
    chosen = rows[np.lexsort(keys)[:count]]
    for item in rule.antecedent:
        index.column(item)[chosen] = True
    return True
