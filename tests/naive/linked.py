"""Linked tables: their canonical order, and the steps of bucketization."""

from collections import defaultdict
from collections.abc import Sequence

Row = tuple[str, ...]


def canonical(
    rows: Sequence[tuple[Row, str]], secrets: Sequence[tuple[str, Row]]
) -> tuple[list[tuple[Row, str]], list[tuple[str, Row]]]:
    """Public rows with their group, and groups with their secrets, numbered and sorted as they must be published."""
    members: dict[str, list[Row]] = defaultdict(list)
    held: dict[str, list[Row]] = defaultdict(list)
    for cells, group in rows:
        members[group].append(cells)
    for group, values in secrets:
        held[group].append(values)
    order = sorted(members, key=lambda group: (sorted(members[group]), sorted(held[group])))
    number = {group: place + 1 for place, group in enumerate(order)}
    public = sorted((cells, number[group]) for cells, group in rows)
    private = sorted((number[group], values) for group, values in secrets)
    return [(cells, str(group)) for cells, group in public], [
        (str(group), values) for group, values in private
    ]


def steps_are_largest(counts: Sequence[int], groups: Sequence[Sequence[int]]) -> bool:
    """Whether each group took one row of each of the values with most rows left, as long as that was possible."""
    left = list(counts)
    for group in groups:
        taken = [left[value] for value in group]
        rest = [count for value, count in enumerate(left) if value not in group]
        if len(set(group)) != len(group) or min(taken) < 1 or min(taken) < max(rest, default=0):
            return False
        for value in group:
            left[value] -= 1
    size = len(groups[0]) if groups else len(counts) + 1
    return sum(count > 0 for count in left) < size


def least_error(numbers: Sequence[float], weights: Sequence[int], k: int, e: float) -> float | None:
    """The smallest sum of the widths of the rows' runs, over all ways to cut; None where there is no way."""
    best: float | None = None
    for cuts in range(2 ** (len(numbers) - 1)):
        runs, begin = [], 0
        for place in range(1, len(numbers)):
            if cuts >> (place - 1) & 1:
                runs.append((begin, place))
                begin = place
        runs.append((begin, len(numbers)))
        if all(end - start >= k and numbers[end - 1] - numbers[start] >= e for start, end in runs):
            cost = sum(sum(weights[a:b]) * (numbers[b - 1] - numbers[a]) for a, b in runs)
            best = cost if best is None else min(best, cost)
    return best
