"""How many bits about the original values the cells of a release no longer tell."""

from math import fsum, log2
from typing import ClassVar

import numpy as np

from shoal.arrays import AnyArray, Floats
from shoal.data.table import Column
from shoal.measures._comparison import ColumnPair, Comparison
from shoal.measures._coverage import read_coverage
from shoal.measures.measure import Score, TableMeasure


class Entropy(TableMeasure):
    """Non-uniform entropy (de Waal and Willenborg 1999; Gionis and Tassa 2009): bits lost, column by column.

    A cell that may stand for the values M instead of v loses log₂ n(M) / n(v) bits, n counting rows of the original.
    A suppressed row or cell may stand for any value that occurs. The score is the sum of the columns' means over the
    rows of the original: 0 is the original, and a loss of rare values costs more than one of frequent ones.
    """

    name: ClassVar[str] = "entropy"
    not_distributable: ClassVar[str | None] = None
    scores_named: ClassVar[tuple[str, ...]] = ("entropy",)

    def compare(self, both: Comparison) -> tuple[Score, ...]:
        """Measure the bits lost in each column, and in all together."""
        self.accept(both)
        if not both.quasi:
            return ()
        parts = {column.name: bits_lost(column, both.rows) for column in both.quasi}
        meaning = "Entropy: bits of the original values that the cells no longer tell, a row."
        return (Score("entropy", fsum(parts.values()), meaning, parts=parts),)


def bits_lost(column: ColumnPair, rows: int) -> float:
    """The mean over the original rows of the bits that a column loses; which row became which does not matter."""
    counts, held = column.counts, column.held
    kept = held * np.log2(np.maximum(np.rint(column.coverage.total(counts)), 1))
    raw = counts * np.log2(np.maximum(counts, 1))
    absent = (rows - int(held.sum())) * log2(rows)
    return fsum([*kept[held > 0].tolist(), absent, *(-raw).tolist()]) / rows


def rows_meant(original: Column, published: Column, counts: AnyArray | None = None) -> Floats:
    """How many rows of the original have a value that each text of a published column may stand for.

    Texts that no row has are not read.

    `counts`: the rows of each value, where they were counted before. Raises `BadData` if a text makes no sense in the
    column.
    """
    if counts is None:
        counts = np.bincount(original.codes, minlength=len(original.domain))
    meant: Floats = np.rint(read_coverage(original, published).total(counts))
    return meant
