"""Baskets in a table: one row for each item of each basket, or one column with all items of a basket."""

from dataclasses import dataclass, field, replace

import numpy as np
import polars as pl

from shoal.arrays import Rows
from shoal.data._frames import unnamed
from shoal.errors import BadData, UnknownName
from shoal.io.baskets.layouts import BETWEEN_ITEMS, NAMED, ONES, WHITE, ZEROS
from shoal.io.baskets.matrix import Ones, checked_names
from shoal.io.tables.input import Input

CELLS = 1 << 24
"""Cells of a matrix that are looked at together."""

LOOKED_AT = 100
"""Cells of each column that are looked at first."""

WITHOUT_TEXTS = (pl.List, pl.Array, pl.Struct, pl.Binary, pl.Object, pl.Duration)
"""Types of cells that hold no text."""


@dataclass(frozen=True, slots=True)
class Pairs:
    """Which basket holds which item: two columns of equal length, and the number of baskets."""

    rows: Rows
    texts: pl.Series
    count: int
    misnumbered: Rows = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    """Some of the baskets that a table calls otherwise than 1, 2, 3, … in their order."""
    trimmed: tuple[str, ...] = ()  # items that had blanks around them
    missing: bool = False  # whether missing items were left out
    missing_baskets: bool = False  # whether lists are missing, which are empty baskets then
    trimmed_baskets: bool = False  # whether names of baskets had blanks around them
    headless: bool = False  # whether the name of the column of baskets is that of a basket too


def read_long(source: Input, columns: tuple[str, ...]) -> tuple[Pairs, tuple[str, str]]:
    """Baskets of a table with one row for each item of each basket, in the order of their first rows.

    Rows of one basket need not stand together. A row without an item stands for its basket alone: so an empty basket
    can be written.

    `source`: the table. `columns`: the columns of the basket and the item; none for the first two. Raises `BadData`
    with its line, if a row names no basket.
    """
    names = columns or tuple(source.names[:2])
    if len(names) < 2:
        raise BadData(
            "a long table has two columns, the basket's and the item's; here is one. Check the separator "
            "(--separator).",
            path=source.path,
        )
    for name in names:
        if name not in source.names:
            raise UnknownName("column", name, source.names)
    frame = source.frame(names)
    (baskets, trimmed_baskets), (items, trimmed) = (_texts(source, frame[name]) for name in names)
    nameless = (baskets == "").to_numpy()
    if nameless.any():
        raise _nameless(source, int(np.argmax(nameless)), names[0])
    rows, distinct = _numbered(baskets)
    present = (items != "").to_numpy()
    pairs = Pairs(
        rows[present],
        items.filter(pl.Series(present)),
        len(distinct),
        misnumbered(distinct),
        trimmed,
        trimmed_baskets=bool(trimmed_baskets),
        headless=bool((distinct == names[0]).any()),
    )
    return pairs, (names[0], names[1])


def misnumbered(texts: pl.Series, before: int = 0) -> Rows:
    """The first of the baskets whose texts are not their numbers, where so many baskets come before.

    >>> misnumbered(pl.Series(["1", "2", "4"])).tolist()
    [2]
    """
    places = pl.Series(np.arange(before + 1, before + 1 + len(texts), dtype=np.int64)).cast(pl.String)
    return np.flatnonzero((texts != places).to_numpy())[:NAMED].astype(np.int64)


def read_column(source: Input, name: str, separator: str | None) -> Pairs:
    """Baskets of a table with a basket in a cell: a list, or items with a separator between them.

    `source`: the table. Its other columns are left alone. `separator`: what stands between items. None takes the first
    of ``|``, ``;``, ``,``, blank and tab that is between two items.
    """
    if name not in source.names:
        raise UnknownName("column", name, source.names)
    cells = unnamed(source.frame([name])[name])
    lists = isinstance(cells.dtype, pl.List | pl.Array)
    if isinstance(cells.dtype.inner if lists else cells.dtype, WITHOUT_TEXTS):  # type: ignore[attr-defined]
        raise BadData(
            "its cells are no sets of items. Sets are lists of texts or numbers, or texts with a separator between.",
            source.path,
            column=name,
        )
    if not lists:
        texts, _ = _texts(source, cells)
        if separator is None:
            separator = between_items(marks_in(texts))
        cells = texts.str.split(separator)
    elif isinstance(cells.dtype, pl.Array):
        cells = cells.arr.to_list()
    rows = np.repeat(np.arange(len(cells), dtype=np.int64), cells.list.len().fill_null(0).to_numpy())
    texts, trimmed = _texts(source, cells.explode(empty_as_null=False, keep_nulls=False))
    present = (texts != "").to_numpy()
    found = Pairs(rows[present], texts.filter(pl.Series(present)), len(cells))
    if not lists:  # blanks around a separator belong to it, and between two of them there is no item
        return found
    return replace(
        found, trimmed=trimmed, missing=not present.all(), missing_baskets=bool(cells.null_count())
    )


