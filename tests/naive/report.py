"""The naive twin of what the report counts, value by value and row by row."""

import re
from collections import Counter
from collections.abc import Sequence, Set
from itertools import combinations


def spread(values: Sequence[str], cells: Sequence[str]) -> list[float]:
    """The rows that a reader expects for each value of an ordered list, from published cells."""
    expected = [0.0] * len(values)
    for cell in cells:
        stands_for = places(values, cell)
        for place in stands_for:
            expected[place] += 1 / len(stands_for)
    return expected


def places(values: Sequence[str], cell: str) -> list[int]:
    """The indices of the values that a cell stands for."""
    if cell == "*":
        return list(range(len(values)))
    if found := re.fullmatch(r"\[(.*),(.*)\]", cell):
        return list(range(values.index(found[1]), values.index(found[2]) + 1))
    if cell.startswith("{"):
        return [values.index(member) for member in cell[1:-1].split("|")]
    return [values.index(cell)]


def sensitive(classes: Sequence[str], values: Sequence[str]) -> tuple[int, int, int, float]:
    """Classes with a single value, the rows in them, the fewest values of a class, the largest share of a value."""
    held: dict[str, list[str]] = {}
    for one, value in zip(classes, values, strict=True):
        held.setdefault(one, []).append(value)
    certain = [rows for rows in held.values() if len(set(rows)) == 1]
    return (
        len(certain),
        sum(map(len, certain)),
        min(len(set(rows)) for rows in held.values()),
        max(max(Counter(rows).values()) / len(rows) for rows in held.values()),
    )


def surest_guess(baskets: Sequence[Set[str]], public: Set[str], secrets: Set[str], known: int) -> float:
    """The largest share of baskets with the same known public items that hold one sensitive item."""
    best = 0.0
    for size in range(known + 1):
        for items in combinations(sorted(public), size):
            held = [basket for basket in baskets if set(items) <= basket]
            for secret in secrets if held else ():
                best = max(best, sum(secret in basket for basket in held) / len(held))
    return best
