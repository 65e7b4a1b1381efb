"""Baskets in and out: one door for all layouts."""

import os
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import polars as pl

from shoal.arrays import Items, Rows
from shoal.data.baskets import Baskets
from shoal.data.utf8 import BYTE_ORDER_MARK, check_utf8
from shoal.errors import BadData, CannotWrite, UnknownName, WrongUse
from shoal.io.basket_layouts import (
    SAMPLE,
    Layout,
    find_layout,
    parse_layout,
    published_name,
    refuse_further,
    refuse_unwritable,
)
from shoal.io.basket_lines import Tokens, read_lines, read_spmf
from shoal.io.basket_matrix import Ones, read_matrix, write_matrix
from shoal.io.basket_tables import TOLD, Pairs, published_separator, read_column, read_long
from shoal.io.columnar import ARROW, PARQUET, write_arrow, write_parquet
from shoal.io.delimited import Delimited
from shoal.io.excel import ENDINGS
from shoal.io.frames import open_frame
from shoal.io.input import Input
from shoal.io.packing import packed
from shoal.io.part_files import part_files
from shoal.io.reading import Reading
from shoal.io.source import format_of, name_of, read_bytes
from shoal.io.spelling import Spelling
from shoal.io.statistics import READERS
from shoal.io.tables import open_input

if TYPE_CHECKING:
    import pandas

Source: TypeAlias = "str | Path | Sequence[Collection[object]] | pl.DataFrame | pandas.DataFrame"
"""Where baskets come from: a path, ``-`` for standard input, a list of lists or sets, or a frame."""

FRAME_FORMATS = frozenset({*PARQUET, *ARROW, *ENDINGS, *READERS})
"""Endings of files that hold a table and no text."""

_LINES = Spelling("", " ", "\n", "\n")
_SPMF = Spelling("", " -1 ", " -1 -2\n", "-2\n")


def read_baskets(
    source: Source,
    *,
    layout: str | None = None,
    sensitive: Iterable[str] = (),
    insensitive: Iterable[str] = (),
    separator: str | None = None,
    published: bool = False,
) -> Baskets:
    """Read baskets: one set of items a person.

    Items are texts; repeated items of a basket are merged, and the order of its items is not kept.

    Parameters
    ----------
    source
        A path (gzip and Zstandard are unpacked), ``-`` for standard input, a list with a list or set of items for
        each basket, or a polars, pandas or Arrow frame.
    layout
        ``lines``, ``spmf``, ``long:ID,ITEM`` (or ``long`` for the first two columns), ``matrix`` or ``column:NAME``.
        None finds it out from the content, as `shoal.io.basket_layouts.find_layout` describes, and refuses what
        is ambiguous.
    sensitive
        Items that must not be learned about a person.
    insensitive
        Items that are neither known to an adversary nor secret.
    separator
        What stands between the items of a line or cell, or between the cells of a long table or matrix. A separator
        alone, without a layout, means lines.
    published
        Refuse whatever else the file tells: further columns, labels of rows, comments.

    Returns
    -------
    Baskets
        In the order of the source, with a vocabulary of the items that occur.

    Raises
    ------
    BadData
        With file, line and column, if the source cannot be read.
    UnknownName
        If a sensitive or insensitive item does not occur; the message names the near ones.
    WrongUse
        If the layout is ambiguous or unknown, or an item is both sensitive and insensitive.

    Examples
    --------
    >>> baskets = read_baskets([["wine", "meat"], ["cream", "meat", "viagra"]], sensitive=["viagra"])
    >>> baskets.vocabulary, baskets.basket(1)
    (('cream', 'meat', 'viagra', 'wine'), ('cream', 'meat', 'viagra'))
    """
    told = parse_layout(layout, separator) if layout is not None else None
    if told is None and separator is not None:
        told = parse_layout("lines", separator)
    if isinstance(source, str | Path):
        parts = part_files(source)
        alone = parts == [Path(source)]
        baskets = _read_file(source, told, published) if alone else _read_parts(parts, told, published)
    elif (
        isinstance(source, pl.LazyFrame)
        or hasattr(source, "columns")
        or hasattr(source, "__arrow_c_stream__")
    ):
        baskets = _read_table(open_frame(source), told)
    else:
        baskets = _read_python(source, told)
    return with_roles(baskets, sensitive, insensitive)


