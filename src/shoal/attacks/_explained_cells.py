"""Why the cells of somebody are as coarse as they are: her class, and the promise that a finer cut would break."""

from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from shoal.arrays import Mask, Rows, flagged
from shoal.attacks._class_view import ClassView, class_view
from shoal.data._plain_text import counted
from shoal.data.domain import nominal
from shoal.data.published_syntax import SUPPRESSED
from shoal.data.release import Release
from shoal.data.table import Column, Table
from shoal.errors import WrongUse
from shoal.models._matching import CellReader
from shoal.models._promises import promised


@dataclass(frozen=True, slots=True)
class Cut:
    """A finer way to publish one column of a class, and the promise that stands against it."""

    column: str  # that would be finer
    inside: int
    outside: int
    """`inside`, `outside`: how many people of the class would get the finer cell, and how many would be left."""
    model: str | None
    value: float | None
    threshold: float | None
    """`model`, `value`, `threshold`: the promise that breaks, what it would come to, and what it has to be; no model
    where nothing breaks."""

    def sentence(self) -> str:
        """The same in words."""
        split = f"a finer {self.column} would part the class into {self.inside:,} and {self.outside:,}"
        if self.model is None:
            return f"{split}, and breaks no promise by itself: the method kept it for others, or chose another cut"
        reached = "" if self.value is None else f": {self.value:g} instead of {self.threshold:g}"
        return f"{split}, which breaks {self.model}{reached}"


@dataclass(frozen=True, slots=True)
class Explanation:
    """Why somebody's cells are as they are."""

    row: int  # of the original, counted from 1
    cells: dict[str, str]  # as they are published; empty for a row that was left out
    size: int  # rows of the class
    cuts: tuple[Cut, ...]  # a finer cut for each column that is not published raw, the nearest first

    def sentence(self) -> str:
        """The same in words."""
        if not self.cells:
            return f"Row {self.row:,} is not published: it was suppressed."
        cells = ", ".join(f"{name} {text}" for name, text in self.cells.items())
        said = f"Row {self.row:,} is one of {counted(self.size, 'rows')} with {cells}."
        return f"{said} Nearest: {self.cuts[0].sentence()}." if self.cuts else f"{said} All cells are raw."

    def as_dict(self) -> dict[str, Any]:
        """The same as plain data."""
        cuts = [asdict(cut) | {"sentence": cut.sentence()} for cut in self.cuts]
        plain = {"row": self.row, "cells": self.cells, "size": self.size, "sentence": self.sentence()}
        return plain | {"cuts": cuts, "nearest": cuts[0] if cuts else None}


def explain_row(original: Table, release: Release, row: int, rows: Rows | None = None) -> Explanation:
    """Explain the cells of one row of the original.

    `row`: counted from 0. `rows`: for each published row the row of the original it stands for, where it is known;
    otherwise one that fits is taken, and the people of the class are those who fit it.
    """
    published = release.data
    if not isinstance(published, Table):
        raise WrongUse(
            "Only generalized cells of a table are explained; linked tables publish public cells as they are, and "
            "baskets have none. Say with --known what is known of a person."
        )
    if not isinstance(row, int | np.integer):
        raise WrongUse(f"A row is named by its number, and not by {row!r}.")
    if not 0 <= row < original.rows:
        raise WrongUse(f"There is no row {row + 1:,}: the original has {original.rows:,} rows.")
    place, members = _place(original, published, row, rows)
    if place is None:
        return Explanation(row + 1, {}, 0, ())
    quasi = published.quasi
    same = np.logical_and.reduce([column.codes == column.codes[place] for column in quasi])
    cells = {column.name: column.domain.labels[column.codes[place]] for column in quasi}
    cuts = [
        cut
        for column in quasi
        if (cut := _cut(original, release, column, row, place, same, members)) is not None
    ]
    cuts.sort(key=lambda cut: (cut.model is not None, _shortage(cut)))
    return Explanation(row + 1, cells, int(same.sum()), tuple(cuts))


def _shortage(cut: Cut) -> float:
    """How far a broken promise is from being kept, as a share of what it has to be."""
    if cut.value is None or not cut.threshold:
        return float("inf") if cut.model else 0.0
    return abs(cut.threshold - cut.value) / abs(cut.threshold)


