"""Distributions, correlations and counts row by row and value by value; `places` says what a cell stands for."""

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from itertools import product
from math import log, sqrt

Row = Mapping[str, str]
Candidates = Callable[[str, str], Sequence[str]]
"""The values that a cell of a column may stand for."""


def shares(
    released: Sequence[Row],
    columns: Sequence[str],
    domains: Mapping[str, Sequence[str]],
    candidates: Candidates,
    absent: int,
) -> dict[tuple[str, ...], float]:
    """Expected rows of each combination of values of some columns."""
    found: dict[tuple[str, ...], float] = defaultdict(float)
    rows = [[candidates(name, row[name]) for name in columns] for row in released]
    rows += [[domains[name] for name in columns]] * absent
    for cells in rows:
        combinations = list(product(*cells))
        for one in combinations:
            found[one] += 1 / len(combinations)
    return found


def distances(truth: Mapping[object, float], expected: Mapping[object, float]) -> tuple[float, float]:
    """Kullback-Leibler divergence and Hellinger distance."""
    total, other = sum(truth.values()), sum(expected.values())
    kl = sum(
        count / total * log((count / total) / (expected[value] / other))
        for value, count in truth.items()
        if count
    )
    overlap = sum(
        sqrt(truth.get(value, 0) / total * expected.get(value, 0) / other) for value in {*truth, *expected}
    )
    return kl, sqrt(max(1 - overlap, 0))


def cramer(table: Mapping[tuple[str, str], float], sizes: tuple[int, int]) -> float:
    """Cramér's V."""
    total = sum(table.values())
    left, right = defaultdict(float), defaultdict(float)
    for (one, other), count in table.items():
        left[one] += count
        right[other] += count
    squares = 0.0
    for one, other in product(left, right):
        free = left[one] * right[other] / total
        if free:
            squares += (table.get((one, other), 0.0) - free) ** 2 / free
    return sqrt(squares / total / (min(sizes) - 1))


def pearson(pairs: Sequence[tuple[float, float]]) -> float:
    """Pearson's correlation."""
    ones, others = [one for one, _ in pairs], [other for _, other in pairs]
    middle, center = sum(ones) / len(ones), sum(others) / len(others)
    both = sum((one - middle) * (other - center) for one, other in pairs)
    return both / sqrt(sum((one - middle) ** 2 for one in ones) * sum((one - center) ** 2 for one in others))


def count(released: Sequence[Row], question: Mapping[str, Sequence[str]], candidates: Candidates) -> float:
    """The rows that a query counts, each with the share of its cells' values that the query asks for."""
    total = 0.0
    for row in released:
        weight = 1.0
        for name, wanted in question.items():
            values = candidates(name, row[name])
            weight *= sum(value in wanted for value in values) / len(values)
        total += weight
    return total
