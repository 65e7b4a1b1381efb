"""Baskets as a matrix of 0 and 1: a row a basket, a column an item."""

import csv
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from shoal.arrays import Items, Rows
from shoal.data.baskets import Baskets
from shoal.errors import BadData
from shoal.io.baskets.layouts import BLANKS, DELIMITERS, is_row_of_cells
from shoal.io.reading import refuse_wrong_names

Bytes = NDArray[np.uint8]

BLOCK = 1 << 24
"""Bytes that are taken apart at a time: a matrix is far larger as text than as baskets."""

ZERO, ONE, NEWLINE = ord("0"), ord("1"), ord("\n")


_WORDS = ((b"1", (b"True", b"TRUE", b"true", b"1.0")), (b"0", (b"False", b"FALSE", b"false", b"0.0")))
"""Cells that mean 1 or 0 and are longer; within a longer cell they leave one that is refused."""


@dataclass(frozen=True, slots=True)
class Ones:
    """The places of a matrix that hold a 1, and the names of its columns."""

    rows: Rows
    columns: Items
    """`rows`, `columns`: the places, row by row."""
    height: int
    names: tuple[str, ...]
    numbered: bool = False  # whether the columns have no names, and are called by their numbers
    trimmed: tuple[str, ...] = ()  # names that had blanks around them


@dataclass(frozen=True, slots=True)
class _Shape:
    """What the first lines say: the names of the items, the separator, and whether rows begin with a label."""

    names: tuple[str, ...]
    separator: str
    labeled: bool = False
    header: bool = False
    numbered: bool = False
    trimmed: tuple[str, ...] = ()

    @property
    def width(self) -> int:
        """Cells of a line, its label included."""
        return len(self.names) + self.labeled


def read_matrix(
    content: bytes,
    separator: str | None,
    path: str | None = None,
    names: Sequence[str] | None = None,
    *,
    published: bool = False,
) -> Ones:
    """The ones of a matrix of 0 and 1, or True and False.

    The first line names the items, unless all its cells are 0 or 1 (or True or False): then items are called 0, 1, 2, …
    A first column without a name is a label of the rows (as pandas writes it) and is left out.

    `names`: the items, for a file without a header. `published`: refuse labels of rows, and items that no basket
    holds: they tell more than the baskets. Raises `BadData` with line and column, if a cell is neither 0 nor 1, or a
    line has too few or too many cells.
    """
    shape = _shape(content, separator, path, names)
    if published and shape.labeled:
        raise BadData("published baskets have no labels; take the first column out.", path)
    begin = content.find(b"\n") + 1 if shape.header else 0
    if shape.header and not begin:
        begin = len(content)
    body = content[begin:].rstrip(b"\r\n")
    if not body:
        raise BadData("there are names of items, but no baskets.", path=path)
    rows, columns, height = [], [], 0
    for block in _blocks(body):
        row, column = np.divmod(_ones(block, shape, height + 1 + shape.header, path), shape.width)
        rows.append(row + height)
        columns.append((column - shape.labeled).astype(np.int32))
        height += block.count(b"\n")
    places = np.concatenate(rows), np.concatenate(columns)
    ones = Ones(*places, height, shape.names, shape.numbered, shape.trimmed)
    unused = np.bincount(ones.columns, minlength=len(ones.names)) == 0
    if published and shape.header and unused.any():
        name = ones.names[int(np.argmax(unused))]
        raise BadData("no basket holds this item, so it is not published; remove it.", path, column=name)
    return ones


