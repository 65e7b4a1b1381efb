"""Ragged rows without an array of places: what numpy does with several numbers for every entry."""

import numpy as np

from shoal.arrays import Indptr, Items, Rows
from shoal.kernels._jit import jit
from shoal.kernels.sorting import sort

SHORT = 32
"""Rows up to this length are sorted by putting each item in its place among those before."""


@jit
def take_rows(indptr: Indptr, items: Items, rows: Rows) -> tuple[Indptr, Items]:
    """Ragged rows in another order: where they begin then, and their items."""
    begin = np.empty(len(rows) + 1, dtype=np.int64)
    begin[0] = 0
    for place in range(len(rows)):
        begin[place + 1] = begin[place] + indptr[rows[place] + 1] - indptr[rows[place]]
    taken = np.empty(begin[-1], dtype=items.dtype)
    for place in range(len(rows)):
        source = indptr[rows[place]]
        for entry in range(begin[place + 1] - begin[place]):
            taken[begin[place] + entry] = items[source + entry]
    return begin, taken


@jit
def rank_rows(indptr: Indptr, items: Items, number: Items) -> Items:
    """The numbers of the items of each row, ascending."""
    ranked = np.empty(len(items), dtype=np.int32)
    for row in range(len(indptr) - 1):
        line = ranked[indptr[row] : indptr[row + 1]]
        short = len(line) <= SHORT
        for entry in range(len(line)):
            item = number[items[indptr[row] + entry]]
            place = entry
            while short and place and line[place - 1] > item:
                line[place] = line[place - 1]
                place -= 1
            line[place] = item
        if not short:
            sort(line, 0, len(line))
    return ranked


@jit
def gray_digits(indptr: Indptr, ranked: Items, width: int) -> tuple[Indptr, Items]:
    """Keys of sets that sort as their Gray codes do, for sets of ascending numbers.

    Every other item counts the other way round, and a set with an odd number of items ends with a number beyond all.
    """
    rows = len(indptr) - 1
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
