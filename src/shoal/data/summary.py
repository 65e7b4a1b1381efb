"""Cross-tables with their totals: how many, and how much, instead of rows about persons."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal

from shoal.data.published_syntax import SUPPRESSED
from shoal.data.table import Table

COUNT = "count"
"""The column that says how many rows a cell stands for."""

SUM = "sum_"
"""Before the name of a column, the column that says what its values add up to."""


@dataclass(frozen=True, slots=True)
class Axis:
    """A column that rows are counted by: its values, and the totals above them."""

    name: str  # of the column
    parts: Mapping[str, tuple[str, ...]]
    """Each total to the values or totals that it is made of; the whole column is the first one."""

    @property
    def nodes(self) -> tuple[str, ...]:
        """Values and totals, the whole column first.

        >>> Axis("sex", {"TOTAL": ("f", "m")}).nodes
        ('TOTAL', 'f', 'm')
        """
        return tuple(dict.fromkeys([*self.parts, *(part for parts in self.parts.values() for part in parts)]))


@dataclass(frozen=True, slots=True, eq=False)
class Summary:
    """Published cross-tables that may share their margins.

    A cell has a value or a total of every column; columns that a table is not made by stand on their total. So a margin
    that two tables share is one cell.
    """

    axes: tuple[Axis, ...]  # the columns that rows are counted by
    tables: tuple[tuple[str, ...], ...]  # the columns of each cross-table
    values: tuple[str, ...]  # what a cell says: ``count``, ``sum_income``
    total: str  # the text of the total of a whole column
    cells: Table
    """A row a cell, as it is published: the texts of all axes, then the values, ``*`` where one is hidden."""

    def __len__(self) -> int:
        return self.cells.rows

    def __repr__(self) -> str:
        tables = " and ".join(" × ".join(table) for table in self.tables)
        return f"<Summary: {len(self):,} cells of {tables}; {', '.join(self.values)}>"

    def places(self) -> list[tuple[str, ...]]:
        """Which cell each row is: the texts of all axes."""
        columns = self.cells.select(axis.name for axis in self.axes)
        texts = ([column.domain.labels[code] for code in column.codes.tolist()] for column in columns)
        return list(zip(*texts, strict=True))

    def texts(self, value: str) -> list[str]:
        """What is published of each cell."""
        column = self.cells.column(value)
        return [column.domain.labels[code] for code in column.codes.tolist()]

    def numbers(self, value: str) -> list[Decimal | None]:
        """What is published of each cell; None where it is hidden."""
        return [None if text == SUPPRESSED else Decimal(text) for text in self.texts(value)]

    def relations(self) -> Iterator[tuple[int, list[int]]]:
        """Each total, and the cells that it is the sum of, by their rows."""
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
