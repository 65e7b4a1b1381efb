"""Opening files: plain, compressed, in parts, or standard input; and telling text from anything else, and files from
addresses.
"""

import codecs
import gzip
import os
import re
import sys
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from shoal.errors import BadData, CannotWrite, WrongUse

STANDARD_INPUT = "-"
"""The name that stands for standard input."""

DATABASES = ("postgresql", "postgres", "sqlite")
"""Schemes of addresses of databases."""

PARQUET = (".parquet", ".pq")
ARROW = (".arrow", ".feather", ".ipc")
EXCEL = (".xlsx", ".xlsm", ".xlsb", ".xls", ".ods")
STATISTICS = (".sav", ".zsav", ".por", ".dta", ".sas7bdat", ".xpt")
"""`PARQUET`, `ARROW`, `EXCEL`, `STATISTICS`: endings of files that hold a table and no text."""

FRAME_FORMATS = frozenset({*PARQUET, *ARROW, *EXCEL, *STATISTICS})
"""All of them."""

_COMPRESSIONS = (".gz", ".zst")
_GZIP, _ZSTANDARD = b"\x1f\x8b", b"\x28\xb5\x2f\xfd"
_UTF_16_MARKS = (b"\xff\xfe", b"\xfe\xff")
_BINARY_FORMATS = {
    b"PAR1": "a Parquet file; give it the ending .parquet",
    b"ARROW1": "an Arrow file; give it the ending .arrow",
    b"PK\x03\x04": "a zip archive or an Excel file; unpack it, or give it the ending .xlsx",
    b"SQLite format 3\0": "a SQLite database; name it as sqlite:///PATH?table=NAME",
    b"$FL2": "an SPSS file; give it the ending .sav",
    b"BZh": "compressed with bzip2; unpack it first",
    b"\xfd7zXZ": "compressed with xz; unpack it first",
}


_ADDRESS = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+):/+(.*)", re.DOTALL)
"""A scheme has two letters at least, as drives of Windows have one; of two slashes a path keeps one."""

CLUSTER = frozenset({"hdfs", "s3", "s3a", "s3n", "gs", "abfs", "abfss", "wasb", "wasbs", "dbfs"})
"""Schemes that a Spark cluster may know."""

FOREIGN = "\ufffd"
"""What stands where bytes were no UTF-8 text, for readers that go on."""

BYTE_ORDER_MARK = b"\xef\xbb\xbf"
"""What may stand at the very beginning of a file and is no text; anywhere else it is one like any other (U+FEFF)."""

CONVERT = "convert the file, for example with: iconv -f LATIN1 -t UTF-8 OLD > NEW, or say --encoding latin-1."
"""What to do about a file in another encoding."""

_CONTROLS = bytes(set(range(32)) - set(b"\t\n\v\f\r\x1a\x1b")) + b"\x7f"


def name_of(source: str | Path) -> str:
    """How a message calls a source: its path as it was given, or standard input."""
    return "standard input" if str(source) == STANDARD_INPUT else str(source)


def is_database(source: object) -> bool:
    """Whether a source is the address of a database."""
    return isinstance(source, str) and source.partition("://")[0] in DATABASES and "://" in source


def format_of(path: str | Path) -> str:
    """The ending that tells the format, in lower case and without that of the compression.

    >>> format_of("adult.CSV.gz")
    '.csv'
    """
    path = Path(path)
    return Path(path.stem).suffix.lower() if path.suffix.lower() in _COMPRESSIONS else path.suffix.lower()


def refuse_address(place: object, *, writing: bool = False) -> None:
    """Refuse an address such as ``s3://…`` where a file of this machine is needed.

    >>> refuse_address("s3://shop/sales.csv")
    Traceback (most recent call last):
    shoal.errors.WrongUse: s3://shop/sales.csv is an address, and files are read from disks: fetch it first, or read it where the cluster has it, with engine=shoal.engines.Spark().
    """  # noqa: E501
    found = _ADDRESS.fullmatch(str(place))
    if found is None or os.path.exists(str(place)):
        return
    scheme, rest = found[1].lower(), found[2]
    if scheme == "file":
        raise WrongUse(f"Name a file by its path: /{rest}, and not by file://.")
    address = f"{scheme}://{rest}"
    if writing:
        raise WrongUse(
            f"{address} is an address, and files are written to disks: name a place on one (of a cluster: one that all "
            "workers share), and copy it from there."
        )
    elsewhere = ", or read it where the cluster has it, with --engine spark" if scheme in CLUSTER else ""
    raise WrongUse(f"{address} is an address, and files are read from disks: fetch it first{elsewhere}.")


