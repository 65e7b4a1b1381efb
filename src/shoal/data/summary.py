"""Summaries: cross-tables of counts and sums with their totals, instead of rows about persons."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal

from shoal.data.published_syntax import SUPPRESSED
from shoal.data.table import Table

COUNT = "count"
"""The name of the column with the number of rows in each cell."""

SUM = "sum_"
"""The prefix of columns with sums, followed by the name of the column that is summed up."""


@dataclass(frozen=True, slots=True)
class Axis:
    """A column that rows are counted by: its values, and their totals."""

    name: str  # the name of the column
    parts: Mapping[str, tuple[str, ...]]
    """For each total, the values or totals that it consists of; the total of the whole column comes first."""

    @property
    def nodes(self) -> tuple[str, ...]:
        """All values and totals, beginning with the total of the whole column.

        >>> Axis("sex", {"TOTAL": ("f", "m")}).nodes
        ('TOTAL', 'f', 'm')
        """
        return tuple(dict.fromkeys([*self.parts, *(part for parts in self.parts.values() for part in parts)]))


@dataclass(frozen=True, slots=True, eq=False)
class Summary:
    """Published cross-tables that may share their margins.

    A cell has a value or a total of every column; in columns that do not belong to its table it has their total. So a
    margin that two tables share is one cell.
    """

    axes: tuple[Axis, ...]  # the columns that rows are counted by
    tables: tuple[tuple[str, ...], ...]  # the columns of each cross-table
    values: tuple[str, ...]  # what is published of each cell: ``count``, ``sum_income``
    total: str  # the label of the total of a whole column
    cells: Table
    """One row per cell, as it is published: the texts of all axes, then the values, ``*`` if a value is hidden."""

    def __len__(self) -> int:
        return self.cells.rows

    def __repr__(self) -> str:
        tables = " and ".join(" × ".join(table) for table in self.tables)
        return f"<Summary: {len(self):,} cells of {tables}; {', '.join(self.values)}>"

    def places(self) -> list[tuple[str, ...]]:
        """For each row, its cell: the texts of all axes."""
        columns = self.cells.select(axis.name for axis in self.axes)
        texts = ([column.domain.labels[code] for code in column.codes.tolist()] for column in columns)
        return list(zip(*texts, strict=True))

    def texts(self, value: str) -> list[str]:
        """The published text of each cell for a value."""
        column = self.cells.column(value)
        return [column.domain.labels[code] for code in column.codes.tolist()]

    def numbers(self, value: str) -> list[Decimal | None]:
        """The published number of each cell for a value; None if it is hidden."""
        return [None if text == SUPPRESSED else Decimal(text) for text in self.texts(value)]

    def relations(self) -> Iterator[tuple[int, list[int]]]:
        """Each total with the cells that it is the sum of, as row numbers."""
        rows = {place: row for row, place in enumerate(self.places())}
        for place, row in rows.items():
            for n, axis in enumerate(self.axes):
                parts = [
                    rows.get((*place[:n], part, *place[n + 1 :])) for part in axis.parts.get(place[n], ())
                ]
                if parts and parts[0] is not None:
                    yield row, [part for part in parts if part is not None]

    def words(self, row: int) -> str:
        """A cell in words: ``sex f, age 20``."""
        place = self.places()[row]
        named = [
            f"{axis.name} {text or '(missing)'}"
            for axis, text in zip(self.axes, place, strict=True)
            if text != self.total
        ]
        return ", ".join(named) or "the grand total"
