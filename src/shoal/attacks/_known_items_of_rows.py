"""Rows of a table that fit all that is known of a person: her cells, and some of her items."""

from collections.abc import Callable, Collection
from typing import TypeAlias

import numpy as np

from shoal.arrays import Floats, Rows, flagged, indptr_by, owners, taken
from shoal.attacks._class_view import ClassView
from shoal.attacks._known_clusters import ClustersView
from shoal.data._item_sets import item_sets
from shoal.data.baskets import Baskets
from shoal.data.clustered_table import ClusteredTable
from shoal.data.published_syntax import telling_rows
from shoal.data.table import Table

Candidates: TypeAlias = Callable[[Rows, list[int]], float]
"""How many fit who is in one of some classes and holds some items."""


def chances(
    published: Table, people: Table, view: ClassView, known: int, hidden: Collection[str], seed: int
) -> Floats:
    """The chance to pick the row of each person, of whom all quasi-identifiers and some items are known.

    An item fits a row that holds it or a node above it. In a class none of whose rows holds either it was left out, and
    tells nothing of these rows.

    In clusters, a cluster of a class has as many candidates as its rarest part.

    `hidden`: items that nobody knows. `known`: how many are known; drawn among those of a person.
    """
    mine = people.items_column
    assert mine is not None
    sets = item_sets(mine)
    generator = np.random.default_rng(seed)
    asked = _in_clusters if isinstance(published, ClusteredTable) else _in_rows
    candidates = asked(published, view, sets, mine.hierarchy)  # type: ignore[arg-type]
    fits = view.fits
    open_items = np.array([item not in hidden for item in sets.vocabulary], dtype=np.bool_)
    found = np.zeros(people.rows)
    for person in range(people.rows):
        own = sets.items[sets.indptr[person] : sets.indptr[person + 1]]
        own = own[open_items[own]]
        drawn = generator.permutation(own)[:known].tolist()
        number = candidates(fits.columns[fits.indptr[person] : fits.indptr[person + 1]], drawn)
        found[person] = 1 / number if number else 0.0
    return found


def _in_rows(published: Table, view: ClassView, sets: Baskets, tree: object) -> Candidates:
    """How many rows of some classes hold something of each known item."""
    theirs = published.items_column
    assert theirs is not None
    shown = item_sets(theirs.take(np.flatnonzero(telling_rows(published))))
    assert len(shown) == len(view.classes.number)
    images = _images(sets, tree, shown)
    order = np.argsort(view.classes.number, kind="stable")
    starts = indptr_by(view.classes.number, len(view.classes))

    def candidates(classes: Rows, drawn: list[int]) -> float:
        return sum(
            _fitting(shown, order[starts[place] : starts[place + 1]], [images[item] for item in drawn])
            for place in classes.tolist()
        )

    return candidates


def _in_clusters(published: ClusteredTable, view: ClassView, sets: Baskets, tree: object) -> Candidates:
    """How many baskets of the clusters of some classes may hold all known items."""
    asked = ClustersView(published.clusters)
    class_of = view.classes.number[published.holders][published.lines]

    def candidates(classes: Rows, drawn: list[int]) -> float:
        return asked.candidates([sets.vocabulary[item] for item in drawn], np.isin(class_of, classes))

    return candidates


def _images(sets: Baskets, tree: object, shown: Baskets) -> list[Rows]:
    """The published items that each item may be: itself, and the nodes above it."""
    places = {text: place for place, text in enumerate(shown.vocabulary)}
    paths = {path[0]: path for path in tree.paths()} if tree is not None else {}  # type: ignore[attr-defined]
    return [
        np.array([places[text] for text in paths.get(item, (item,)) if text in places], dtype=np.int64)
        for item in sets.vocabulary
    ]


def _fitting(shown: Baskets, rows: Rows, known: list[Rows]) -> int:
    """How many rows of a class hold something of each known item; one that no row holds tells nothing."""
    fits = np.ones(len(rows), dtype=np.bool_)
    indptr, entries = taken(shown.indptr, rows)
    owner, held = owners(indptr), shown.items[entries]
    for images in known:
        holding = flagged(owner[np.isin(held, images)], len(rows))
        if holding.any():
            fits &= holding
    return int(fits.sum())
