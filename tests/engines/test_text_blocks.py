"""Packed text in blocks: all of it, or an error."""

import gzip
from pathlib import Path

import pytest
import zstandard

from shoal.engines._text_blocks import blocks
from shoal.errors import BadData

TEXT = b"".join(b"%d,some text\n" % row for row in range(30_000))


def unpacked(path: Path) -> bytes:
    return b"".join(text for text, _ in blocks(path, None))


def zstd(text: bytes) -> bytes:
    return zstandard.ZstdCompressor().compress(text)


@pytest.mark.parametrize(
    "packed",
    [
        gzip.compress(TEXT),
        gzip.compress(TEXT[:100]) + gzip.compress(TEXT[100:]),
        zstd(TEXT),
        zstd(TEXT[:100]) + zstd(b"") + zstd(TEXT[100:]),
    ],
    ids=["gzip", "two gzip", "zstandard", "three zstandard"],
)
def test_all_of_it(tmp_path: Path, packed: bytes) -> None:
    path = tmp_path / "some.csv"
    path.write_bytes(packed)
    assert unpacked(path) == TEXT


@pytest.mark.parametrize("pack", [gzip.compress, zstd])
@pytest.mark.parametrize("kept", [0.3, 0.9, "less a byte"])
def test_what_is_cut_off_is_refused(tmp_path: Path, pack, kept: float | str) -> None:
    packed = pack(TEXT)
    path = tmp_path / "some.csv"
    path.write_bytes(packed[:-1] if isinstance(kept, str) else packed[: int(len(packed) * kept)])
    with pytest.raises(BadData, match="cut off"):
        unpacked(path)


@pytest.mark.parametrize("pack", [gzip.compress, zstd])
def test_what_is_damaged_is_refused(tmp_path: Path, pack) -> None:
    packed = bytearray(pack(TEXT))
    packed[len(packed) // 2 : len(packed) // 2 + 50] = bytes(50)
    path = tmp_path / "some.csv"
    path.write_bytes(packed)
    with pytest.raises(BadData, match="damaged"):
        unpacked(path)
