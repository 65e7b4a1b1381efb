"""Association rules, and hiding them by trying everything."""

from collections.abc import Iterable
from fractions import Fraction
from itertools import combinations

Rule = tuple[tuple[str, ...], tuple[str, ...]]
Sets = list[frozenset[str]]


def support(baskets: Sets, items: Iterable[str]) -> int:
    wanted = set(items)
    return sum(wanted <= basket for basket in baskets)


def found(baskets: Sets, rule: Rule, least: Fraction, share: Fraction) -> bool:
    """Whether a miner finds a rule: enough baskets, and enough confidence."""
    both, left = support(baskets, rule[0] + rule[1]), support(baskets, rule[0])
    return both > 0 and both >= least and Fraction(both, left) >= share


def all_rules(baskets: Sets, antecedent: int, consequents: Iterable[str]) -> list[Rule]:
    items = sorted(set().union(*baskets))
    return [
        (before, (after,))
        for after in consequents
        for size in range(1, antecedent + 1)
        for before in combinations([item for item in items if item != after], size)
    ]


def fewest_removals(baskets: Sets, rules: list[Rule], least: Fraction, share: Fraction) -> int:
    """The fewest occurrences of the rules' items whose removal hides all rules; for very small inputs."""
    items = {item for rule in rules for side in rule for item in side}
    cells = [(row, item) for row, basket in enumerate(baskets) for item in sorted(basket & items)]
    for size in range(len(cells) + 1):
        for chosen in combinations(cells, size):
            left = [
                basket - {item for row, item in chosen if row == place}
                for place, basket in enumerate(baskets)
            ]
            if not any(found(left, rule, least, share) for rule in rules):
                return size
    raise AssertionError("without items there are no rules")
