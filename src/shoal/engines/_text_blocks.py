"""Read text files in blocks of whole lines."""

import csv
import gzip
import io
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, cast

from shoal.data.dataset import TextLayout
from shoal.errors import BadData
from shoal.io.source import BYTE_ORDER_MARK, check_utf8, existing_file, last_line_end, part_files

BLOCK = 1 << 23
"""Bytes of text that are read at once."""

PACKED = 1 << 17
"""Bytes of a compressed file that are unpacked at once."""

LONGEST = 1 << 27
"""Bytes of a row above which it is assumed that a quote was never closed."""


def part_paths(path: str) -> list[Path]:
    """The file of a path, or the part files of a folder."""
    return part_files(path) if Path(path).is_dir() else [existing_file(path)]


@contextmanager
def opened(path: Path) -> Iterator[BinaryIO]:
    """Open a file that is decompressed while it is read."""
    with path.open("rb") as file:
        magic = file.read(4)
        file.seek(0)
        if magic.startswith(b"\x1f\x8b"):
            try:
                with gzip.open(file) as unpacked:
                    yield cast(BinaryIO, unpacked)
            except (EOFError, gzip.BadGzipFile, zlib.error) as error:
                raise BadData("the gzip file is damaged or cut off; fetch it again.", path) from error
        elif magic == b"\x28\xb5\x2f\xfd":
            yield cast(BinaryIO, io.BufferedReader(_Zstandard(file, path)))
        else:
            yield file


class _Zstandard(io.RawIOBase):
    """A Zstandard file, decompressed while it is read; unlike the library's reader, it refuses truncated files."""

    def __init__(self, file: BinaryIO, path: Path) -> None:
        import zstandard

        self._file, self._path, self._error = file, path, zstandard.ZstdError
        self._make = zstandard.ZstdDecompressor
        self._frame, self._rest, self._whole = self._make().decompressobj(), b"", True

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: "memoryview | bytearray") -> int:  # type: ignore[override]
        while not self._rest:
            packed = self._frame.unused_data if self._frame.eof else b""
            if self._frame.eof:
                self._frame, self._whole = self._make().decompressobj(), True
            packed = packed or self._file.read(PACKED)
            if not packed:
                if not self._whole:
                    raise self._damaged()
                return 0
            try:
                self._rest = self._frame.decompress(packed)
            except self._error as error:
                raise self._damaged() from error
            self._whole = self._frame.eof
        size = min(len(buffer), len(self._rest))
        buffer[:size], self._rest = self._rest[:size], self._rest[size:]
        return size

    def _damaged(self) -> BadData:
        return BadData("the Zstandard file is damaged or cut off; fetch it again.", self._path)


def blocks(path: Path, layout: TextLayout | None) -> Iterator[tuple[bytes, int]]:
    """Blocks of whole lines without the header, with their first line numbers; quoted line breaks end no line."""
    line = 1
    rest = b""
    with opened(path) as file:
        first = True
        while block := file.read(BLOCK):
            text = rest + block
            if first and not rest:
                text = text.removeprefix(BYTE_ORDER_MARK)
            end = last_line_end(text, quoted=layout is not None)
            if layout is not None:
                # Blank lines are refused unless nothing follows them, so what follows must be in the same block.
                filled = len(text[:end].rstrip())
                end = text.find(b"\n", filled, end) + 1 if filled else 0
            whole, rest = text[:end], text[end:]
            if layout is not None and len(rest) > LONGEST:
                fault = "here or below a quote is opened that nothing closes; correct it, or double it inside a cell."
                raise BadData(fault, path, line=line + whole.count(b"\n"))
            if first and whole and layout is not None and layout.header is not None:
                lines = 1 + sum(name.count("\n") for name in layout.header)
                whole = _headless(whole, layout, lines, path)
                line += lines
            first = first and not end
            if whole:
                yield whole, line
                line += whole.count(b"\n")
    # A blank line is a basket without items, or a row that readers of published tables refuse.
    if rest.strip() or (rest and not (first and layout)):
        whole = rest if rest.endswith(b"\n") else rest + b"\n"
        if first and layout is not None and layout.header is not None:
            whole = _headless(whole, layout, 1, path)
        if whole:
            yield whole, line


def _headless(text: bytes, layout: TextLayout, lines: int, path: Path) -> bytes:
    """Remove the first lines of a text, which must be the header."""
    start = 0
    for _ in range(lines):
        start = text.find(b"\n", start) + 1 or len(text)
    check_utf8(text[:start], path)
    named = next(csv.reader(io.StringIO(text[:start].decode()), delimiter=layout.separator), [])
    assert layout.header is not None
    if [name.strip() for name in named] != [name.strip() for name in layout.header]:
        raise BadData("the files do not have the same header; part files of one table do.", path)
    return text[start:]
