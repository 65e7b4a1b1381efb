"""Writing files that are plain or compressed, as their endings tell."""

import gzip
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, cast


@contextmanager
def packed(path: Path, ending: str) -> Iterator[IO[bytes]]:
    """A new file to write bytes to, which are compressed on the way if the ending is ``.gz`` or ``.zst``.

    What is written depends on the bytes alone: neither the name nor the time goes into it.
    """
    with path.open("wb") as file:
        match ending.lower():
            case ".gz":
                with gzip.GzipFile(filename="", mode="wb", fileobj=file, mtime=0) as inside:
                    yield cast("IO[bytes]", inside)
            case ".zst":
                import zstandard

                with zstandard.ZstdCompressor().stream_writer(file, closefd=False) as writer:
                    yield writer
            case _:
                yield file
