"""Delimited text with quotes, read byte by byte: check its shape, and number its distinct cells."""

from sys import byteorder
from typing import Any

import numpy as np
from numba.core import cgutils, config, types
from numba.extending import intrinsic
from numpy.typing import NDArray

from shoal.arrays import Codes
from shoal.kernels._jit import jit, lean
from shoal.kernels.popcount import ones

ir: Any = cgutils.ir  # type: ignore[attr-defined]

QUOTE, LINE, RETURN = 34, 10, 13

MOST = 2**15
"""The most distinct cells of a column that are numbered."""

SLOTS = 2**17
"""The number of slots in their hash table, a power of 2."""

PROBES = 64
"""The most slots that are tried for a cell."""

ONES, HIGH = np.uint64(0x0101010101010101), np.uint64(0x8080808080808080)
"""The lowest and the highest bit of each byte of a word."""

SHORT, MIXED = np.uint64(2**56 - 1), np.uint64(0x9E3779B97F4A7C15)


def _word_in_python(text: Any, place: Any) -> np.uint64:
    return np.uint64(int.from_bytes(text[place : place + 8].tobytes(), "little"))


def _put_in_python(text: Any, place: Any, word: Any) -> None:
    text[place : place + 8] = np.frombuffer(int(word).to_bytes(8, "little"), dtype=np.uint8)


def _address(context: Any, builder: Any, signature: Any, values: Any) -> Any:
    """The address of a word in a contiguous text."""
    from numba.np import arrayobj  # needed only to compile

    held = arrayobj.make_array(signature.args[0])(context, builder, values[0])  # type: ignore[no-untyped-call]
    offset = context.cast(builder, values[1], signature.args[1], types.intp)
    return builder.bitcast(builder.gep(held.data, [offset]), ir.IntType(64).as_pointer())


@intrinsic
def _word_compiled(context: Any, text: Any, place: Any) -> tuple[Any, Any]:
    """Read 8 bytes at once, at any alignment."""

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        word = builder.load(_address(context, builder, signature, values), align=1)
        return word if byteorder == "little" else builder.bswap(word)

    return types.uint64(text, place), generate


@intrinsic
def _put_compiled(context: Any, text: Any, place: Any, word: Any) -> tuple[Any, Any]:
    """Write 8 bytes at once, at any alignment."""

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        word = values[2] if byteorder == "little" else builder.bswap(values[2])
        builder.store(word, _address(context, builder, signature, values), align=1)
        return context.get_dummy_value()

    return types.void(text, place, types.uint64), generate


_plain = getattr(config, "DISABLE_JIT", False)
word_at: Any = _word_in_python if _plain else _word_compiled
"""``word_at(text, place)`` inside a kernel: 8 bytes of a contiguous text as a word, the first byte lowest."""
word_at.py_func = _word_in_python
put_word: Any = _put_in_python if _plain else _put_compiled
"""``put_word(text, place, word)`` inside a kernel: writes such a word."""
put_word.py_func = _put_in_python


@lean
def cell_end(text: NDArray[np.uint8], place: int, separator: int) -> int:
    """Where the cell that begins at a place ends; -1 if readers may disagree about the end."""
    size = len(text)
    if place < size and text[place] == QUOTE:
        place += 1
        while place < size:
            if text[place] != QUOTE:
                place += 1
            elif place + 1 < size and text[place + 1] == QUOTE:
                place += 2
            else:
                break
        place += 1
    else:
        while place < size and text[place] != separator and text[place] != LINE:
            if text[place] == QUOTE or text[place] == RETURN:
                return -1
            place += 1
    if place >= size or (text[place] != LINE and text[place] != separator):
        return -1
    return place


@jit
def even_lines(text: NDArray[np.uint8], separator: int, columns: int) -> int:
    r"""The number of lines if each has `columns` cells, and quotes are only at the ends of cells; otherwise -1.

    Text with other complications also gives -1: carriage returns, blank lines, and lines without an end.
    """
    rows, cells, begin, size = 0, 0, 0, len(text)
    while begin < size:
        end = cell_end(text, begin, separator)
        if end < 0:
            return -1
        cells += 1
        if text[end] == LINE:
            if cells != columns or (columns == 1 and end == begin):
                return -1
            rows += 1
            cells = 0
        begin = end + 1
    return rows if cells == 0 else -1


@lean
def _is_again(text: NDArray[np.uint8], separator: int, begin: int, first: int, end: int) -> bool:
    """Whether the cell from `first` to `end` occurs at `begin` too."""
    size = end - first
    if begin + size >= len(text):
        return False
    after = text[begin + size]
    if after != separator and after != LINE:
        return False
    place = 0
    while place + 8 <= size:
        if word_at(text, begin + place) != word_at(text, first + place):
            return False
        place += 8
    while place < size:
        if text[begin + place] != text[first + place]:
            return False
        place += 1
    return True


@lean
def _hits(word: np.uint64, byte: np.uint64) -> np.uint64:
    """Mark each byte of a word that equals `byte` by its highest bit; above the lowest match, others may be set too."""
    apart = word ^ (ONES * byte)
    return (apart - ONES) & ~apart & HIGH


