"""From frames to codes: the door where texts become integers, once.

Whatever the type, a column is reduced to its distinct values first, and all that follows — trimming, missing values,
finding out the kind — is done on those. What comes out depends on the values alone, never on the order of the rows.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from shlex import quote
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from shoal.arrays import Codes, Counts, Mask
from shoal.data._calendar import FORM_NAMES
from shoal.data._cell_kinds import (
    Distinct,
    coordinates,
    find_kind,
    places_of,
    positive_zero,
    with_points,
    without_times,
    written_days,
)
from shoal.data._column_kinds import code_remarks, mixed_dates
from shoal.data._frames import named, unnamed
from shoal.data._item_sets import unseparated
from shoal.data._spellings import frequent_spelling
from shoal.data.domain import Domain, Kind
from shoal.data.published_syntax import SUPPRESSED
from shoal.data.role import Role
from shoal.data.table import Column, Table
from shoal.errors import BadData
from shoal.io.reading import Reading, first_line_like_data, strptime_form
from shoal.io.tables.input import FrameInput, Input, Numbered
from shoal.preparation.transform import Transform, Values

if TYPE_CHECKING:
    from polars._typing import PolarsDataType


@dataclass(frozen=True, slots=True, eq=False)
class EncodedTable:
    """A table as it comes from its source."""

    table: Any  # the columns that are kept: a `Table`, or a `Dataset` of one
    left_out: int = 0  # rows that were left out because they have missing values
    persons: Mapping[str, int] = field(default_factory=dict)
    """Columns that are not kept and are called like the numbers of persons, with how many values they have; only those
    in which a value repeats."""
    taken: tuple[str, ...] = ()
    """What is said of how columns are taken: otherwise than by their type, or with a name that looks like data."""
    unread: tuple[str, ...] = ()  # columns of the source that are not kept

    @property
    def remarks(self) -> tuple[str, ...]:
        """What its owner should hear of how it was taken, in sentences: also that rows are counted, and not persons."""
        from shoal.risks.disclosure_warnings import rows_are_counted

        rows = self.table.rows + self.left_out
        return (*self.taken, *(rows_are_counted(name, count, rows) for name, count in self.persons.items()))


def taken_as(columns: Iterable[tuple[str, "PolarsDataType", Kind]]) -> tuple[str, ...]:
    """The sentences on columns of a source with types that are taken for another thing than their type says.

    `columns`: name, type and kind of each column.

    >>> print(taken_as([("zip", pl.Categorical(), Kind.NUMERIC)])[0].partition(". ")[0])
    By what they hold, columns are taken otherwise than by their type: 'zip' (texts) as numbers
    """
    reported, other, spans = [], "", []
    for name, dtype, kind in columns:
        if isinstance(dtype, pl.String | pl.Categorical | pl.Enum) and kind in (Kind.NUMERIC, Kind.DATE):
            reported.append(f"{name!r} (texts) as {'numbers' if kind is Kind.NUMERIC else 'dates'}")
            other = other or f"--kind {quote(f'{name}=nominal')} for names"
        elif isinstance(dtype, pl.Datetime) and kind is Kind.NOMINAL:
            reported.append(f"{name!r} (times) as names of exact moments")
            other = f"--kind {quote(f'{name}=date')} for days"
        elif isinstance(dtype, pl.Duration):
            spans.append(repr(name))
    found = f"By what they hold, columns are taken otherwise than by their type: {', '.join(reported)}. Say {other}."
    lengths = (
        f"Lengths of time are taken as names, in the order of their texts: {', '.join(spans)}. Make them "
        "numbers, of days for example, where their order matters."
    )
    return ((found,) if reported else ()) + ((lengths,) if spans else ())


_PUBLISHED = r"(?s)^(?:\*|\[.*,.*[\])]|\{.*\|.*\})$"
_WHOLE = 2.0**53


def encode_table(
    opened: Input,
    roles: Sequence[tuple[str, Role]],
    reading: Reading,
    watched: Sequence[str] = (),
    steps: Sequence[Transform] = (),
    item_separator: str | None = None,
) -> EncodedTable:
    """Read the columns that have a role, and encode them.

    `roles`: name and role of each column to keep, in the order of the table. `reading`: what is missing, and which
    kinds and orders were given. `watched`: columns of which nothing is kept but whether their values repeat. `steps`:
    of the preparation. `item_separator`: what stands between the items of a cell of items; found out by default. Raises
    `BadData` if a published column holds a cell that looks like a generalized one, if a cell does not fit the kind that
    was given for its column, or if incomplete rows are to be dropped and no row is complete.
    """
    found: dict[str, Distinct] = {}
    persons: dict[str, int] = {}
    types: dict[str, pl.DataType] = {}
    numbers: dict[str, pl.Series] = {}
    height = 0
    kept_names = dict(roles)
    read = [*kept_names, *(name for step in steps for name in step.columns_read if name not in kept_names)]
    watched = [name for name in watched if name not in read]
    for frame in _with_item_cells(opened, [*read, *watched], roles, item_separator):
        here = frozenset(frame.columns)
        persons |= _repeated(frame, opened, [name for name in watched if name in here], reading)
        texts = {
            name: None if kept_names.get(name) is Role.ITEMS else reading for name in read if name in here
        }
        found |= {name: distinct(frame[name], opened, how) for name, how in texts.items()}
        if isinstance(frame, pl.DataFrame) and not opened.of_texts:
            types |= frame.schema
            numbers |= {one.name: one for one in frame if reading.drop_missing and one.dtype != pl.String}
        height = frame.height
        del frame
    rows = np.ones(height, dtype=np.bool_)
    if reading.drop_missing:
        rows = _complete(opened, found, reading, rows)
        if not rows.all():
            # How a number is written depends on its column: on the rows that are kept, and no others.
            kept = pl.Series(rows)
            found = {
                name: distinct(unnamed(numbers[name]).filter(kept).alias(name), opened, reading)
                if name in numbers
                else column.take(rows)
                for name, column in found.items()
            }
    numbers.clear()
    found, reading = prepared_rows(found, steps, reading)
    columns = []
    for name, role in roles:
        column = found.pop(name)

        def fault(message: str, place: int, name: str = name, column: Distinct = column) -> BadData:
            return opened.fault(message, int(np.flatnonzero(rows)[column.places == place][0]), name)

        counts = np.bincount(column.places, minlength=len(column.texts))
        columns.append(encode_column(column, name, role, reading, fault, counts, steps))

    def line_of(column: Column, code: int) -> int | None:
        return opened.fault("", int(np.flatnonzero(rows)[column.codes == code][0]), column.name).line

    taken = how_taken(opened, columns, types, reading, line_of)
    if item_separator is not None:
        taken += unseparated([one for one in columns if one.role is Role.ITEMS], item_separator)
    unread = tuple(name for name in opened.names if name not in kept_names)
    return EncodedTable(Table(tuple(columns)), int((~rows).sum()), persons, taken, unread)


def _complete(opened: Input, found: Mapping[str, Distinct], reading: Reading, rows: Mask) -> Mask:
    """Which rows have no missing value: a row is incomplete in its source, whatever is kept of it."""
    for column in found.values():
        rows = rows & ~column.missing
    if others := [name for name in opened.names if name not in found]:
        rows = rows & complete_rows(opened.frame(others), reading)
    if not rows.any():
        raise BadData("every row has a missing value, so dropping those leaves none.", opened.path)
    return rows


def _with_item_cells(
    opened: Input, names: Sequence[str], roles: Sequence[tuple[str, Role]], separator: str | None
) -> Iterator[pl.DataFrame | Numbered]:
    """The cells of the columns, each set of items as one text; a missing cell holds no item."""
    if all(role is not Role.ITEMS for _, role in roles):
        numbered = opened.numbered(names)
        yield from opened.pieces(names, coded=True) if numbered is None else (numbered,)
        return
    from shoal.data._item_sets import item_column, sets_of
    from shoal.io.baskets.long_tables import read_column

    for frame in opened.pieces(names):
        made = []
        for name in (name for name, role in roles if role is Role.ITEMS and name in frame.columns):
            pairs = read_column(FrameInput(frame.select(named([name])), opened.path), name, separator)
            column = item_column(name, sets_of(pairs.rows, pairs.texts, pairs.count))
            labels = pl.Series(name, column.domain.labels, dtype=pl.String)
            made.append(labels.gather(pl.Series(column.codes)))
        yield frame.with_columns(made) if made else frame


def how_taken(
    opened: Input,
    columns: Sequence[Column],
    types: Mapping[str, pl.DataType],
    reading: Reading,
    line_of: Callable[[Column, int], int | None],
) -> tuple[str, ...]:
    """What is said of how columns are taken: of texts, their names; of others, their kinds where these are found.

    `line_of`: the first line with a value, given by its code, where lines have numbers.
    """
    guessed = [
        column
        for column in columns
        if column.role not in (Role.ENTITY, Role.ITEMS) and reading.kind_of(column.name) is None
    ]
    doubts = [
        sentence
        for column in guessed
        for sentence in (
            *code_remarks(column.name, column.domain),
            *mixed_dates(column.name, column.domain, partial(line_of, column)),
        )
    ]
    if opened.of_texts:
        labels = {column.name: column.domain.labels for column in columns}
        header = first_line_like_data(opened.names, labels) if reading.names is None else ()
        return (*header, *doubts)
    return (
        *taken_as((column.name, types[column.name], column.domain.kind) for column in guessed),
        *doubts,
    )


def encode_column(
    column: Distinct,
    name: str,
    role: Role,
    reading: Reading,
    fault: Callable[[str, int], BadData],
    counts: Counts,
    steps: Sequence[Transform] = (),
) -> Column:
    """Encode a column: give its values one spelling where asked, find out its kind, and refuse cells that do not fit.

    `fault`: an error from a message and the place of a value among the distinct ones. `counts`: the rows of each
    distinct value. `steps`: of the preparation, which is done last.
    """
    if name in reading.normalize:
        column = _in_one_spelling(column, counts)
    if role is Role.ITEMS:
        return Column(name, role, *encode(column, Kind.NOMINAL))
    kind = reading.kind_of(name) or find_kind(column.texts)
    if name in reading.date_formats:
        column = _in_iso_form(column, reading.date_formats[name], fault)
    if kind is Kind.DATE:
        column = Distinct(without_times(column.texts), column.places)
    order = tuple(value.strip() for value in reading.orders.get(name, ()))
    misfit = _misfit(column.texts, kind, order)
    generalized = reading.published and role is Role.QUASI
    if misfit is None and role is not Role.ENTITY and not generalized:
        # What a release hides of a secret is a whole cell: other texts of that kind are no cells of ours.
        hidden = reading.published and role is Role.SENSITIVE
        texts = column.texts.replace(SUPPRESSED, None) if hidden else column.texts
        misfit = _published_syntax(texts, role)
    if misfit is not None:
        raise fault(*misfit)
    for step in steps:
        if name in step.columns_changed and not step.by_rows:
            texts, kind = step.apply(Values(name, column.texts, kind, counts))
            column = Distinct(texts, column.places)
    if kind is Kind.ORDINAL and (misfit := _misfit(column.texts, kind, order)) is not None:
        raise fault(*misfit)
    return Column(name, role, *encode(column, kind, order))


def prepared_rows(
    cells: dict[str, Distinct], steps: Sequence[Transform], reading: Reading
) -> tuple[dict[str, Distinct], Reading]:
    """Cells after the steps that look at whole rows, and how to read what they give."""
    for step in steps:
        if not step.by_rows:
            continue
        formats = {name: one for name, one in reading.date_formats.items() if name in step.columns_changed}
        for name, given in formats.items():
            cells[name] = _in_iso_form(cells[name], given, partial(_column_fault, name))
        cells = {**cells, **step.apply_to_rows(cells)}
        left = {name: one for name, one in reading.date_formats.items() if name not in formats}
        reading = replace(
            reading, date_formats=left, kinds={**reading.kinds, **dict.fromkeys(formats, "date")}
        )
    return cells, reading


def _column_fault(name: str, message: str, _: int) -> BadData:
    return BadData(message, column=name)


def _in_iso_form(column: Distinct, formats: Sequence[str], fault: Callable[[str, int], BadData]) -> Distinct:
    """The column with its days, in the given formats, as ``YYYY-MM-DD``; a text of two meanings is refused."""
    days = [written_days(column.texts, strptime_form(one)) for one in formats]
    first = days[0]
    for place, other in enumerate(days[1:], 1):
        clash = (first != other).fill_null(False)
        if clash.any():
            at = int(clash.arg_true()[0])
            raise fault(
                f"{column.texts[at]!r} is a day in two of the date formats {', '.join(formats[: place + 1])}, and not "
                "the same one; name one format, or correct the cell.",
                at,
            )
        first = first.zip_with(first.is_not_null(), other)
    wrong = first.is_null() & column.texts.is_not_null()
    if wrong.any():
        at = int(wrong.arg_true()[0])
        raise fault(
            f"{column.texts[at]!r} is not a day in the format {' or '.join(formats)}; add its format (--date-format), "
            "or name it as missing (--missing).",
            at,
        )
    return Distinct(first.dt.strftime("%Y-%m-%d"), column.places)


def _in_one_spelling(column: Distinct, counts: Counts) -> Distinct:
    """The column with one text for values that differ in spelling alone, which the most rows have."""
    rows: dict[str, int] = {}
    for text, count in zip(column.texts.to_list(), counts.tolist(), strict=True):
        if text is not None:
            rows[text] = rows.get(text, 0) + count
    spelled = frequent_spelling(rows)
    texts = [None if text is None else spelled[text] for text in column.texts.to_list()]
    return Distinct(pl.Series(texts, dtype=pl.String), column.places)


def complete_rows(frame: pl.DataFrame, reading: Reading) -> Mask:
    """Which rows of a frame miss nothing; there must be one."""
    complete = np.ones(frame.height, dtype=np.bool_)
    opened = FrameInput(frame)
    for series in frame:
        if has_texts(series):
            complete &= ~distinct(series, opened, reading).missing
        else:
            complete &= unnamed(series).is_not_null().to_numpy()
    return complete


def _repeated(
    frame: pl.DataFrame | Numbered, opened: Input, names: Sequence[str], reading: Reading
) -> dict[str, int]:
    """How many values columns have, those in which none repeats or that hold no single values left aside."""
    counts = {}
    for name in names:
        if not has_texts(frame[name]):
            continue
        column = distinct(frame[name], opened, reading)
        values = column.texts.drop_nulls().n_unique()
        if values < int((~column.missing).sum()):
            counts[name] = values
    return counts


def encode_published(
    opened: Input,
    roles: Sequence[tuple[str, Role]],
    plain: Callable[[pl.DataFrame], pl.DataFrame] | None = None,
) -> Table:
    """Encode published cells as they are: names without a kind, nothing trimmed, nothing guessed to be missing.

    `plain`: gives the cells that published texts stand for, where these are written in another way.
    """
    role_of = dict(roles)
    columns = []
    numbered = opened.numbered(list(role_of)) if plain is None else None
    for frame in opened.pieces(list(role_of)) if numbered is None else (numbered,):
        cells = frame if plain is None or isinstance(frame, Numbered) else plain(frame)
        for name in cells.columns:
            column = distinct(cells[name], opened, None)
            texts = column.texts
            both = bool(texts.null_count()) and bool((texts == "").any())
            column = Distinct(tell_empty(texts, both, bool((texts == '""').any())), column.places)
            columns.append(Column(name, role_of[name], *encode(column, Kind.NOMINAL)))
        del frame, cells
    return Table(tuple(columns))


def tell_empty(texts: pl.Series, both: bool, quotes: bool) -> pl.Series:
    """Published texts of which the empty ones are distinguished from missing ones, where a column has both.

    A format with nulls tells them from empty texts, so that they are two values.
    """
    return texts.replace("", '"" (empty)' if quotes else '""') if both else texts


def refuse_nested(series: pl.Series, path: object) -> None:
    """Refuse a column of lists, bytes or the like."""
    if not has_texts(series):
        raise BadData(
            f"the cells are {series.dtype}; a cell must be one text, number or date. Convert or drop the column.",
            None if path is None else str(path),
            column=series.name,
        )


def has_texts(series: pl.Series | Distinct) -> bool:
    """Whether a cell is one text, number or date."""
    return isinstance(series, Distinct) or not (
        series.dtype.is_nested() or series.dtype in (pl.Binary, pl.Object, pl.Unknown)
    )


def distinct(series: pl.Series | Distinct, opened: Input, reading: Reading | None) -> Distinct:
    """Find the distinct values of a column as texts, in no particular order.

    `series`: the column, of any type that has one value a cell, or its distinct texts. `opened`: where it comes from,
    for messages. `reading`: which texts mean a missing value (the empty text always does, and NaN), and the decimal
    sign. None takes all as they are, untrimmed.
    """
    if isinstance(series, Distinct):
        values, places, nulls = unnamed(series.texts), series.places, 0
        missing = None if reading is None else reading.missing_in(series.texts.name)
        comma = reading is not None and reading.decimal == ","
    else:
        refuse_nested(series, opened.path)
        missing = None if reading is None else reading.missing_in(series.name)
        coded = opened.of_texts and isinstance(series.dtype, pl.Categorical)
        comma = reading is not None and reading.decimal == "," and (coded or series.dtype == pl.String)
        series = unnamed(series)
        if coded:
            series = series.fill_null("")
        elif series.dtype.is_float():
            series = series if missing is None else series.fill_nan(None)
        elif not (series.dtype.is_integer() or series.dtype.is_temporal()):
            series = series.cast(pl.String)
        (values, places), nulls = places_of(series), series.null_count()
    texts = to_texts(values)
    if missing is not None:
        texts = texts.str.strip_chars()
        blank = texts.is_in([*missing, ""]) | _is_written(values, missing)
        if blank.any():
            texts = texts.set(blank, None)
    if comma:
        texts = with_points(texts)
    if nulls:
        texts = texts.extend_constant(None, 1)
    return Distinct(texts, places)


def encode(column: Distinct, kind: Kind, order: tuple[str, ...] = ()) -> tuple[Domain, Codes]:
    """The domain of a column and the codes of its rows.

    Equal numbers are one value, however they were written; its label is the text without an exponent, then the
    shortest, then the first in code-point order. So it does not depend on the order of the rows.
    """
    texts = column.texts
    frame = pl.DataFrame({"place": np.arange(len(texts), dtype=np.uint32), "text": texts})
    if kind is Kind.NOMINAL:
        frame = frame.with_columns(key=pl.col("text")).sort("key", nulls_last=True)
    elif kind is Kind.ORDINAL:
        ranks = pl.DataFrame(
            {"text": order, "key": np.arange(len(order))}, schema_overrides={"text": pl.String}
        )
        frame = frame.join(ranks, on="text", how="left").sort("key", nulls_last=True)
    else:
        written = (pl.col("text").str.contains("[eE]"), pl.col("text").str.len_chars(), pl.col("text"))
        frame = frame.with_columns(key=coordinates(texts, kind)).sort("key", *written, nulls_last=True)
    first = (frame["key"] != frame["key"].shift(1)).fill_null(False) & frame["key"].is_not_null()
    if len(frame) and frame["key"][0] is not None:
        first[0] = True
    labels = tuple(frame["text"].filter(first).to_list())
    code = (first.cum_sum().cast(pl.Int32) - 1).to_numpy().copy()
    missing = len(labels) if texts.null_count() else None
    code[frame["key"].is_null().to_numpy()] = len(labels)
    values = None
    if kind in (Kind.NUMERIC, Kind.DATE):
        values = frame["key"].filter(first).to_numpy().astype(np.float64)
        values = values if missing is None else np.append(values, np.nan)
    codes_of = np.empty(len(texts), dtype=np.int32)
    codes_of[frame["place"].to_numpy()] = code
    labels = labels if missing is None else (*labels, "")
    return Domain(kind, labels, values, missing), np.take(codes_of, column.places)


def is_plain(values: pl.Series) -> bool:
    """Whether all floats are whole numbers, or all times midnight: then they are written without decimals or times."""
    if values.dtype.is_float():
        whole = values.is_finite() & (values.abs() <= _WHOLE) & (values == values.floor())
        return bool((whole | values.is_nan()).all())
    if isinstance(values.dtype, pl.Datetime):
        return bool((values == values.dt.truncate("1d")).all())
    return True


def to_texts(values: pl.Series, plain: bool | None = None) -> pl.Series:
    """Values of any type as the texts that stand for them in a published file.

    Whole numbers have no decimals, also those of a column of floats if all are whole. Times of day are left out
    where all are midnight.

    `plain`: whether that is so of all values of the column, where these are but some of them.
    """
    dtype, values = values.dtype, unnamed(values)
    plain = is_plain(values) if plain is None else plain
    if dtype.is_float():
        values = positive_zero(values)
        if not plain:
            return values.cast(pl.String)
        texts = values.fill_nan(None).cast(pl.Int64).cast(pl.String)
        return texts.set(values.is_nan().fill_null(False), "NaN")
    if isinstance(dtype, pl.Datetime):
        if plain:
            return values.dt.date().cast(pl.String)
        return values.dt.strftime("%Y-%m-%dT%H:%M:%S%.f" + ("%:z" if dtype.time_zone else ""))
    if dtype == pl.Duration:
        return values.dt.to_string()
    return values.cast(pl.String)


def _is_written(values: pl.Series, texts: Sequence[str]) -> pl.Series | bool:
    """Which values are one of some texts in any writing: whether -9 is missing does not depend on the other rows."""
    if not (values.dtype.is_float() or isinstance(values.dtype, pl.Datetime)):
        return False
    if values.dtype.is_float():
        numbers = pl.Series(texts, dtype=pl.String).cast(pl.Float64, strict=False).drop_nulls()
        return values.cast(pl.Float64).is_in(numbers.to_list())
    midnight = values == values.dt.truncate("1d")
    return midnight & values.dt.date().cast(pl.String).is_in(list(texts))


def _misfit(texts: pl.Series, kind: Kind, order: tuple[str, ...]) -> tuple[str, int] | None:
    """Why and where a column is not of the kind that was given; None if it is."""
    if kind is Kind.NOMINAL:
        return None
    if kind is Kind.ORDINAL:
        wrong = ~texts.is_in(list(order)) & texts.is_not_null()
        why = "is not in the order of this column; add it to the order"
    else:
        wrong = coordinates(texts, kind).is_null() & texts.is_not_null()
        noun = "number" if kind is Kind.NUMERIC else f"date ({FORM_NAMES}, with or without a time of day)"
        why = f"is not a {noun}; name it as missing (--missing), or let the column be nominal"
    place = wrong.arg_max()
    return (f"{texts[place]!r} {why}.", place) if place is not None and wrong.any() else None


def _published_syntax(texts: pl.Series, role: Role) -> tuple[str, int] | None:
    """Which cell looks like a generalized one, so that nobody could tell it from those in a release."""
    wrong = texts.str.contains(_PUBLISHED).fill_null(False)
    if not wrong.any():
        return None
    place = wrong.arg_max()
    assert place is not None
    known = role is Role.QUASI or (role is Role.SENSITIVE and texts[place] == SUPPRESSED)
    other = ", or say that this table is generalized already (--published)" if known else ""
    return (
        f"the cell {texts[place]!r} looks like a published one (*, [1,2] and {{a|b}} are suppressed and generalized "
        f"cells). Rename it, or name it as missing (--missing){other}.",
        place,
    )
