"""From numbers of stars to published cells: which cells are starred, and what the rows may reveal."""

from dataclasses import replace

import numpy as np

from shoal.arrays import AnyArray, Counts, Mask, flagged
from shoal.data._hashes import mixed, text_hashes
from shoal.data.domain import Domain, Kind
from shoal.data.published_syntax import SUPPRESSED
from shoal.data.table import Column, Table
from shoal.methods.table_rule_hiding._class_counts import Classes, Values


def chosen_cells(values: Values, classes: Classes, stars: Counts, random: np.random.Generator) -> Mask:
    """The rows whose cell is starred: of each class and value as many as asked for, drawn with equal chances.

    Rows of a class with the same value differ in other published columns only. Were the first of them starred in any
    known order, the place of a star would tell which values it can hide: not the ones that are shown by an earlier
    row. Drawn from numbers that nobody else knows, it tells nothing.

    The rows must be in canonical order, so that the draw does not depend on the order of the input.
    """
    width = len(values.column.domain)
    keys = classes.of_row * width + values.column.codes
    pairs = values.classes * width + values.codes
    entry = np.minimum(np.searchsorted(pairs, keys), max(len(pairs) - 1, 0))
    rows = (
        np.flatnonzero((pairs[entry] == keys) & (stars[entry] > 0)) if len(pairs) else np.empty(0, np.int64)
    )
    order = rows[np.lexsort((random.permutation(len(keys))[rows], entry[rows]))]
    entries = entry[order]
    turn = np.arange(len(order)) - np.searchsorted(entries, entries)
    return flagged(order[turn < stars[entries]], len(keys))


def drawn_entries(table: Table, classes: Classes, values: Values, key: int) -> AnyArray:
    """A number that looks random for each class and value that meet: it follows from their texts and the key alone."""
    import polars as pl

    state = np.full(len(classes), key & 0xFFFFFFFFFFFFFFFF, dtype=np.uint64)
    for column, cells in zip(table.quasi, classes.cells.T, strict=True):
        state = mixed(state) + text_hashes(pl.Series(column.domain.labels, dtype=pl.String))[cells]
    labels = pl.Series(values.column.domain.labels, dtype=pl.String)
    return mixed(mixed(state)[values.classes] + text_hashes(labels)[values.codes])


def starred(column: Column, rows: Mask) -> Column:
    """The column with some cells starred; it is a column of texts then, as every column with a ``*`` is."""
    if not rows.any():
        return column
    domain = column.domain
    labels, codes = list(domain.labels), column.codes.copy()
    if SUPPRESSED not in labels:
        place = domain.present
        labels.insert(place, SUPPRESSED)
        codes[codes >= place] += 1
    codes[rows] = labels.index(SUPPRESSED)
    missing = None if domain.missing is None else len(labels) - 1
    return replace(
        column, domain=Domain(Kind.NOMINAL, tuple(labels), missing=missing), codes=codes, hierarchy=None
    )
