"""Special uniques: records that a few columns single out, and by how few (SUDA2, Manning, Haglin and Keane 2008).

A *minimal sample unique* of a record is a set of columns whose values no other record has together, while every smaller
part of them is shared. The fewer columns it takes, the more it says about a record: one of size k adds the product of
(columns - i) for i from k to the largest size that is looked at.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from math import comb, prod
from typing import Any

import numpy as np

from shoal.arrays import Counts, Floats, Mask, Rows
from shoal.data.table import Column

SIZE = 3
"""The largest number of columns of a minimal sample unique that is looked for."""

SETS = 20_000
"""At most so many sets of columns are looked at; with more, their largest size shrinks."""

SHOWN = 10


@dataclass(frozen=True, slots=True, eq=False)
class SpecialUniques:
    """The scores of records."""

    scores: Floats  # of each row; 0 where at most `size` columns single it out nowhere
    counts: Counts  # how many minimal sample uniques each row has
    shares: dict[str, float]  # the share of all scores to which each column belongs
    size: int  # the largest number of columns that was looked at
    top: tuple[tuple[int, tuple[tuple[str, ...], ...]], ...]
    """The rows of the highest scores, with their minimal sample uniques."""

    def as_dict(self) -> dict[str, Any]:
        """The same as plain data; rows are counted from 1."""
        return {
            "size": self.size,
            "scored": int((self.counts > 0).sum()),
            "highest_score": float(self.scores.max(initial=0.0)),
            "mean_score": float(self.scores.mean()) if len(self.scores) else 0.0,
            "columns": self.shares,
            "highest": [
                {
                    "row": row + 1,
                    "score": float(self.scores[row]),
                    "unique_by": [list(names) for names in found],
                }
                for row, found in self.top
            ],
        }


def special_uniques(columns: Sequence[Column], size: int = SIZE, shown: int = SHOWN) -> SpecialUniques:
    """Score every row by its minimal sample uniques.

    `size`: the largest number of columns together; less where there were too many sets of columns. `shown`: so many
    rows with the highest scores are given with their minimal sample uniques.
    """
    rows = len(columns[0].codes) if columns else 0
    size = min(size, len(columns))
    while size > 1 and sum(comb(len(columns), level) for level in range(1, size + 1)) > SETS:
        size -= 1
    found = _minimal(columns, size)
    scores, counts = np.zeros(rows), np.zeros(rows, dtype=np.int64)
    by_column = np.zeros(len(columns))
    for places, alone in found.items():
        worth = prod(len(columns) - level for level in range(len(places), min(size, len(columns) - 1) + 1))
        scores[alone] += worth
        counts[alone] += 1
        by_column[list(places)] += worth * len(alone)
    total = scores.sum()
    shares = {
        column.name: float(part / total) if total else 0.0
        for column, part in zip(columns, by_column, strict=True)
    }
    order = np.lexsort((np.arange(rows), -scores))[:shown]
    listed = {place: row for row, place in enumerate(order[counts[order] > 0].tolist())}
    sets: list[list[tuple[str, ...]]] = [[] for _ in listed]
    for places, alone in found.items():
        for row in set(alone.tolist()) & set(listed):
            sets[listed[row]].append(tuple(columns[place].name for place in places))
    top = tuple((row, tuple(sets[place])) for row, place in listed.items())
    return SpecialUniques(scores, counts, shares, size, top)


def _minimal(columns: Sequence[Column], size: int) -> dict[tuple[int, ...], Rows]:
    """The rows of which each set of columns is a minimal sample unique.

    Uniqueness is handed up: what is unique by a part of a set is unique by the set and minimal no more.
    """
    rows = len(columns[0].codes) if columns else 0
    found: dict[tuple[int, ...], Rows] = {}
    below: dict[tuple[int, ...], Mask] = {(): np.zeros(rows, dtype=np.bool_)}
    numbers: dict[tuple[int, ...], Rows] = {(): np.zeros(rows, dtype=np.int64)}
    for level in range(1, size + 1):
        unique: dict[tuple[int, ...], Mask] = {}
        finer: dict[tuple[int, ...], Rows] = {}
        for places in combinations(range(len(columns)), level):
            inherited = np.logical_or.reduce([below[part] for part in combinations(places, level - 1)])
            column = columns[places[-1]]
            keys = numbers[places[:-1]] * max(len(column.domain), 1) + column.codes
            _, inverse, sizes = np.unique(keys, return_inverse=True, return_counts=True)
            alone = sizes[inverse] == 1
            if len(new := np.flatnonzero(alone & ~inherited)):
                found[places] = new
            unique[places] = alone
            if level < size:
                finer[places] = inverse.astype(np.int64)
        below, numbers = unique, finer
    return found