def write_matrix(baskets: Baskets) -> Iterator[bytes]:
    """The text of baskets as a matrix, comma separated, piece by piece.

    The first line names the items. Names that are all 0 or 1 would look like cells: then there is no such line, and a
    column for each number up to the largest name.
    """
    header, places = _published_columns(baskets.vocabulary)
    yield header
    width = int(places.max(initial=0)) + 1
    cells = places[baskets.items]
    step = max(1, BLOCK // (2 * width))
    line = np.full(2 * width, ZERO, dtype=np.uint8)
    line[1::2] = ord(",")
    line[-1] = NEWLINE
    for start in range(0, len(baskets), step):
        stop = min(start + step, len(baskets))
        block = np.tile(line, (stop - start, 1))
        first, last = baskets.indptr[start], baskets.indptr[stop]
        row = np.repeat(np.arange(stop - start), baskets.lengths[start:stop])
        block[row, 2 * cells[first:last]] = ONE
        yield block.tobytes()


def _published_columns(names: tuple[str, ...]) -> tuple[bytes, Items]:
    """The header line, and the column of each item."""
    if set(names) <= {"0", "1"}:
        return b"", np.array([int(name) for name in names], dtype=np.int32)
    cells = ('"' + name.replace('"', '""') + '"' if set(name) & set('",\r\n') else name for name in names)
    return (",".join(cells) + "\n").encode(), np.arange(len(names), dtype=np.int32)


def _shape(content: bytes, separator: str | None, path: str | None, given: Sequence[str] | None) -> _Shape:
    lines = content.split(b"\n", 2)
    first = lines[0].decode().rstrip("\r")
    second = lines[1].decode().rstrip("\r") if len(lines) > 1 else ""
    if separator is None:
        cells = (second or first).strip(BLANKS)
        separator = next((mark for mark in (*DELIMITERS, " ") if mark in cells), ",")
    cells_of_first = _cells_in(first, separator, path)
    if given is not None:
        refuse_wrong_names(given, cells_of_first)
        return _Shape(*checked_names(given, path)[:1], separator)
    if not first.strip(BLANKS):
        raise BadData("the first line is blank; it should name the items.", path, 1)
    if is_row_of_cells([cell.strip(BLANKS) for cell in cells_of_first]):
        return _Shape(tuple(map(str, range(len(cells_of_first)))), separator, numbered=True)
    labeled = cells_of_first[0].strip(BLANKS) == ""
    names, trimmed = checked_names(cells_of_first[labeled:], path, 1)
    return _Shape(names, separator, labeled, header=True, trimmed=trimmed)


def _cells_in(line: str, separator: str, path: str | None) -> list[str]:
    if separator == " ":
        return re.split(" +", line.strip(BLANKS))
    try:
        return next(csv.reader([line], delimiter=separator), [])
    except csv.Error as error:
        raise BadData(f"the line cannot be read: {error}.", path, 1) from None


def checked_names(
    names: Sequence[str], path: str | None = None, line: int | None = None
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The names of items without blanks around them, and those that had some; two of one name are refused."""
    plain = tuple(name.strip() for name in names)
    if len(set(plain)) < len(plain) or "" in plain:
        name = next(name for place, name in enumerate(plain) if not name or name in plain[:place])
        what = f"two items are called {name!r}" if name else "an item has no name"
        raise BadData(f"{what}. Give every item a name of its own.", path=path, line=line)
    return plain, tuple(name for name, raw in zip(plain, names, strict=True) if name != raw)


def _blocks(body: bytes) -> Iterator[bytes]:
    """The body in pieces of whole lines; each ends with a newline."""
    start = 0
    while start < len(body):
        stop = body.rfind(b"\n", start, start + BLOCK) + 1
        if not stop:
            stop = body.find(b"\n", start) + 1 or len(body)
        if len(body) - start <= BLOCK:
            stop = len(body)
        piece = body[start:stop]
        yield piece if piece.endswith(b"\n") else piece + b"\n"
        start = stop


def _grid(buffer: Bytes, shape: _Shape) -> Bytes | None:
    """The cells of a block in which all is as it should be, which is quickly seen; None for any other."""
    if shape.labeled or len(buffer) % (2 * shape.width):
        return None
    grid = buffer.reshape(-1, 2 * shape.width)
    cells, between = grid[:, ::2], grid[:, 1::2]
    proper = (between[:, :-1] == ord(shape.separator)).all() and (between[:, -1] == NEWLINE).all()
    return cells if proper and ((cells == ZERO) | (cells == ONE)).all() else None


def _ones(block: bytes, shape: _Shape, first_line: int, path: str | None) -> Rows:
    """The places of ones in the cells of a block, counted row by row."""
    ignored = b'\r"' if shape.separator in " \t" else b'\r" \t'
    block = block.translate(None, ignored)
    if shape.separator == " ":
        block = re.sub(rb" *\n *", b"\n", re.sub(rb" +", b" ", block.lstrip()))
    buffer = np.frombuffer(block, dtype=np.uint8)
    grid = _grid(buffer, shape)
    if grid is not None:
        return np.flatnonzero(grid == ONE)
    for digit, words in _WORDS:
        for word in words:
            block = block.replace(word, digit)
    buffer = np.frombuffer(block, dtype=np.uint8)
    ends = np.flatnonzero((buffer == ord(shape.separator)) | (buffer == NEWLINE))
    newline = buffer[ends] == NEWLINE
    widths = np.diff(np.flatnonzero(newline), prepend=-1)
    wrong = np.flatnonzero(widths != shape.width)
    if len(wrong):
        raise BadData(
            f"the line has {widths[wrong[0]]} cells where {shape.width} are expected. "
            "Check the separator (--separator) and the line.",
            path=path,
            line=first_line + int(wrong[0]),
        )
    values = buffer[ends - 1]
    proper = (np.diff(ends, prepend=-1) == 2) & ((values == ZERO) | (values == ONE))
    if shape.labeled:
        proper[:: shape.width] = True
        values[:: shape.width] = ZERO
    if not proper.all():
        place = int(np.argmin(proper))
        row, column = divmod(place, shape.width)
        start = ends[place - 1] + 1 if place else 0
        cell = buffer[start : ends[place]].tobytes().decode(errors="replace")
        raise BadData(
            f"the cell {cell!r} is neither 0 nor 1. Only matrices of 0 and 1 (or True and False) are read; say what "
            "layout the file has with --baskets.",
            path=path,
            line=first_line + row,
            column=shape.names[column - shape.labeled],
        )
    return np.flatnonzero(values == ONE)
