"""What two sets of baskets have in common, set by set and basket by basket."""

from collections.abc import Iterable, Sequence
from itertools import combinations

Basket = frozenset[str]


def frequent(baskets: Sequence[Basket], least: int, size: int) -> dict[Basket, int]:
    """Every frequent itemset."""
    items = sorted({item for basket in baskets for item in basket})
    found = {}
    for count in range(1, size + 1):
        for one in combinations(items, count):
            support = sum(set(one) <= basket for basket in baskets)
            if support >= least:
                found[frozenset(one)] = support
    return found


def rules(found: dict[Basket, int], confidence: float) -> set[tuple[Basket, str]]:
    """Rules with one item on the right side."""
    return {
        (whole - {item}, item)
        for whole, support in found.items()
        for item in whole
        if len(whole) > 1 and support >= confidence * found[whole - {item}] - 1e-12
    }


def shares(before: Iterable[object], after: Iterable[object]) -> tuple[float, float, float]:
    """Precision, recall and Jaccard."""
    one, other = set(before), set(after)
    both = len(one & other)
    return (both / len(other) if other else 0.0), both / len(one), both / len(one | other)


def pair_error(
    pairs: Sequence[tuple[str, str]], before: Sequence[Basket], expected: Sequence[float]
) -> float:
    """The mean relative error of supports."""
    total = 0.0
    for (one, other), sp in zip(pairs, expected, strict=True):
        so = sum(one in basket and other in basket for basket in before)
        total += abs(so - sp) / ((so + sp) / 2)
    return total / len(pairs)
