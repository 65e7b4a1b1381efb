"""The door for tables in parts: texts become codes where the rows are, by dictionaries that are made here.

One pass finds the distinct values of every column. They go through the same encoder as those of a table in memory, so
that domains and codes are the same, and a second pass looks the codes up.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from shoal.arrays import Codes, Mask
from shoal.data.parted_notes import NOTE
from shoal.data.parts import BUCKET, COUNT, Engine, PartedTable, Parts, TextLayout
from shoal.data.role import Role
from shoal.data.table import Column, Table
from shoal.errors import BadData, WrongUse
from shoal.io.columnar import PARQUET
from shoal.io.delimited import Delimited
from shoal.io.encode import distinct, encode_column, has_texts
from shoal.io.input import FrameInput, Input, check_names
from shoal.io.reading import Reading
from shoal.io.source import STANDARD_INPUT, check_utf8, format_of
from shoal.io.tables import assigned_roles, roles_given

FOREIGN = "\ufffd"
"""What stands where bytes were no UTF-8 text."""


class PartedInput(Input):
    """A source whose rows are in parts: its columns are known, its cells stay where they are."""

    def __init__(self, parts: Parts, path: str | None) -> None:
        self.parts, self.names, self.path = parts, parts.names, path
        check_names(self.names, path)
        taken = next((name for name in self.names if name in (COUNT, BUCKET, NOTE)), None)
        if taken is not None:
            raise BadData(
                "rows in parts need a column of that name themselves. Rename it, or use --engine local.",
                path,
                column=taken,
            )

    def frame(self, columns: Sequence[str]) -> pl.DataFrame:
        """The cells of some columns, here; only for what is known to be small."""
        return self.parts.select(columns).collect()

    def fault(self, message: str, row: int, column: str | None = None) -> BadData:
        """An error in a column: rows in parts have no numbers."""
        return BadData(message, self.path, column=column)


@dataclass(frozen=True, slots=True, eq=False)
class PartedArrival:
    """A table in parts as it comes from its source.

    Parameters
    ----------
    table
        The columns that are kept, encoded.
    left_out
        Rows that were left out because they have missing values.
    """

    table: PartedTable
    left_out: int = 0


def open_parts(
    source: Any, engine: Engine, reading: Reading | None = None, *, raw: bool = False
) -> PartedInput:
    """Open a source of rows where an engine works.

    Parameters
    ----------
    source
        The path of a file or of a folder of part files, of delimited text or Parquet; or parts of the engine.
    reading
        What the source does not tell about itself.
    raw
        Take names and cells as they stand, with the blanks around them: for published files.

    Raises
    ------
    WrongUse
        If the source is of a kind that cannot be read in parts.
    BadData
        If it cannot be read.
    """
    reading = reading or Reading()
    if (own := engine.own(source)) is not None:
        return PartedInput(own, None)
    path = str(source)
    if not isinstance(source, str | Path) or path == STANDARD_INPUT or reading.query or reading.sheet:
        raise WrongUse(
            f"The engine {engine.name} reads Parquet and delimited text from paths; convert other sources first "
            "(shoal convert), or use --engine local."
        )
    ending = format_of(path)
    if ending in PARQUET or (not ending and _holds(path, PARQUET)):
        return PartedInput(engine.columns(path), path)
    if ending not in ("", ".csv", ".tsv", ".txt", ".data"):
        raise WrongUse(
            f"The engine {engine.name} reads Parquet and delimited text, not {ending}; convert it first "
            "(shoal convert), or use --engine local."
        )
    return PartedInput(engine.delimited(path, text_layout(engine.head(path), path, reading, raw=raw)), path)


def text_layout(head: bytes, path: str, reading: Reading, *, raw: bool = False) -> TextLayout:
    """The layout of delimited text, from its beginning."""
    whole = head[: head.rfind(b"\n") + 1] or head
    text = whole.removeprefix(b"\xef\xbb\xbf")
    if not text.strip():
        raise BadData("the file is empty; there is nothing to read.", path)
    opened = Delimited(path, reading, trim=not raw, allow_no_rows=True, text=text)
    header = None if reading.names is not None else opened.header
    parse = partial(_parsed, path, opened.names, opened.separator, raw)
    return TextLayout(opened.names, opened.separator, header, parse, trim=not raw)


def _parsed(
    path: str, names: tuple[str, ...], separator: str, raw: bool, text: bytes, line: int
) -> pl.DataFrame:
    """The cells of whole lines, the first of which has a number."""
    check_utf8(text, path, line)
    reading = Reading(names=names, separator=separator)
    opened = Delimited(path, reading, trim=not raw, allow_no_rows=True, text=text, first_line=line)
    return opened.frame(names)


def receive_parted_table(
    source: Any,
    engine: Engine,
    *,
    quasi: Iterable[str] = (),
    sensitive: Iterable[str] = (),
    identifying: Iterable[str] = (),
    insensitive: Iterable[str] = (),
    entity: str | None = None,
    others: str | None = None,
    reading: Reading | None = None,
    columns: Iterable[str] = (),
) -> PartedArrival:
    """Read a table in parts and give its columns their roles, as `receive_table` does with rows in memory."""
    reading = reading or Reading()
    opened = open_parts(source, engine, reading)
    given = roles_given(quasi, sensitive, identifying, insensitive, entity)
    roles = assigned_roles(opened, given, others, (*reading.kinds, *reading.orders, *columns))
    names = [name for name, _ in roles]
    # A row is incomplete in its source, whatever is kept of it.
    read = list(opened.names) if reading.drop_missing else names
    parts = opened.parts.select(read)
    missing = reading.missing if reading.drop_missing else None
    seen = parts.fold(partial(_seen, names, missing), _joined)
    if seen is None or not seen.rows:
        raise BadData("there are no rows.", opened.path)
    if not seen.kept:
        raise BadData("every row has a missing value, so that dropping those leaves none.", opened.path)
    encoded = [_encoded(seen.values[name], name, role, reading, opened) for name, role in roles]
    lookup = Lookup(
        {name: seen.values[name] for name in names},
        {column.name: column.codes for column in encoded},
        missing,
    )
    schema = Table(tuple(column.take(np.empty(0, dtype=np.int64)) for column in encoded))
    coded = parts.map(lookup, dict.fromkeys(names, pl.Int32)).keep()
    return PartedArrival(PartedTable(schema, coded, seen.kept), seen.rows - seen.kept)


@dataclass(frozen=True, slots=True, eq=False)
class Seen:
    """The distinct values of columns, in any order, and how many rows there are."""

    values: Mapping[str, pl.Series]
    rows: int
    kept: int


def _seen(names: Sequence[str], missing: tuple[str, ...] | None, frame: pl.DataFrame) -> Seen:
    kept = frame if missing is None else frame.filter(pl.Series(complete_rows(frame, missing)))
    values = {name: comparable(kept[name]).unique() for name in names}
    return Seen(values, frame.height, kept.height)


def _joined(one: Seen, other: Seen) -> Seen:
    values = {name: pl.concat([series, other.values[name]]).unique() for name, series in one.values.items()}
    return Seen(values, one.rows + other.rows, one.kept + other.kept)


def _encoded(values: pl.Series, name: str, role: Role, reading: Reading, opened: PartedInput) -> Column:
    """A column of the distinct values alone."""
    column = distinct(values.alias(name), opened, reading.missing)
    foreign = column.texts.str.contains(FOREIGN, literal=True).fill_null(False)
    if foreign.any():
        raise BadData(
            "the text is not UTF-8; convert the file, for example with: iconv -f LATIN1 -t UTF-8 OLD > NEW.",
            opened.path,
            column=name,
        )
    return encode_column(column, name, role, reading, lambda message, _: opened.fault(message, 0, name))


def comparable(series: pl.Series) -> pl.Series:
    """A column whose equal cells are equal: no number is no cell, and zero has no sign."""
    if series.dtype.is_float():
        return (series.fill_nan(None) + 0.0).alias(series.name)
    return series


def complete_rows(frame: pl.DataFrame, missing: tuple[str, ...]) -> Mask:
    """Which rows miss nothing."""
    complete = np.ones(frame.height, dtype=np.bool_)
    opened = FrameInput(frame)
    for series in frame:
        if has_texts(series):
            complete &= ~distinct(series, opened, missing).missing
        else:
            complete &= series.is_not_null().to_numpy()
    return complete


class Lookup:
    """Looks the codes of cells up, where the rows are: a work for `Parts.map`.

    Parameters
    ----------
    values, codes
        For each column its distinct values, and the code of each.
    missing
        Leave out rows with a missing cell: the texts that mean one. None keeps all rows.
    """

    def __init__(
        self, values: Mapping[str, pl.Series], codes: Mapping[str, Codes], missing: tuple[str, ...] | None
    ) -> None:
        self._values, self._codes, self._missing = dict(values), dict(codes), missing
        self._dictionaries: dict[str, Dictionary] = {}

    def __call__(self, frame: pl.DataFrame) -> pl.DataFrame:
        """The codes of each row."""
        if self._missing is not None:
            frame = frame.filter(pl.Series(complete_rows(frame, self._missing)))
        if not self._dictionaries:
            self._dictionaries = {
                name: Dictionary.of(series, self._codes[name]) for name, series in self._values.items()
            }
        return pl.DataFrame(
            {name: found.codes(comparable(frame[name])) for name, found in self._dictionaries.items()},
            schema=dict.fromkeys(self._dictionaries, pl.Int32),
        )

    def __getstate__(self) -> tuple[Any, ...]:
        return self._values, self._codes, self._missing

    def __setstate__(self, state: tuple[Any, ...]) -> None:
        self._values, self._codes, self._missing = state
        self._dictionaries = {}


@dataclass(frozen=True, slots=True, eq=False)
class Dictionary:
    """The codes of the values of a column.

    Texts are found through an enumeration, which is made once; values of other types by a join.
    """

    kind: Any
    lookup: pl.DataFrame
    by_place: Codes
    blank: int

    @staticmethod
    def of(values: pl.Series, codes: Codes) -> "Dictionary":
        """The dictionary of distinct values, among them perhaps the missing one."""
        null = values.is_null().to_numpy()
        blank = int(codes[null][0]) if null.any() else 0
        present = values.drop_nulls()
        if values.dtype == pl.String:
            return Dictionary(pl.Enum(present), pl.DataFrame(), codes[~null].astype(np.int32), blank)
        lookup = pl.DataFrame({"value": present, "code": codes[~null]}, schema_overrides={"code": pl.Int32})
        return Dictionary(None, lookup, np.empty(0, dtype=np.int32), blank)

    def codes(self, series: pl.Series) -> pl.Series:
        """The code of each cell.

        Raises
        ------
        BadData
            If there is a value that was not there before: then the source gives other rows each time it is read.
        """
        if self.kind is None:
            joined = series.to_frame("value").join(self.lookup, on="value", how="left", maintain_order="left")
            found = joined["code"]
            _refuse_changed(series, found)
            return found.fill_null(self.blank)
        places = series.cast(self.kind, strict=False).to_physical().cast(pl.Int64)
        _refuse_changed(series, places)
        if not len(self.by_place):
            return pl.repeat(self.blank, len(series), dtype=pl.Int32, eager=True)
        codes = self.by_place[places.fill_null(0).to_numpy()]
        return pl.Series(np.where(places.is_null().to_numpy(), self.blank, codes).astype(np.int32))


def _refuse_changed(cells: pl.Series, found: pl.Series) -> None:
    """Refuse values that the first pass over the rows did not see."""
    if found.null_count() != cells.null_count():
        raise BadData(
            "the values are not those that were there a moment ago: the source was changed while it was read, or gives "
            "other rows each time. Write it to a file first.",
            column=cells.name,
        )


def _holds(folder: str, endings: Sequence[str]) -> bool:
    """Whether a folder on this machine holds files of such an ending."""
    place = Path(folder)
    return place.is_dir() and any(entry.suffix.lower() in endings for entry in place.glob("part-*"))
