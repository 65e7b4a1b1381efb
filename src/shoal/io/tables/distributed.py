"""The door for tables in parts: texts become codes where the rows are, by dictionaries that are made here.

One pass finds the distinct values of every column. They go through the same encoder as those of a table in memory, so
that domains and codes are the same, and a second pass looks the codes up.
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, TypeAlias

import numpy as np
import polars as pl

from shoal.arrays import Codes, Counts
from shoal.data._cell_kinds import positive_zero
from shoal.data._frames import categories_of, is_coded, unnamed
from shoal.data._suggested_role import numbers_persons
from shoal.data.dataset import BUCKET, COUNT, NOTE, Dataset, Parts, TextLayout
from shoal.data.role import Role, Roles
from shoal.data.table import Column, Table
from shoal.errors import BadData, WrongUse
from shoal.io.reading import Reading
from shoal.io.source import (
    BYTE_ORDER_MARK,
    CONVERT,
    FOREIGN,
    PARQUET,
    STANDARD_INPUT,
    check_utf8,
    format_of,
    is_database,
    part_files,
)
from shoal.io.tables.dataframes import open_frame
from shoal.io.tables.delimited import Delimited
from shoal.io.tables.encode import (
    EncodedTable,
    complete_rows,
    distinct,
    encode_column,
    has_texts,
    how_taken,
    is_plain,
    prepared_rows,
    refuse_nested,
    tell_empty,
    to_texts,
)
from shoal.io.tables.input import FrameInput, Input, check_names
from shoal.io.tables.load import columns_kept, refuse_text_options
from shoal.preparation._key import key_of
from shoal.preparation.transform import Transform

if TYPE_CHECKING:
    from shoal.engines.distributed import Distributed

Missing: TypeAlias = Reading | None
"""What says which cells are missing, where rows with one are left out; None where all rows are kept."""

Seek: TypeAlias = Callable[[str, str, Any, Missing], BadData | None]
"""An error from a message, a column and one of its cells, with the line of the first row that has it."""

_FOREIGN_TYPES = (pl.Datetime, pl.UInt64, pl.Int128, pl.UInt128)
"""Types that Spark does not know, or whose values it changes: it gives times a zone."""


class DistributedInput(Input):
    """A source whose rows are in parts: its columns are known, its cells stay where they are.

    `seek`: finds the line of a cell, where lines have numbers. `types`: the types that columns had before they were
    handed over; those of the parts by default. `of_texts`: whether all cells are texts, as those of text files are:
    others have types, and can be missing.
    """

    def __init__(
        self,
        parts: Parts,
        path: str | None,
        seek: Seek | None = None,
        types: Mapping[str, pl.DataType] | None = None,
        *,
        of_texts: bool = False,
    ) -> None:
        self.parts, self.names, self.path, self._seek = parts, parts.names, path, seek
        self.types, self.of_texts = types or {}, of_texts
        check_names(self.names, path)
        taken = next((name for name in self.names if name in (COUNT, BUCKET, NOTE)), None)
        if taken is not None:
            raise BadData(
                "distributed rows need a column of that name themselves. Rename it, or use --engine local.",
                path,
                column=taken,
            )

    def frame(self, columns: Sequence[str]) -> pl.DataFrame:
        """The cells of some columns, here; only for what is known to be small."""
        return self.parts.select(columns).collect()

    def fault(self, message: str, row: int, column: str | None = None) -> BadData:
        """An error in a column: rows in parts have no numbers."""
        return BadData(message, self.path, column=column)

    def cell_fault(self, message: str, column: str, cell: Any, missing: Missing) -> BadData:
        """An error in a cell of a column; its line is looked for, which takes a pass over the rows."""
        found = None if self._seek is None else self._seek(message, column, cell, missing)
        return found or self.fault(message, 0, column)


def open_parts(
    source: Any, engine: "Distributed", reading: Reading | None = None, *, raw: bool = False
) -> DistributedInput:
    """Open a source of rows where an engine works.

    `source`: the path of a file or of a folder of part files, of delimited text or Parquet; rows that the engine has
    already; or a frame of polars, pandas or Arrow, whose rows are handed to it. `raw`: take names and cells as they
    stand, with the blanks around them: for published files. Raises `WrongUse` if the source is of a kind that cannot be
    read in parts.
    """
    reading = reading or Reading()
    if (own := engine.own(source)) is not None:
        return DistributedInput(own, None)
    if not isinstance(source, str | Path):
        here = open_frame(source)
        types = here.frame(here.names).schema
        opened = DistributedInput(engine.parts(_handed_over(here, reading)), None, types=types)
        opened.orders = here.orders
        return opened
    path = str(source)
    if reading.encoding is not None:
        _refuse(engine, f"text in {reading.encoding}")
    if path == STANDARD_INPUT or is_database(path) or reading.query or reading.sheet:
        _refuse(engine, "standard input, databases or sheets")
    ending = format_of(path)
    if ending in PARQUET or (not ending and _holds(path, PARQUET)):
        refuse_text_options(ending or PARQUET[0], reading)
        _refuse_other_columns(path)
        return DistributedInput(engine.columns(path), path)
    if ending not in ("", ".csv", ".tsv", ".txt", ".data"):
        _refuse(engine, ending)
    layout = text_layout(engine.head(path), path, reading, raw=raw)
    seek = partial(_sought, engine, path, layout) if engine.numbers_lines else None
    return DistributedInput(engine.delimited(path, layout), path, seek, of_texts=True)


def _refuse_other_columns(path: str) -> None:
    """Refuse part files with other columns than the first: an engine would leave them out, and nobody judge them."""
    if "://" in path or not Path(path).is_dir():
        return
    first, *others = part_files(path)
    try:
        names = tuple(pl.read_parquet_schema(first))
        unlike = next((part for part in others if tuple(pl.read_parquet_schema(part)) != names), None)
    except (pl.exceptions.PolarsError, OSError):
        # Which file is damaged is reported when it is read.
        return
    if unlike is not None:
        raise BadData(
            f"the columns are not those of {first}; part files of one table have the same header.", unlike
        )


def _handed_over(here: FrameInput, reading: Reading) -> pl.DataFrame:
    """The cells of a frame of this machine; those that would not be the same on every engine as texts."""
    texts = []
    for series in here.frame(here.names):
        if isinstance(series.dtype, _FOREIGN_TYPES):
            column = distinct(series, here, reading)
            series = column.texts.gather(column.places).alias(series.name)
        texts.append(series)
    return pl.DataFrame(texts)


def _refuse(engine: "Distributed", what: str) -> NoReturn:
    raise WrongUse(
        f"The engine {engine.name} reads Parquet and delimited text from paths, not {what}; convert it first (shoal "
        "convert), or work in memory: --engine local."
    )


def text_layout(head: bytes, path: str, reading: Reading, *, raw: bool = False) -> TextLayout:
    """The layout of delimited text, from its beginning."""
    whole = head[: head.rfind(b"\n") + 1] or head
    text = whole.removeprefix(BYTE_ORDER_MARK)
    if not text.strip():
        raise BadData("the file is empty; there is nothing to read.", path)
    opened = Delimited(path, reading, trim=not raw, allow_no_rows=True, text=text)
    opened.refuse_wrong_names()
    header = None if reading.names is not None else opened.header
    lines = partial(_lines, opened.names, opened.separator, not raw)

    def parse(text: bytes, line: int, place: str | Path) -> pl.DataFrame:
        return lines(text, line, place).frame(opened.names)

    def numbered(text: bytes, line: int, place: str | Path, names: Sequence[str]) -> pl.DataFrame:
        return lines(text, line, place).categories(names)

    return TextLayout(opened.names, opened.separator, header, parse, numbered, trim=not raw)


def _lines(
    names: tuple[str, ...], separator: str, trim: bool, text: bytes, line: int, path: str | Path
) -> Delimited:
    """Whole lines of a file without its header, the first of which has a number."""
    check_utf8(text, path, line)
    reading = Reading(names=names, separator=separator)
    return Delimited(path, reading, trim=trim, allow_no_rows=True, text=text, first_line=line)


def _sought(
    engine: "Distributed",
    path: str,
    layout: TextLayout,
    message: str,
    column: str,
    cell: Any,
    missing: Missing,
) -> BadData | None:
    """An error in the first line of a text that has a cell and is not left out."""
    nothing = pl.DataFrame(schema=dict.fromkeys(layout.names, pl.String))
    found: list[BadData] = []

    def parse(text: bytes, line: int, place: str | Path) -> pl.DataFrame:
        if found:
            return nothing
        opened = _lines(layout.names, layout.separator, layout.trim, text, line, place)
        frame = opened.frame(layout.names)
        rows = unnamed(frame[column]) == cell
        if missing is not None and frame.height:
            rows &= pl.Series(complete_rows(frame, missing))
        if rows.any():
            found.append(opened.fault(message, int(rows.arg_true()[0]), column))
        return nothing

    engine.delimited(path, replace(layout, parse=parse)).fold(len, lambda one, other: one + other)
    return found[0] if found else None


def load_table(
    engine: "Distributed",
    source: Any,
    roles: Roles | None = None,
    reading: Reading | None = None,
    columns: Iterable[str] = (),
    steps: Sequence[Transform] = (),
) -> EncodedTable:
    """Read a table and give its columns their roles, as is done with rows in memory."""
    roles, reading = roles or Roles(), reading or Reading()
    opened = open_parts(source, engine, reading)
    reading = opened.ordered(reading)
    given, steps = columns_kept(opened, roles, (*reading.named, *columns), steps)
    _refuse_whole(engine, steps)
    names = [name for name, _ in given]
    also = [name for step in steps for name in step.columns_read if name not in names]
    # A row is incomplete in its source, whatever is kept of it.
    read = list(opened.names) if reading.drop_missing else [*names, *dict.fromkeys(also)]
    parts = opened.parts.select(read)
    if any(step.by_rows for step in steps):
        parts, reading = _prepared(parts, steps, reading)
    missing = reading if reading.drop_missing else None
    coded = parts.as_categories()
    seen: Seen | None = coded.fold(partial(_seen, names, missing), _joined)
    if seen is None or not seen.rows:
        raise BadData("there are no rows.", opened.path)
    if not seen.kept:
        raise BadData("every row has a missing value, so dropping those leaves none.", opened.path)
    counting = [name for step in steps if step.counts_rows for name in step.columns_changed]
    counted = {*reading.normalize, *counting}
    counts = {name: _counts(parts, name, seen.values[name], missing) for name in names if name in counted}
    encoded = [
        _encoded(seen.values[name], name, role, reading, opened, counts.get(name), steps)
        for name, role in given
    ]
    persons = {} if roles.entity is not None else _persons(opened, set(names), reading)
    lookup = Lookup(
        {name: seen.values[name] for name in names},
        {column.name: column.codes for column in encoded},
        missing,
    )
    schema = Table(tuple(column.take(np.empty(0, dtype=np.int64)) for column in encoded))
    found = coded.map(lookup, dict.fromkeys(names, pl.Int32)).keep()
    types = {name: opened.types.get(name, seen.values[name].dtype) for name in names}

    def line_of(column: Column, code: int) -> int | None:
        cell = seen.values[column.name][int(np.argmax(column.codes == code))]
        return opened.cell_fault("", column.name, cell, missing).line

    taken = how_taken(opened, encoded, types, reading, line_of)
    unread = tuple(name for name in opened.names if name not in schema.names)
    return EncodedTable(Dataset(schema, found, seen.kept), seen.rows - seen.kept, persons, taken, unread)


def _refuse_whole(engine: "Distributed", steps: Sequence[Transform]) -> None:
    for step in steps:
        if step.whole_table:
            raise WrongUse(
                f"--{step.option} of several columns together compares all rows with each other, and the engine "
                f"{engine.name} has them in parts: work in memory (--engine local), or name each column alone."
            )


def _prepared(parts: Parts, steps: Sequence[Transform], reading: Reading) -> tuple[Parts, Reading]:
    """Rows after the steps that look at whole rows, as texts where they changed."""
    for step in steps:
        if step.key_file is not None:
            key_of(step.key_file, f"--{step.option}")  # made here, once, before any worker asks for it
    schema = parts.fold(lambda frame: dict(frame.schema), lambda one, _: one) or {}
    changed = {name for step in steps if step.by_rows for name in step.columns_changed}
    after = {name: formats for name, formats in reading.date_formats.items() if name not in changed}
    kinds = {**reading.kinds, **{name: "date" for name in reading.date_formats if name in changed}}
    work = partial(_prepared_frame, tuple(steps), reading, sorted(changed))
    wanted = {name: pl.String if name in changed else dtype for name, dtype in schema.items()}
    return parts.map(work, wanted), replace(reading, date_formats=after, kinds=kinds)


def _prepared_frame(
    steps: Sequence[Transform], reading: Reading, changed: Sequence[str], frame: pl.DataFrame
) -> pl.DataFrame:
    """Some rows after the steps that look at whole rows."""
    if not frame.height:
        return frame.with_columns(pl.col(name).cast(pl.String) for name in changed)
    read = {*changed, *(name for step in steps for name in step.columns_read)}
    opened = FrameInput(frame)
    cells = {name: distinct(frame[name], opened, reading) for name in frame.columns if name in read}
    cells, _ = prepared_rows(cells, steps, reading)
    texts = [unnamed(cells[name].texts.gather(cells[name].places)).alias(name) for name in changed]
    return frame.with_columns(texts)


@dataclass(frozen=True, slots=True, eq=False)
class Seen:
    """The distinct values of columns in the order in which frames come, and how many rows there are."""

    values: Mapping[str, pl.Series]
    rows: int
    kept: int


def _seen(names: Sequence[str], missing: Missing, frame: pl.DataFrame) -> Seen:
    kept = frame if missing is None else frame.filter(pl.Series(complete_rows(frame, missing)))
    values = {name: _plain(comparable(unnamed(kept[name])).unique(maintain_order=True)) for name in names}
    return Seen(values, frame.height, kept.height)


def _plain(values: pl.Series) -> pl.Series:
    return values.cast(pl.String) if is_coded(values) else values


def _joined(one: Seen, other: Seen) -> Seen:
    values = {
        name: pl.concat([series, other.values[name]]).unique(maintain_order=True)
        for name, series in one.values.items()
    }
    return Seen(values, one.rows + other.rows, one.kept + other.kept)


def _counts(parts: Parts, name: str, values: pl.Series, missing: Missing) -> Counts:
    """The rows of each distinct value of a column, of those that are kept."""

    def kept(frame: pl.DataFrame) -> pl.DataFrame:
        rows = frame if missing is None else frame.filter(pl.Series(complete_rows(frame, missing)))
        return comparable(unnamed(rows[name])).to_frame(name)

    found = parts.map(kept, {name: values.dtype}).counts([name])
    rows = dict(zip(found[name].to_list(), found[COUNT].to_list(), strict=True))
    return np.array([rows.get(value, 0) for value in values.to_list()], dtype=np.int64)


def _encoded(
    values: pl.Series,
    name: str,
    role: Role,
    reading: Reading,
    opened: DistributedInput,
    counts: Counts | None = None,
    steps: Sequence[Transform] = (),
) -> Column:
    """A column of the distinct values alone, and the rows of each where they are asked for."""
    column = distinct(values.alias(name), opened, reading)
    foreign = column.texts.str.contains(FOREIGN, literal=True).fill_null(False)
    if foreign.any():
        raise BadData(f"the text is not UTF-8; {CONVERT}", opened.path, column=name)
    missing = reading if reading.drop_missing else None

    def fault(message: str, place: int) -> BadData:
        return opened.cell_fault(message, name, values[int(np.argmax(column.places == place))], missing)

    rows: Counts = np.zeros(len(column.texts), dtype=np.int64)
    np.add.at(rows, column.places, 1 if counts is None else counts)
    return encode_column(column, name, role, reading, fault, rows, steps)


def _persons(opened: DistributedInput, kept: Collection[str], reading: Reading) -> dict[str, int]:
    """Columns that are not kept and are called like the numbers of persons, as in `EncodedTable`.

    Their values are counted where the rows are, because there may be as many as persons.
    """
    counts = {}
    for name in opened.names:
        if name in kept or not numbers_persons(name):
            continue
        texts = opened.parts.select([name]).map(partial(_present, name, reading), {name: pl.String})
        values, rows = texts.distinct([name]).fold(
            lambda frame: (frame.height, int(frame[COUNT].sum())),
            lambda one, other: (one[0] + other[0], one[1] + other[1]),
        ) or (0, 0)
        if values < rows:
            counts[name] = values
    return counts


def _present(name: str, reading: Reading, frame: pl.DataFrame) -> pl.DataFrame:
    """The cells of a column that are not missing as texts; none of one that holds no single values."""
    if not has_texts(frame[name]):
        return pl.DataFrame(schema={name: pl.String})
    present = ~distinct(frame[name], FrameInput(frame), reading).missing
    return (
        comparable(unnamed(frame[name]))
        .filter(pl.Series(present))
        .cast(pl.String)
        .str.strip_chars()
        .to_frame(name)
    )


def _holds(folder: str, endings: Sequence[str]) -> bool:
    """Whether a folder on this machine holds files of such an ending."""
    place = Path(folder)
    return place.is_dir() and any(entry.suffix.lower() in endings for entry in place.glob("part-*"))


def comparable(series: pl.Series) -> pl.Series:
    """A column whose equal cells are equal: no number is no cell, and zero has no sign."""
    if series.dtype.is_float():
        return positive_zero(series.fill_nan(None))
    return series


class Lookup:
    """Looks the codes of cells up, where the rows are: a work for `Parts.map`.

    `values`, `codes`: for each column its distinct values, and the code of each. `missing`: leave out rows with a
    missing cell: what says which they are. None keeps all rows.
    """

    def __init__(self, values: Mapping[str, pl.Series], codes: Mapping[str, Codes], missing: Missing) -> None:
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
            {
                name: found.codes(comparable(unnamed(frame[name])), name)
                for name, found in self._dictionaries.items()
            },
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

    def codes(self, series: pl.Series, name: str) -> pl.Series:
        """The code of each cell of a column.

        Raises `BadData` if there is a value that was not there before: then the source gives other rows each time it
        is read.
        """
        if self.kind is None:
            joined = series.to_frame("value").join(self.lookup, on="value", how="left", maintain_order="left")
            found = joined["code"]
            _refuse_changed(series, found, name)
            return found.fill_null(self.blank)
        if is_coded(series):
            known = categories_of(series).cast(self.kind, strict=False).to_physical()
            places = known.gather(series.to_physical()).cast(pl.Int64)
        else:
            places = series.cast(self.kind, strict=False).to_physical().cast(pl.Int64)
        _refuse_changed(series, places, name)
        if not len(self.by_place):
            return pl.repeat(self.blank, len(series), dtype=pl.Int32, eager=True)
        codes = self.by_place[places.fill_null(0).to_numpy()]
        return pl.Series(np.where(places.is_null().to_numpy(), self.blank, codes).astype(np.int32))


def _refuse_changed(cells: pl.Series, found: pl.Series, name: str) -> None:
    """Refuse values that the first pass over the rows did not see."""
    if found.null_count() != cells.null_count():
        raise BadData(
            "the values are not those that were there a moment ago: the source was changed while it was read, or gives "
            "other rows each time. Write it to a file first.",
            column=name,
        )


_TEXTS = (pl.String, pl.Categorical, pl.Enum)

LOOKS = "looks"
"""Where the looks of columns stand in what is known of a published file."""


@dataclass(frozen=True, slots=True)
class Look:
    """What must be known of a whole column before some of its cells are texts."""

    plain: bool = True  # all numbers are whole, or all times midnight
    missing: bool = False
    empty: bool = False
    quotes: bool = False
    """`missing`, `empty`, `quotes`: there are nulls, empty texts, and texts of two quotes."""

    def joined(self, other: "Look") -> "Look":
        """What is known of the cells of both."""
        return Look(
            self.plain and other.plain,
            self.missing or other.missing,
            self.empty or other.empty,
            self.quotes or other.quotes,
        )


Looks: TypeAlias = Mapping[str, Look]


def looks_of(opened: DistributedInput) -> Looks:
    """The looks of all columns of a file, which takes a pass over it; text files have no types, and need none.

    Raises `BadData` if a column holds lists, bytes or the like.
    """
    if opened.of_texts:
        return {}
    looks: Looks | None = opened.parts.fold(partial(_looked, path=opened.path), _both)
    return looks or {}


def as_texts(frame: pl.DataFrame, looks: Looks) -> pl.DataFrame:
    """Cells as they stand."""
    return pl.DataFrame([_texts(series, looks.get(series.name)) for series in frame])


def _looked(frame: pl.DataFrame, path: str | Path | None) -> Looks:
    looks = {}
    for series in frame:
        refuse_nested(series, path)
        texts = series.cast(pl.String) if isinstance(series.dtype, _TEXTS) else None
        looks[series.name] = Look(
            is_plain(series),
            bool(series.null_count()),
            texts is not None and bool((texts == "").any()),
            texts is not None and bool((texts == '""').any()),
        )
    return looks


def _both(one: Looks, other: Looks) -> Looks:
    return {name: look.joined(other[name]) for name, look in one.items()}


def _texts(series: pl.Series, look: Look | None) -> pl.Series:
    if look is None:
        return series.cast(pl.String)
    texts = to_texts(series, look.plain).alias(series.name)
    return tell_empty(texts, look.missing and look.empty, look.quotes)
