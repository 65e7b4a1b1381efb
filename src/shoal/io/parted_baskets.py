"""Baskets in parts: read where they lie, and encoded by one vocabulary.

Items become codes as they do in memory: the same functions cut lines and cells into items, part by part. The distinct
items come here, and their codes go back to the parts. Line numbers are not known there, so that messages quote a line.
"""

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import polars as pl

from shoal.data.basket_frames import cells_of
from shoal.data.frames import unnamed
from shoal.data.hashes import text_hashes
from shoal.data.parts import BUCKET, COUNT, Engine, PartedBaskets, Parts
from shoal.data.utf8 import CONVERT, FOREIGN
from shoal.errors import BadData, UnknownName, WrongUse
from shoal.io.basket_layouts import SAMPLE, Layout, find_layout, parse_layout, refuse_further
from shoal.io.basket_lines import COMMENTS, Tokens, read_lines, read_spmf
from shoal.io.basket_tables import (
    Pairs,
    between_items,
    is_whole,
    marks_in,
    read_column,
    read_long,
    texts_of,
)
from shoal.io.baskets import from_pairs, pairs_of, with_roles
from shoal.io.columnar import PARQUET
from shoal.io.input import FrameInput
from shoal.io.parted import open_parts
from shoal.io.reading import Reading
from shoal.io.source import format_of

Cut: TypeAlias = Callable[[pl.DataFrame], Pairs]
"""Cuts the rows of a frame into items: every row, or all rows of a basket together, is a basket."""

ITEM = "item"
"""The column of distinct items."""

LONG_ROW = 512
"""Bytes that work on a row of a long table takes."""

_LISTS = (pl.List, pl.Array)
_WITHOUT_TEXTS = (*_LISTS, pl.Struct, pl.Binary, pl.Duration)


def read_parted_baskets(
    engine: Engine,
    source: Any,
    *,
    layout: str | None = None,
    sensitive: Iterable[str] = (),
    insensitive: Iterable[str] = (),
    separator: str | None = None,
    published: bool = False,
) -> PartedBaskets:
    """Read baskets without bringing them here.

    Parameters
    ----------
    engine
        Where they are to be worked on.
    source
        A path that the engine's workers see, of text or Parquet, a file or a folder of part files; or the rows of a
        table that are there already.
    layout, sensitive, insensitive, separator, published
        As for `shoal.io.baskets.read_baskets`. A matrix is not read in parts.

    Raises
    ------
    BadData
        If the source cannot be read.
    UnknownName
        If a sensitive or insensitive item does not occur, or a column is not there.
    WrongUse
        If the layout is ambiguous, unknown, or a matrix.
    """
    told = parse_layout(layout, separator) if layout is not None else None
    if told is None and separator is not None:
        told = parse_layout("lines", separator)
    path = str(source) if isinstance(source, str | Path) else None
    if path is not None and not _is_parquet(engine, path):
        told = told or find_layout(engine.head(path)[:SAMPLE], path)
        if told.form == "matrix":
            raise WrongUse(
                "A matrix of 0 and 1 is read on one machine alone: convert it to lines first (shoal convert)."
            )
        if told.form in ("lines", "spmf"):
            return baskets_of_lines(engine.lines(path), told, path, sensitive, insensitive, published)
    # The separator of a column stands inside its cells.
    between_cells = told.separator if told is not None and told.form == "long" else None
    parts = open_parts(source, engine, Reading(separator=between_cells)).parts
    told = told or _table_layout(parts.names)
    if published:
        refuse_further(parts.names, told, path)
    if told.form == "long":
        return _of_long(parts, told, path, engine.memory, sensitive, insensitive)
    if told.form == "column":
        return _of_column(parts, told, path, sensitive, insensitive)
    raise WrongUse(
        f"A table has no layout {told.form}; say which columns hold the baskets with long:ID,ITEM or column:NAME."
    )


