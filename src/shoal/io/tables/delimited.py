"""Delimited text: CSV, TSV and their kin.

Polars parses, which is fast but lenient: it fills short lines with empty cells. So the shape of the text is proved
before, on its separators and line ends alone (`shape`), and Polars sees only text on which all readers agree.

Whether every line has as many cells as there are columns is decided on separators, line ends and quotes alone, a block
of bytes at a time and without a loop over lines.
"""

import csv
import io
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray

from shoal.arrays import Codes, Mask, Rows, indptr_of
from shoal.data._cell_kinds import Distinct
from shoal.data._frames import enumeration, named, unnamed
from shoal.errors import BadData
from shoal.io.reading import Reading, refuse_wrong_names
from shoal.io.source import kept_mark, name_of, read_text, single_character
from shoal.io.tables.input import Input, Numbered, check_names
from shoal.kernels._compiling import is_eager

_QUOTE, _LINE, _RETURN, _BLANK, _TAB = b'"\n\r \t'
_BLOCK = 1 << 20

_LARGE, _SOME, _PIECES = 1 << 25, 1 << 20, 1 << 26
"""Quoted text from which on it is worth the while to load compiled code, and to use it where it is loaded; and that
from which on a text in small pieces is worth it."""

_NUMBERED = 1 << 23
"""Text from which on its cells are numbered by compiled code."""

_TABLES, _TIMES = 1 << 25, 4
"""Bytes that the tables in which cells are looked up may always take, and how many times those of a large text."""

_ROWS, _JOINED = 1 << 16, 1 << 21
"""Rows and bytes that are written at a time."""

_seen = 0
"""Bytes of quoted text that were looked at so far."""


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
        global _seen
        _seen += len(text)
        if len(text) >= (_SOME if "numba" in sys.modules else _LARGE) or _seen >= _PIECES:
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
        plain = _without_quoted(block[:stop], quotes[:stop], inside[:stop], separator)
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


def _without_quoted(block: NDArray[np.uint8], quotes: Mask, inside: Mask, separator: int) -> bytes | None:
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


_CANDIDATES = ",;\t|"
_SAMPLE_BYTES, _SAMPLE_RECORDS = 1 << 16, 30

_CELL, _ROOM = 16, 1 << 29
"""Bytes that a cell takes as a text, and that the cells of some columns may take at a time."""


