"""Parquet and Arrow files (Arrow IPC, also called Feather)."""

from collections.abc import Sequence
from pathlib import Path

import polars as pl

from shoal.data._frames import named
from shoal.errors import BadData
from shoal.io.source import existing_file
from shoal.io.tables.input import FrameInput, Input, check_names


class Parquet(Input):
    """A Parquet file: columns that nobody asks for are not read."""

    def __init__(self, path: str | Path, allow_no_rows: bool = False) -> None:
        self.path = self._file = existing_file(path)
        try:
            self.names = tuple(pl.read_parquet_schema(self._file))
            rows = pl.scan_parquet(self._file, glob=False).select(pl.len()).collect().item()
        except (pl.exceptions.PolarsError, OSError) as error:
            raise _unreadable(self._file, "Parquet") from error
        check_names(self.names, self.path)
        if not rows and not allow_no_rows:
            raise BadData("there are no rows.", self.path)

    def frame(self, columns: Sequence[str]) -> pl.DataFrame:
        """The cells of some columns."""
        try:
            return pl.scan_parquet(self._file, glob=False).select(named(columns)).collect()
        except (pl.exceptions.PolarsError, OSError) as error:
            raise _unreadable(self._file, "Parquet") from error


def open_arrow(path: str | Path) -> FrameInput:
    """Open an Arrow file, in the file format or in the stream format."""
    path = existing_file(path)
    try:
        with path.open("rb") as file:
            stream = file.read(6) != b"ARROW1"
        frame = pl.read_ipc_stream(path) if stream else pl.read_ipc(path)
    except (pl.exceptions.PolarsError, OSError) as error:
        raise _unreadable(path, "Arrow") from error
    return FrameInput(frame, path)


def write_parquet(frame: pl.DataFrame, path: Path) -> None:
    """Write a frame as Parquet."""
    frame.write_parquet(path)


def write_arrow(frame: pl.DataFrame, path: Path) -> None:
    """Write a frame as an Arrow file that all readers of Feather version 2 understand."""
    frame.write_ipc(path, compression="lz4", compat_level=pl.CompatLevel.oldest())


def _unreadable(path: Path, format_name: str) -> BadData:
    return BadData(
        f"this is not a whole {format_name} file: it is cut off, damaged or of another format.", path
    )