def with_roles(baskets: Baskets, sensitive: Iterable[str], insensitive: Iterable[str] = ()) -> Baskets:
    """The same baskets with other sensitive and insensitive items, by their texts."""
    if isinstance(sensitive, str) or isinstance(insensitive, str):
        raise WrongUse("Give the sensitive items as a list of texts, not as one text.")
    secret, neutral = _codes(baskets, sensitive), _codes(baskets, insensitive)
    both = np.intersect1d(secret, neutral)
    if len(both):
        item = baskets.vocabulary[both[0]]
        raise WrongUse(f"The item {item!r} is named sensitive and insensitive; choose one.")
    return replace(baskets, sensitive=secret, insensitive=neutral)


def write_baskets(baskets: Baskets, path: str | Path) -> None:
    """Write baskets to a file in their layout, in their order. The file appears when it is whole.

    It is compressed if its name ends in ``.gz`` or ``.zst``; a long table goes into ``.parquet`` and ``.arrow`` too.
    A long table numbers the baskets 1, 2, 3, …; an empty basket is an empty line, ``-2`` in SPMF, a row with an
    empty item in a long table, a row of zeros in a matrix, and an empty cell in a column.

    Raises
    ------
    WrongUse
        If an item cannot be told apart in this layout, such as one with a blank in lines, or the ending is that of
        a format that does not hold it.
    """
    layout = parse_layout(baskets.layout)
    refuse_unwritable(baskets.vocabulary, layout)
    path = Path(path)
    write_frame = _frame_writer(path, layout)
    partial = path.with_name(f".{path.name}.{os.getpid()}.partial")
    try:
        if write_frame is not None:
            write_frame(_long_frame(baskets, layout), partial)
        else:
            with packed(partial, path.suffix) as file:
                if layout.form == "long":
                    _long_frame(baskets, layout).write_csv(file)
                else:
                    for text in _text(baskets, layout):
                        file.write(text)
        partial.replace(path)
    except (OSError, pl.exceptions.ComputeError) as error:
        raise CannotWrite(f"The file {path}", error) from error
    finally:
        partial.unlink(missing_ok=True)


def _frame_writer(path: Path, layout: Layout) -> Callable[[pl.DataFrame, Path], None] | None:
    """What writes a long table into a file of that ending; None if it is a text."""
    ending = format_of(path)
    if ending not in FRAME_FORMATS:
        return None
    if ending == path.suffix.lower() and ending in (*PARQUET, *ARROW) and layout.form == "long":
        return write_parquet if ending in PARQUET else write_arrow
    raise WrongUse(
        f"{path} cannot hold baskets in the layout {layout.form}: write a long table into .parquet or .arrow (--to "
        "long:ID,ITEM), and all others into a text, such as .csv or .dat."
    )


def _read_file(source: str | Path, told: Layout | None, published: bool) -> Baskets:
    if str(source) != "-" and format_of(source) in FRAME_FORMATS:
        return _read_table(open_input(source, Reading()), told, published)
    name = name_of(source)
    # Not read_text: a file of blank lines is a file of empty baskets.
    content = read_bytes(source)
    check_utf8(content, name)
    content = content.removeprefix(BYTE_ORDER_MARK)
    if not content:
        raise BadData("the file is empty; there are no baskets.", name)
    layout = told or find_layout(content[:SAMPLE], name)
    if layout.form == "lines":
        return _from_tokens(read_lines(content, layout.separator), layout)
    if layout.form == "spmf":
        return _from_tokens(read_spmf(content, name, published), layout)
    if layout.form == "matrix":
        return _from_matrix(read_matrix(content, layout.separator, name, published))
    # The separator of a column stands inside its cells.
    between_cells = layout.separator if layout.form == "long" else None
    return _read_table(Delimited(source, Reading(separator=between_cells), text=content), layout, published)


def _read_parts(parts: list[Path], told: Layout | None, published: bool) -> Baskets:
    """Baskets of part files; rows of a long table belong together across parts."""
    first = _read_file(parts[0], told, published)
    layout = told or parse_layout(first.layout)
    if layout.form == "long":
        opened = open_input(parts[0].parent, Reading(separator=layout.separator))
        return _read_table(opened, layout, published)
    return _joined([first, *(_read_file(part, layout, published) for part in parts[1:])])


