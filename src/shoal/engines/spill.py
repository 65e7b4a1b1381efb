"""Rows on a disk that was made for them: written frame by frame, read frame by frame, thrown away at the end."""

import shutil
import tempfile
import weakref
from collections.abc import Iterable, Iterator
from pathlib import Path

import polars as pl

ROWS, BYTES = 1 << 17, 1 << 25
"""Rows of a frame, and the most bytes of them: rows that hold lists or whole lines are large."""


def rows_of_frames(frame: pl.DataFrame) -> int:
    """How many rows of a frame are worked on at once."""
    return max(1, min(ROWS, BYTES * frame.height // max(int(frame.estimated_size()), 1)))


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
        return self._place / f"{self._count:06}.arrow"

    def close(self) -> None:
        """Remove everything."""
        if self._place is not None:
            shutil.rmtree(self._place, ignore_errors=True)
            self._place = None


class Heap:
    """Rows that wait in memory and go to a disk when they become too many.

    Parameters
    ----------
    scratch
        Where files go.
    """

    def __init__(self, scratch: Scratch) -> None:
        self._scratch = scratch
        self._waiting: list[pl.DataFrame] = []
        self._files: list[tuple[Path, int]] = []
        self.waiting = self.bytes = self.rows = 0

    def add(self, frame: pl.DataFrame) -> None:
        """Put rows onto the heap."""
        size = int(frame.estimated_size())
        self._waiting.append(frame)
        self.waiting += size
        self.bytes += size
        self.rows += frame.height

    def flush(self) -> None:
        """Write what waits."""
        if self._waiting:
            path = self._scratch.file()
            whole = pl.concat(self._waiting)
            rows = rows_of_frames(whole)
            whole.write_ipc(path, compression="lz4", record_batch_size=rows)
            self._files.append((path, rows))
            self._waiting, self.waiting = [], 0

    def frames(self) -> Iterator[pl.DataFrame]:
        """All rows in the order in which they came, in pieces."""
        for path, rows in self._files:
            yield from pl.scan_ipc(path).collect_batches(chunk_size=rows, maintain_order=True)
        yield from self._waiting

    def drop(self) -> None:
        """Forget all rows."""
        for path, _ in self._files:
            path.unlink(missing_ok=True)
        self._files, self._waiting = [], []


def spread(pieces: Iterable[tuple[int, pl.DataFrame]], count: int, scratch: Scratch, room: int) -> list[Heap]:
    """Put numbered pieces onto heaps; all of them go to the disk as soon as they take more than the room.

    The small heaps too: the texts of a piece are views into those of the frame that it was cut from, so that a few rows
    that wait would keep whole frames in memory.
    """
    heaps = [Heap(scratch) for _ in range(count)]
    waiting = 0
    for number, piece in pieces:
        heaps[number].add(piece)
        waiting += int(piece.estimated_size())
        if waiting > room:
            for heap in heaps:
                heap.flush()
            waiting = 0
    return heaps
