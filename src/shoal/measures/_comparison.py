"""An original and a release of it, side by side, and what several measures ask of both: found out once."""

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, TypeVar

import numpy as np

from shoal.arrays import Counts, Floats, Mask, Rows
from shoal.data._equal_rows import RowClasses, row_classes
from shoal.data._reconstruct import reconstruct, reconstruct_groups
from shoal.data.baskets import Baskets
from shoal.data.clusters import Clusters
from shoal.data.groups import Groups
from shoal.data.published_syntax import SUPPRESSED
from shoal.data.release import Release
from shoal.data.table import Column, Table
from shoal.errors import BadData
from shoal.measures._cell_loss import Cells, read_cells
from shoal.measures._coverage import Coverage, checked_coverage, coverage_of
from shoal.measures._crosstabs import BINS, Axis, axis_of
from shoal.measures._interval_syntax import PlainTexts, plain_texts

Fact = TypeVar("Fact")


class Comparison:
    """What is measured: an original, a release of it, and facts about both that are kept once they are found.

    `original`, `release`: they need not belong together: `tables` finds out.
    """

    distributed: ClassVar[bool] = False
    """Whether rows are elsewhere: then there are counts alone."""

    def __init__(self, original: Table | Baskets, release: Release[Any]) -> None:
        self.original = original
        self.release = release
        self._columns: dict[str, ColumnPair] = {}
        self._kept: dict[Hashable, Any] = {}

    def once(self, key: Hashable, find: Callable[[], Fact]) -> Fact:
        """A fact under a name of its own, found out the first time that it is asked for."""
        if key not in self._kept:
            self._kept[key] = find()
        fact: Fact = self._kept[key]
        return fact

    @property
    def rows(self) -> int:
        """The rows of the original table."""
        return self.tables[0].rows

    @property
    def published_rows(self) -> int:
        """The rows of the published table."""
        return self.tables[1].rows

    @cached_property
    def tables(self) -> tuple[Table, Table]:
        """The original and the published table, checked to belong together.

        Every row of the original is published or counted as suppressed; suppressed rows are left out, or
        published with ``*`` in their cells.

        Raises `BadData` if the original is empty, or the release cannot have been made from it.
        """
        original, published = self.original, self.release.data
        assert isinstance(original, Table)
        assert isinstance(published, Table)
        refuse_unlike(original, published, original.rows, published.rows, self.release.suppressed)
        return original, published

    def column(self, name: str) -> "ColumnPair":
        """A column of two tables, before and after."""
        if name not in self._columns:
            original, published = self.original, self.release.data
            assert isinstance(original, Table)
            assert isinstance(published, Table)
            self._columns[name] = ColumnPair(original.column(name), published.column(name))
        return self._columns[name]

    @cached_property
    def quasi(self) -> "tuple[ColumnPair, ...]":
        """The quasi-identifiers of the original, before and after."""
        return tuple(self.column(column.name) for column in self.tables[0].quasi)

    @cached_property
    def classes(self) -> RowClasses:
        """The published rows that agree on all quasi-identifiers, kept suppressed rows among them."""
        published = self.tables[1]
        return row_classes(published.quasi, published.rows)

    @cached_property
    def class_sizes(self) -> tuple[Counts, Counts]:
        """The sizes of the classes, ascending, and how many classes have each; without kept suppressed rows."""
        published, classes = self.tables[1], self.classes
        sizes, kept = classes.sizes, self._kept_suppressed
        if kept:
            blank = blank_rows(published.quasi, classes.first)
            sizes = np.where(blank, sizes - kept, sizes)
        found: tuple[Counts, Counts] = np.unique(sizes[sizes > 0], return_counts=True)
        return found

    @property
    def _kept_suppressed(self) -> int:
        """How many suppressed rows stand in the published table, as ``*`` throughout.

        Rows of ``*`` beyond that number were generalized so far, and are a class.
        """
        kept = self.published_rows + self.release.suppressed - self.rows
        blank = self._blank_rows if kept else 0
        if kept > blank:
            raise BadData(
                f"the release says that {kept} suppressed rows are published, but only {blank} rows are * in all "
                "quasi-identifiers; give the original that the release was made from."
            )
        return kept

    @property
    def _blank_rows(self) -> int:
        """The published rows that are ``*`` in all quasi-identifiers."""
        classes = self.classes
        return int(classes.sizes[blank_rows(self.tables[1].quasi, classes.first)].sum())

    @cached_property
    def items(self) -> "Items":
        """The items of baskets, before and after."""
        before, after = self.original, self.release.data
        assert isinstance(before, Baskets)
        assert isinstance(after, Baskets)
        held = dict(zip(after.vocabulary, after.supports.tolist(), strict=True))
        empty = [int(np.count_nonzero(side.lengths == 0)) for side in (before, after)]
        return Items(before.supports, held, len(before), len(after), *empty)

    def reconstruction(self, seed: int) -> Baskets:
        """The published baskets, or a dataset that published groups or clusters could have been made from."""
        published = self.release.data
        if isinstance(published, Clusters):
            return self.once(("drawn", seed), lambda: reconstruct(published, seed))
        if isinstance(published, Groups):
            return self.once(("drawn", seed), lambda: reconstruct_groups(published, seed))
        assert isinstance(published, Baskets)
        return published


