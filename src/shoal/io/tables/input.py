"""A source that is open: its columns are known, its cells are read when they are asked for."""

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType

import polars as pl

from shoal.data._cell_kinds import Distinct
from shoal.data._frames import named
from shoal.errors import BadData
from shoal.io.reading import Reading, header_hint
from shoal.io.source import BYTE_ORDER_MARK

MARK = BYTE_ORDER_MARK.decode()


@dataclass(frozen=True, slots=True, eq=False)
class Numbered:
    """Cells of a text as places among the distinct texts of their column, which have its name."""

    held: Mapping[str, Distinct]
    height: int

    @property
    def columns(self) -> list[str]:
        """The names of the columns."""
        return list(self.held)

    def __getitem__(self, name: str) -> Distinct:
        return self.held[name]


class Input(ABC):
    """Columns by name, and the place of a row for messages.

    The names are known before the cells are read, so that wrong names are found early and columns that nobody asks
    for are never read.
    """

    names: tuple[str, ...]
    path: str | Path | None

    of_texts: bool = False
    """Whether every cell is a text, because the format knows nothing else."""

    orders: Mapping[str, tuple[str, ...]] = MappingProxyType({})
    """The values of columns whose type has them in an order, ascending."""

    def ordered(self, reading: Reading) -> Reading:
        """The reading with the orders that types tell, of columns whose kind is not given."""
        found = {name: order for name, order in self.orders.items() if reading.kind_of(name) is None}
        return replace(reading, orders={**found, **reading.orders}) if found else reading

    @abstractmethod
    def frame(self, columns: Sequence[str]) -> pl.DataFrame:
        """The cells of some columns, untrimmed, in the given order."""

    def pieces(self, columns: Sequence[str], coded: bool = False) -> Iterator[pl.DataFrame]:
        """The same a few columns at a time, where the texts of all of them would take too much room.

        `coded`: texts may come as categories, which are those of their column alone; an empty one may be null.
        """
        yield self.frame(columns)

    def numbered(self, columns: Sequence[str]) -> "Numbered | None":
        """The same as places among distinct texts, where that is quicker than frames."""
        return None

    def fault(self, message: str, row: int, column: str | None = None) -> BadData:
        """An error in one row (counted from 0), with its place in the file."""
        return BadData(f"row {row + 1}: {message}", self.path, column=column)


class FrameInput(Input):
    """Rows that are in memory already, of any type."""

    def __init__(
        self,
        frame: pl.DataFrame,
        path: str | Path | None = None,
        orders: Mapping[str, tuple[str, ...]] | None = None,
    ) -> None:
        self.names, self.path, self.orders = tuple(frame.columns), path, orders or {}
        self._frame = frame
        check_names(self.names, path)
        if not frame.height:
            raise BadData("there are no rows.", path)

    def frame(self, columns: Sequence[str]) -> pl.DataFrame:
        """The cells of some columns."""
        return self._frame.select(named(columns))


class Parts(Input):
    """Part files of one table, one after the other."""

    def __init__(self, parts: Sequence[Input]) -> None:
        self.names, self.path, self.of_texts = parts[0].names, parts[0].path, parts[0].of_texts
        self._parts = parts
        self._rows: list[int] = []
        for part in parts[1:]:
            if part.names != self.names:
                raise BadData(
                    f"the columns are not those of {self.path}; part files of one table have the same header.",
                    part.path,
                )

    def frame(self, columns: Sequence[str]) -> pl.DataFrame:
        """The cells of some columns of all parts."""
        frames = [part.frame(columns) for part in self._parts]
        self._rows = [frame.height for frame in frames]
        if not any(self._rows):
            raise BadData("there are no rows in any of the part files.", self.path)
        try:
            return pl.concat(frames, how="vertical_relaxed")
        except pl.exceptions.PolarsError:
            raise BadData(
                "cells of a column have other types in one part file than in another; write them alike.",
                self.path,
            ) from None

    def fault(self, message: str, row: int, column: str | None = None) -> BadData:
        """An error in one row, with its place in its part file."""
        for part, rows in zip(self._parts, self._rows, strict=True):
            if row < rows:
                return part.fault(message, row, column)
            row -= rows
        raise AssertionError("a row beyond the last part")


def check_names(names: Sequence[str], path: str | Path | None, line: int | None = None) -> None:
    """Refuse columns without a name, and two columns of one name."""
    for place, name in enumerate(names):
        if not name:
            raise BadData(
                f"column {place + 1} of {len(names)} has no name; name it in the first line (programs that write "
                "an index column leave its name empty).",
                path,
                line,
            )
    if names and names[0].startswith(MARK):
        raise BadData(
            "the first name begins with a byte order mark (U+FEFF), which nobody sees and which readers take for the "
            "beginning of a file; rename the column.",
            path,
            line,
        )
    if twice := sorted(name for name, count in Counter(names).items() if count > 1):
        raise BadData(
            f"two columns have the name {twice[0]!r}; give every column a name of its own.{header_hint(names)}",
            path,
            line,
        )
