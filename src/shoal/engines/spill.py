"""Rows on a disk that was made for them: written frame by frame, read frame by frame, thrown away at the end."""

import shutil
import tempfile
import weakref
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl

ROWS, BYTES = 1 << 17, 1 << 25
"""Rows of a frame, and the most bytes of them: rows that hold lists or whole lines are large."""


VIEW = 16
"""Bytes that each text takes beside its letters, which polars does not count."""


def size_of(frame: pl.DataFrame) -> int:
    """Bytes that a frame takes, about."""
    texts = sum(kind == pl.String for kind in frame.dtypes)
    return int(frame.estimated_size()) + VIEW * texts * frame.height


def rows_of_frames(frame: pl.DataFrame) -> int:
    """How many rows of a frame are worked on at once."""
    return max(1, min(ROWS, BYTES * frame.height // max(int(frame.estimated_size()), 1)))


def pieces(frame: pl.DataFrame) -> list[pl.DataFrame]:
    """A frame in frames of no more rows than are worked on at once."""
    return list(frame.iter_slices(rows_of_frames(frame))) if frame.height else [frame]


_UNKNOWN_TYPES: dict[Any, Any] = {pl.Int128: pl.String, pl.UInt128: pl.String}
"""Types that not every reader of Parquet knows, and how they are written."""


class Scratch:
    """A folder for rows that do not fit into memory. Only the user that runs the program can look into it."""

    def __init__(self, folder: str | None = None) -> None:
        self._above = folder
        self._place: Path | None = None
        self._count = 0

    def file(self) -> Path:
        """The path of a new file."""
        if self._place is None:
            self._place = Path(tempfile.mkdtemp(prefix="shoal-", dir=self._above))
            # Rows of persons must not lie around, even where nobody closes the engine.
            weakref.finalize(self, shutil.rmtree, self._place, ignore_errors=True)
        self._count += 1
        return self._place / f"{self._count:06}.parquet"

    def close(self) -> None:
        """Remove everything."""
        if self._place is not None:
            shutil.rmtree(self._place, ignore_errors=True)
            self._place = None


class SpillBuffer:
    """A buffer of rows that spills to disk when they become too many.

    `scratch`: where files go. `room`: bytes that may wait.
    """

    def __init__(self, scratch: Scratch, room: int) -> None:
        self._scratch, self._room = scratch, room
        self._waiting: list[pl.DataFrame] = []
        self._held = 0
        self.files: list[Path] = []
        self.schema: dict[str, Any] = {}
        self.bytes = self.rows = 0

    @classmethod
    def of(cls, frames: Iterator[pl.DataFrame], scratch: Scratch, room: int) -> "SpillBuffer":
        """A buffer of all rows."""
        buffer = cls(scratch, room)
        for frame in frames:
            buffer.add(frame)
        return buffer

    def add(self, frame: pl.DataFrame) -> None:
        """Put rows onto the buffer."""
        size = size_of(frame)
        self.schema = dict(frame.schema)
        self._waiting.append(frame)
        self._held += size
        self.bytes += size
        self.rows += frame.height
        if self._held > self._room:
            self.flush()

    def flush(self) -> None:
        """Write what waits. Columns are called c0, c1 and so on in the file."""
        if self._waiting:
            whole = pl.concat(self._waiting).clone()
            whole.columns = [f"c{place}" for place in range(whole.width)]
            path = self._scratch.file()
            whole.cast(_UNKNOWN_TYPES).write_parquet(
                path, compression="lz4", statistics=False, row_group_size=rows_of_frames(whole)
            )
            self.files.append(path)
            self._waiting, self._held = [], 0

    def frames(self) -> Iterator[pl.DataFrame]:
        """All rows in the order in which they came, in pieces."""
        for path in self.files:
            for frame in pl.scan_parquet(path, glob=False).collect_batches(
                chunk_size=ROWS, maintain_order=True
            ):
                kinds = zip(frame, self.schema.items(), strict=True)
                yield from pieces(
                    pl.DataFrame([cells.cast(kind).alias(name) for cells, (name, kind) in kinds])
                )
        yield from self._waiting

    def collect(self) -> pl.DataFrame:
        """All rows in the order in which they came."""
        return pl.concat(list(self.frames()))

    def drop(self) -> None:
        """Forget all rows."""
        for path in self.files:
            path.unlink(missing_ok=True)
        self.files, self._waiting = [], []
