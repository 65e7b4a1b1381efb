"""Baskets as lists of sets: their re-identification risk, written from the definitions."""

from collections.abc import Sequence
from itertools import combinations


def canonical_order(rows: Sequence[Sequence[int]]) -> list[int]:
    return sorted(range(len(rows)), key=lambda row: list(rows[row]))


def ragged_ranks(rows: Sequence[Sequence[int]]) -> list[int]:
    return [sum(list(other) < list(row) for other in rows) for row in rows]


def known_items(baskets: Sequence[set[str]], known: int) -> tuple[int, float, float]:
    """Baskets with enough items, the share of unique ones and the mean probability, over all choices of known items."""
    uniques, probabilities = [], []
    for basket in baskets:
        choices = [set(choice) for choice in combinations(sorted(basket), known)]
        if not choices:
            continue
        holders = [sum(choice <= other for other in baskets) for choice in choices]
        uniques.append(sum(count == 1 for count in holders) / len(choices))
        probabilities.append(sum(1 / count for count in holders) / len(choices))
    count = len(uniques)
    return count, sum(uniques) / count if count else 0.0, sum(probabilities) / count if count else 0.0