class Delimited(Input):
    """A delimited text whose separator and names are known: a path, or ``-`` for standard input.

    `reading`: of it `separator`, `names` and `encoding`. `trim`: take blanks around names away, as is done later with
    cells; published files are read raw. `allow_no_rows`: accept a header without rows, as part files may be. `text`:
    what `read_text` gave for the source, where it was read before: standard input can be read once. `first_line`: the
    number of its first line, where that is not the beginning of the file.
    """

    of_texts = True

    def __init__(
        self,
        source: str | Path,
        reading: Reading,
        trim: bool = True,
        allow_no_rows: bool = False,
        text: bytes | None = None,
        first_line: int = 1,
    ) -> None:
        self.path = name_of(source)
        text = read_text(source, reading.encoding) if text is None else text
        self.separator = (
            find_separator(text, reading.names)
            if reading.separator is None
            else single_character(reading.separator)
        )
        self._first_line, self._trim = first_line, trim
        self._proved: Lines | None = None
        self.header: tuple[str, ...] | None = None
        start = 0
        if reading.names is None:
            names, lines = self._header(text)
            self.header = tuple(names)
            self.names = tuple(name.strip() for name in names) if trim else tuple(names)
            check_names(self.names, self.path, line=1)
            for _ in range(lines):
                start = text.find(b"\n", start) + 1 or len(text) + 1
            self._first_line += lines
        else:
            self.names = reading.names
            check_names(self.names, None)
        self._whole = _without_blank_end(
            text, (b" \r" if self.separator == "\t" else b" \t\r") if trim else b"\r"
        )
        self._start = min(start, len(self._whole))  # of the first line below the header
        if not self._has_rows and not allow_no_rows:
            raise BadData("there are no rows below the header.", self.path)

    def refuse_wrong_names(self) -> None:
        """Refuse names that were given for a text whose first line has them, or another number of cells."""
        if self.header is None:
            first = next((cells for _, cells in self._records()), [])
            refuse_wrong_names(self.names, first)

    @property
    def _has_rows(self) -> bool:
        return self._start < len(self._whole)

    @property
    def _text(self) -> bytes:
        """The lines below the header, which is forgotten."""
        if self._start:
            self._whole, self._start = self._whole[self._start :], 0
        return self._whole

    def frame(self, columns: Sequence[str], coded: bool = False) -> pl.DataFrame:
        """The cells of some columns as texts, or as categories, in the given order."""
        if not self._has_rows:
            return pl.DataFrame(schema=dict.fromkeys(columns, pl.String))
        lines = self._lines()
        if lines is None:
            return self._careful(columns)
        places = sorted(self.names.index(column) for column in columns)
        frame = pl.read_csv(
            kept_mark(lines.text),
            has_header=False,
            separator=self.separator,
            quote_char='"' if lines.quoted else None,
            schema={
                str(place): pl.Categorical(pl.Categories.random()) if coded else pl.String
                for place in range(len(self.names))
            },
            columns=places,
            glob=False,
        )
        if frame.height != lines.rows:
            return self._careful(columns)
        frame.columns = [self.names[place] for place in places]
        found = frame.select(named(columns))
        return found if coded else found.fill_null("")

    def pieces(self, columns: Sequence[str], coded: bool = False) -> Iterator[pl.DataFrame]:
        """As many columns at a time as there is room for; each time the text is gone through again."""
        lines = self._lines()
        rows = self._text.count(b"\n") if lines is None else lines.rows
        step = max(_ROOM // ((rows + 1) * _CELL), 1)
        for begin in range(0, max(len(columns), 1), step):
            yield self.frame(columns[begin : begin + step], coded)

    def categories(self, columns: Sequence[str]) -> pl.DataFrame:
        """The cells of some columns, of a block of a text, whose texts are categories where a kernel numbered them."""
        found = self.numbered(columns, _NUMBERED >> 1)
        if found is None:
            return self.frame(columns)
        cells = []
        for name in columns:
            texts = unnamed(found[name].texts)
            cells.append(texts.cast(enumeration(texts.unique())).gather(found[name].places).alias(name))
        return pl.DataFrame(cells)

    def numbered(self, columns: Sequence[str], least: int = _NUMBERED) -> Numbered | None:
        """The cells of some columns by a kernel, which proves the lines on its way.

        `least`: bytes of text that are worth it.
        """
        if not self._has_rows or (len(self._whole) < least and not is_eager()):
            return None
        from shoal.kernels.csv_lines import MOST, SLOTS, numbered_cells

        text, count = np.frombuffer(self._whole, dtype=np.uint8)[self._start :], len(columns)
        blocks = range(0, len(text), _BLOCK)
        rows = sum(int(np.count_nonzero(text[begin : begin + _BLOCK] == _LINE)) for begin in blocks)
        most = min(rows + 1, MOST)
        room = min(SLOTS, 1 << (4 * most - 1).bit_length())
        if count * (4 * room + 24 * most) > max(_TIMES * len(text), _TABLES):
            return None
        wanted = np.full(len(self.names), -1, dtype=np.int32)
        wanted[[self.names.index(name) for name in columns]] = np.arange(count)
        numbers, slots = np.empty((count, rows), dtype=np.int32), np.full((count, room), -1, dtype=np.int32)
        keys, firsts = np.empty((count, most), dtype=np.uint64), np.empty((count, most, 2), dtype=np.int64)
        counts = np.zeros(count, dtype=np.int64)
        with np.errstate(over="ignore"):
            rows = numbered_cells(text, ord(self.separator), wanted, numbers, slots, keys, firsts, counts)
        if rows < 0:
            return None
        held = {}
        for line, name in enumerate(columns):
            cells = (firsts[line, : counts[line]] + self._start).tolist()
            texts = b"\0".join(self._whole[begin:end] for begin, end in cells).decode().split("\0")
            held[name] = Distinct(_unquoted(pl.Series(name, texts, dtype=pl.String)), numbers[line, :rows])
        return Numbered(held, rows)

    def _lines(self) -> Lines | None:
        """The text, if it is proved that every line has as many cells as there are columns."""
        self._proved = self._proved or regular_lines(self._text, self.separator, len(self.names))
        return self._proved

    def fault(self, message: str, row: int, column: str | None = None) -> BadData:
        """An error in one row (counted from 0), with its line."""
        line = self._first_line + row
        if b'"' in self._text:
            line = next(line for place, (line, _) in enumerate(self._records()) if place == row)
        return BadData(message, self.path, line, column)

    def _header(self, text: bytes) -> tuple[list[str], int]:
        """The cells of the first record, and how many lines it takes."""
        reader = csv.reader(_lines(text), delimiter=self.separator, skipinitialspace=self._trim)
        try:
            names, lines = next(reader), reader.line_num
        except csv.Error as error:
            raise BadData(f"the header cannot be read: {error}.", self.path, 1) from None
        if lines > 1 and next(reader, None) is None:
            raise BadData("the header opens a quote that is never closed.", self.path, 1)
        if not any(names):
            raise BadData(
                "the first line is blank; it should name the columns. For a file without a header, "
                "say the names (--names).",
                self.path,
                1,
            )
        return names, lines

    def _records(self) -> Iterator[tuple[int, list[str]]]:
        """Each row with the line it begins on, by the standard library's reader: slow, but exact."""
        reader = csv.reader(
            _lines(self._text), delimiter=self.separator, skipinitialspace=self._trim, strict=True
        )
        line = self._first_line
        try:
            for cells in reader:
                yield line, cells
                line = self._first_line + reader.line_num
        except csv.Error as error:
            what = str(error)
            if "unexpected end" in what or "field larger" in what:
                what = "a quote is opened here and never closed, or a cell is far too long"
            elif "expected after" in what:
                what = "text follows a closing quote; a quote inside quotes is written twice"
            raise BadData(f"{what}.", self.path, line) from None

    def _careful(self, columns: Sequence[str]) -> pl.DataFrame:
        """Read row by row: for text whose quotes are out of the ordinary, and to find the line of a fault."""
        places = [self.names.index(column) for column in columns]
        rows: list[list[str]] = []
        for line, cells in self._records():
            if len(cells) != len(self.names):
                raise self._ragged(line, cells)
            rows.append([cells[place] for place in places])
        texts = zip(*rows, strict=True)
        return pl.DataFrame({name: list(cells) for name, cells in zip(columns, texts, strict=True)})

    def _ragged(self, line: int, cells: list[str]) -> BadData:
        if not cells:
            return BadData(
                'the line is blank; remove it, or write "" for an empty cell in a file of one column.',
                self.path,
                line,
            )
        return BadData(
            f"{len(cells)} {'cell' if len(cells) == 1 else 'cells'} where there are {len(self.names)} columns, with "
            f"{self.separator!r} as the separator; correct the line, put cells that hold the separator in quotes, or "
            "say the separator (--separator).",
            self.path,
            line,
        )


def find_separator(text: bytes, names: Sequence[str] | None = None) -> str:
    r"""Find the separator: of ``,`` ``;`` tab ``|`` the one that splits the first lines most evenly.

    `text`: the file. `names`: the names of the columns where the file has no header: then lines must have as many
    cells.

    >>> find_separator(b"a;b;c\n1,5;2;3\n")
    ';'
    """
    sample = text[:_SAMPLE_BYTES]
    if len(text) > len(sample):
        sample = sample[: sample.rfind(b"\n") + 1] or sample
    best, best_score = ",", (0, 0.0, 0)
    for candidate in _CANDIDATES:
        widths = _widths(sample, candidate)
        width = len(names) if names is not None else next(iter(widths), 1)
        if width < 2 or not widths:
            continue
        even = sum(found == width for found in widths) / len(widths)
        score = (int(even == 1.0), even, width)
        if score > best_score:
            best, best_score = candidate, score
    return best


def write_delimited(frame: pl.DataFrame, path: Path, separator: str = ",") -> None:
    r"""Write a frame as RFC 4180 text in UTF-8, with a header and lines ended by ``\n``.

    Cells are quoted where they must be. A null is an empty cell; in a file of one column it is ``""``, because a blank
    line is no row.
    """
    write_blocks([frame], path, separator)


def write_blocks(frames: Iterable[pl.DataFrame], path: Path, separator: str = ",") -> None:
    """Write the rows of several frames, one after the other, as `write_delimited` writes one."""
    with path.open("wb") as file:
        for place, frame in enumerate(frames):
            _plain(frame).write_csv(
                file,
                include_header=not place,
                separator=separator,
                line_terminator="\n",
                quote_style="necessary",
            )


def write_joined(cells: Sequence[pl.Series], codes: Sequence[Codes], path: Path, separator: str) -> None:
    """Add rows to a file as `write_blocks` would, by a kernel: the texts of each column, and the text of each row."""
    from shoal.kernels.csv_lines import joined_cells

    ends = [separator] * (len(cells) - 1) + ["\n"]
    written = pl.concat(
        [_quoted(texts, separator, len(cells) == 1) + end for texts, end in zip(cells, ends, strict=True)]
    )
    lengths = written.str.len_bytes().to_numpy().astype(np.int64)
    text, starts = "".join(written.to_list()).encode() + bytes(8), indptr_of(lengths)
    first = indptr_of(list(map(len, cells)))[:-1].astype(np.int32)
    longest = int(np.maximum.reduceat(lengths, first).sum()) + 8
    joined, filled = np.empty(max(_JOINED, longest), dtype=np.uint8), np.zeros(1, dtype=np.int64)
    with path.open("ab") as file:
        for begin in range(0, len(codes[0]), _ROWS):
            here = np.stack([column[begin : begin + _ROWS] for column in codes])
            here += first[:, None]
            row = 0
            while row < here.shape[1]:
                row = joined_cells(
                    np.frombuffer(text, dtype=np.uint8), starts, here, longest, row, joined, filled
                )
                file.write(joined[: filled[0]].data)


def _unquoted(texts: pl.Series) -> pl.Series:
    """What is written in cells."""
    name, texts = texts.name, unnamed(texts)
    inside = texts.str.strip_prefix('"').str.strip_suffix('"').str.replace_all('""', '"', literal=True)
    return inside.zip_with(texts.str.starts_with('"'), texts).alias(name)


def _quoted(texts: pl.Series, separator: str, alone: bool) -> pl.Series:
    """Cells as they are written, with quotes where they must have them."""
    odd = texts.str.contains(f'["\n\r{separator}]')
    odd = odd | (texts == "") if alone else odd
    return texts.zip_with(~odd, '"' + texts.str.replace_all('"', '""', literal=True) + '"')


def delimited_text(frame: pl.DataFrame, *, header: bool = True) -> str:
    """What `write_delimited` writes, as a text; with or without the header."""
    return _plain(frame).write_csv(include_header=header, line_terminator="\n", quote_style="necessary")


def _plain(frame: pl.DataFrame) -> pl.DataFrame:
    """A frame whose cells are written as they should be: empty ones alike, and never a blank line."""
    if frame.width == 1:
        frame = frame.select(pl.all().cast(pl.String).fill_null(""))
    return frame.with_columns(pl.col(pl.String).replace("", None) if frame.width > 1 else pl.all())


def _widths(sample: bytes, separator: str) -> list[int]:
    """The number of cells of the first records that are not blank."""
    widths: list[int] = []
    try:
        for cells in csv.reader(_lines(sample), delimiter=separator, skipinitialspace=True):
            if cells:
                widths.append(len(cells))
            if len(widths) == _SAMPLE_RECORDS:
                break
    except csv.Error:
        pass
    return widths


def _lines(text: bytes) -> Iterator[str]:
    for line in io.BytesIO(text):
        yield line.decode("utf-8", errors="replace")


def _without_blank_end(text: bytes, blanks: bytes) -> bytes:
    """The text without lines of blanks at its end, ended by a line break; empty if there are no others."""
    end = len(text)
    while end:
        start = text.rfind(b"\n", 0, end) + 1
        if text[start:end].strip(blanks):
            break
        end = start - 1 if start else 0
    if not end or text[end:] == b"\n":
        return text if end else b""
    return text[:end] + b"\n"
