"""Frequent itemsets and rules, found by trying every one."""

from collections.abc import Iterable
from fractions import Fraction
from itertools import chain, combinations

Sets = dict[tuple[str, ...], int]
Rule = tuple[tuple[str, ...], tuple[str, ...]]


def parts(items: Iterable[str]) -> Iterable[tuple[str, ...]]:
    """Every subset that is not empty."""
    ordered = sorted(items)
    return chain.from_iterable(combinations(ordered, size) for size in range(1, len(ordered) + 1))


def frequent_itemsets(baskets: list[set[str]], least: int, size: int | None = None) -> Sets:
    counts: Sets = {}
    for basket in baskets:
        for part in parts(basket):
            if size is None or len(part) <= size:
                counts[part] = counts.get(part, 0) + 1
    return {part: count for part, count in counts.items() if count >= least}


def top_itemsets(baskets: list[set[str]], count: int, size: int | None = None) -> list[tuple[str, ...]]:
    found = frequent_itemsets(baskets, 1, size)
    return sorted(found, key=lambda part: (-found[part], len(part), part))[:count]


def association_rules(
    sets: Sets, confidence: Fraction, consequent: int | None = None
) -> dict[Rule, Fraction]:
    rules = {}
    for whole, support in sets.items():
        for before in parts(whole):
            after = tuple(item for item in whole if item not in before)
            if not after or (consequent is not None and len(after) > consequent):
                continue
            share = Fraction(support, sets[before])
            if share >= confidence:
                rules[before, after] = share
    return rules
