"""An adversary of tables with items, who has the published files, some facts about a person, and nothing else.

She knows how each cell and each item may be published: the syntax of cells, and the hierarchies. She rules out what the
files rule out, and counts what is left.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any

from tests.soak.cells import Paths, covers

Cells = Mapping[str, str]


@dataclass
class Adversary:
    """What is public besides the files: which columns may be known, and how values and items are generalized."""

    quasi: Sequence[str]
    paths: Mapping[str, Paths] = field(default_factory=dict)
    nodes: Paths = field(default_factory=dict)

    def fit(self, person: Cells, row: Cells, names: Iterable[str]) -> bool:
        """Whether a published row may belong to the person with these cells."""
        return all(covers(row[name], person[name], self.paths.get(name)) for name in names)

    def classes(self, rows: Sequence[Cells]) -> dict[tuple[str, ...], list[int]]:
        """The rows whose published cells are equal."""
        found: dict[tuple[str, ...], list[int]] = {}
        for place, row in enumerate(rows):
            found.setdefault(tuple(row[name] for name in self.quasi), []).append(place)
        return found

    def found(
        self, person: Cells, known: Iterable[str], rows: Sequence[Cells], held: Sequence[frozenset[str]]
    ) -> list[int]:
        """The rows that may belong to a person with these cells and items.

        An item that a class shows for anybody, by its own name or that of a node above it, is shown for everybody in
        the class; an item that it shows for nobody was left out there.
        """
        fitting = []
        for members in self.classes(rows).values():
            if not self.fit(person, rows[members[0]], self.quasi):
                continue
            left = members
            for item in known:
                names = {item, *self.nodes.get(item, ())}
                showing = [place for place in members if names & held[place]]
                left = [place for place in left if place in showing] if showing else left
            fitting += left
        return fitting


def known_items(items: Iterable[str], m: int) -> Iterator[tuple[str, ...]]:
    """Every set of up to m items, including the empty one."""
    own = sorted(items)
    return (some for size in range(m + 1) for some in combinations(own, size))


def possible_holders(cluster: Any, known: frozenset[str], above: Sequence[Any] = ()) -> int:
    """The most baskets of one simple cluster that may hold all known items, in some original that fits the clusters.

    The known items of each chunk are together in as many baskets as the chunk shows, and these may be the same baskets
    for all chunks; those of a shared chunk may all be in one cluster below it; any basket may hold a term.
    """
    if "joint" in cluster:
        shared = [*above, *cluster["shared"]]
        return max(possible_holders(part, known, shared) for part in cluster["joint"])
    left, most = set(known - set(cluster["terms"])), int(cluster["size"])
    for chunk in (*cluster["chunks"], *above):
        part = known & frozenset(item for basket in chunk for item in basket)
        if part & left:
            left -= part
            most = min(most, sum(part <= set(basket) for basket in chunk))
    return 0 if left else most


def may_be_hers(shown: Sequence[Cells], own: Sequence[Cells], fit: Any) -> bool:
    """Whether each published record may be a different one of a person's records, of which some may be left out."""
    taken: dict[int, int] = {}

    def place(number: int, seen: set[int]) -> bool:
        for other, record in enumerate(own):
            if other in seen or not fit(record, shown[number]):
                continue
            seen.add(other)
            if other not in taken or place(taken[other], seen):
                taken[other] = number
                return True
        return False

    return len(shown) <= len(own) and all(place(number, set()) for number in range(len(shown)))
