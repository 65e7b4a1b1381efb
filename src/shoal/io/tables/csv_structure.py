"""The shape of delimited text: whether every line has as many cells as there are columns.

It is decided on separators, line ends and quotes alone, a block of bytes at a time and without a loop over lines.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from shoal.arrays import Mask, Rows

_QUOTE, _LINE, _RETURN, _BLANK, _TAB = b'"\n\r \t'
_BLOCK = 1 << 24

_LARGE = 1 << 25
"""Text from which on it is worth the while to load compiled code."""


@dataclass(frozen=True, slots=True)
class Lines:
    """Text in which every line has the same number of cells, quotes stand at the ends of cells, and lines end alike."""

    text: bytes
    rows: int
    quoted: bool


def regular_lines(text: bytes, separator: str, columns: int) -> Lines | None:
    r"""Prove that every line has as many cells as there are columns; None if it cannot be proved.

    That is so if a line has more or fewer cells, is blank, or has a quote inside a cell that does not begin with one.
    Line ends become ``\n``, and blanks between a quote and the separator beside it go, because readers differ in what
    they make of them.

    `text`: lines without a header. The last one is ended too.
    """
    if b'"' in text:
        if len(text) >= _LARGE:
            from shoal.kernels.csv_lines import even_lines

            rows = even_lines(np.frombuffer(text, dtype=np.uint8), ord(separator), columns)
            if rows >= 0:
                return Lines(text, rows, quoted=True)
        return _quoted_lines(text, ord(separator), columns)
    if b"\r" in text:
        text = text.replace(b"\r\n", b"\n")
    if columns == 1 and (text.startswith(b"\n") or b"\n\n" in text):
        return None
    others = bytes(set(range(256)) - {ord(separator), _LINE})
    pattern = separator.encode() * (columns - 1) + b"\n"
    cells = 0
    for start in range(0, len(text), _BLOCK):
        skeleton = text[start : start + _BLOCK].translate(None, others)
        # The block may begin inside a line.
        offset = cells % columns
        whole = pattern * (len(skeleton) // columns + 2)
        if skeleton != whole[offset : offset + len(skeleton)]:
            return None
        cells += len(skeleton)
    return Lines(text, cells // columns, quoted=False)


def _quoted_lines(text: bytes, separator: int, columns: int) -> Lines | None:
    pieces: list[bytes] = []
    rows = 0
    start, size = 0, _BLOCK
    while start < len(text):
        block = np.frombuffer(text, dtype=np.uint8, count=min(size, len(text) - start), offset=start)
        quotes = block == _QUOTE
        inside = np.bitwise_xor.accumulate(quotes)
        ends = np.flatnonzero(((block == separator) | (block == _LINE)) & ~inside)
        lines = np.flatnonzero(block[ends] == _LINE)
        if not len(lines):
            if start + len(block) == len(text):
                return None
            size *= 2
            continue
        stop = int(ends[lines[-1]]) + 1
        plain = _plain(block[:stop], quotes[:stop], inside[:stop], separator)
        if plain is None or not _even(block, ends[: lines[-1] + 1], lines, columns):
            return None
        pieces.append(plain)
        rows += len(lines)
        start, size = start + stop, _BLOCK
    return Lines(b"".join(pieces), rows, quoted=True)


def _even(block: NDArray[np.uint8], ends: Rows, lines: Rows, columns: int) -> bool:
    """Whether every line end is the last of as many ends of cells as there are columns, and no line is blank."""
    if columns > 1:
        return len(ends) == len(lines) * columns and bool((lines % columns == columns - 1).all())
    if len(ends) != len(lines):
        return False
    lengths = np.diff(ends, prepend=-1) - 1
    bare = (lengths == 1) & (block[ends - 1] == _RETURN)
    return not ((lengths == 0) | bare).any()


def _plain(block: NDArray[np.uint8], quotes: Mask, inside: Mask, separator: int) -> bytes | None:
    """The block without blanks beside quotes and carriage returns at line ends; None if a quote stands elsewhere."""
    places = np.flatnonzero(quotes)
    if not (block == _RETURN).any():
        # The last byte is a line end, so every quote has a byte after it.
        opens = inside[places]
        beyond = np.where(opens, places - 1, places + 1)
        neighbor = np.where(beyond >= 0, block[beyond], _LINE)
        if ((neighbor == separator) | (neighbor == _LINE) | (neighbor == _QUOTE)).all():
            return block.tobytes()
    drop = _superfluous(block, places, inside, separator)
    return None if drop is None else block[~drop].tobytes()


def _superfluous(block: NDArray[np.uint8], places: Rows, inside: Mask, separator: int) -> Mask | None:
    """Blanks beside quotes and carriage returns at line ends; None if a quote stands inside a cell."""
    outside = ~inside
    blank = (block == _BLANK) & outside
    if separator != _TAB:
        blank |= (block == _TAB) & outside
    line_ends = np.flatnonzero((block == _LINE) & outside)
    returns = line_ends[line_ends > 0] - 1
    drop = np.zeros(len(block), dtype=np.bool_)
    drop[returns[block[returns] == _RETURN]] = True
    solid = np.flatnonzero(~(blank | drop))
    marks = np.searchsorted(solid, places)
    before, after = np.where(marks > 0, solid[marks - 1], -1), solid[marks + 1]
    opens = inside[places]
    low, high = np.where(opens, before, places), np.where(opens, places, after)
    beyond = np.where(opens, before, after)
    neighbor = np.where(beyond >= 0, block[beyond], _LINE)
    doubled = (neighbor == _QUOTE) & (high - low == 1)
    if not ((neighbor == separator) | (neighbor == _LINE) | doubled).all():
        return None
    apart = high - low > 1
    steps = np.zeros(len(block) + 1, dtype=np.int32)
    np.add.at(steps, low[apart] + 1, 1)
    np.add.at(steps, high[apart], -1)
    drop |= (np.cumsum(steps[:-1]) > 0) & blank
    return drop