def write_errors(name: str = "PolarsError") -> tuple[type[Exception], ...]:
    """What writers raise: errors of the system, and those of polars of that name, if it was loaded to write."""
    loaded = sys.modules.get("polars.exceptions")
    return (OSError,) if loaded is None else (OSError, getattr(loaded, name))


@contextmanager
def whole_file(path: Path) -> Iterator[Path]:
    """Where to write a new file: it gets its name when it is whole, so that a crash or a full disk leaves nothing.

    Raises `CannotWrite` if the disk is full, or the place takes no file.
    """
    partial = path.with_name(f".{path.name}.{os.getpid()}.partial")
    try:
        yield partial
        partial.replace(path)
    except write_errors("ComputeError") as error:
        raise CannotWrite(f"The file {path}", error) from error
    finally:
        partial.unlink(missing_ok=True)


def existing_file(path: str | Path) -> Path:
    """The path of a file that is there.

    Raises `BadData` if there is none, with near names in its folder, or if it is a folder.
    """
    refuse_address(path)
    path = Path(path)
    if path.is_dir():
        raise BadData("this is a folder; name a file in it.", path)
    if not path.exists():
        raise BadData(_absence(path), path)
    return path


def read_bytes(source: str | Path) -> bytes:
    """All bytes of a file, or of standard input for ``-``, unpacked if they are compressed (gzip or Zstandard).

    The compression is recognized by the first bytes and not by the name, so that it works for standard input too.

    Raises `BadData` if the file is not there, cannot be read, or is damaged or cut off.
    """
    try:
        standard = str(source) == STANDARD_INPUT
        data = sys.stdin.buffer.read() if standard else existing_file(source).read_bytes()
    except OSError as error:
        raise BadData(
            f"the file cannot be read: {error.strerror}. Check its permissions.", name_of(source)
        ) from error
    ending = Path(source).suffix.lower()
    if data.startswith(_GZIP):
        return _gunzip(data, source)
    if data.startswith(_ZSTANDARD):
        return _unzstandard(data, source)
    if data and ending in _COMPRESSIONS:
        raise BadData(
            f"the file is not what its ending {ending} says; take the ending away if it is not compressed.",
            name_of(source),
        )
    return data


def in_utf8(data: bytes, encoding: str | None, name: str) -> bytes:
    """Bytes of a text in some encoding as UTF-8; UTF-8 itself is left as it is."""
    if encoding is None or codecs.lookup(encoding).name == "utf-8":
        return data
    try:
        return data.decode(encoding).encode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise BadData(
            f"byte 0x{data[error.start]:02X} is not {encoding}; name another encoding (--encoding).",
            name,
            line,
        ) from None


def read_text(source: str | Path, encoding: str | None = None) -> bytes:
    r"""The text of a file as UTF-8 bytes: checked, without a byte order mark, lines ended by ``\n`` or ``\r\n``.

    Bytes and not characters, because readers of large files work on bytes.

    Raises `BadData` if the file is empty, binary, or in another encoding (with the line of the first foreign byte).
    """
    name = name_of(source)
    data = in_utf8(read_bytes(source), encoding, name)
    if data.startswith(_UTF_16_MARKS):
        raise BadData("the text is UTF-16, not UTF-8; say --encoding utf-16, or convert it.", name)
    for magic, meaning in _BINARY_FORMATS.items():
        if data.startswith(magic):
            raise BadData(f"this is {meaning}.", name)
    check_utf8(data, name)
    data = data.removeprefix(BYTE_ORDER_MARK)
    if not data[:4096].strip() and not data.strip():
        raise BadData("the file is empty; there is nothing to read.", name)
    if b"\n" not in data and b"\r" in data:
        return data.replace(b"\r", b"\n")
    return data


