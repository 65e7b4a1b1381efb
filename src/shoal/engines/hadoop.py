"""Files where Spark reads and writes them: on this machine, in HDFS, in an object store."""

import os
import zlib
from pathlib import Path
from typing import Any

from shoal.errors import BadData

BEGINNING = 1 << 18
"""Bytes that show the layout of a text."""

_GZIP = b"\x1f\x8b"


def address(path: str) -> str:
    """A path as Spark takes it: one on this machine is named as such, any other is passed through.

    >>> address("hdfs://host/people.csv")
    'hdfs://host/people.csv'
    """
    return path if "://" in path else Path(path).absolute().as_uri()


def beginning(session: Any, path: str) -> bytes:
    """The first bytes of a file, or of the first part file of a folder, unpacked where they are compressed.

    Raises `BadData` if there is no such file, or a folder holds none.
    """
    place = session._jvm.org.apache.hadoop.fs.Path(address(path))
    files = place.getFileSystem(session._jsc.hadoopConfiguration())
    if not files.exists(place):
        raise BadData("there is no such file.", path)
    if files.getFileStatus(place).isDirectory():
        parts = sorted(
            str(entry.getPath().getName())
            for entry in files.listStatus(place)
            if entry.getLen() and not str(entry.getPath().getName()).startswith((".", "_"))
        )
        if not parts:
            raise BadData("the folder holds no files, so there is nothing to read.", path)
        place = session._jvm.org.apache.hadoop.fs.Path(place, parts[0])
    stream = files.open(place)
    try:
        data = bytes(stream.readNBytes(BEGINNING))
    finally:
        stream.close()
    return zlib.decompressobj(wbits=31).decompress(data, BEGINNING) if data.startswith(_GZIP) else data


def name_parts(folder: str, ending: str, header: str | None = None) -> int:
    """Give the files that Spark wrote on this machine the names of part files, and remove its marks beside them.

    Files of parts without rows are removed too, but for a first one, so that a folder without rows has its header.
    """
    place = Path(folder)
    written = sorted(
        (entry for entry in place.iterdir() if entry.name.startswith("part-") and entry.stat().st_size),
        key=lambda entry: (int(entry.name.split("-")[1]), entry.name),
    )
    for number, entry in enumerate(written):
        os.replace(entry, place / f"{number:05}.named")
    for entry in place.iterdir():
        if entry.suffix != ".named":
            entry.unlink()
    for number in range(len(written)):
        os.replace(place / f"{number:05}.named", place / f"part-{number:05}{ending}")
    if not written and header is not None:
        (place / f"part-00000{ending}").write_text(f"{header}\n", encoding="utf-8")
    return max(len(written), int(header is not None))
