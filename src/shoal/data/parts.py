"""Rows that need not fit into memory: the handle that an engine gives to a method, and its verbs."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, TypeVar

from shoal.data.baskets import Baskets
from shoal.data.order_violations import Disorder
from shoal.data.table import Table

if TYPE_CHECKING:
    import polars

    Frame: TypeAlias = polars.DataFrame
    Schema: TypeAlias = Mapping[str, Any]
    """Column to polars type."""

Result = TypeVar("Result")

COUNT, BUCKET = "(rows)", "(bucket)"
"""The columns of counts, and of numbers by which rows are divided. No column of a table is called so."""


class Parts(Protocol):
    """Rows cut into parts, somewhere: in files on this machine, or on a cluster.

    Work is a plain function from frame to frame. It travels to where the rows are, so that it may hold small arrays
    (they travel along) but neither open files nor locks. How the rows are cut into frames is the engine's affair:
    `map` and `fold` must give the same whatever the cut; only `group` promises which rows come together.
    """

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns."""

    def select(self, names: Sequence[str]) -> "Parts":
        """Some of the columns. The others are not even read, where the files allow it."""

    def map(self, work: "Callable[[Frame], Frame]", schema: "Schema") -> "Parts":
        """Transform rows, frame by frame and in their order; done when the rows are asked for."""

    def group(self, by: str, work: "Callable[[Frame], Frame]", schema: "Schema") -> "Parts":
        """Transform all rows with the same integer in a column as one frame, which must fit into one worker.

        Neither the order of rows inside a frame nor that of the groups is promised.
        """

    def fold(
        self, work: "Callable[[Frame], Result]", merge: Callable[[Result, Result], Result]
    ) -> Result | None:
        """A result of each frame, merged into one: merging is associative and commutative. None without rows."""

    def counts(self, names: Sequence[str]) -> "Frame":
        """The distinct combinations of some columns, ascending, with how many rows have each (`COUNT`), here."""

    def distinct(self, names: Sequence[str]) -> "Parts":
        """The same combinations with their counts as `counts` gives, in parts and in any order."""

    def sort(self, names: Sequence[str]) -> "Parts":
        """The same rows in ascending order, missing cells first, texts by code points."""

    def with_rows(self, frame: "Frame") -> "Parts":
        """The same rows, and those of a frame that is here, with the same columns; in any order."""

    def union(self, other: "Parts") -> "Parts":
        """The same rows, and those of other parts of the engine, with the same columns; in any order."""

    def keep(self) -> "Parts":
        """The same rows, computed once and kept where they are, for whoever asks several times."""

    def collect(self) -> "Frame":
        """All rows, here. Only for what is known to be small."""

    def write(self, folder: str, ending: str, header: str | None = None) -> int:
        """Write the rows in their order as part files (``part-00000.csv``, …) into a new folder; gives their number.

        With the ending ``.parquet`` columns are written. With any other, rows of one text column, each ended by a line
        end; every file begins with the header then, if there is one. A file appears when it is whole.
        """


@dataclass(frozen=True, slots=True)
class TextLayout:
    """How the lines of delimited text become cells.

    Parameters
    ----------
    names
        The columns.
    separator
        What stands between cells; quotes are as RFC 4180 says.
    header
        The names as they stand in the first line of every file; None where files have no such line.
    parse
        The cells, as texts, of whole lines without the header: for engines that read text themselves. It is told the
        number of the first line and the file, for messages.
    trim
        Blanks before a cell, or before its quotes, mean nothing.
    """

    names: tuple[str, ...]
    separator: str
    header: tuple[str, ...] | None
    parse: "Callable[[bytes, int, str | Path], Frame]"
    trim: bool = False


class Engine(Protocol):
    """Where parts lie, and how they get there. A path is that of a file, or of a folder of part files."""

    name: str
    """The name in the registry."""

    memory: int
    """Bytes that the rows of one `group` may take in a worker: methods cut their parts accordingly."""

    numbers_lines: bool
    """Whether it reads delimited text by `TextLayout.parse`, so that messages name lines."""

    def parts(self, frame: "Frame") -> Parts:
        """Rows that are here, as parts there."""

    def own(self, source: Any) -> Parts | None:
        """A frame of the engine's own kind as parts; None for anything else."""

    def head(self, path: str) -> bytes:
        """The beginning of a text file, or of the first of a folder: enough to see its layout."""

    def delimited(self, path: str, layout: TextLayout) -> Parts:
        """The rows of delimited text: cells are texts."""

    def columns(self, path: str) -> Parts:
        """The rows of Parquet files."""

    def lines(self, path: str) -> Parts:
        """The lines of text files, in one column ``line``; in any order, without line ends and marks of byte order."""

    def close(self) -> None:
        """Let go of all that was kept for the work; what was started for it is stopped."""


@dataclass(frozen=True, slots=True, eq=False)
class PartedTable:
    """A table whose rows are in parts.

    Parameters
    ----------
    schema
        The table without rows: names, roles, domains, hierarchies.
    parts
        The codes of the rows, a column each under its name.
    rows
        The number of rows.
    """

    schema: Table
    parts: Parts
    rows: int


@dataclass(frozen=True, slots=True, eq=False)
class PartedBaskets:
    """Baskets in parts.

    Parameters
    ----------
    schema
        The baskets without rows: vocabulary, roles, layout, hierarchy.
    parts
        One column ``items``: the ascending codes of each basket.
    rows
        The number of baskets.
    order
        Finds out whether the files that a release was published in keep the canonical order; None for all others.
    """

    schema: Baskets
    parts: Parts
    rows: int
    order: Callable[[], Disorder] | None = None


@dataclass(frozen=True, slots=True, eq=False)
class PartedRelease:
    """Published data in parts, as its files hold it: text columns of a table, or one column ``line``.

    Parameters
    ----------
    schema
        The published form without rows: its columns and roles, or its items.
    parts
        The rows, in canonical order.
    rows
        The number of published rows, baskets, groups or clusters.
    baskets
        The number of baskets of all groups or clusters.
    order
        Finds out whether the files keep the canonical order; None for rows that are in no file.
    told
        What release.json says of how much is published, by its words (``rows``, ``baskets``, ``items``, …): the files
        must bear it out. Empty for rows that are in no release yet.
    path
        The file or folder of part files, for messages.
    """

    schema: Any
    parts: Parts
    rows: int
    baskets: int = 0
    order: Callable[[], Disorder] | None = None
    told: Mapping[str, int] = field(default_factory=dict)
    path: Path | None = None


def schema_of(data: Table | Baskets | PartedTable | PartedBaskets) -> Table | Baskets:
    """What there is to say of data without its rows, wherever these are."""
    return data.schema if isinstance(data, PartedTable | PartedBaskets) else data
