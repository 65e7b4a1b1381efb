"""A picture of a small lattice of generalization levels: the solutions found, and the one that is published."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from math import prod
from typing import Any, TypeGuard

from shoal.data.table import Table
from shoal.report import svg_charts as charts

NODES = 60
"""Most vectors of levels in a lattice that is drawn."""

ACROSS = 9
"""Most vectors of one height that fit side by side."""

STEP = 62
"""Pixels from one height to the next."""


@dataclass(frozen=True, slots=True)
class Lattice:
    """All vectors of levels, by height."""

    columns: tuple[str, ...]  # what the levels of a vector are of, in order
    ranks: tuple[tuple[tuple[int, ...], ...], ...]  # the vectors of each height, the most exact one first
    solutions: frozenset[tuple[int, ...]]
    """Those that keep the promises, as far as the search has listed them."""
    published: tuple[int, ...] | None
    """The one that is published; None where parts of the table have levels of their own."""


def lattice_of(original: Any, details: Mapping[str, Any], notes: Mapping[str, Any]) -> Lattice | None:
    """The lattice of a search; None where there is none, or it is too large to draw."""
    noted = [
        one["levels"]
        for one in notes.get("solutions", ())
        if isinstance(one, Mapping) and _is_vector(one.get("levels"))
    ]
    if not noted or not isinstance(original, Table):
        return None
    columns = tuple(map(str, noted[0]))
    trees = [original.column(name).hierarchy if name in original.names else None for name in columns]
    heights = [tree.height for tree in trees if tree is not None]
    if len(heights) < len(columns) or len(columns) < 2:
        return None
    if prod(height + 1 for height in heights) > NODES:
        return None
    vectors = list(product(*(range(height + 1) for height in heights)))
    ranks = tuple(tuple(one for one in vectors if sum(one) == height) for height in range(sum(heights) + 1))
    if max(map(len, ranks)) > ACROSS:
        return None
    return Lattice(
        columns, ranks, frozenset(_vector(one, columns) for one in noted), _published(details, columns)
    )


def _is_vector(levels: Any) -> TypeGuard[Mapping[str, int]]:
    """Whether levels are one vector for all rows, rather than levels of their own for parts of the rows."""
    return isinstance(levels, Mapping) and all(isinstance(level, int) for level in levels.values())


def _vector(levels: Mapping[str, Any], columns: Sequence[str]) -> tuple[int, ...]:
    return tuple(int(levels.get(name, 0)) for name in columns)


def _published(details: Mapping[str, Any], columns: Sequence[str]) -> tuple[int, ...] | None:
    levels = details.get("levels")
    return _vector(levels, columns) if _is_vector(levels) and not details.get("parts") else None


def drawn(lattice: Lattice, key: str = "lattice") -> str:
    """The picture: exact values at the bottom, all suppressed at the top, lines where one level is one step higher."""
    places = {
        vector: ((place + 0.5) / len(rank) * 100, 18 + STEP * (len(lattice.ranks) - 1 - height))
        for height, rank in enumerate(lattice.ranks)
        for place, vector in enumerate(rank)
    }
    lines = [
        charts.line(*places[vector], *places[above])
        for vector in places
        for place, level in enumerate(vector)
        if (above := (*vector[:place], level + 1, *vector[place + 1 :])) in places
    ]
    nodes = [charts.node(_name(vector), *place, _kind(lattice, vector)) for vector, place in places.items()]
    published = "" if lattice.published is None else f"Published: {_name(lattice.published)}. "
    words = (
        f"{len(places)} vectors of the levels of {', '.join(lattice.columns)}, by height. {published}Solutions that "
        f"the search listed: {', '.join(map(_name, sorted(lattice.solutions)))}."
    )
    return charts.drawing([*lines, *nodes], STEP * len(lattice.ranks), key, "The lattice of levels", words)


def _name(vector: Sequence[int]) -> str:
    return f"⟨{','.join(map(str, vector))}⟩"


def _kind(lattice: Lattice, vector: tuple[int, ...]) -> str:
    if vector == lattice.published:
        return "published"
    return "solution" if vector in lattice.solutions else "vector"
