"""k^m-anonymity and cuts of a hierarchy by trying everything."""

from collections import Counter
from collections.abc import Iterable
from itertools import combinations, product

Paths = dict[str, list[str]]
"""Each item with the nodes above it, from the bottom up; all paths have the same length."""


def broken(baskets: Iterable[Iterable[str]], k: int, m: int) -> set[tuple[str, ...]]:
    """The combinations of up to m items that some, but fewer than k, baskets hold."""
    counts: Counter[tuple[str, ...]] = Counter()
    for basket in baskets:
        for size in range(1, m + 1):
            counts.update(combinations(sorted(basket), size))
    return {items for items, count in counts.items() if count < k}


def cuts(paths: Paths) -> list[dict[str, str]]:
    """Every choice of a node for each item in which all items under a chosen node have chosen it."""
    found = []
    for levels in product(*(range(len(path)) for path in paths.values())):
        chosen = {item: paths[item][level] for item, level in zip(paths, levels, strict=True)}
        if all(chosen[other] == node for node in chosen.values() for other in paths if node in paths[other]):
            found.append(chosen)
    return found


def penalty(baskets: list[set[str]], chosen: dict[str, str], leaves: dict[str, int]) -> float:
    """The mean share of all leaves that a published occurrence stands for; 0 for an item published as it is."""
    shares = [0 if chosen[i] == i else leaves[chosen[i]] / len(chosen) for basket in baskets for i in basket]
    return sum(shares) / len(shares) if shares else 0.0


def least_penalty(baskets: list[set[str]], paths: Paths, k: int, m: int) -> float | None:
    """The cheapest cut that keeps the promise; None where there is none."""
    leaves = Counter(node for path in paths.values() for node in dict.fromkeys(path))
    costs = [
        penalty(baskets, chosen, leaves)
        for chosen in cuts(paths)
        if not broken([{chosen[item] for item in basket} for basket in baskets], k, m)
    ]
    return min(costs, default=None)
