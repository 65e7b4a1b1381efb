"""Operations on ragged rows without an array of places, where NumPy would need several numbers per entry."""

from typing import Any

import numpy as np

from shoal.arrays import AnyArray, Indptr, Items, Rows, indptr_of
from shoal.kernels._jit import fitting, lean
from shoal.kernels.prefetching import prefetch
from shoal.kernels.sorting import sort

AHEAD = 12
"""How many rows ahead data is prefetched."""

SHORT = 32
"""Rows up to this length are sorted by insertion."""


def take_rows(indptr: Indptr, items: AnyArray, rows: Rows) -> tuple[Indptr, Any]:
    """Take ragged rows in another order: where each then begins, and the items."""
    begin = np.zeros(len(rows) + 1, dtype=np.int64)
    np.take(np.diff(indptr), rows, out=begin[1:], mode="clip")
    np.cumsum(begin, out=begin)
    taken = np.empty(begin[-1], dtype=items.dtype)
    fitting(copy_rows, len(rows) + len(taken))(indptr, items, rows, begin, taken)
    return begin, taken


@lean
def copy_rows(indptr: Indptr, items: AnyArray, rows: Rows, begin: Indptr, taken: AnyArray) -> None:
    """Write the items of some rows, one row after another."""
    for place in range(len(rows)):
        prefetch(indptr, rows[min(place + 2 * AHEAD, len(rows) - 1)])
        prefetch(items, indptr[rows[min(place + AHEAD, len(rows) - 1)]])
        source = indptr[rows[place]]
        for entry in range(begin[place + 1] - begin[place]):
            taken[begin[place] + entry] = items[source + entry]


def keep_items(indptr: Indptr, items: Items, number: Items) -> tuple[Indptr, Items]:
    """Drop the items whose number is negative from ragged rows: where each row then begins, and the other numbers."""
    begin, taken = np.zeros(len(indptr), dtype=np.int64), np.empty(len(items), dtype=np.int32)
    fitting(_keep_items, len(items))(indptr, items, number, begin, taken)
    return begin, taken[: begin[-1]].copy()


@lean
def _keep_items(indptr: Indptr, items: Items, number: Items, begin: Indptr, taken: Items) -> None:
    kept = 0
    for row in range(len(indptr) - 1):
        for place in range(indptr[row], indptr[row + 1]):
            taken[kept] = number[items[place]]
            kept += taken[kept] >= 0
        begin[row + 1] = kept


def least_ranks(indptr: Indptr, items: Items, ranks: Items) -> Items:
    """The least rank of the items of each row in several rankings, one column each; 0 if a row has no items.

    `ranks`: the ranks of each item, one line per item.
    """
    least = np.zeros((len(indptr) - 1, ranks.shape[1]), dtype=np.int32)
    fitting(_least_ranks, len(items) * ranks.shape[1])(indptr, items, ranks, least)
    return least


@lean
def _least_ranks(indptr: Indptr, items: Items, ranks: Items, least: Items) -> None:
    for row in range(len(indptr) - 1):
        for place in range(indptr[row], indptr[row + 1]):
            for column in range(ranks.shape[1]):
                known = least[row, column] if place > indptr[row] else ranks[items[place], column]
                least[row, column] = min(known, ranks[items[place], column])


def rank_rows(indptr: Indptr, items: Items, number: Items) -> Items:
    """The numbers of the items of each row, ascending."""
    ranked = np.empty(len(items), dtype=np.int32)
    fitting(write_ranks, len(items))(indptr, items, number, ranked)
    return ranked


@lean
def write_ranks(indptr: Indptr, items: Items, number: Items, ranked: Items) -> None:
    """Write the numbers of the items of each row, ascending."""
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


def gray_digits(indptr: Indptr, items: Items, number: Items) -> tuple[Indptr, Items]:
    """Keys of sets that sort like their Gray codes, by the numbers of the items.

    Every other item counts in reverse, and a set with an odd number of items ends with a number above all others.
    """
    lengths = np.diff(indptr)
    begin = indptr_of(lengths + lengths % 2)
    digits = np.full(begin[-1], len(number) + 1, dtype=np.int32)
    ranked = np.empty(len(items), dtype=np.int32)
    fitting(_gray_digits, len(items))(indptr, items, number, ranked, begin, digits)
    return begin, digits


@lean
def _gray_digits(
    indptr: Indptr, items: Items, number: Items, ranked: Items, begin: Indptr, digits: Items
) -> None:
    write_ranks(indptr, items, number, ranked)
    for row in range(len(indptr) - 1):
        for place in range(indptr[row + 1] - indptr[row]):
            item = ranked[indptr[row] + place]
            digits[begin[row] + place] = item if place % 2 else len(number) - item