def _joined(parts: list[Baskets]) -> Baskets:
    """Baskets one after the other, with one vocabulary."""
    vocabulary = tuple(sorted(set().union(*(part.vocabulary for part in parts))))
    places = {item: code for code, item in enumerate(vocabulary)}
    codes = [
        np.array([places[item] for item in part.vocabulary], dtype=np.int32)[part.items] for part in parts
    ]
    lengths = np.concatenate([part.lengths for part in parts])
    none: Items = np.empty(0, dtype=np.int32)
    indptr = np.concatenate(([0], np.cumsum(lengths)))
    begins = np.cumsum([0, *map(len, parts[:-1])])
    unsorted = np.concatenate([begin + part.unsorted for begin, part in zip(begins, parts, strict=True)])[
        :TOLD
    ]
    return Baskets(indptr, np.concatenate(codes), vocabulary, none, none, parts[0].layout, unsorted=unsorted)


def _read_table(source: Input, told: Layout | None, published: bool = False) -> Baskets:
    layout = told or _table_layout(source)
    if published:
        refuse_further(source.names, layout, source.path)
    if layout.form == "long":
        pairs, columns = read_long(source, layout.columns)
        return _from_pairs(pairs, Layout("long", columns))
    if layout.form == "column":
        return _from_pairs(read_column(source, layout.columns[0], layout.separator), layout)
    raise WrongUse(
        f"A table of texts and lists has no layout {layout.form}; say which columns hold the baskets with "
        "long:ID,ITEM or column:NAME."
    )


def _table_layout(source: Input) -> Layout:
    """The only column of lists, or else two columns, the basket's and the item's."""
    frame = source.frame(source.names)
    lists = [name for name in source.names if isinstance(frame.schema[name], pl.List | pl.Array)]
    if len(lists) == 1:
        return Layout("column", (lists[0],))
    if len(source.names) == 2 and not lists:
        return Layout("long", source.names)
    raise WrongUse(
        f"The table has the columns {', '.join(source.names)}: say which hold the baskets with --baskets "
        "long:ID,ITEM or column:NAME (in Python: baskets=…, or layout=… of read_baskets)."
    )


def _read_python(source: Any, told: Layout | None) -> Baskets:
    if isinstance(source, bytes) or not isinstance(source, Iterable):
        raise WrongUse(
            f"Baskets are read from a path, a list of lists or a frame, not from a {type(source).__name__}."
        )
    rows = [_basket_of(basket, place) for place, basket in enumerate(source)]
    if not rows:
        raise BadData("the list is empty; there are no baskets.")
    lengths = np.fromiter(map(len, rows), dtype=np.int64, count=len(rows))
    texts = pl.Series("item", list(map(str, chain.from_iterable(rows))), dtype=pl.String).str.strip_chars(
        " \t\r"
    )
    indptr = np.concatenate(([0], np.cumsum(lengths)))
    blank = (texts == "").to_numpy()
    if blank.any():
        place = int(np.searchsorted(indptr, np.argmax(blank), side="right"))
        raise BadData(f"basket {place} holds an item without a text; leave it out.")
    baskets = _from_tokens(Tokens(indptr, texts), told or Layout("lines"))
    if told is None and any(re.search(r"\s", item) for item in baskets.vocabulary):
        return replace(baskets, layout=str(Layout("long", ("basket", "item"))))
    return baskets


def _basket_of(basket: Any, place: int) -> Collection[object]:
    if isinstance(basket, str | bytes) or not isinstance(basket, Iterable):
        raise WrongUse(f"Basket {place + 1} is {basket!r}, not a list or set of items.")
    row = basket if isinstance(basket, Collection) else tuple(basket)
    if None in row:
        raise BadData(f"basket {place + 1} holds an item without a text; leave it out.")
    return row


def _from_matrix(ones: Ones) -> Baskets:
    """Baskets of a matrix; a column without a 1 is no item."""
    used = np.bincount(ones.columns, minlength=len(ones.names)) > 0
    order = sorted(np.flatnonzero(used).tolist(), key=ones.names.__getitem__)
    places = np.zeros(len(ones.names), dtype=np.int32)
    places[order] = np.arange(len(order), dtype=np.int32)
    vocabulary = tuple(ones.names[place] for place in order)
    return _assembled(ones.rows, places[ones.columns], ones.height, vocabulary, Layout("matrix"))


