"""Downcoding: published cells that must be finer than they are (Cohen 2022).

A method that publishes the smallest cell which covers a class says more than the cell: both ends of a range occur in
the class, each name of a set does, and a node with two children has people under both. So some rows of the class
have a narrower cell than the one that is published, and a small class may be undone altogether.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from shoal import registry
from shoal.arrays import Mask, Rows, distinct, flagged, indptr_of, owners, taken
from shoal.attacks._class_view import ClassView, class_view, covers, some_classes
from shoal.attacks.attack import Attack, Attacked, Target
from shoal.data.baskets import Baskets
from shoal.data.published_syntax import set_members
from shoal.data.release import Release
from shoal.data.table import Column, Table


@dataclass(frozen=True, slots=True, eq=False)
class Claims:
    """What a reader says of one published column: that some row of a class has one of these values."""

    column: str  # its name
    classes: Rows
    groups: Rows
    """`classes`, `groups`: one claim each: the class, and a number of a set of values. Every claim narrows one cell of
    its class."""
    values: Mask  # the sets: sets by values of the original column, of 0 and 1
    generalized: Mask  # for each class whether its cell stands for several values that exist
    known: Mask
    """For each class whether only one value that exists fits its cell: that follows from the domain, not the method."""


class Downcoding(Attack):
    """Count the generalized cells of which a reader who knows the method can say something finer, and is right.

    The reader knows which values exist. What she says without knowing the method, because only one existing value fits
    a cell, is the control. Of generalized baskets only that can be read: a generalized item with one item below it that
    exists. Which person of the class a finer cell belongs to stays open.
    """

    name: ClassVar[str] = "downcoding"
    accepts: ClassVar[tuple[type, ...]] = (Table, Baskets)

    def run(self, target: Target) -> Attacked | None:
        """Read all cells; None where none is generalized."""
        data, original = target.release.data, target.original
        if isinstance(data, Baskets):
            return self._items(data, original)
        assert isinstance(data, Table)
        if not data.quasi or not original.rows:
            return None
        view = class_view(some_classes(data, self.people, self.seed), original)
        tight = smallest_cells(target.release)
        cells = narrowed = exact = plain = wrong = 0
        parts = {}
        for claims in claims_of(view, original, tight=tight):
            sizes = view.classes.sizes
            here = int(sizes[claims.generalized | claims.known].sum())
            alone = int(sizes[claims.known].sum())
            if not here:
                continue
            right = _right(claims, view, original)
            single = claims.values.sum(axis=1)[claims.groups] == 1
            cells, narrowed = cells + here, narrowed + int(right.sum()) + alone
            exact, plain = exact + int((right & single).sum()) + alone, plain + alone
            wrong += int((~right).sum())
            parts[f"narrowed in {claims.column}"] = (int(right.sum()) + alone) / here
        if not cells:
            return None
        success, control = narrowed / cells, plain / cells
        words = (
            f"{success:.1%} of {cells:,} generalized cells can be narrowed, {exact / cells:.1%} to one value, though "
            f"it stays open whose they are; without knowing the method it would be {control:.1%}."
        )
        return Attacked(
            self.name,
            success,
            control,
            control,
            cells,
            words,
            {"narrowed to one value": exact / cells, "said wrong": wrong / cells, **parts},
        )

    def _items(self, data: Baskets, original: Baskets) -> Attacked | None:
        """Generalized items below which only one item exists."""
        if original.hierarchy is None:
            return None
        exists = {original.vocabulary[item] for item in np.unique(original.items).tolist()}
        below: dict[str, set[str]] = {}
        for path in original.hierarchy.paths():
            if path[0] in exists:
                for text in path[1:]:
                    below.setdefault(text, set()).add(path[0])
        general = np.array([text in below and text not in exists for text in data.vocabulary], dtype=np.bool_)
        single = np.array([len(below.get(text, ())) == 1 for text in data.vocabulary], dtype=np.bool_)
        cells = int(general[data.items].sum())
        if not cells:
            return None
        success = float((general & single)[data.items].sum() / cells)
        words = f"{success:.1%} of {cells:,} generalized items stand for one item alone."
        return Attacked(self.name, success, success, success, cells, words)


def smallest_cells(release: Release) -> bool:
    """Whether the method that formed the classes publishes the smallest cells that cover them."""
    parameters = release.parameters
    name = parameters.get("anonymize_with", release.method)
    if name not in registry.METHODS or parameters.get("strategy") == "merge":
        return False
    return bool(getattr(registry.load("method", name), "smallest_cells", False))


def claims_of(view: ClassView, original: Table, *, tight: bool) -> Iterator[Claims]:
    """What a reader says of each column.

    `tight`: whether every cell is the smallest that covers its class.
    """
    first = view.classes.first
    for column in view.classes.table.quasi:
        source = original.column(column.name)
        there = flagged(source.codes, len(source.domain))
        meant = (covers(column, source).dense() > 0) & there
        count = meant.sum(axis=1)
        raw = np.isin(column.domain.labels, source.domain.labels)
        cell = column.codes[first]
        claimed = [_finer(column, source, code, meant[code]) if tight else [] for code in range(len(raw))]
        begins = indptr_of([len(one) for one in claimed])
        usable = (np.diff(begins) > 0) & (count > 1) & ~raw
        places = np.flatnonzero(usable[cell])
        indptr, groups = taken(begins, cell[places])
        yield Claims(
            column.name,
            places[owners(indptr)],
            groups,
            np.array([mask for one in claimed for mask in one], dtype=np.bool_).reshape(-1, len(there)),
            (count[cell] > 1) & ~raw[cell],
            (count[cell] == 1) & ~raw[cell],
        )


def _finer(column: Column, source: Column, code: int, meant: Mask) -> list[Mask]:
    """The sets of values in each of which some row of a class with this cell has its own."""
    text, tree = column.domain.labels[code], source.hierarchy
    values = np.flatnonzero(meant)
    if len(values) < 2:
        return []
    if tree is not None and (parts := _children(source, text, meant)) is not None:
        return parts if len(parts) == 2 else []
    if set_members(text) is not None or len(values) == 2:
        return [flagged([value], len(meant)) for value in values.tolist()]
    if text.startswith("[") and text.endswith("]") and source.domain.values is not None:
        ends = source.domain.values[values]
        return [flagged([int(values[place])], len(meant)) for place in (ends.argmin(), ends.argmax())]
    return []


def _children(source: Column, text: str, meant: Mask) -> list[Mask] | None:
    """The existing values under each child of a node; None where the text is no node."""
    tree = source.hierarchy
    assert tree is not None
    leaf = tree.leaf_of(source.domain)
    values = np.flatnonzero(meant)
    for level in range(1, tree.height + 1):
        texts = tree.labels[level]
        nodes = tree.nodes_at(level)[leaf]
        if len(np.unique(nodes[values])) == 1 and texts[int(nodes[values[0]])] == text:
            below = tree.nodes_at(level - 1)[leaf]
            kinds = np.unique(below[values])
            if len(kinds) > 1:
                return [meant & (below == kind) for kind in kinds.tolist()]
    return None


def _right(claims: Claims, view: ClassView, original: Table) -> Mask:
    """Which claims hold of the people who fit the class."""
    if not len(claims.classes):
        return np.zeros(0, dtype=np.bool_)
    fits = view.fits
    width = len(original.column(claims.column).domain)
    codes = original.column(claims.column).codes[fits.rows]
    held = distinct(fits.columns * width + codes)
    right = np.zeros(len(claims.classes), dtype=np.bool_)
    place, value = np.nonzero(claims.values[claims.groups])
    keys = claims.classes[place] * np.int64(width) + value
    found = np.isin(keys, held)
    np.logical_or.at(right, place, found)
    return right
