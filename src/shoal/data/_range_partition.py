"""Cut rows in parts into ascending ranges of a sort key, each of which fits into one worker.

The boundaries of the ranges come from a sample, which affects nothing but their sizes; the rows of each range are
counted exactly.
"""

from dataclasses import dataclass

import numpy as np
import polars as pl

from shoal.arrays import Counts, Indptr, Items, Rows
from shoal.data._basket_frames import rows_of
from shoal.data._hashes import list_hashes
from shoal.data.baskets import ragged_ranks
from shoal.data.dataset import COUNT, Parts

KEY, RANGE = "key", "range"
"""Names of the column of lists of integers by which rows are ordered, and of the column with the range of each row."""

SAMPLED = 64
"""Keys in the sample for each range, about: with so many, ranges are rarely more than a third too large."""

ROW_BYTES, ITEM_BYTES = 256, 64
"""Bytes of memory that processing takes for a basket, and for each of its items."""


@dataclass(frozen=True, slots=True, eq=False)
class Ranges:
    """Rows divided into ranges of their keys."""

    parts: Parts
    """The rows, with the column `RANGE`. Rows with equal keys are in one range; ranges ascend with the keys."""
    numbers: Rows  # the numbers of the ranges that hold rows, ascending
    sizes: Counts  # the number of rows in each of these ranges

    def begins(self) -> Counts:
        """For every range number up to the last, the number of rows in all ranges before it."""
        begins = np.zeros(int(self.numbers.max(initial=0)) + 2, dtype=np.int64)
        begins[self.numbers + 1] = self.sizes
        return np.cumsum(begins)


def rows_at_once(memory: int, rows: int, occurrences: int) -> int:
    """How many baskets a worker can process at once within a limit of memory."""
    return max(1, memory * rows // max(ROW_BYTES * rows + ITEM_BYTES * occurrences, 1))


def ranges_of(parts: Parts, rows: int, size: int, least: int = 1) -> Ranges:
    """Cut rows into ranges of about `size` rows; rows with equal keys stay together.

    `parts`: rows with the column `KEY`, whose lists are compared as Python compares lists. They are read three times,
    so they should be kept if computing them is expensive. `least`: the smallest number of rows in a range, unless there
    are fewer in all; smaller ranges are joined with a neighbor.
    """
    splitters = _splitters(parts, rows, size)
    types = {**dict.fromkeys(parts.names, pl.List(pl.Int32)), RANGE: pl.Int64}
    placed = parts.map(lambda frame: _placed(frame, splitters), types)
    counted = placed.counts([RANGE])
    numbers, sizes = counted[RANGE].to_numpy().astype(np.int64), counted[COUNT].to_numpy().astype(np.int64)
    joined = _joined(sizes, least)
    if len(np.unique(joined)) < len(joined):
        renamed = np.zeros(int(numbers.max()) + 1, dtype=np.int64)
        renamed[numbers] = joined
        placed = placed.map(
            lambda frame: frame.with_columns(pl.Series(RANGE, renamed[frame[RANGE].to_numpy()])), types
        )
        numbers, sizes = np.unique(joined), np.bincount(joined, weights=sizes).astype(np.int64)
    return Ranges(placed, numbers, sizes)


def _splitters(parts: Parts, rows: int, size: int) -> tuple[Indptr, Items]:
    """The keys at which ranges begin, ascending, from a sample of the distinct keys."""
    wanted = -(-rows // max(size, 1))
    none = (np.zeros(1, dtype=np.int64), np.empty(0, dtype=np.int32))
    if wanted < 2:
        return none
    share = min(1.0, SAMPLED * wanted / rows)
    sample = parts.fold(lambda frame: _sampled(frame, share), lambda one, other: pl.concat((one, other)))
    if sample is None or not sample.height:
        return none
    sample = sample.group_by(KEY).agg(pl.col("count").sum()).sort(KEY)
    # Each key in the sample represents 1 / share distinct keys, unless it is more frequent itself.
    weights = np.maximum(sample["count"].to_numpy(), 1 / share)
    place = (np.cumsum(weights) - weights) * wanted // weights.sum()
    first = np.flatnonzero(np.diff(place, prepend=0) > 0)
    return rows_of(sample[KEY].gather(pl.Series(first)))


def _sampled(frame: pl.DataFrame, share: float) -> pl.DataFrame:
    """Sample the keys of a frame whose hash is small; also how many rows have each."""
    indptr, items = rows_of(frame[KEY])
    if share < 1:
        own = list_hashes(indptr, items)
        frame = frame.filter(pl.Series(own < np.uint64(int(share * (2**64 - 1)))))
    return frame.group_by(KEY).agg(pl.len().cast(pl.Int64).alias("count"))


def _placed(frame: pl.DataFrame, splitters: tuple[Indptr, Items]) -> pl.DataFrame:
    """Add the range of each row to a frame."""
    return frame.with_columns(pl.Series(RANGE, places_among(*rows_of(frame[KEY]), splitters)))


def places_among(indptr: Indptr, items: Items, splitters: tuple[Indptr, Items]) -> Rows:
    """For each ragged row, how many of the ascending keys `splitters` are less than or equal to it."""
    count = len(splitters[0]) - 1
    both = np.concatenate((splitters[0], splitters[0][-1] + indptr[1:]))
    ranks = ragged_ranks(both, np.concatenate((splitters[1], items)))
    return np.searchsorted(ranks[:count], ranks[count:], side="right").astype(np.int64)


def _joined(sizes: Counts, least: int) -> Rows:
    """New numbers of ranges, so that none is too small: a small one is joined with the next, the last with the one
    before.
    """
    numbers = np.zeros(len(sizes), dtype=np.int64)
    number, held = 0, 0
    for place, size in enumerate(sizes.tolist()):
        if held >= least:
            number, held = number + 1, 0
        numbers[place] = number
        held += size
    if held < least and number:
        numbers[numbers == number] = number - 1
    return numbers
