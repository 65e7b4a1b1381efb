"""(k,k^m)-anonymity of rows with items, from its definition, in plain Python."""

from collections.abc import Iterable, Sequence
from itertools import combinations

Row = tuple[tuple[str, ...], frozenset[str]]
"""The quasi-identifiers of a person, and her items."""


def fitting(rows: Sequence[Row], cells: tuple[str, ...], items: Iterable[str]) -> list[Row]:
    """The rows with all those cells and those items."""
    return [row for row in rows if row[0] == cells and row[1] >= set(items)]


def known_sets(row: Row, m: int, public: frozenset[str]) -> list[tuple[str, ...]]:
    """What an adversary may know of the items of a row: none up to m of them."""
    return [known for size in range(m + 1) for known in combinations(sorted(row[1] & public), size)]


def is_k_km_anonymous(
    rows: Sequence[Row], k: int, m: int, hidden: Iterable[str] = (), secrets: Iterable[str] = (), h: float = 1
) -> bool:
    """Whether who knows the cells and up to m items of anybody finds k rows, and no secret in too many of them."""
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
    """The fewest rows that anybody is found in by her cells and up to m items."""
    public = frozenset(item for row in rows for item in row[1])
    return min(len(fitting(rows, row[0], known)) for row in rows for known in known_sets(row, m, public))
