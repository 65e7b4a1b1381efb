"""Clusters of like baskets on lists of sets, written from the definitions and slow."""

from collections import Counter
from collections.abc import Sequence
from math import sqrt

Items = frozenset[int]


def likeness(rows: Sequence[Items], worth: Sequence[int], cluster: Sequence[int]) -> int:
    """The sum, over all items, of the squared total of their weights in a cluster."""
    sums: Counter[int] = Counter()
    for row in cluster:
        for item in rows[row]:
            sums[item] += worth[row]
    return sum(value * value for value in sums.values())


def total(rows: Sequence[Items], worth: Sequence[int], clusters: Sequence[Sequence[int]]) -> int:
    return sum(likeness(rows, worth, cluster) for cluster in clusters)


def sizes(count: int, clusters: int) -> list[int]:
    return [(number + 1) * count // clusters - number * count // clusters for number in range(clusters)]


def gather(
    orders: Sequence[Sequence[int]], rows: Sequence[Items], worth: Sequence[int], clusters: int, window: int
) -> list[list[int]]:
    """Clusters: each takes the next free row of the first order, and rows near it that are most like those taken."""
    free = set(range(len(rows)))
    made = []
    for size in sizes(len(rows), clusters):
        seed = next(row for row in orders[0] if row in free)
        near: list[int] = []
        for table, order in enumerate(orders):
            left = [row for row in order if row in free]
            at = left.index(seed)
            after, before = left[at + 1 :], left[:at][::-1]
            for step in range(size - 1 if table == 0 else window):
                near += [side[step] for side in (after, before) if step < len(side)]
        near = list(dict.fromkeys(near))
        cluster = [seed]
        while len(cluster) < size:

            def alike(row: int, cluster: list[int] = cluster) -> int:
                return sum(len(rows[row] & rows[one]) * worth[row] * worth[one] for one in cluster)

            best = max(near, key=alike)
            near.remove(best)
            cluster.append(best)
        free -= set(cluster)
        made.append(cluster)
    return made


def better_swap(
    rows: Sequence[Items], worth: Sequence[int], one: Sequence[int], other: Sequence[int]
) -> bool:
    """Whether two rows of two clusters can change places so that the two clusters together become more alike."""
    now = total(rows, worth, (one, other))
    return any(
        total(
            rows,
            worth,
            ([*(row for row in one if row != left), right], [*(row for row in other if row != right), left]),
        )
        > now
        for left in one
        for right in other
    )


def cosine(one: Counter[int], other: Counter[int]) -> float:
    """The cosine without the length of the first vector; a cluster is taken as slightly longer, in case it is empty."""
    return sum(count * other[item] for item, count in one.items()) / sqrt(
        1 + sum(c * c for c in other.values())
    )


def breaks(cluster: Sequence[set[int]], p: int) -> bool:
    counts = Counter(secret for row in cluster for secret in row)
    return any(count * p > len(cluster) for count in counts.values())
