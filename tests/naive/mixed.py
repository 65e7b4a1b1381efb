"""(k,k^m)-anonymity of rows with items, from its definition, in plain Python."""

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import combinations
from typing import Any

from tests.naive.disassociation import items_below, keeps, leaves_of

Row = tuple[tuple[str, ...], frozenset[str]]
"""A person: her quasi-identifiers, and her items."""


def fitting(rows: Sequence[Row], cells: tuple[str, ...], items: Iterable[str]) -> list[Row]:
    """The rows with all those cells and those items."""
    return [row for row in rows if row[0] == cells and row[1] >= set(items)]


def known_sets(row: Row, m: int, public: frozenset[str]) -> list[tuple[str, ...]]:
    """What an adversary may know of the items of a row: any 0 to m of them."""
    return [known for size in range(m + 1) for known in combinations(sorted(row[1] & public), size)]


def is_k_km_anonymous(
    rows: Sequence[Row], k: int, m: int, hidden: Iterable[str] = (), secrets: Iterable[str] = (), h: float = 1
) -> bool:
    """Whether someone who knows a person's cells and up to m items finds k rows, and no secret in too many of them."""
    public = frozenset(item for row in rows for item in row[1]) - {*hidden, *secrets}
    for row in rows:
        for known in known_sets(row, m, public):
            found = fitting(rows, row[0], known)
            if len(found) < k:
                return False
            if any(sum(secret in one[1] for one in found) > h * len(found) for secret in secrets):
                return False
    return True


def least_rows(rows: Sequence[Row], m: int) -> int:
    """The fewest rows that match any person's cells and up to m items."""
    public = frozenset(item for row in rows for item in row[1])
    return min(len(fitting(rows, row[0], known)) for row in rows for known in known_sets(row, m, public))


def is_disassociated(
    rows: Sequence[dict[str, str]],
    lines: Sequence[Any],
    quasi: Sequence[str],
    k: int,
    m: int,
    secrets: Iterable[str],
) -> bool:
    """Whether the clusters of each class keep the promise of disassociation, with one basket per row of the class."""
    classes = Counter(tuple(row[name] for name in quasi) for row in rows)
    baskets: Counter[tuple[str, ...]] = Counter()
    for line in lines:
        cells = tuple(line["class"][name] for name in quasi)
        baskets[cells] += sum(leaf["size"] for leaf in leaves_of(line["cluster"]))
        if items_below(line["cluster"]) & set(secrets) or not keeps(line["cluster"], k, m):
            return False
    return baskets == classes and min(classes.values()) >= k


def in_order(lines: Sequence[Any], quasi: Sequence[str]) -> bool:
    """Whether lines ascend by the cells of their class, and within a class by their content.

    A simple cluster comes before a joint one; nested lists are compared item by item, and a prefix comes first.
    """
    keys = [(tuple(line["class"][name] for name in quasi), _key(line["cluster"])) for line in lines]
    return keys == sorted(keys)


def _key(cluster: Any) -> Any:
    if "joint" in cluster:
        height = _height(cluster)
        return height, [_key(part) for part in cluster["joint"]], cluster["shared"]
    return 0, cluster["chunks"], cluster["terms"], cluster["size"]


def _height(cluster: Any) -> int:
    return 1 + max(map(_height, cluster["joint"])) if "joint" in cluster else 0


def join_classes(
    persons: Sequence[dict[str, str]], records: Sequence[dict[str, str]], key: str, quasi: Iterable[str]
) -> dict[Any, list[dict[str, str]]]:
    """Persons, grouped by everything that may be known of them: their cells and the cells of all their records."""
    names = set(quasi)
    found: dict[Any, list[dict[str, str]]] = {}
    for person in persons:
        own = [record for record in records if record[key] == person[key]]
        known = sorted(tuple(cell for name, cell in record.items() if name in names) for record in own)
        cells = tuple(cell for name, cell in person.items() if name in names)
        found.setdefault((cells, tuple(known)), []).append(person)
    return found


def related_in_order(persons: Sequence[dict[str, str]], records: Sequence[dict[str, str]], key: str) -> bool:
    """Whether persons ascend by their cells and then their records, are numbered so, and records ascend by person."""
    lists = [
        (
            [cell for name, cell in person.items() if name != key],
            sorted(
                [cell for name, cell in one.items() if name != key]
                for one in records
                if one[key] == person[key]
            ),
        )
        for person in persons
    ]
    lines = [(int(one[key]), [cell for name, cell in one.items() if name != key]) for one in records]
    numbers = [int(person[key]) for person in persons]
    return lists == sorted(lists) and lines == sorted(lines) and numbers == list(range(1, len(persons) + 1))
