"""A large published text, read a block of lines at a time: what is kept of a cell is its code alone."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl

from shoal.arrays import Codes
from shoal.data._cell_kinds import Distinct
from shoal.data.domain import Kind
from shoal.data.role import Role
from shoal.data.table import Column, Table
from shoal.errors import BadData
from shoal.io.reading import Reading
from shoal.io.source import BYTE_ORDER_MARK, check_utf8, last_line_end
from shoal.io.tables.delimited import Delimited
from shoal.io.tables.encode import distinct, encode
from shoal.io.tables.input import Input

LARGE = 1 << 26
"""Bytes of a file from which on it is read in blocks."""

BLOCK = 1 << 24
"""Bytes of a block: cells take several times as much, and larger blocks are read no faster."""

MANY = 1_000_000
"""Different texts of a column beyond which a table of them takes more room than the file."""

SPARE = 1.1
"""How many times the rows are expected that there would be, were all lines as long as the first ones."""

TEXTS = (".csv", ".tsv", ".txt")


class _Texts:
    """The texts of a column, numbered in the order in which they are met, and the numbers of its rows.

    `rows`: about how many there will be. Memory of numbers in pieces would not go back to the system, one by one.
    """

    def __init__(self, rows: int) -> None:
        self._numbers: dict[str, int] = {}
        self._rows: Codes = np.empty(rows, dtype=np.int32)
        self._count = 0

    def add(self, column: Distinct) -> bool:
        """Add some rows; whether there is room for more."""
        numbers = [self._numbers.setdefault(text, len(self._numbers)) for text in column.texts.to_list()]
        begin, end = self._count, self._count + len(column.places)
        if end > len(self._rows):
            grown = np.empty(end + end // 4, dtype=np.int32)
            grown[:begin] = self._rows[:begin]
            self._rows = grown
        self._rows[begin:end] = np.array(numbers, dtype=np.int32)[column.places]
        self._count = end
        return len(self._numbers) <= MANY

    def column(self, name: str, role: Role) -> Column:
        """The column of all rows."""
        texts = pl.Series(list(self._numbers), dtype=pl.String)
        return Column(name, role, *encode(Distinct(texts, self._rows[: self._count]), Kind.NOMINAL))


def read_blocks(
    path: str | Path,
    reading: Reading,
    roles: Callable[[Input], Sequence[tuple[str, Role]]],
    plain: Callable[[pl.DataFrame], pl.DataFrame] | None = None,
) -> Table | None:
    """The table of a large published text, as it is when it is read at once; None where that is to be done.

    So it is if the file is small, packed, in an encoding of its own or not in lines, or if a column has very many
    different texts.

    `roles`: from the opened text to name and role of each column. `plain`: gives the cells that published texts stand
    for, where these are written in another way.
    """
    place = Path(path)
    if reading.encoding is not None or place.suffix not in TEXTS or not place.is_file():
        return None
    if place.stat().st_size < LARGE:
        return None
    try:
        return _encoded(place, reading, roles, plain)
    except BadData:
        return None  # whoever reads it at once finds the same fault, and says where it is


def _encoded(
    path: Path,
    reading: Reading,
    roles: Callable[[Input], Sequence[tuple[str, Role]]],
    plain: Callable[[pl.DataFrame], pl.DataFrame] | None,
) -> Table | None:
    role_of: dict[str, Role] = {}
    texts: dict[str, _Texts] = {}
    for block in _blocks(path):
        if block is None:
            return None
        if not texts:
            opened = Delimited(path, reading, trim=False, text=block)
            opened.refuse_wrong_names()
            role_of = dict(roles(opened))
            rows = int(SPARE * block.count(b"\n") * path.stat().st_size / len(block))
            texts = {name: _Texts(rows) for name in role_of}
            reading = replace(reading, names=opened.names, separator=opened.separator)
        else:
            opened = Delimited(path, reading, trim=False, allow_no_rows=True, text=block)
        cells = (opened.numbered(list(role_of)) if plain is None else None) or opened.frame(list(role_of))
        if plain is not None and isinstance(cells, pl.DataFrame):
            cells = plain(cells)
        if not all(texts[name].add(distinct(cells[name], opened, None)) for name in role_of):
            return None
    return Table(tuple(texts.pop(name).column(name, role) for name, role in role_of.items()))


def _blocks(path: Path) -> Iterator[bytes | None]:
    """Blocks of whole lines; None where one cannot be told from the next."""
    rest, first, more = b"", True, True
    with path.open("rb") as file:
        while more:
            text = file.read(BLOCK)
            more = bool(text)
            text = rest + text
            if first:
                text = text.removeprefix(BYTE_ORDER_MARK)
            end = last_line_end(text, quoted=True) if more else len(text)
            whole, rest = text[:end], text[end:]
            del text  # or it would wait beside what is made of its lines
            check_utf8(whole, path)
            if more and not _ends_with_a_row(whole):
                yield None
                return
            if whole:
                yield whole
            first = False


def _ends_with_a_row(text: bytes) -> bool:
    """Whether the last line is not blank: blank lines at the end of a text are passed over, but inside they are not."""
    last = text[-3:].removesuffix(b"\n").removesuffix(b"\r")
    return len(text) > 2 and text.endswith(b"\n") and not last.endswith((b"\n", b"\r")) and bool(last)