def read_ones(source: Input) -> Ones:
    """The ones of a table with a column for each item, of 0 and 1 or True and False.

    Raises `BadData` with its row and column, if a cell is something else, or missing.
    """
    names, trimmed = checked_names(source.names)
    rows, columns, height = [], [], 0
    frame = source.frame(source.names)
    for block in frame.iter_slices(max(1, CELLS // len(names))):
        ones = np.empty((block.height, len(names)), dtype=np.bool_)
        for place, series in enumerate(block):
            one, known = _ones(series)
            if not known.all():
                row = int((~known).arg_max() or 0)
                raise _no_cell(source, series[row], height + row, series.name)
            ones[:, place] = one.to_numpy()
        places = np.nonzero(ones)
        rows.append(places[0] + height)
        columns.append(places[1].astype(np.int32))
        height += block.height
    return Ones(np.concatenate(rows), np.concatenate(columns), height, names, trimmed=trimmed)


def are_ones(frame: pl.DataFrame) -> bool:
    """Whether all cells of a table are 0 and 1, or True and False."""
    return all(_ones(series.head(LOOKED_AT))[1].all() for series in frame) and all(
        _ones(series)[1].all() for series in frame
    )


def _ones(cells: pl.Series) -> tuple[pl.Series, pl.Series]:
    """Which cells are 1, and which are 0 or 1."""
    cells = unnamed(cells)
    if cells.dtype == pl.Boolean:
        return cells.fill_null(False), cells.is_not_null()
    if cells.dtype.is_numeric():
        return (cells == 1).fill_null(False), ((cells == 0) | (cells == 1)).fill_null(False)
    if not isinstance(cells.dtype, pl.String | pl.Categorical | pl.Enum):
        nothing = pl.repeat(False, len(cells), eager=True)
        return nothing, nothing
    texts = cells.cast(pl.String).str.strip_chars(WHITE).str.to_lowercase()
    ones = texts.is_in(list(ONES)).fill_null(False)
    return ones, ones | texts.is_in(list(ZEROS)).fill_null(False)


def _no_cell(source: Input, cell: object, row: int, column: str) -> BadData:
    what = "a missing cell" if cell is None else f"the cell {cell!r}"
    return source.fault(
        f"{what} is neither 0 nor 1. A matrix of baskets holds 0 and 1, or True and False, alone: leave the column out "
        f"if {column!r} is not an item.",
        row,
        column,
    )


def marks_in(texts: pl.Series) -> frozenset[str]:
    """What of all that may separate items stands between two of them in some text.

    >>> sorted(marks_in(pl.Series(["&amp;", "tea, milk", "|"])))
    [' ', ',']
    """
    return frozenset(
        mark
        for mark in BETWEEN_ITEMS
        if texts.str.strip_chars(mark + WHITE).str.contains(mark, literal=True).any()
    )


def between_items(marks: frozenset[str]) -> str:
    """What separates the items of cells in which these marks occur."""
    return next((mark for mark in BETWEEN_ITEMS if mark in marks), "|")


def _texts(source: Input, cells: pl.Series) -> tuple[pl.Series, tuple[str, ...]]:
    """Cells as trimmed texts, of which a missing one is empty, and those that had blanks around them."""
    if isinstance(cells.dtype, WITHOUT_TEXTS):
        raise BadData(
            "the column holds no texts. Name another one, or read a column of lists with --baskets column:NAME.",
            path=source.path,
            column=cells.name,
        )
    cells = unnamed(cells)
    texts = texts_of(cells, is_whole(cells))
    return texts, trimmed_in(cells, texts)


def trimmed_in(cells: pl.Series, texts: pl.Series) -> tuple[str, ...]:
    """The texts, each once, that stand in their cells with blanks around them."""
    if not isinstance(cells.dtype, pl.String | pl.Categorical | pl.Enum):
        return ()
    changed = texts.filter((unnamed(cells).cast(pl.String) != texts).fill_null(False) & (texts != ""))
    return tuple(changed.unique().to_list())


def is_whole(cells: pl.Series) -> bool:
    """Whether cells with fractions hold whole numbers alone, which are items without a point then."""
    if not isinstance(cells.dtype, pl.Float32 | pl.Float64):
        return True
    numbers = cells.drop_nulls().drop_nans()
    return bool((numbers == numbers.round()).all() and (numbers.abs() < 2**53).all())


def texts_of(cells: pl.Series, whole: bool) -> pl.Series:
    """Cells as trimmed texts; a missing one is empty."""
    if isinstance(cells.dtype, pl.Float32 | pl.Float64):
        cells = cells.fill_nan(None)
        cells = cells.cast(pl.Int64) if whole else cells
    return cells.cast(pl.String).str.strip_chars(WHITE).fill_null("")


def _numbered(texts: pl.Series) -> tuple[Rows, pl.Series]:
    """The number of each text in the order in which they first occur, and the texts in that order."""
    distinct = texts.unique(maintain_order=True)
    numbers = texts.cast(pl.Enum(distinct)).to_physical().to_numpy().astype(np.int64)
    return numbers, distinct


def _nameless(source: Input, row: int, column: str) -> BadData:
    return source.fault("the row does not say which basket it belongs to.", row, column)
