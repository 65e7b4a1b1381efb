"""Risk before publishing, counted from the definitions."""

from collections import Counter
from collections.abc import Sequence
from itertools import combinations
from math import prod

Row = tuple[str, ...]


def unique_share(rows: Sequence[Row], places: Sequence[int]) -> float:
    """The share of rows whose cells in these columns no other row has."""
    keys = [tuple(row[place] for place in places) for row in rows]
    counts = Counter(keys)
    return sum(counts[key] == 1 for key in keys) / len(rows)


def minimal_combinations(rows: Sequence[Row], wanted: float, largest: int) -> set[tuple[int, ...]]:
    """All minimal sets of columns that single out enough rows."""
    width = len(rows[0])
    enough = {
        places
        for size in range(width + 1)
        for places in combinations(range(width), size)
        if unique_share(rows, places) >= wanted - 1e-12
    }
    return {
        places
        for places in enough
        if len(places) <= largest and not any(set(other) < set(places) for other in enough)
    }


def minimal_sample_uniques(rows: Sequence[Row], size: int) -> list[set[tuple[int, ...]]]:
    """For each row, the minimal sets of columns in which no other row has the same cells."""
    found: list[set[tuple[int, ...]]] = []
    for row in rows:
        alone = {
            places
            for level in range(1, size + 1)
            for places in combinations(range(len(row)), level)
            if sum(all(other[place] == row[place] for place in places) for other in rows) == 1
        }
        found.append({places for places in alone if not any(set(other) < set(places) for other in alone)})
    return found


def special_score(sets: set[tuple[int, ...]], columns: int, size: int) -> int:
    """The score of a row: the sum of a product for each minimal sample unique."""
    most = min(size, columns - 1)
    return sum(prod(columns - level for level in range(len(places), most + 1)) for places in sets)


def linkage(
    sample: Sequence[Row], population: Sequence[Row], threshold: float
) -> dict[str, tuple[float, ...]]:
    """Highest, mean and share above the threshold for prosecutor and journalist, and the mean for the marketer."""
    inside, around = Counter(sample), Counter(population)
    mine = [1 / inside[row] for row in sample]
    theirs = [1 / around[row] for row in sample]
    first = len(inside) / sum(around[row] for row in inside)
    second = sum(inside[row] / around[row] for row in inside) / len(sample)
    return {
        "prosecutor": (
            max(mine),
            sum(mine) / len(sample),
            sum(risk > threshold for risk in mine) / len(sample),
        ),
        "journalist": (
            max(theirs),
            max(first, second),
            sum(risk > threshold for risk in theirs) / len(sample),
        ),
        "marketer": (second,),
    }


def known_items(baskets: Sequence[frozenset[str]], known: int) -> tuple[float, float]:
    """The share of unique ones and the mean chance, over all baskets and all choices of known items."""
    unique, chance, able = 0.0, 0.0, 0
    for basket in baskets:
        choices = [frozenset(choice) for choice in combinations(sorted(basket), known)]
        if not choices:
            continue
        able += 1
        held = [sum(choice <= other for other in baskets) for choice in choices]
        unique += sum(count == 1 for count in held) / len(choices)
        chance += sum(1 / count for count in held) / len(choices)
    return (unique / able, chance / able) if able else (0.0, 0.0)
