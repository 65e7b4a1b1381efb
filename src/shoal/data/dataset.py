"""Data whose rows need not fit into memory, as an engine hands it to a method, and the operations on its rows."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, TypeVar

import numpy as np

from shoal.arrays import Counts
from shoal.data.baskets import Baskets
from shoal.data.table import Table
from shoal.data.verdict import OrderViolations

if TYPE_CHECKING:
    import polars

    Frame: TypeAlias = polars.DataFrame
    Schema: TypeAlias = Mapping[str, Any]
    """Column to polars type."""


Result = TypeVar("Result")

COUNT, BUCKET = "(rows)", "(bucket)"
"""Names of the column of counts, and of the one by which rows are divided. No column of a table has these names."""


class Parts(Protocol):
    """Rows cut into parts, in files on this machine or on a cluster.

    Work is a plain function from frame to frame. It is sent to where the rows are, so it may hold small arrays, which
    are sent along, but neither open files nor locks. The engine decides how the rows are cut into frames: the results
    of `map` and `fold` must not depend on the cut, and only `group` guarantees which rows come together.
    """

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns."""

    def select(self, names: Sequence[str]) -> "Parts":
        """Some of the columns. The others are not even read, if the file format allows it."""

    def map(self, work: "Callable[[Frame], Frame]", schema: "Schema") -> "Parts":
        """Transform rows lazily, frame by frame and in their order."""

    def group(self, by: str, work: "Callable[[Frame], Frame]", schema: "Schema") -> "Parts":
        """Transform all rows with the same integer in a column as one frame, which must fit into one worker.

        Neither the order of rows within a frame nor that of the groups is defined.
        """

    def fold(
        self, work: "Callable[[Frame], Result]", merge: Callable[[Result, Result], Result]
    ) -> Result | None:
        """Compute a result of each frame, and merge them into one; None without rows.

        Merging must be associative and commutative.
        """

    def counts(self, names: Sequence[str]) -> "Frame":
        """Count the rows of each distinct combination of some columns: a frame in memory, ascending, with `COUNT`."""

    def tallies(self, names: Sequence[str]) -> "dict[str, Frame]":
        """For each of some columns by itself the same as `counts`, for any number of values."""

    def distinct(self, names: Sequence[str]) -> "Parts":
        """The same combinations and counts as `counts`, but in parts and in any order."""

    def sort(self, names: Sequence[str]) -> "Parts":
        """The same rows in ascending order, missing cells first, texts by code points."""

    def union(self, other: "Parts") -> "Parts":
        """These rows and those of other parts of the same engine with the same columns, in any order."""

    def keep(self) -> "Parts":
        """The same rows, computed once and stored where they are, to be used several times."""

    def as_categories(self) -> "Parts":
        """The same rows, for work that accepts categories (`polars.Enum`) in place of texts."""

    def collect(self) -> "Frame":
        """All rows in memory. Only for data that is known to be small."""

    def write(self, folder: str, ending: str, header: str | None = None) -> int:
        """Write the rows in their order as part files (``part-00000.csv``, …) into a new folder; returns their number.

        With the ending ``.parquet``, columns are written. With any other, the rows must be one text column and are
        written as lines, and every file begins with the header, if there is one. A file appears only when it is whole.
        """


@dataclass(frozen=True, slots=True)
class TextLayout:
    """How the lines of delimited text become cells."""

    names: tuple[str, ...]  # the columns
    separator: str  # the separator of cells; quotes follow RFC 4180
    header: tuple[str, ...] | None
    """The names as they are written in the first line of every file; None if the files have no header."""
    parse: "Callable[[bytes, int, str | Path], Frame]"
    """Function that splits whole lines, without the header, into cells as texts, for engines that read text themselves.
    It also takes the number of the first line and the file, for messages."""
    numbered: "Callable[[bytes, int, str | Path, Sequence[str]], Frame]"
    """The same for some of the columns; their texts may be categories."""
    trim: bool = False  # whether blanks before a cell, or before its quotes, are ignored


@dataclass(frozen=True, slots=True, eq=False)
class Dataset:
    """A table, baskets, or published data, whose rows an engine holds outside of this process's memory."""

    schema: Any
    """Everything but the rows: for a table its names, roles, domains and hierarchies; for sets the vocabulary, roles
    and layout."""
    parts: Parts
    """The rows. For a table that was read: its codes, in one column for each of its columns. For baskets that were
    read: a column ``items`` with the ascending codes of each basket. For published data: the rows as in its files, in
    canonical order, as text columns of a table or as one column ``line``."""
    rows: int  # the number of rows, baskets, groups or clusters
    baskets: int = 0  # the number of baskets in all groups or clusters
    order: Callable[[], OrderViolations] | None = None
    """Function that checks whether files of a release are in canonical order; None for rows outside of such files."""
    expected_counts: Mapping[str, int] = field(default_factory=dict)
    """How much is published according to release.json, by its words (``rows``, ``baskets``, ``items``, …); the files
    must agree. Empty for rows that are not in a release yet."""
    path: Path | None = None  # the file or folder of part files, for messages


def schema_of(data: Any) -> Any:
    """The schema of data: everything but its rows. Data in memory is its own schema."""
    return data.schema if isinstance(data, Dataset) else data


def with_schema(data: Any, schema: Any) -> Any:
    """The same rows under another schema; for data in memory, that schema itself."""
    return replace(data, schema=schema) if isinstance(data, Dataset) else schema


def kept(data: Any) -> Any:
    """The same published data for repeated use: lines of baskets in parts are computed only once."""
    if isinstance(data, Dataset) and isinstance(data.schema, Baskets):
        return replace(data, parts=data.parts.keep())
    return data


def value_counts(data: Dataset, table: Table) -> dict[str, Counts]:
    """How many rows have each value of each column of a table."""
    sizes = {column.name: len(column.domain) for column in table.columns}

    def counted(frame: "Frame") -> list[Counts]:
        return [
            np.bincount(frame[name].to_numpy(), minlength=size).astype(np.int64)
            for name, size in sizes.items()
        ]

    def added(one: list[Counts], other: list[Counts]) -> list[Counts]:
        return [first + second for first, second in zip(one, other, strict=True)]

    found = data.parts.select(list(sizes)).fold(counted, added)
    return dict(zip(sizes, found or [np.zeros(size, dtype=np.int64) for size in sizes.values()], strict=True))


NOTE = "(note)"
"""The column of notes: a JSON object in one row of a part, and nothing in the others."""


def noted(frame: "Frame", facts: Mapping[str, Any]) -> "Frame":
    """Rows with facts about them noted on the first row, which must exist."""
    import polars as pl

    note = pl.Series(NOTE, [json.dumps(facts), *[None] * (frame.height - 1)], dtype=pl.String)
    return frame.with_columns(note)


def notes_in(frame: "Frame") -> list[dict[str, Any]]:
    """The notes on the rows of a frame."""
    return [json.loads(note) for note in frame[NOTE].drop_nulls().to_list()]


def notes_of(parts: "Parts") -> tuple[int, list[dict[str, Any]]]:
    """How many rows there are, and the notes on them, in any order."""
    found = parts.fold(
        lambda frame: (frame.height, notes_in(frame)),
        lambda one, other: (one[0] + other[0], one[1] + other[1]),
    )
    return found or (0, [])
