"""Ragged rows without an array of places: what numpy does with several numbers for every entry."""

from typing import Any

import numpy as np

from shoal.arrays import AnyArray, Indptr, Items, Rows
from shoal.kernels._jit import jit
from shoal.kernels.prefetching import prefetch
from shoal.kernels.sorting import sort

AHEAD = 12
"""Rows that are asked for before they are needed."""

SHORT = 32
"""Rows up to this length are sorted by putting each item in its place among those before."""


@jit
def take_rows(indptr: Indptr, items: AnyArray, rows: Rows) -> tuple[Indptr, Any]:
    """Ragged rows in another order: where they begin then, and their items."""
    begin = np.empty(len(rows) + 1, dtype=np.int64)
    begin[0] = 0
    for place in range(len(rows)):
        prefetch(indptr, rows[min(place + AHEAD, len(rows) - 1)])
        begin[place + 1] = begin[place] + indptr[rows[place] + 1] - indptr[rows[place]]
    taken = np.empty(begin[-1], dtype=items.dtype)
    for place in range(len(rows)):
        prefetch(indptr, rows[min(place + 2 * AHEAD, len(rows) - 1)])
        prefetch(items, indptr[rows[min(place + AHEAD, len(rows) - 1)]])
        source = indptr[rows[place]]
        for entry in range(begin[place + 1] - begin[place]):
            taken[begin[place] + entry] = items[source + entry]
    return begin, taken


@jit
def keep_items(indptr: Indptr, items: Items, number: Items) -> tuple[Indptr, Items]:
    """Ragged rows without the items whose number is below 0: where they begin then, and the numbers of the others."""
    begin = np.empty(len(indptr), dtype=np.int64)
    begin[0] = 0
    for row in range(len(indptr) - 1):
        kept = begin[row]
        for place in range(indptr[row], indptr[row + 1]):
            kept += number[items[place]] >= 0
        begin[row + 1] = kept
    taken = np.empty(begin[-1], dtype=np.int32)
    kept = 0
    for place in range(len(items)):
        if number[items[place]] >= 0:
            taken[kept] = number[items[place]]
            kept += 1
    return begin, taken


@jit
def least_ranks(indptr: Indptr, items: Items, ranks: Items) -> Items:
    """The least rank of the items of each row by several rankings, a column each; 0 where a row has none.

    `ranks`: those of each item, a line an item.
    """
    least = np.zeros((len(indptr) - 1, ranks.shape[1]), dtype=np.int32)
    for row in range(len(indptr) - 1):
        for place in range(indptr[row], indptr[row + 1]):
            for column in range(ranks.shape[1]):
                known = least[row, column] if place > indptr[row] else ranks[items[place], column]
                least[row, column] = min(known, ranks[items[place], column])
    return least


@jit
def rank_rows(indptr: Indptr, items: Items, number: Items) -> Items:
    """The numbers of the items of each row, ascending."""
    ranked = np.empty(len(items), dtype=np.int32)
    for row in range(len(indptr) - 1):
        begin, end = indptr[row], indptr[row + 1]
        short = end - begin <= SHORT
        for entry in range(begin, end):
            item = number[items[entry]]
            place = entry
            while short and place > begin and ranked[place - 1] > item:
                ranked[place] = ranked[place - 1]
                place -= 1
            ranked[place] = item
        if not short:
            sort(ranked, begin, end)
    return ranked


@jit
def gray_digits(indptr: Indptr, items: Items, number: Items) -> tuple[Indptr, Items]:
    """Keys of sets that sort as their Gray codes do, by the numbers of the items.

    Every other item counts the other way round, and a set with an odd number of items ends with a number beyond all.
    """
    rows, width = len(indptr) - 1, len(number)
    ranked = rank_rows(indptr, items, number)
    begin = np.empty(rows + 1, dtype=np.int64)
    begin[0] = 0
    for row in range(rows):
        length = indptr[row + 1] - indptr[row]
        begin[row + 1] = begin[row] + length + length % 2
    digits = np.full(begin[-1], width + 1, dtype=np.int32)
    for row in range(rows):
        for place in range(indptr[row + 1] - indptr[row]):
            item = ranked[indptr[row] + place]
            digits[begin[row] + place] = item if place % 2 else width - item
    return begin, digits
