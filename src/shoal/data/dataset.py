"""Data whose rows need not fit into memory: what an engine hands to a method, and the verbs of its rows."""

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

    def tallies(self, names: Sequence[str]) -> "dict[str, Frame]":
        """Of each of some columns by itself the same as `counts`, however many values there are."""

    def distinct(self, names: Sequence[str]) -> "Parts":
        """The same combinations with their counts as `counts` gives, in parts and in any order."""

    def sort(self, names: Sequence[str]) -> "Parts":
        """The same rows in ascending order, missing cells first, texts by code points."""

    def union(self, other: "Parts") -> "Parts":
        """The same rows, and those of other parts of the engine, with the same columns; in any order."""

    def keep(self) -> "Parts":
        """The same rows, computed once and kept where they are, for whoever asks several times."""

    def as_categories(self) -> "Parts":
        """The same rows, for work that takes categories (`polars.Enum`) for texts too: texts may come so."""

    def collect(self) -> "Frame":
        """All rows, here. Only for what is known to be small."""

    def write(self, folder: str, ending: str, header: str | None = None) -> int:
        """Write the rows in their order as part files (``part-00000.csv``, …) into a new folder; gives their number.

        With the ending ``.parquet`` columns are written. With any other, rows of one text column, each ended by a line
        end; every file begins with the header then, if there is one. A file appears when it is whole.
        """


@dataclass(frozen=True, slots=True)
class TextLayout:
    """How the lines of delimited text become cells."""

    names: tuple[str, ...]  # the columns
    separator: str  # what stands between cells; quotes are as RFC 4180 says
    header: tuple[str, ...] | None
    """The names as they stand in the first line of every file; None where files have no such line."""
    parse: "Callable[[bytes, int, str | Path], Frame]"
    """The cells, as texts, of whole lines without the header: for engines that read text themselves. It gets the
    number of the first line and the file, for messages."""
    numbered: "Callable[[bytes, int, str | Path, Sequence[str]], Frame]"
    """The same for some columns, whose texts may be categories."""
    trim: bool = False  # blanks before a cell, or before its quotes, mean nothing


@dataclass(frozen=True, slots=True, eq=False)
class Dataset:
    """A table, baskets, or what is published of them, whose rows are where an engine has them."""

    schema: Any
    """All but the rows: of a table names, roles, domains and hierarchies; of sets the vocabulary, roles and layout."""
    parts: Parts
    """The rows. Of a table that was read its codes, a column each under its name; of baskets that were read a column
    ``items`` with the ascending codes of each. What is published stands as in its files, in canonical order: text
    columns of a table, or one column ``line``."""
    rows: int  # the number of rows, baskets, groups or clusters
    baskets: int = 0  # the number of baskets of all groups or clusters
    order: Callable[[], OrderViolations] | None = None
    """Finds out whether the files of a release keep the canonical order; None for rows that are in no such file."""
    expected_counts: Mapping[str, int] = field(default_factory=dict)
    """What release.json says of how much is published, by its words (``rows``, ``baskets``, ``items``, …): the files
    must bear it out. Empty for rows that are in no release yet."""
    path: Path | None = None  # the file or folder of part files, for messages


def schema_of(data: Any) -> Any:
    """What there is to say of data without its rows, wherever these are: data in memory is its own schema."""
    return data.schema if isinstance(data, Dataset) else data


def with_schema(data: Any, schema: Any) -> Any:
    """The same rows under another schema; data in memory is its own."""
    return replace(data, schema=schema) if isinstance(data, Dataset) else schema


def kept(data: Any) -> Any:
    """The same published data, to be gone through more than once: lines of baskets are computed once then."""
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
    """Rows with facts about them, on the first one; there must be one."""
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