def _place(original: Table, published: Table, row: int, rows: Rows | None) -> tuple[int | None, Rows | None]:
    """The published row of somebody, and the rows of the original in the order of the published ones, if known."""
    if rows is not None and len(rows) == published.rows:
        found = np.flatnonzero(rows == row)
        return (int(found[0]) if len(found) else None), rows
    view = class_view(published, original.take(np.array([row])))
    if not len(view.fits.columns):
        return None, None
    first = int(view.classes.first[_likeliest(view, original, row)])
    names = [column.name for column in published.quasi]
    here = view.classes.table.take(np.array([first]))
    wanted = [here.column(name).codes[0] for name in names]
    same = np.logical_and.reduce(
        [published.column(name).codes == code for name, code in zip(names, wanted, strict=True)]
    )
    return int(np.flatnonzero(same)[0]), None


def _likeliest(view: ClassView, original: Table, row: int) -> int:
    """Of the classes that fit somebody the smallest that has a row with her secrets."""
    fitting, table = view.fits.columns, view.classes.table
    has = np.ones(table.rows, dtype=np.bool_)
    for column in table.sensitive:
        if column.name in original.names:
            source = original.column(column.name)
            mine = source.domain.labels[source.codes[row]]
            has &= np.array([label in (mine, SUPPRESSED) for label in column.domain.labels])[column.codes]
    able = flagged(view.classes.number[has], len(view.classes))
    return int(min(fitting.tolist(), key=lambda place: (not able[place], view.classes.sizes[place], place)))


def _cut(
    original: Table,
    release: Release,
    column: Column,
    row: int,
    place: int,
    same: Mask,
    rows: Rows | None,
) -> Cut | None:
    """The next finer cell of a column for somebody's class, tried by judging the whole release with it."""
    source = original.column(column.name)
    text = column.domain.labels[column.codes[place]]
    if text == source.domain.labels[source.codes[row]]:
        return None
    inside_class = np.flatnonzero(same)
    values = _values(original, release, column, inside_class, rows, place)
    mine = _finer(source, text, row)
    finer = mine[values]
    here = int(finer.sum())
    if here in (0, len(values)) and rows is not None:
        return Cut(column.name, here, len(values) - here, None, None, None)
    codes = column.codes.copy()
    count = len(column.domain)
    codes[inside_class] = np.where(finer, count, count + 1)
    labels = (*column.domain.labels, f"{text} (finer)", f"{text} (rest)")
    split = replace(column, domain=nominal(labels), codes=codes)
    published = release.data
    assert isinstance(published, Table)
    table = Table(tuple(split if one.name == column.name else one for one in published.columns))
    for model in promised(release.promises, release.suppressed):
        verdict = model.verify(table)
        if not verdict.holds:
            value = None if verdict.value is None else float(verdict.value)
            return Cut(column.name, here, len(values) - here, verdict.model, value, float(verdict.threshold))
    return Cut(column.name, here, len(values) - here, None, None, None)


def _values(
    original: Table, release: Release, column: Column, inside: Rows, rows: Rows | None, place: int
) -> Rows:
    """The raw values of the people of a class; without a row map those who fit its cells, dealt out evenly."""
    source = original.column(column.name)
    if rows is not None:
        return np.asarray(source.codes[rows[inside]], dtype=np.int64)
    published = release.data
    assert isinstance(published, Table)
    fits = np.ones(original.rows, dtype=np.bool_)
    for one in published.quasi:
        other = original.column(one.name)
        fits &= CellReader(other).meant(one.domain.labels[one.codes[place]])[other.codes]
    ordered = np.sort(source.codes[fits])
    places = np.linspace(0, max(len(ordered) - 1, 0), len(inside)).round().astype(np.int64)
    return np.asarray(ordered[places] if len(ordered) else np.zeros(len(inside)), dtype=np.int64)


def _finer(source: Column, text: str, row: int) -> Mask:
    """Which raw values would share the next finer cell with somebody: a child of the node, or half of the values."""
    mine = int(source.codes[row])
    tree = source.hierarchy
    if tree is not None:
        leaf = tree.leaf_of(source.domain)
        levels = [level for level in range(tree.height + 1) if tree.texts_at(level)[leaf[mine]] == text]
        level = levels[0] if levels else tree.height if text == SUPPRESSED else 0
        if level > 0:
            nodes = tree.nodes_at(level - 1)[leaf]
            return np.asarray(nodes == nodes[mine])
    meant = np.flatnonzero(CellReader(source).meant(text))
    middle = meant[(len(meant) - 1) // 2] if len(meant) else mine
    every = np.arange(len(source.domain))
    inside = np.isin(every, meant)
    return np.asarray(inside & ((every <= middle) == (mine <= middle)))