@lean
def _short_cell(text: NDArray[np.uint8], begin: int, separator: int) -> np.uint64:
    """The highest bit of the byte that ends a cell of at most 7 bytes without quotes; 0 for any other cell."""
    if begin + 8 > len(text):
        return np.uint64(0)
    word = word_at(text, begin)
    ends = _hits(word, np.uint64(separator)) | _hits(word, np.uint64(LINE))
    end = ends & (~ends + np.uint64(1))
    odd = _hits(word, np.uint64(QUOTE)) | _hits(word, np.uint64(RETURN))
    return np.uint64(0) if odd & (end - np.uint64(1)) else end


@lean
def _key(text: NDArray[np.uint8], begin: int, end: int) -> np.uint64:
    """The key by which a cell is looked up: its bytes as a word if short, else a hash with the highest bit set."""
    if end - begin < 8:
        word = np.uint64(0)
        for place in range(begin, end):
            word |= np.uint64(text[place]) << np.uint64(8 * (place - begin))
        return word
    mixed = np.uint64(14695981039346656037)
    for place in range(begin, end):
        mixed = (mixed ^ np.uint64(text[place])) * np.uint64(1099511628211)
    return mixed | np.uint64(1 << 63)


@lean
def _numbered(
    text: NDArray[np.uint8],
    separator: int,
    begin: int,
    end: int,
    key: np.uint64,
    line: int,
    slots: Codes,
    keys: NDArray[np.uint64],
    firsts: NDArray[np.int64],
    counts: NDArray[np.int64],
) -> int:
    """The number of a cell, a new one if it was not seen before; -1 if there is no room for it."""
    slot, mask = (key * MIXED) >> np.uint64(40), np.uint64(slots.shape[1] - 1)
    for _ in range(PROBES):
        place = np.int64(slot & mask)
        held = int(slots[line, place])
        if held < 0:
            number = int(counts[line])
            if number == firsts.shape[1]:
                return -1
            slots[line, place] = number
            keys[line, number] = key
            firsts[line, number, 0], firsts[line, number, 1] = begin, end
            counts[line] += 1
            return number
        if keys[line, held] == key and (
            key <= SHORT or _is_again(text, separator, begin, firsts[line, held, 0], firsts[line, held, 1])
        ):
            return held
        slot += np.uint64(1)
    return -1


@lean
def numbered_cells(
    text: NDArray[np.uint8],
    separator: int,
    wanted: Codes,
    numbers: Codes,
    slots: Codes,
    keys: NDArray[np.uint64],
    firsts: NDArray[np.int64],
    counts: NDArray[np.int64],
) -> int:
    r"""Count lines as `even_lines` does, and number cells in the order in which they are first seen.

    Also returns -1 if a column has too many distinct cells. Cells are compared as they are written, so that one with
    quotes differs from the same one without. Cells of at most 7 bytes are compared as a word.

    `wanted`: for each column of the text, the line of `numbers` that it is for, or -1. `numbers`: each line has room
    for as many numbers as the text has line breaks. `slots`: -1 everywhere at first; the length of a line is a power of
    2. `keys`, `firsts`: the word or hash, and the beginning and end, of the cell that each number was first given to.
    `counts`: how many numbers were given, 0 at first.
    """
    row, column, begin, size, columns = 0, 0, 0, len(text), len(wanted)
    while begin < size:
        line = wanted[column]
        number = -1
        mark = _short_cell(text, begin, separator)
        if mark:
            end = begin + int(np.int64(ones(mark - np.uint64(1)))) // 8
            key = word_at(text, begin) & ((mark >> np.uint64(7)) - np.uint64(1))
        else:
            end, key = -1, np.uint64(0)
            if line >= 0 and row > 0:  # equal cells often follow each other
                last = int(numbers[line, row - 1])
                first, stop = int(firsts[line, last, 0]), int(firsts[line, last, 1])
                if _is_again(text, separator, begin, first, stop):
                    number, end = last, begin + stop - first
            if end < 0:
                end = cell_end(text, begin, separator)
                if end < 0:
                    return -1
                if line >= 0:
                    key = _key(text, begin, end)
        if line >= 0:
            if number < 0:
                number = _numbered(text, separator, begin, end, key, line, slots, keys, firsts, counts)
            if number < 0 or row == numbers.shape[1]:
                return -1
            numbers[line, row] = number
        column += 1
        if text[end] == LINE:
            if column != columns or (columns == 1 and end == begin):
                return -1
            row += 1
            column = 0
        elif column == columns:
            return -1
        begin = end + 1
    return row if column == 0 else -1


@lean
def joined_cells(
    cells: NDArray[np.uint8],
    starts: NDArray[np.int64],
    codes: Codes,
    longest: int,
    row: int,
    joined: NDArray[np.uint8],
    filled: NDArray[np.int64],
) -> int:
    """Write the cells of rows one after another, starting at `row`; returns the first row that did not fit.

    Whole words are written, and the next cell overwrites the excess; so there must be room for one more word than the
    cells take.

    `cells`, `starts`: all cells, each with what follows it, and where each begins and ends. `codes`: the cell of each
    row, one line per column. `longest`: the most bytes that a row takes, plus a word. `joined`, `filled`: room for the
    output, and one entry for its number of bytes.
    """
    place = 0
    while row < codes.shape[1] and place + longest <= len(joined):
        for line in range(codes.shape[0]):
            cell = codes[line, row]
            begin, size = starts[cell], starts[cell + 1] - starts[cell]
            for part in range(0, size, 8):
                put_word(joined, place + part, word_at(cells, begin + part))
            place += size
        row += 1
    filled[0] = place
    return row