def _from_tokens(tokens: Tokens, layout: Layout) -> Baskets:
    return _from_pairs(pairs_of(tokens), layout)


def pairs_of(tokens: Tokens) -> Pairs:
    """The basket of each text."""
    rows = np.repeat(np.arange(len(tokens.indptr) - 1), np.diff(tokens.indptr))
    return Pairs(rows, tokens.texts, len(tokens.indptr) - 1)


def _from_pairs(pairs: Pairs, layout: Layout) -> Baskets:
    """Baskets of pairs of a row and a text; texts become codes in ascending code-point order."""
    return from_pairs(pairs, pairs.texts.unique().sort(), layout)


def from_pairs(pairs: Pairs, vocabulary: pl.Series, layout: Layout) -> Baskets:
    """Baskets of pairs of a row and a text of the vocabulary, whose texts ascend."""
    codes = pairs.texts.cast(pl.Enum(vocabulary)).to_physical().to_numpy().astype(np.int32)
    baskets = _assembled(pairs.rows, codes, pairs.count, tuple(vocabulary.to_list()), layout)
    return replace(baskets, misnumbered=pairs.misnumbered) if len(pairs.misnumbered) else baskets


def _assembled(rows: Rows, codes: Items, count: int, vocabulary: tuple[str, ...], layout: Layout) -> Baskets:
    """Baskets of pairs of a row and a code, which are sorted here; repeated pairs are merged."""
    size = max(len(vocabulary), 1)
    mixed = rows.astype(np.int64) * size + codes
    unsorted: Rows = np.empty(0, dtype=np.int64)
    falls = mixed[1:] <= mixed[:-1]
    if falls.any():
        met = np.zeros(count, dtype=np.bool_)
        met[rows[1:][falls]] = True
        unsorted = np.flatnonzero(met)[:TOLD]
        mixed = np.sort(mixed)
        mixed = mixed[np.concatenate(([True], mixed[1:] != mixed[:-1]))]
    indptr = np.searchsorted(mixed, np.arange(count + 1, dtype=np.int64) * size)
    none: Items = np.empty(0, dtype=np.int32)
    return Baskets(
        indptr, (mixed % size).astype(np.int32), vocabulary, none, none, str(layout), unsorted=unsorted
    )


def _codes(baskets: Baskets, items: Iterable[str]) -> Items:
    """The codes of items by their texts, ascending."""
    places = {item: code for code, item in enumerate(baskets.vocabulary)}
    codes = set()
    for item in items:
        if str(item) not in places:
            raise UnknownName("item", str(item), baskets.vocabulary)
        codes.add(places[str(item)])
    return np.array(sorted(codes), dtype=np.int32)


def _text(baskets: Baskets, layout: Layout) -> Iterator[bytes]:
    if layout.form == "matrix":
        yield from write_matrix(baskets)
        return
    if layout.form == "column":
        yield '"{}"\n'.format(layout.columns[0].replace('"', '""')).encode()
    spelling, labels = spelling_of(baskets.vocabulary, layout)
    for text in spelling.texts(labels, baskets.indptr, baskets.items):
        yield text.encode()


def spelling_of(vocabulary: tuple[str, ...], layout: Layout) -> tuple[Spelling, tuple[str, ...]]:
    """How a basket becomes a line, and the text of each item, in a layout that has a line a basket."""
    if layout.form == "spmf":
        return _SPMF, vocabulary
    if layout.form == "column":
        labels = tuple(label.replace('"', '""') for label in vocabulary)
        return Spelling('"', published_separator(vocabulary), '"\n', '""\n'), labels
    return (_LINES if layout.separator is None else Spelling("", layout.separator, "\n", "\n")), vocabulary


def _long_frame(baskets: Baskets, layout: Layout) -> pl.DataFrame:
    """A row for each item of each basket, and one for each empty basket."""
    basket, item = layout.columns or ("basket", "item")
    lengths = baskets.lengths
    rows = np.repeat(np.arange(1, len(baskets) + 1), np.maximum(lengths, 1))
    codes = np.insert(
        baskets.items.astype(np.int64), baskets.indptr[:-1][lengths == 0], len(baskets.vocabulary)
    )
    texts = pl.Series([*baskets.vocabulary, None], dtype=pl.String)
    return pl.DataFrame({basket: rows, item: texts.gather(codes)})


__all__ = ["published_name", "read_baskets", "write_baskets"]
