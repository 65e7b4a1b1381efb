"""How many bits about the original values the cells of a release no longer tell."""

from math import fsum, log2
from typing import ClassVar

import numpy as np

from shoal.arrays import Counts, Floats, Rows
from shoal.data.baskets import Baskets
from shoal.data.cells import SUPPRESSED, set_members
from shoal.data.domain import Kind
from shoal.data.release import Release
from shoal.data.table import Column, Table
from shoal.errors import BadData
from shoal.measures.measure import Score, TableMeasure
from shoal.measures.nodes import NodeTexts
from shoal.measures.ranges import day, number, read_range


class Entropy(TableMeasure):
    """Non-uniform entropy (de Waal and Willenborg 1999; Gionis and Tassa 2009): bits lost, column by column.

    A cell that may stand for the values M instead of v loses log₂ n(M) / n(v) bits, n counting rows of the original.
    A suppressed row or cell may stand for any value that occurs. The score is the sum of the columns' means over the
    rows of the original: 0 is the original, and a loss of rare values costs more than one of frequent ones.
    """

    name: ClassVar[str] = "entropy"
    scores_named: ClassVar[tuple[str, ...]] = ("entropy",)

    def scores(self, original: Table | Baskets, release: Release) -> tuple[Score, ...]:
        """Measure the bits lost in each column, and in all together."""
        before, after = self.tables(original, release)
        if not before.quasi:
            return ()
        parts = {
            column.name: bits_lost(column, after.column(column.name), before.rows) for column in before.quasi
        }
        meaning = "Entropy: bits of the original values that the cells no longer tell, a row."
        return (Score("entropy", fsum(parts.values()), meaning, parts=parts),)


def bits_lost(original: Column, published: Column, rows: int) -> float:
    """The mean over the original rows of the bits that a column loses; which row became which does not matter."""
    meanings = Meanings(original)
    held = np.bincount(published.codes, minlength=len(published.domain))
    told = [
        held[code] * log2(max(meanings.rows_of(published.domain.labels[code]), 1))
        for code in np.flatnonzero(held).tolist()
    ]
    absent = (rows - len(published.codes)) * log2(rows)
    raw = meanings.counts * np.log2(np.maximum(meanings.counts, 1))
    return fsum([*told, absent, *(-raw).tolist()]) / rows


class Meanings:
    """Reads published texts beside the original column: how many of its rows each may stand for."""

    def __init__(self, column: Column) -> None:
        self._column = column
        domain = column.domain
        self.counts: Counts = np.bincount(column.codes, minlength=len(domain)).astype(np.int64)
        self._codes = {label: code for code, label in enumerate(domain.labels)}
        places = np.arange(len(domain), dtype=np.float64) if domain.values is None else domain.values
        self._places: Floats = places[: domain.present]
        self._up_to: Counts = np.concatenate(([0], np.cumsum(self.counts)))
        self._nodes: NodeTexts | None = None
        if column.hierarchy is not None:
            self._nodes = NodeTexts(column.hierarchy)
            self._code_of_leaf = np.full(len(column.hierarchy.leaves), -1, dtype=np.int64)
            self._code_of_leaf[column.hierarchy.leaf_of(domain)] = np.arange(len(domain))

    def rows_of(self, text: str) -> int:
        """How many rows of the original have a value that a text may stand for.

        Raises
        ------
        BadData
            If the text makes no sense in the column.
        """
        inside = self._codes_of(text)
        if inside is None:
            raise BadData(
                f"measure cannot read {text!r}: it is no value of the original, no range, no set, no node of the "
                "hierarchy and not *. Give the original and the hierarchies that the release was made from.",
                column=self._column.name,
            )
        if isinstance(inside, slice):
            return int(self._up_to[inside.stop] - self._up_to[inside.start])
        return int(self.counts[inside].sum())

    def _codes_of(self, text: str) -> slice | Rows | None:
        """The codes of the values that a text may stand for."""
        if self._nodes is not None and text in self._nodes and text != SUPPRESSED:
            codes = self._code_of_leaf[self._nodes.leaves(text)]
            return codes[codes >= 0]
        if text in self._codes:
            return slice(self._codes[text], self._codes[text] + 1)
        if not text.strip(SUPPRESSED):
            return slice(0, len(self.counts))
        members = set_members(text)
        if members is not None:
            parts = [self._codes_of(member) for member in members]
            everything = np.arange(len(self.counts))
            known = [
                everything[part] if isinstance(part, slice) else part for part in parts if part is not None
            ]
            return np.unique(np.concatenate(known)) if len(known) == len(parts) else None
        found = read_range(text, self._coordinate, self._column.domain.values is None)
        if found is None:
            return None
        first = np.searchsorted(self._places, found.low, "right" if found.low_open else "left")
        last = np.searchsorted(self._places, found.high, "left" if found.high_open else "right")
        return slice(int(first), max(int(first), int(last)))

    def _coordinate(self, text: str) -> float | None:
        if text in self._codes and self._codes[text] < len(self._places):
            return float(self._places[self._codes[text]])
        if self._column.domain.values is None:
            return None
        return day(text) if self._column.domain.kind is Kind.DATE else number(text)