def baskets_of_lines(
    lines: Parts,
    layout: Layout,
    path: str | None = None,
    sensitive: Iterable[str] = (),
    insensitive: Iterable[str] = (),
    published: bool = False,
) -> PartedBaskets:
    """The baskets of lines, each of which is one: in the layout ``lines`` or ``spmf``."""
    name = lines.names[0]

    def cut(frame: pl.DataFrame) -> Pairs:
        return pairs_of(_tokens(frame[name], layout, path, published))

    vocabulary = _vocabulary(lines, lambda frame: cut(frame).texts, path)
    return _encoded(lines, cut, vocabulary, layout, sensitive, insensitive)


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


def _of_column(
    parts: Parts, layout: Layout, path: str | None, sensitive: Iterable[str], insensitive: Iterable[str]
) -> PartedBaskets:
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

    vocabulary = _vocabulary(parts, lambda frame: cut(frame).texts, path)
    return _encoded(parts, cut, vocabulary, layout, sensitive, insensitive)


def _marks(cells: pl.Series) -> frozenset[str]:
    """What may separate the items of cells; nothing does in lists."""
    return (
        frozenset() if isinstance(cells.dtype, _WITHOUT_TEXTS) else marks_in(texts_of(cells, is_whole(cells)))
    )


def _of_long(
    parts: Parts,
    layout: Layout,
    path: str | None,
    memory: int,
    sensitive: Iterable[str],
    insensitive: Iterable[str],
) -> PartedBaskets:
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

    def texts(frame: pl.DataFrame) -> pl.DataFrame:
        for name in names:
            if isinstance(frame.schema[name], _WITHOUT_TEXTS):
                raise BadData(
                    "the column holds no texts; read a column of lists as column:NAME.", path, column=name
                )
        cells = [texts_of(unnamed(frame[name]), is_one) for name, is_one in zip(names, whole, strict=True)]
        if (cells[0] == "").any():
            raise BadData("a row does not say which basket it belongs to.", path, column=basket)
        number = (text_hashes(cells[0]) % np.uint64(buckets)).astype(np.int64)
        named = [series.alias(name) for series, name in zip(cells, names, strict=True)]
        return pl.DataFrame([*named, pl.Series(BUCKET, number)])

    def items(frame: pl.DataFrame) -> pl.Series:
        return unnamed(frame[item]).filter(unnamed(frame[item]) != "")

    rows_of_texts = parts.map(texts, {basket: pl.String, item: pl.String, BUCKET: pl.Int64})
    vocabulary = _vocabulary(rows_of_texts, items, path)

    def cut(frame: pl.DataFrame) -> Pairs:
        return read_long(FrameInput(frame, path), names)[0]

    return _encoded(
        rows_of_texts, cut, vocabulary, Layout("long", (basket, item)), sensitive, insensitive, BUCKET
    )


def _vocabulary(parts: Parts, items: Callable[[pl.DataFrame], pl.Series], path: str | None) -> pl.Series:
    """The distinct items, ascending."""

    def distinct(frame: pl.DataFrame) -> pl.DataFrame:
        return items(frame).alias(ITEM).unique().to_frame()

    vocabulary = parts.map(distinct, {ITEM: pl.String}).counts([ITEM]).drop(COUNT)[ITEM].sort()
    if vocabulary.str.contains(FOREIGN, literal=True).any():
        raise BadData(f"the text is not UTF-8; {CONVERT}", path)
    return vocabulary


def _encoded(
    parts: Parts,
    cut: Cut,
    vocabulary: pl.Series,
    layout: Layout,
    sensitive: Iterable[str],
    insensitive: Iterable[str],
    together: str | None = None,
) -> PartedBaskets:
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
    schema = with_roles(from_pairs(nothing, vocabulary, layout), sensitive, insensitive)
    return PartedBaskets(schema, encoded, rows)


def _table_layout(names: tuple[str, ...]) -> Layout:
    """The only column, or else two columns, the basket's and the item's."""
    if len(names) == 1:
        return Layout("column", names)
    if len(names) == 2:
        return Layout("long", names)
    raise WrongUse(
        f"The table has the columns {', '.join(names)}: say which hold the baskets with --baskets long:ID,ITEM or "
        "column:NAME (in Python: baskets=…)."
    )


def _is_parquet(engine: Engine, path: str) -> bool:
    return format_of(path) in PARQUET or engine.head(path).startswith(b"PAR1")
