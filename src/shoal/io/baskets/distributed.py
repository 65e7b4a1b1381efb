"""Baskets in parts: read where they lie, and encoded by one vocabulary.

Items become codes as they do in memory: the same functions cut lines and cells into items, part by part. The distinct
items come here, and their codes go back to the parts. Line numbers are not known there, so that messages quote a line.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import polars as pl

from shoal.arrays import Rows
from shoal.data._basket_frames import baskets_in, cells_of, rows_of
from shoal.data._frames import unnamed
from shoal.data._hashes import text_hashes
from shoal.data._range_partition import KEY, RANGE, ranges_of
from shoal.data.baskets import Baskets
from shoal.data.dataset import BUCKET, COUNT, Dataset, Parts
from shoal.data.role import Roles
from shoal.errors import BadData, UnknownName, WrongUse
from shoal.io.baskets.assembly import from_pairs, missing_in, pairs_of, trimmed_baskets, trimmed_items
from shoal.io.baskets.layouts import (
    SAMPLE,
    Layout,
    find_layout,
    names_say,
    parse_layout,
    refuse_further,
    refuse_unwritable,
    table_layout,
)
from shoal.io.baskets.lines import COMMENTS, Tokens, read_lines, read_spmf
from shoal.io.baskets.load import EncodedBaskets, given_layout, refuse_names, refuse_trimmed, with_roles
from shoal.io.baskets.load import load_baskets as load_here
from shoal.io.baskets.long_tables import (
    Pairs,
    between_items,
    is_whole,
    marks_in,
    read_column,
    read_long,
    texts_of,
    trimmed_in,
)
from shoal.io.baskets.write import spelling_of
from shoal.io.reading import Reading, first_line_like_data
from shoal.io.source import CONVERT, FOREIGN, FRAME_FORMATS, STANDARD_INPUT, format_of, is_database
from shoal.io.tables.distributed import open_parts
from shoal.io.tables.input import FrameInput

if TYPE_CHECKING:
    from shoal.engines.distributed import Distributed

Cut: TypeAlias = Callable[[pl.DataFrame], Pairs]
"""Cuts the rows of a frame into items: every row, or all rows of a basket together, is a basket."""

ITEM, HOW = "item", "how"
"""The columns of distinct items and of how they were met."""

PLAIN, TRIMMED, MISSED, TRIMMED_BASKET, MISSED_BASKET, HEADLESS = range(6)
"""As it stands, with blanks around it, none at all; of a basket whose name has blanks around it, that is missing, or
that is called like its column."""

LONG_ROW = 512
"""Bytes that work on a row of a long table takes."""

_LISTS = (pl.List, pl.Array)
_WITHOUT_TEXTS = (*_LISTS, pl.Struct, pl.Binary, pl.Duration)


def load_baskets(
    engine: "Distributed",
    source: Any,
    layout: str | None = None,
    reading: Reading | None = None,
    roles: Roles | None = None,
    *,
    published: bool = False,
) -> EncodedBaskets:
    """Read baskets without bringing them here, and tell what their owner should hear of how they were taken.

    `source`: a path that the engine's workers see, of text or Parquet, a file or a folder of part files; the rows of a
    table that are there already; or values that are in memory, which are encoded here and handed to the engine. All
    else is as for `shoal.io.baskets.load.load_baskets`, but a file of a matrix is not read in parts (`WrongUse`).
    """
    reading, roles = reading or Reading(), roles or Roles()
    given = given_layout(layout, reading)
    if not isinstance(source, str | Path) and engine.own(source) is None:
        return _handed_over(engine, load_here(source, layout, reading, roles))
    path = str(source) if isinstance(source, str | Path) else None
    read = _read(engine, source, path, given, reading, published)
    if published:
        refuse_trimmed(read.trimmed, path)
    baskets = replace(read.baskets, schema=with_roles(read.baskets.schema, roles))
    return EncodedBaskets(baskets, (*trimmed_items(read.trimmed), *read.remarks))


@dataclass(frozen=True, slots=True, eq=False)
class _Read:
    """Baskets without roles, and what is to be said of them."""

    baskets: Dataset
    trimmed: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()


def _handed_over(engine: "Distributed", here: EncodedBaskets) -> EncodedBaskets:
    """Baskets of this machine, given to an engine as codes."""
    baskets: Baskets = here.baskets
    rows = engine.parts(cells_of("items", baskets.indptr, baskets.items).to_frame())
    schema = baskets.take(np.empty(0, dtype=np.int64))
    return EncodedBaskets(Dataset(schema, rows, len(baskets)), here.remarks)


def _read(
    engine: "Distributed",
    source: Any,
    path: str | None,
    given: Layout | None,
    reading: Reading,
    published: bool,
) -> _Read:
    if path is not None and _is_text(engine, path):
        given = given or find_layout(engine.head(path)[:SAMPLE], path, reading.names)
        if given.form in ("lines", "spmf"):
            refuse_names(given, reading.names)
            return _of_lines(engine.lines(path), given, path, published)
    if given is not None and given.form == "matrix":
        raise WrongUse(
            "A matrix of 0 and 1 is read on one machine alone: convert it to lines first (shoal convert)."
        )
    # The separator of a column stands inside its cells.
    between_cells = given.separator if given is not None and given.form == "long" else None
    opened = open_parts(source, engine, replace(reading, separator=between_cells))
    parts = opened.parts
    given = given or _layout_of(parts)
    if published:
        refuse_further(parts.names, given, path)
    if given.form == "long":
        headed = opened.of_texts and reading.names is None and not published
        return _of_long(parts, given, path, engine.memory, headed)
    if given.form == "column":
        return _of_column(parts, given, path)
    raise WrongUse(
        f"A table has no layout {given.form}; say which columns hold the baskets with long:ID,ITEM or column:NAME."
    )


def baskets_of_lines(lines: Parts, layout: Layout) -> Dataset:
    """The baskets of lines, each of which is one: in the layout ``lines`` or ``spmf``."""
    return _of_lines(lines, layout, None, published=False).baskets


def _of_lines(lines: Parts, layout: Layout, path: str | None, published: bool) -> _Read:
    name = lines.names[0]

    def cut(frame: pl.DataFrame) -> Pairs:
        return pairs_of(_tokens(frame[name], layout, path, published))

    found = _vocabulary(lines, cut, path)
    return _Read(_encoded(lines, cut, found.texts, layout), found.trimmed)


def _tokens(lines: pl.Series, layout: Layout, path: str | None, published: bool) -> Tokens:
    """The items of each line."""
    if layout.form == "spmf":
        marks = COMMENTS.decode()
        comment = lines.str.contains(rf"^[{marks}]")
        if published and comment.any():
            quoted = lines.filter(comment)[0]
            raise BadData(f"published baskets have no comments; take the line out. It is {quoted!r}.", path)
        lines = lines.filter((lines.str.strip_chars() != "") & ~comment)
        if not len(lines):
            return Tokens(np.zeros(1, dtype=np.int64), pl.Series("item", [], dtype=pl.String))
    content = ("\n".join(lines.to_list()) + "\n").encode()
    if layout.form == "lines":
        return read_lines(content, layout.separator)
    try:
        return read_spmf(content)
    except BadData as error:
        what = str(error).partition(": ")[2] if error.line is not None else str(error)
        quoted = "" if error.line is None else f" The line is {lines[error.line - 1]!r}."
        raise BadData(f"{what}{quoted}", path) from None


def _of_column(parts: Parts, layout: Layout, path: str | None) -> _Read:
    (name,) = layout.columns
    if name not in parts.names:
        raise UnknownName("column", name, parts.names)
    separator = layout.separator
    if separator is None:
        marks = parts.fold(lambda frame: _marks(unnamed(frame[name])), lambda one, other: one | other)
        separator = between_items(marks or frozenset())

    def cut(frame: pl.DataFrame) -> Pairs:
        kind = frame.schema[name]
        if isinstance(kind, _LISTS) and isinstance(kind.inner, pl.Float32 | pl.Float64):
            raise BadData("the items are numbers with fractions; make them texts.", path, column=name)
        return read_column(FrameInput(frame, path), name, separator)

    found = _vocabulary(parts, cut, path)
    return _Read(_encoded(parts, cut, found.texts, layout), found.trimmed, tuple(missing_in(found)))


def _marks(cells: pl.Series) -> frozenset[str]:
    """What may separate the items of cells; nothing does in lists."""
    return (
        frozenset() if isinstance(cells.dtype, _WITHOUT_TEXTS) else marks_in(texts_of(cells, is_whole(cells)))
    )


def _of_long(parts: Parts, layout: Layout, path: str | None, memory: int, headed: bool) -> _Read:
    names = layout.columns or parts.names[:2]
    for name in names:
        if name not in parts.names:
            raise UnknownName("column", name, parts.names)
    if len(names) < 2:
        raise BadData("a long table has two columns, the basket's and the item's; here is one.", path)
    basket, item = names
    looked = parts.fold(
        lambda frame: (frame.height, is_whole(unnamed(frame[basket])), is_whole(unnamed(frame[item]))),
        lambda one, other: (one[0] + other[0], one[1] and other[1], one[2] and other[2]),
    )
    rows, *whole = looked or (0, True, True)
    buckets = rows * LONG_ROW // memory + 1

    def cells_in(frame: pl.DataFrame) -> list[pl.Series]:
        for name in names:
            if isinstance(frame.schema[name], _WITHOUT_TEXTS):
                raise BadData(
                    "the column holds no texts; read a column of lists as column:NAME.", path, column=name
                )
        return [texts_of(unnamed(frame[name]), is_one) for name, is_one in zip(names, whole, strict=True)]

    def texts(frame: pl.DataFrame) -> pl.DataFrame:
        cells = cells_in(frame)
        if (cells[0] == "").any():
            raise BadData("a row does not say which basket it belongs to.", path, column=basket)
        number = (text_hashes(cells[0]) % np.uint64(buckets)).astype(np.int64)
        named = [series.alias(name) for series, name in zip(cells, names, strict=True)]
        return pl.DataFrame([*named, pl.Series(BUCKET, number)])

    def items(frame: pl.DataFrame) -> Pairs:
        ids, cells = cells_in(frame)
        return Pairs(
            np.empty(0, dtype=np.int64),
            cells.filter(cells != ""),
            0,
            trimmed=trimmed_in(frame[item], cells),
            trimmed_baskets=bool(trimmed_in(frame[basket], ids)),
            headless=bool((ids == basket).any()),
        )

    found = _vocabulary(parts, items, path)
    remarks = [trimmed_baskets(basket)] if found.trimmed_baskets else []
    if headed:
        met = {basket: names[:1] * found.headless, item: found.texts.to_list()}
        remarks += first_line_like_data(parts.names, met)
    rows_of_texts = parts.map(texts, {basket: pl.String, item: pl.String, BUCKET: pl.Int64})

    def cut(frame: pl.DataFrame) -> Pairs:
        return read_long(FrameInput(frame, path), names)[0]

    encoded = _encoded(rows_of_texts, cut, found.texts, Layout("long", (basket, item)), BUCKET)
    return _Read(encoded, found.trimmed, tuple(remarks))


def _vocabulary(parts: Parts, items: Cut, path: str | None) -> Pairs:
    """The distinct items, ascending, and what is to be said of all of them; they stand in no basket here."""

    def distinct(frame: pl.DataFrame) -> pl.DataFrame:
        found = items(frame)
        reported = [("", MISSED)] * found.missing + [("", TRIMMED_BASKET)] * found.trimmed_baskets
        reported += [("", MISSED_BASKET)] * found.missing_baskets + [("", HEADLESS)] * found.headless
        reported += [(text, TRIMMED) for text in found.trimmed]
        texts = found.texts.alias(ITEM).unique().to_frame().with_columns(pl.lit(PLAIN, pl.Int64).alias(HOW))
        return pl.concat([texts, pl.DataFrame(reported, schema=texts.schema, orient="row")])

    frame = parts.map(distinct, {ITEM: pl.String, HOW: pl.Int64}).counts([ITEM, HOW]).drop(COUNT)
    vocabulary = frame.filter(pl.col(HOW) == PLAIN)[ITEM].sort()
    ways = set(frame[HOW].to_list())
    if vocabulary.str.contains(FOREIGN, literal=True).any():
        raise BadData(f"the text is not UTF-8; {CONVERT}", path)
    return Pairs(
        np.empty(0, dtype=np.int64),
        vocabulary,
        0,
        trimmed=tuple(frame.filter(pl.col(HOW) == TRIMMED)[ITEM].to_list()),
        missing=MISSED in ways,
        missing_baskets=MISSED_BASKET in ways,
        headless=HEADLESS in ways,
        trimmed_baskets=TRIMMED_BASKET in ways,
    )


def _encoded(
    parts: Parts,
    cut: Cut,
    vocabulary: pl.Series,
    layout: Layout,
    together: str | None = None,
) -> Dataset:
    """Baskets as codes; rows with the same number in the column `together` are cut together."""

    def work(frame: pl.DataFrame) -> pl.DataFrame:
        baskets = from_pairs(cut(frame), vocabulary, layout)
        return cells_of("items", baskets.indptr, baskets.items).to_frame()

    types = {"items": pl.List(pl.Int32)}
    encoded = (parts.map(work, types) if together is None else parts.group(together, work, types)).keep()
    rows = encoded.fold(lambda frame: frame.height, lambda one, other: one + other)
    if not rows:
        raise BadData("there are no baskets.")
    nothing = Pairs(np.empty(0, dtype=np.int64), vocabulary.clear(), 0)
    return Dataset(from_pairs(nothing, vocabulary, layout), encoded, rows)


def _layout_of(parts: Parts) -> Layout:
    """The layout that the columns of a table tell; a matrix is not read in parts."""
    if names_say(parts.names):
        return Layout("long", parts.names)
    lists = parts.fold(_lists, lambda one, _: one) or ()
    return table_layout(parts.names, lists, binary=False)


def _lists(frame: pl.DataFrame) -> tuple[str, ...]:
    return tuple(name for name, kind in frame.schema.items() if isinstance(kind, _LISTS))


def _is_text(engine: "Distributed", path: str) -> bool:
    if path == STANDARD_INPUT or is_database(path) or format_of(path) in FRAME_FORMATS:
        return False
    return not engine.head(path).startswith(b"PAR1")


LINE = "line"
"""The column of lines."""

NUMBERED = 1 << 17
"""Baskets that are numbered together."""


def published_baskets(schema: Baskets, parts: "Parts", rows: int) -> Dataset:
    """Baskets in parts as they are published: in canonical order, in their layout, a line a row.

    `schema`: the baskets without rows; every item of the vocabulary occurs. `parts`: a column ``items`` of ascending
    codes, in any order.
    """
    layout = parse_layout(schema.layout)
    refuse_unwritable(schema.vocabulary, layout)
    if layout.form == "matrix":
        raise WrongUse(
            "A matrix is not written on stream or spark; convert it to lines first (shoal convert)."
        )
    broken = next((item for item in schema.vocabulary if "\n" in item), None)
    if broken is not None:
        raise WrongUse(f"The item {broken!r} holds a line break, and parts are files of lines; rename it.")
    if layout.form == "long":
        lines = _numbered_lines(schema, parts, rows)
    else:
        lines = parts.sort(["items"]).map(lambda frame: _spelled(frame, schema), {LINE: pl.String})
    return Dataset(schema, lines, rows)


def header_of(schema: Baskets) -> str | None:
    """The first line of each file of baskets, in layouts that have one."""
    layout = parse_layout(schema.layout)
    if layout.form == "long":
        return ",".join(map(_cell, layout.columns or ("basket", "item")))
    return '"{}"'.format(layout.columns[0].replace('"', '""')) if layout.form == "column" else None


def _spelled(frame: pl.DataFrame, schema: Baskets) -> pl.DataFrame:
    """Baskets as lines."""
    baskets = baskets_in(frame, schema)
    spelling, labels = spelling_of(schema.vocabulary, parse_layout(schema.layout))
    text = "".join(spelling.texts(labels, baskets.indptr, baskets.items))
    return pl.DataFrame({LINE: text.split("\n")[:-1]}, schema={LINE: pl.String})


def _numbered_lines(schema: Baskets, parts: "Parts", rows: int) -> "Parts":
    """The rows of a long table: the number of the basket in canonical order, and the item."""
    keyed = parts.map(
        lambda frame: frame.with_columns(pl.col("items").alias(KEY)),
        {"items": pl.List(pl.Int32), KEY: pl.List(pl.Int32)},
    )
    ranges = ranges_of(keyed, rows, NUMBERED)
    begins = ranges.begins()
    types = {"basket": pl.Int64, "place": pl.Int64, LINE: pl.String}
    lines = ranges.parts.group(RANGE, lambda frame: _long_lines(frame, schema, begins), types)
    return lines.sort(["basket", "place"]).map(lambda frame: frame.select(LINE), {LINE: pl.String})


def _long_lines(frame: pl.DataFrame, schema: Baskets, begins: Rows) -> pl.DataFrame:
    """The rows of the baskets of one range; an empty basket has a row with an empty item."""
    begin = int(begins[frame[RANGE][0]])
    indptr, items = rows_of(frame.sort("items")["items"])
    lengths = np.diff(indptr)
    basket = begin + 1 + np.repeat(np.arange(len(lengths)), np.maximum(lengths, 1))
    codes = np.insert(items.astype(np.int64), indptr[:-1][lengths == 0], len(schema.vocabulary))
    labels = pl.Series([*map(_cell, schema.vocabulary), ""], dtype=pl.String)
    return pl.DataFrame(
        {"basket": basket, "place": codes, LINE: labels.gather(pl.Series(codes))}
    ).with_columns(pl.format("{},{}", "basket", LINE).alias(LINE))


def _cell(text: str) -> str:
    """A cell of delimited text."""
    return '"' + text.replace('"', '""') + '"' if set(text) & set('",\r\n') else text
