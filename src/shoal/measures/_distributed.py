"""An original and a release of it whose rows are where an engine has them: the same facts, added up over the parts."""

from collections import Counter
from functools import cached_property
from typing import Any

import numpy as np
import polars as pl

from shoal.arrays import Counts
from shoal.data._frames import unnamed
from shoal.data.dataset import COUNT, Dataset, value_counts
from shoal.data.domain import nominal
from shoal.data.published_syntax import SUPPRESSED
from shoal.data.release import Release
from shoal.data.table import Column, Table
from shoal.measures._comparison import ColumnPair, Comparison, Items, refuse_unlike

TEXT, ROWS = "text", "rows"


class DistributedComparison(Comparison):
    """What is measured, where rows are in parts: counts of values, texts, classes and items, each in one pass."""

    distributed = True

    def __init__(self, original: Dataset, release: Release[Any]) -> None:
        super().__init__(original.schema, release)
        self._before: Dataset = original
        self._after: Dataset = release.data

    @property
    def rows(self) -> int:
        return self._before.rows

    @property
    def published_rows(self) -> int:
        return self._after.rows

    @cached_property
    def tables(self) -> tuple[Table, Table]:
        original, published = self._before.schema, self._after.schema
        refuse_unlike(original, published, self.rows, self.published_rows, self.release.suppressed)
        return original, published

    def column(self, name: str) -> ColumnPair:
        if name not in self._columns:
            before, after = self.tables
            texts = self._texts[name]
            domain = nominal(tuple(texts[TEXT].to_list()))
            published = Column(name, after.column(name).role, domain, np.empty(0, dtype=np.int32))
            held = texts[ROWS].to_numpy().astype(np.int64)
            self._columns[name] = ColumnPair(before.column(name), published, self._counts[name], held)
        return self._columns[name]

    @cached_property
    def class_sizes(self) -> tuple[Counts, Counts]:
        times = Counter(self._found_classes[0])
        if kept := self._kept_suppressed:
            # The rows of * are one class, which loses those that are suppressed.
            times.update({self._blank_rows: -1})
            times.update({self._blank_rows - kept: 1})
        sizes = sorted(size for size, count in times.items() if size > 0 and count > 0)
        return np.array(sizes, dtype=np.int64), np.array([times[size] for size in sizes], dtype=np.int64)

    @property
    def _blank_rows(self) -> int:
        return self._found_classes[1]

    @cached_property
    def _found_classes(self) -> tuple[dict[int, int], int]:
        """How many classes have each size, and the rows that are ``*`` in all quasi-identifiers."""
        quasi = [column.name for column in self.tables[1].quasi]
        if not quasi:
            return ({self.published_rows: 1} if self.published_rows else {}), 0

        def found(frame: pl.DataFrame) -> tuple[dict[int, int], int]:
            sizes, times = np.unique(frame[COUNT].to_numpy(), return_counts=True)
            blank = np.ones(frame.height, dtype=np.bool_)
            for name in quasi:
                blank &= (unnamed(frame[name]) == SUPPRESSED).fill_null(False).to_numpy()
            counted = dict(zip(sizes.tolist(), times.tolist(), strict=True))
            return counted, int(frame[COUNT].to_numpy()[blank].sum())

        def added(
            one: tuple[dict[int, int], int], other: tuple[dict[int, int], int]
        ) -> tuple[dict[int, int], int]:
            both = {size: one[0].get(size, 0) + other[0].get(size, 0) for size in {**one[0], **other[0]}}
            return both, one[1] + other[1]

        return self._after.parts.distinct(quasi).fold(found, added) or ({}, 0)

    @cached_property
    def _names(self) -> list[str]:
        before, after = self.tables
        return [one.name for one in (*before.quasi, *before.sensitive) if one.name in after.names]

    @cached_property
    def _counts(self) -> dict[str, Counts]:
        """The rows of each value of each column of the original."""
        return value_counts(self._before, Table(self.tables[0].select(self._names)))

    @cached_property
    def _texts(self) -> dict[str, pl.DataFrame]:
        """The texts of each published column, ascending, and the rows of each."""
        empty = pl.DataFrame(schema={TEXT: pl.String, ROWS: pl.Int64})
        found = self._after.parts.tallies(self._names)
        return {name: _texts_in(found[name]) if name in found else empty for name in self._names}

    @cached_property
    def items(self) -> Items:
        before, after = (_supports(side) for side in (self._before, self._after))
        return Items(
            before[0],
            dict(zip(self._after.schema.vocabulary, after[0].tolist(), strict=True)),
            self._before.rows,
            self._after.rows,
            before[1],
            after[1],
        )


def _supports(baskets: Dataset) -> tuple[Counts, int]:
    """The baskets that hold each item, and those that hold none."""
    size = len(baskets.schema.vocabulary)

    def counted(frame: pl.DataFrame) -> tuple[Counts, int]:
        lists = frame["items"]
        held = lists.explode().drop_nulls().to_numpy()
        return np.bincount(held, minlength=size).astype(np.int64), int((lists.list.len() == 0).sum())

    def added(one: tuple[Counts, int], other: tuple[Counts, int]) -> tuple[Counts, int]:
        return one[0] + other[0], one[1] + other[1]

    return baskets.parts.fold(counted, added) or (np.zeros(size, dtype=np.int64), 0)


def _texts_in(counted: pl.DataFrame) -> pl.DataFrame:
    """The texts of a column with their rows; a missing one is empty."""
    texts, rows = (unnamed(cells) for cells in counted)
    found = pl.DataFrame({TEXT: texts.fill_null(""), ROWS: rows})
    return found.group_by(TEXT).agg(pl.col(ROWS).sum()).sort(TEXT)