def check_utf8(data: bytes, name: str | Path, first_line: int = 1) -> None:
    """Refuse bytes that are no UTF-8 text; the first of them stand in a line of that number."""
    place = data.find(b"\0")
    if place >= 0:
        raise BadData(
            "the file holds a NUL byte, so it is binary or cut off, not text.",
            name,
            _line_at(data, place) + first_line - 1,
        )
    if data.isascii():
        return
    try:
        data.decode("utf-8")
    except UnicodeDecodeError as error:
        if data[:4096].translate(None, _CONTROLS) != data[:4096]:
            raise BadData("the file is binary, not text.", name) from None
        cut = error.end == len(data) and error.reason == "unexpected end of data"
        raise BadData(
            "the file ends inside a character: it is cut off; fetch it again."
            if cut
            else f"byte 0x{data[error.start]:02X} is not UTF-8; {CONVERT}",
            name,
            _line_at(data, error.start) + first_line - 1,
        ) from None


def kept_mark(text: bytes) -> bytes:
    """A text for a reader that takes a byte order mark away: one that belongs to the text is kept."""
    return BYTE_ORDER_MARK + text if text.startswith(BYTE_ORDER_MARK) else text


def _line_at(data: bytes, place: int) -> int:
    return data.count(b"\n", 0, place) + 1


def last_line_end(text: bytes, *, quoted: bool) -> int:
    """Where the last whole line of a text ends; 0 if there is none.

    `quoted`: whether quotes hold line ends together. Each line is looked at once, however many of them a quote leaves
    open.
    """
    end = text.rfind(b"\n") + 1
    inside = quoted and text.count(b'"', 0, end) % 2 == 1
    while end and inside:
        before = text.rfind(b"\n", 0, end - 1) + 1
        inside ^= text.count(b'"', before, end) % 2 == 1
        end = before
    return end


def single_character(separator: str) -> str:
    r"""A separator as one character; ``\t`` and ``tab`` may be spelled out, as shells make them hard to type.

    >>> single_character("tab") == chr(9)
    True
    """
    separator = {"\\t": "\t", "tab": "\t"}.get(separator, separator)
    if len(separator) != 1 or not separator.isascii() or separator in '"\r\n\0':
        raise WrongUse(f"The separator is one character such as , ; | or tab, not {separator!r}.")
    return separator


def _absence(path: Path) -> str:
    folder = path.parent
    if not folder.is_dir():
        return f"there is no such file, and no folder {str(folder)!r}."
    from difflib import get_close_matches

    near = get_close_matches(path.name, sorted(entry.name for entry in folder.iterdir()), n=3, cutoff=0.6)
    return "there is no such file." + (f" Did you mean {' or '.join(map(repr, near))}?" if near else "")


def _gunzip(data: bytes, source: str | Path) -> bytes:
    try:
        return gzip.decompress(data)
    except EOFError:
        raise _cut_off("gzip", source) from None
    except (gzip.BadGzipFile, zlib.error) as error:
        raise _damaged("gzip", source) from error


def _unzstandard(data: bytes, source: str | Path) -> bytes:
    import zstandard

    unpacked = []
    while data:
        frame = zstandard.ZstdDecompressor().decompressobj()
        try:
            unpacked.append(frame.decompress(data))
        except zstandard.ZstdError as error:
            raise _damaged("Zstandard", source) from error
        if not frame.eof:
            raise _cut_off("Zstandard", source)
        data = frame.unused_data
    return b"".join(unpacked)


def _cut_off(compression: str, source: str | Path) -> BadData:
    return BadData(f"the {compression} file ends too early: it is cut off; fetch it again.", name_of(source))


def _damaged(compression: str, source: str | Path) -> BadData:
    return BadData(f"the {compression} file is damaged; fetch it again.", name_of(source))


def is_part(path: Path, ending: str) -> bool:
    """Whether a file is one of the parts of a published file of an ending."""
    return (
        path.name.startswith("part-") and path.suffix == ending and path.is_file() and not path.is_symlink()
    )


def part_files(path: str | Path) -> list[Path]:
    """The files to read one after the other: the file itself, or the parts in a folder of its name.

    Parts are ordered by their names; empty ones are left out.

    Raises `BadData` if it is a folder without parts.
    """
    path = Path(path)
    if not path.is_dir():
        return [path]
    parts = sorted(part for part in path.glob("part-*") if part.is_file() and part.stat().st_size)
    if not parts:
        raise BadData("the folder holds no files part-…, so there is nothing to read.", path)
    return parts
