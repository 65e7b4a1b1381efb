"""Classes of rows: those of a table method, merged where they are near by cells, items or both."""

from typing import Literal, TypeAlias

import numpy as np

from shoal.arrays import AnyArray, Floats, Rows, indptr_of, turns_of
from shoal.data.baskets import Baskets
from shoal.data.table import Table
from shoal.methods._improvement._cells import Lossy, importance, kernel_cells, lossy
from shoal.methods.mondrian._publish import form_of, publish

Near: TypeAlias = Literal["relational", "items", "both"]

WINDOW = 256
"""How many classes before and after one are considered, in an order in which near classes are mostly neighbors."""

BITS = 8
"""How many bits of each column's place are used for that order."""


def as_classes(numbers: Rows) -> tuple[Rows, Rows]:
    """The rows class by class, and where each class starts, from the class of each row."""
    order = np.argsort(numbers, kind="stable")
    return order, indptr_of(np.bincount(numbers))


def known_losses(table: Table) -> tuple[tuple[Lossy, ...], Floats]:
    """The cells that each quasi-identifier can be published with and their losses, and how much each column counts."""
    columns = tuple(lossy(one, form_of(one, "nodes"), "granularity") for one in table.quasi)
    return columns, importance(table.quasi, "granularity", {})


def united(table: Table, sets: Baskets, numbers: Rows, near: Near, bound: float) -> tuple[Rows, float]:
    """Merge classes with the nearest ones as long as the mean loss of all rows stays within a bound.

    `numbers`: the class of each row, from 0 on. Returns the class of each row, and the mean loss of all rows.
    """
    from shoal.kernels import class_merging as kernel
    from shoal.kernels.annealing import WIDTH

    known, counts = known_losses(table)
    cells = kernel_cells(table.quasi, known, counts, np.arange(table.rows))
    widths = cells.columns[:, WIDTH]
    numbers = _in_order(cells.codes, widths, numbers)
    order, starts = as_classes(numbers)
    codes = cells.codes[order]
    low = np.minimum.reduceat(codes, starts[:-1]).astype(np.int64)
    high = np.maximum.reduceat(codes, starts[:-1]).astype(np.int64)
    columns = cells.sets.tolist()
    begins = indptr_of([-(-int(widths[one]) // 64) for one in columns])
    values = np.zeros((len(low), int(begins[-1])), dtype=np.uint64)
    for place, one in enumerate(columns):
        _set_bits(values, numbers, cells.codes[:, one].astype(np.int64) + 64 * begins[place])
    items = np.zeros((len(low), -(-max(len(sets.vocabulary), 1) // 64)), dtype=np.uint64)
    public = np.zeros(len(sets.vocabulary), dtype=np.bool_)
    public[sets.public] = True  # only public items may decide
    shown = public[sets.items]
    _set_bits(items, np.repeat(numbers, sets.lengths)[shown], sets.items[shown].astype(np.int64))
    held = kernel.Held(low, high, values, begins, items, np.diff(starts), np.zeros(len(low)))
    owner = np.arange(len(low))
    by = {"relational": kernel.BY_CELLS, "items": kernel.BY_ITEMS, "both": kernel.BY_BOTH}[near]
    # Rounding may change the last digits of the sums that are compared with the bound.
    kernel.unite(held, cells, by, bound * table.rows * (1 + 1e-12), WINDOW, owner)
    while (above := owner[owner]).tolist() != owner.tolist():
        owner = above
    roots, named = np.unique(owner, return_inverse=True)
    return named[numbers], float((held.sizes * held.losses)[roots].sum() / table.rows)


def published_cells(table: Table, order: Rows, starts: Rows) -> Table:
    """The rows class by class, with the smallest cells that cover each class."""
    by_class = table.take(order)
    cells = {one.name: publish(one, form_of(one, "nodes"), starts) for one in by_class.quasi}
    return Table(tuple(cells.get(one.name, one) for one in by_class.columns))


def _set_bits(words: AnyArray, rows: Rows, bits: Rows) -> None:
    """Set bits, each in the words of its row."""
    np.bitwise_or.at(words, (rows, bits // 64), np.uint64(1) << (bits % 64).astype(np.uint64))


def _in_order(codes: AnyArray, widths: AnyArray, numbers: Rows) -> Rows:
    """Renumber classes so that near ones are mostly neighbors: along the Morton curve through their midpoints."""
    order, starts = as_classes(numbers)
    sorted_codes = codes[order].astype(np.int64)
    middle = np.minimum.reduceat(sorted_codes, starts[:-1]) + np.maximum.reduceat(sorted_codes, starts[:-1])
    place = (middle * (1 << BITS) // (2 * np.maximum(widths, 1))).clip(0, (1 << BITS) - 1)
    keys = []
    for bit in range(BITS):  # the last key counts most
        keys += [(place[:, column] >> bit) & 1 for column in range(place.shape[1] - 1, -1, -1)]
    exact = [middle[:, column] for column in range(middle.shape[1])]
    rank = turns_of(np.lexsort((*exact, *keys)), len(middle))
    return rank[numbers]
