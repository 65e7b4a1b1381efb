import gzip
import io
import sys
from pathlib import Path

import pytest
import zstandard

from shoal.errors import BadData, WrongUse
from shoal.io.source import existing_file, format_of, read_bytes, read_text, single_character

TEXT = b"name,age\nJos\xc3\xa9,41\n"


def written(folder: Path, data: bytes, name: str = "people.csv") -> Path:
    path = folder / name
    path.write_bytes(data)
    return path


@pytest.mark.parametrize("name", ["people.csv", "people", "people.csv.gz", "people.csv.zst"])
@pytest.mark.parametrize("times", [1, 2])
def test_a_file_is_unpacked_whatever_it_is_called(tmp_path: Path, name: str, times: int) -> None:
    for data in (gzip.compress(TEXT) * times, zstandard.compress(TEXT) * times):
        assert read_text(written(tmp_path, data, name)) == TEXT * times


def test_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    for data in (TEXT, gzip.compress(TEXT), zstandard.compress(TEXT)):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))
        assert read_text("-") == TEXT


def test_a_byte_order_mark_and_old_line_ends_go(tmp_path: Path) -> None:
    assert read_text(written(tmp_path, b"\xef\xbb\xbfa,b\r\n")) == b"a,b\r\n"
    assert read_text(written(tmp_path, b"a\rb\r")) == b"a\nb\n"


@pytest.mark.parametrize("pack", [gzip.compress, zstandard.compress])
def test_a_file_that_is_cut_off(tmp_path: Path, pack: object) -> None:
    data = pack(TEXT * 1000)
    with pytest.raises(BadData, match=r"people\.csv: the (gzip|Zstandard) file ends too early"):
        read_bytes(written(tmp_path, data[:-9]))


@pytest.mark.parametrize("pack", [gzip.compress, zstandard.compress])
def test_a_file_that_is_damaged(tmp_path: Path, pack: object) -> None:
    data = bytearray(pack(bytes(range(256)) * 50))
    data[10:] = bytes(byte ^ 0x5A for byte in data[10:])
    with pytest.raises(BadData, match=r"is damaged|ends too early"):
        read_bytes(written(tmp_path, bytes(data)))


@pytest.mark.parametrize(
    ("data", "message", "line"),
    [
        (b"", "the file is empty", None),
        (b"\xef\xbb\xbf\n \n", "the file is empty", None),
        (b"a,b\n1,\xe9t\xe9\n", "byte 0xE9 is not UTF-8; convert the file, for example with: iconv", 2),
        (b"a,b\n1,\xc3", "the file ends inside a character", 2),
        ("a,b\n".encode("utf-16"), "the text is UTF-16", None),
        (b"a,b\n1,\x002\n", "holds a NUL byte", 2),
        (b"\x89PNG\r\n\x1a\n\x01\x02\xff", "the file is binary", None),
        (b"PAR1....", "Parquet file; give it the ending", None),
        (b"PK\x03\x04....", "zip archive or an Excel file", None),
    ],
)
def test_what_is_no_text(tmp_path: Path, data: bytes, message: str, line: int | None) -> None:
    with pytest.raises(BadData, match=message) as caught:
        read_text(written(tmp_path, data))
    assert caught.value.line == line
    assert str(caught.value.path).endswith("people.csv")


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    written(tmp_path, TEXT)
    with pytest.raises(BadData, match=r"there is no such file\. Did you mean 'people\.csv'\?"):
        read_bytes(tmp_path / "poeple.csv")
    with pytest.raises(BadData, match="no folder"):
        read_bytes(tmp_path / "elsewhere" / "people.csv")
    with pytest.raises(BadData, match="this is a folder"):
        existing_file(tmp_path)


def test_an_ending_that_lies(tmp_path: Path) -> None:
    with pytest.raises(BadData, match=r"not what its ending \.gz says"):
        read_bytes(written(tmp_path, TEXT, "people.csv.gz"))


def test_a_file_that_may_not_be_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(path: Path) -> bytes:
        raise PermissionError(13, "Permission denied")

    path = written(tmp_path, TEXT)
    monkeypatch.setattr(Path, "read_bytes", refuse)
    with pytest.raises(BadData, match="cannot be read: Permission denied"):
        read_bytes(path)


@pytest.mark.parametrize(
    ("path", "ending"),
    [("a.csv", ".csv"), ("a.CSV.GZ", ".csv"), ("a.b.parquet", ".parquet"), ("a", ""), ("a.gz", "")],
)
def test_format(path: str, ending: str) -> None:
    assert format_of(path) == ending


@pytest.mark.parametrize("separator", ["", ",,", '"', "\n", "é", "\0"])
def test_wrong_separators(separator: str) -> None:
    with pytest.raises(WrongUse, match="one character"):
        single_character(separator)


def test_a_tab_can_be_spelled_out() -> None:
    assert single_character("\\t") == single_character("tab") == single_character("\t") == "\t"
