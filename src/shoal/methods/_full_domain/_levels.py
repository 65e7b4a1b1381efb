"""The lattice of levels: every way to generalize each column to one level of its hierarchy, with the texts."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import prod
from typing import TypeAlias

import numpy as np

from shoal.arrays import Codes, Rows
from shoal.data.table import Column
from shoal.errors import UnknownName, WrongUse

Levels: TypeAlias = tuple[int, ...]
"""A vector of the lattice: the level of each quasi-identifier, in the order of the table."""


@dataclass(frozen=True, slots=True, eq=False)
class Lattice:
    """All vectors of levels between the finest and the coarsest that are allowed."""

    names: tuple[str, ...]  # the quasi-identifiers
    nodes: tuple[tuple[Codes, ...], ...]
    """For each column and level, the node of the hierarchy that each code of the column's domain falls under."""
    sizes: tuple[tuple[int, ...], ...]  # for each column and level, the number of nodes
    highest: Levels  # the coarsest level that each column may reach
    finest: Levels  # the finest level that each column is published on; levels below are treated as this one

    @property
    def height(self) -> int:
        """The height of the coarsest vector: the sum of its levels."""
        return sum(self.highest)

    def __len__(self) -> int:
        return box_size(self.finest, self.highest)

    def at_height(self, height: int) -> Iterator[Levels]:
        """The vectors whose levels add up to a height, in ascending order."""
        room = [0]
        for most in reversed(self.highest):
            room.append(room[-1] + most)
        room.reverse()

        def below(place: int, left: int) -> Iterator[Levels]:
            if place == len(self.highest):
                yield ()
                return
            for level in range(
                max(self.finest[place], left - room[place + 1]), min(self.highest[place], left) + 1
            ):
                for rest in below(place + 1, left - level):
                    yield (level, *rest)

        if 0 <= height <= self.height:
            yield from below(0, height)

    def named(self, levels: Levels) -> dict[str, int]:
        """A vector as plain data: the level of each column by its name."""
        return dict(zip(self.names, map(max, levels, self.finest), strict=True))

    def words(self, levels: Levels) -> str:
        """A vector in words: ``age 1, sex 0``."""
        return ", ".join(f"{name} {level}" for name, level in self.named(levels).items())


def box_size(low: Levels, high: Levels) -> int:
    """How many vectors lie between two vectors, both inclusive."""
    return prod(last - first + 1 for first, last in zip(low, high, strict=True))


def lattice_of(
    columns: tuple[Column, ...],
    max_level: Mapping[str, int],
    raw: tuple[str, ...],
    min_level: Mapping[str, int] | None = None,
) -> Lattice:
    """The lattice of a table's quasi-identifiers.

    `max_level`: the coarsest level of columns that must not be generalized further. `raw`: columns that must stay as
    they are. `min_level`: the finest level of columns that are always generalized. Raises `WrongUse` if a column has no
    hierarchy, or one of these parameters names a column or a level that does not exist.
    """
    names = tuple(column.name for column in columns)
    least = min_level or {}
    for name in (*max_level, *raw, *least):
        if name not in names:
            raise UnknownName("quasi-identifier", name, names)
    if bare := [column.name for column in columns if column.hierarchy is None]:
        several = len(bare) > 1
        raise WrongUse(
            f"The column{'s' * several} {', '.join(map(repr, bare))} {'have' if several else 'has'} no hierarchy to "
            f"generalize along; give {'each' if several else 'it'} one, for example --hierarchy {bare[0]}=suppress or "
            f"--hierarchy {bare[0]}=FILE.csv, or all with --hierarchies FOLDER (see `shoal hierarchy`)."
        )
    nodes, sizes, highest, finest = [], [], [], []
    for column in columns:
        hierarchy = column.hierarchy
        assert hierarchy is not None
        most = 0 if column.name in raw else max_level.get(column.name, hierarchy.height)
        if not 0 <= most <= hierarchy.height:
            raise WrongUse(
                f"max_level of {column.name!r} must be a level from 0 to {hierarchy.height}, not {most}."
            )
        first = least.get(column.name, 0)
        if not 0 <= first <= most:
            raise WrongUse(
                f"min_level of {column.name!r} must be a level from 0 to {most}, the coarsest allowed, not {first}."
            )
        leaves = hierarchy.leaf_of(column.domain)
        levels = [max(level, first) for level in range(hierarchy.height + 1)]
        nodes.append(tuple(hierarchy.nodes_at(level)[leaves] for level in levels))
        sizes.append(tuple(len(hierarchy.labels[level]) for level in levels))
        highest.append(most)
        finest.append(first)
    return Lattice(names, tuple(nodes), tuple(sizes), tuple(highest), tuple(finest))


@dataclass(frozen=True, slots=True, eq=False)
class Texts:
    """Every text that a column can be published with.

    Several nodes may have the same text, since a short branch of a hierarchy repeats its node on several levels. What
    is published, counted and measured is the text.
    """

    labels: tuple[str, ...]  # the texts
    places: Rows  # the number of the text of each code of the domain (columns) on each level (rows)


def texts_of(column: Column, finest: int = 0) -> Texts:
    """The texts of a column's hierarchy; levels below the finest allowed one get the texts of that one."""
    assert column.hierarchy is not None
    numbers: dict[str, int] = {}
    leaves = column.hierarchy.leaf_of(column.domain)
    places = np.empty((len(column.hierarchy.labels), len(leaves)), dtype=np.int64)
    for level, labels in enumerate(column.hierarchy.labels):
        here = np.array([numbers.setdefault(label, len(numbers)) for label in labels], dtype=np.int64)
        places[level] = here[column.hierarchy.nodes_at(level)[leaves]]
    places[:finest] = places[finest]
    return Texts(tuple(numbers), places)
