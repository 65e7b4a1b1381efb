"""Hide one rule after the other (algorithms 1.a and 1.b of Verykios et al. 2004; DSR and ISL)."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np

from shoal.arrays import Rows
from shoal.methods.basket_rule_hiding._item_index import Border, ItemIndex, Rule, open_rules
from shoal.methods.basket_rule_hiding._victims import Protected

Strategy = Literal["dsr", "dsl", "isl", "exact", "random"]

SHARED = 200
"""Other rules that are looked at for whether they weaken too."""


@dataclass(frozen=True, slots=True, eq=False)
class Plan:
    """What a greedy strategy needs to know."""

    border: Border  # where rules are found
    protected: Protected | None  # sets that had better stay frequent
    random: np.random.Generator | None  # for victims by chance; None for victims by their weight


def hide(index: ItemIndex, rules: list[Rule], plan: Plan, strategy: Strategy) -> int:
    """Hide all rules, the one that needs most first; how many rules the strategy could not hide its own way."""
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
    """Take an item of one side out of as many baskets as it needs."""
    both, left = index.supports(rule)
    count = removals(both, left)
    rows = np.flatnonzero(index.holding(rule.items))
    if plan.random is not None:
        item = side[int(plan.random.integers(len(side)))]
        index.column(item)[plan.random.permutation(rows)[:count]] = False
        return
    best: tuple[float, int, Rows] | None = None
    for item in side:
        # One more than are looked at, for the rule itself may be among them.
        others = [other for other in weakened.get(item, [])[: SHARED + 1] if other != rule][:SHARED]
        chosen, cost = _victims(index, item, rows, count, others, plan)
        if best is None or (cost, item) < best[:2]:
            best = cost, item, chosen
    assert best is not None
    index.column(best[1])[best[2]] = False


def _victims(
    index: ItemIndex, item: int, rows: Rows, count: int, others: list[Rule], plan: Plan
) -> tuple[Rows, float]:
    """The baskets that lose an item, and how much they are missed.

    First those whose loss weakens most other sensitive rules for what it costs; then short baskets, as in the paper,
    for they hold fewer sets; then the order of the public items, and of equal ones by chance.

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
    """Put the left side into baskets without the right one, those first that miss least of it; whether it suffices."""
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
