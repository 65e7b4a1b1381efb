"""Hierarchies as a dictionary from leaf to the list of texts above it, one leaf at a time."""

from collections.abc import Sequence
from itertools import pairwise

Paths = dict[str, tuple[str, ...]]


def shared_depth(paths: Paths, one: str, two: str) -> int:
    """How many nodes below the root two leaves share: the depth of their lowest common node."""
    depth = 0
    for a, b in list(zip(reversed(paths[one]), reversed(paths[two]), strict=True))[1:]:
        if a != b:
            break
        depth += 1
    return depth


def boundary_depths(paths: Paths, order: Sequence[str]) -> list[int]:
    return [shared_depth(paths, one, two) for one, two in pairwise(order)]


def common_level(paths: Paths, leaves: Sequence[str]) -> int:
    """The lowest level on which all leaves have the same text."""
    return min(
        level for level in range(len(paths[leaves[0]])) if len({paths[leaf][level] for leaf in leaves}) == 1
    )


def stands_together(paths: Paths, order: Sequence[str]) -> bool:
    """Whether the leaves below every node are consecutive, with no other leaf between them."""
    height = len(paths[order[0]])
    for level in range(height):
        texts = [paths[leaf][level] for leaf in order]
        changes = sum(a != b for a, b in pairwise(texts))
        if changes != len(set(texts)) - 1:
            return False
    return True


def nests(rows: Sequence[Sequence[str]]) -> bool:
    """Whether leaves that agree on a level agree on all higher ones."""
    return all(
        one[higher] == two[higher]
        for one in rows
        for two in rows
        for level in range(len(one))
        if one[level] == two[level]
        for higher in range(level, len(one))
    )


def ambiguous(rows: Sequence[Sequence[str]]) -> set[str]:
    """Texts below the root that stand for different sets of leaves on different levels."""
    meanings: dict[str, set[frozenset[str]]] = {}
    for level in range(len(rows[0]) - 1):
        for text in {row[level] for row in rows}:
            meaning = frozenset(row[0] for row in rows if row[level] == text)
            meanings.setdefault(text, set()).add(meaning)
    return {text for text, sets in meanings.items() if len(sets) > 1}


def apart(rows: Sequence[Sequence[str]]) -> list[list[str]]:
    """Rows in which a node that has the name of one of its leaves, but stands for others too, is renamed."""
    made = [list(row) for row in rows]
    for leaf in [row[0] for row in rows]:
        spots = [
            {place for place, row in enumerate(rows) if row[level] == leaf}
            for level in range(1, len(rows[0]))
        ]
        larger = [level for level, spot in enumerate(spots, 1) if len(spot) > 1]
        if leaf in ambiguous(rows) and all(
            any(rows[at][0] == leaf for at in spots[one - 1]) for one in larger
        ):
            for level in larger:
                for place in spots[level - 1]:
                    made[place][level] = f"{leaf} (group)"
    return made