def refuse_unlike(original: Table, published: Table, rows: int, shown: int, suppressed: int) -> None:
    """Refuse tables that cannot belong together: so many rows, so many of which are published or suppressed."""
    if not rows:
        raise BadData("the original has no rows to compare a release with.")
    for column in original.quasi:
        if column.name not in published.names:
            raise BadData(
                "the release has no such column; give the original that it was made from and its roles.",
                column=column.name,
            )
    if shown not in (rows, rows - suppressed):
        raise BadData(
            f"the release has {shown} rows and {suppressed} suppressed ones, but the "
            f"original has {rows}; give the original that it was made from, read the same way."
        )


@dataclass(frozen=True, slots=True, eq=False)
class Items:
    """The items of baskets before and after."""

    before: Counts  # the baskets that hold each item of the original's vocabulary
    after: Mapping[str, int]  # published item to the baskets that hold it
    rows: int
    published_rows: int
    """`rows`, `published_rows`: the baskets on both sides."""
    empty: int
    published_empty: int
    """`empty`, `published_empty`: those among them that hold nothing."""


class ColumnPair:
    """A column of a table before and after.

    `original`, `published`: the column on both sides. Where rows are elsewhere they have none, and counts are given.
    `counts`, `held`: the rows of each value of the original, and of each published text.
    """

    def __init__(
        self, original: Column, published: Column, counts: Counts | None = None, held: Counts | None = None
    ) -> None:
        self.original, self.published = original, published
        self.name = original.name
        self.counts = _counted(original) if counts is None else counts
        self.held = _counted(published) if held is None else held
        self._axes: dict[int, Axis] = {}

    @cached_property
    def _plain(self) -> PlainTexts:
        labels = self.published.domain.labels
        return plain_texts(
            self.original.domain, [labels[code] for code in np.flatnonzero(self.held).tolist()]
        )

    @cached_property
    def seen(self) -> Coverage:
        """What the published texts stand for, as far as they can be read."""
        return coverage_of(self.original, self.published, self.held > 0, self._plain)

    @cached_property
    def coverage(self) -> Coverage:
        """What the published texts stand for.

        Raises `BadData` if a text makes no sense in the column.
        """
        return checked_coverage(self.original, self.published, self.held > 0, self.seen)

    @cached_property
    def cells(self) -> Cells:
        """How many values each published text may stand for, and how far apart they lie.

        Raises `BadData` if a text makes no sense in the column.
        """
        return read_cells(self.original, self.published, self.counts, self.held, self._plain)

    @cached_property
    def expected(self) -> Floats:
        """The rows that a reader expects for each value of the original."""
        return self.coverage.spread(self.held)

    def axis(self, bins: int = BINS) -> Axis:
        """The column in bins."""
        if bins not in self._axes:
            self._axes[bins] = axis_of(self.original, self.published, bins, self.coverage, self.counts)
        return self._axes[bins]


def blank_rows(columns: tuple[Column, ...], rows: Rows) -> Mask:
    """Which of some rows are ``*`` in all columns."""
    blank = np.ones(len(rows), dtype=np.bool_)
    for column in columns:
        labels = column.domain.labels
        blank &= column.codes[rows] == (labels.index(SUPPRESSED) if SUPPRESSED in labels else -1)
    return blank


def _counted(column: Column) -> Counts:
    return np.bincount(column.codes, minlength=len(column.domain)).astype(np.int64)
