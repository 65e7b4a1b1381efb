"""Sort, group and count rows that do not fit into memory, with buffers that spill to disk.

This is the only module that imports DuckDB, which works within a memory limit. Rows that fit are sorted, grouped and
counted by polars, in the same order.
"""

import os
import shutil
import tempfile
import weakref
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, TypeAlias

import polars as pl

from shoal.data._frames import named, plain_texts
from shoal.data.dataset import COUNT
from shoal.engines._memory import give_back
from shoal.engines._text_numbers import Packing, TextNumbers
from shoal.errors import EngineFailed

ROWS, BYTES = 1 << 17, 1 << 25
"""The most rows of a frame, and the most bytes, since rows that hold lists or whole lines are large."""

VIEW = 16
"""Bytes that each text takes in addition to its characters, which polars does not count."""


def size_of(frame: pl.DataFrame) -> int:
    """The approximate number of bytes that a frame takes."""
    texts = sum(kind == pl.String for kind in frame.dtypes)
    return int(frame.estimated_size()) + VIEW * texts * frame.height


def rows_of_frames(frame: pl.DataFrame) -> int:
    """How many rows of a frame to process at once."""
    return max(1, min(ROWS, BYTES * frame.height // max(int(frame.estimated_size()), 1)))


def pieces(frame: pl.DataFrame) -> list[pl.DataFrame]:
    """Cut a frame into frames of no more rows than are processed at once."""
    return list(frame.iter_slices(rows_of_frames(frame))) if frame.height else [frame]


_UNKNOWN_TYPES: dict[Any, Any] = {pl.Int128: pl.String, pl.UInt128: pl.String}
"""Types that not every reader of Parquet supports, with the types as which they are written."""


class Scratch:
    """A folder for rows that do not fit into memory. Only the user who runs the program can read it."""

    def __init__(self, folder: str | None = None) -> None:
        self._above = folder
        self._place: Path | None = None
        self._count = 0

    def file(self) -> Path:
        """The path of a new file."""
        if self._place is None:
            self._place = Path(tempfile.mkdtemp(prefix="shoal-", dir=self._above))
            # Rows about persons must not be left behind, even if nobody closes the engine.
            weakref.finalize(self, shutil.rmtree, self._place, ignore_errors=True)
        self._count += 1
        return self._place / f"{self._count:06}.parquet"

    def close(self) -> None:
        """Remove everything."""
        if self._place is not None:
            shutil.rmtree(self._place, ignore_errors=True)
            self._place = None


Shrink: TypeAlias = Callable[[pl.DataFrame], pl.DataFrame]
"""A function that reduces the rows of a frame."""


class SpillBuffer:
    """A buffer of rows that spills to disk; texts are replaced by numbers, unless there are too many different ones.

    `scratch`: where files are written. `room`: bytes that may be held in memory. `shrink`: applied to each frame before
    it is stored; its texts may be numbers by then. `numbers`: given if the texts of the frames are numbers already.
    `coded`: whether categories count as texts.
    """

    def __init__(
        self,
        scratch: Scratch,
        room: int,
        shrink: Shrink | None = None,
        numbers: TextNumbers | None = None,
        *,
        coded: bool = False,
    ) -> None:
        self._scratch, self._room, self._shrink, self._coded = scratch, room, shrink, coded
        self._waiting: list[pl.DataFrame] = []
        self._held = 0
        self._known = numbers is not None
        self.numbers = numbers
        self.files: list[Path] = []
        self.schema: dict[str, Any] = {}
        self.bytes = self.rows = 0

    @classmethod
    def of(
        cls,
        frames: Iterator[pl.DataFrame],
        scratch: Scratch,
        room: int,
        shrink: Shrink | None = None,
        numbers: TextNumbers | None = None,
        *,
        coded: bool = False,
    ) -> "SpillBuffer":
        """A buffer that holds all rows of these frames."""
        buffer = cls(scratch, room, shrink, numbers, coded=coded)
        for frame in frames:
            buffer.add(frame)
        return buffer

    def add(self, frame: pl.DataFrame) -> None:
        """Add rows to the buffer."""
        if not self.schema and not self._known:
            self.numbers = TextNumbers.of(frame, self._room, coded=self._coded)
        numbered = frame if self.numbers is None or self._known else self.numbers.numbered(frame)
        if numbered is None:
            self._back_to_texts()
            numbered = frame
        if self._coded:  # where its texts have no numbers
            numbered = plain_texts(numbered)
        self._put(numbered if self._shrink is None else self._shrink(numbered))

    def _put(self, frame: pl.DataFrame) -> None:
        size = size_of(frame)
        self.schema = dict(frame.schema)
        self._waiting.append(frame)
        self._held += size
        self.bytes += size
        self.rows += frame.height
        if self._held > self._room:
            self.flush()

    def _back_to_texts(self) -> None:
        """Store texts as they are from now on, and convert those in the buffer back: too many are different."""
        before = SpillBuffer(self._scratch, self._room)
        before.files, before._waiting, before.schema = self.files, self._waiting, self.schema
        numbers, self.numbers = self.numbers, None
        self.files, self._waiting, self._held, self.bytes, self.rows = [], [], 0, 0, 0
        assert numbers is not None
        for frame in before.numbered():
            self._put(numbers.texts(frame))
        before.drop()

    def flush(self) -> None:
        """Write the rows in memory to a file, in which columns are called c0, c1 and so on."""
        if self._waiting:
            whole = pl.concat(self._waiting).clone()
            whole.columns = [f"c{place}" for place in range(whole.width)]
            path = self._scratch.file()
            whole.cast(_UNKNOWN_TYPES).write_parquet(
                path, compression="lz4", statistics=False, row_group_size=rows_of_frames(whole)
            )
            self.files.append(path)
            self._waiting, self._held = [], 0

    def numbered(self, names: Sequence[str] | None = None) -> Iterator[pl.DataFrame]:
        """All rows in the order in which they were added, in pieces, with all columns or some; texts may be numbers."""
        wanted = list(self.schema) if names is None else list(names)
        places = [list(self.schema).index(name) for name in wanted]
        for path in self.files:
            rows = pl.scan_parquet(path, glob=False).select(f"c{place}" for place in places)
            for frame in rows.collect_batches(chunk_size=ROWS, maintain_order=True):
                cells = (
                    cells.cast(self.schema[name]).alias(name)
                    for cells, name in zip(frame, wanted, strict=True)
                )
                yield from pieces(pl.DataFrame(list(cells)))
        yield from (frame.select(named(wanted)) for frame in self._waiting)

    def frames(self) -> Iterator[pl.DataFrame]:
        """All rows in the order in which they were added, in pieces."""
        return self.numbered() if self.numbers is None else map(self.numbers.texts, self.numbered())

    def drop(self) -> None:
        """Discard all rows."""
        for path in self.files:
            path.unlink(missing_ok=True)
        self.files, self._waiting = [], []


LEAST = 1 << 28
"""Bytes of memory below which DuckDB is very slow, because it merges only a few rows at a time."""

THREAD = 1 << 26
"""Bytes of memory that a thread of DuckDB needs at least."""


def in_order(
    frames: Iterator[pl.DataFrame],
    names: Sequence[str],
    memory: int,
    scratch: Scratch,
    *,
    coded: bool = False,
) -> Iterator[pl.DataFrame]:
    """Sort rows in ascending order of columns of texts, numbers or lists of these, missing cells first.

    `coded`: whether texts may come as categories, and are returned as such.
    """
    buffer = SpillBuffer.of(frames, scratch, memory // 4, coded=coded)
    if buffer.numbers is None:
        yield from _sorted(buffer, names, memory, scratch)
        return
    packing = Packing(buffer.numbers, buffer.schema, names, coded=coded)
    packed = SpillBuffer.of(map(packing.packed, buffer.numbered()), scratch, memory // 4)
    buffer.drop()
    yield from map(packing.texts, _sorted(packed, packing.names[: packing.keys], memory, scratch))


def _sorted(
    buffer: SpillBuffer, names: Sequence[str], memory: int, scratch: Scratch
) -> Iterator[pl.DataFrame]:
    """The rows of a buffer without numbered texts, in ascending order."""
    if buffer.bytes <= memory // 2:
        yield from _here(buffer, lambda rows: rows.sort(named(names)))
        return
    places = {name: place for place, name in enumerate(buffer.schema)}
    keys = ", ".join(f"c{places[name]} ASC NULLS FIRST" for name in names)
    yield from _asked(f"SELECT * FROM rows ORDER BY {keys}", buffer, memory, scratch)


def groups(
    frames: Iterator[pl.DataFrame], by: str, memory: int, scratch: Scratch, *, coded: bool = False
) -> Iterator[pl.DataFrame]:
    """Group rows by an integer column: one frame for each integer; `coded` as in `in_order`."""
    waiting: list[pl.DataFrame] = []
    for frame in in_order(frames, [by], memory, scratch, coded=coded):
        # One group is copied at a time: copying all at once would double the memory of the rows.
        for _, piece in frame.group_by(named(by), maintain_order=True):
            if waiting and waiting[0][by][0] != piece[by][0]:
                yield pl.concat(waiting, rechunk=True)
                waiting = []
            waiting.append(piece)
    if waiting:
        yield pl.concat(waiting, rechunk=True)


def counted(
    frames: Iterator[pl.DataFrame],
    names: Sequence[str],
    memory: int,
    scratch: Scratch,
    numbers: TextNumbers | None = None,
    *,
    coded: bool = False,
) -> Iterator[pl.DataFrame]:
    """The distinct combinations of some columns, with how many rows have each.

    `numbers`: given if the texts of the frames are numbers already; then the result has numbers too. `coded`: whether
    categories count as texts; the result has texts.
    """
    rows = pl.len().cast(pl.Int64).alias(COUNT)
    buffer = SpillBuffer.of(
        frames,
        scratch,
        memory // 4,
        lambda frame: frame.group_by(named(names)).agg(rows),
        numbers,
        coded=coded,
    )
    if buffer.bytes <= memory // 2:
        found = _here(buffer, lambda rows: rows.group_by(named(names)).agg(pl.col(COUNT).sum()))
    else:
        *keys, count = (f"c{place}" for place in range(len(buffer.schema)))
        some = ", ".join(keys)
        query = f"SELECT {some}, sum({count})::BIGINT AS {count} FROM rows GROUP BY {some}"
        found = _asked(query, buffer, memory, scratch)
    yield from found if buffer.numbers is None or numbers is not None else map(buffer.numbers.texts, found)


def _here(buffer: SpillBuffer, work: Callable[[pl.DataFrame], pl.DataFrame]) -> Iterator[pl.DataFrame]:
    """Apply a work to the rows of a buffer in memory; texts may be numbers."""
    if buffer.rows:
        made = work(pl.concat(list(buffer.numbered())))
        buffer.drop()
        yield from pieces(made)


def _asked(query: str, buffer: SpillBuffer, memory: int, scratch: Scratch) -> Iterator[pl.DataFrame]:
    """Run a query on the rows of a buffer with DuckDB; the result has the same columns, and texts may be numbers.

    Raises `EngineFailed` if the disk is full, or the rows cannot be processed within the memory.
    """
    import duckdb

    buffer.flush()
    answer = scratch.file()
    room = max(2 * memory, LEAST)
    settings: dict[str, str | bool | int | float | list[str]] = {
        "memory_limit": f"{room}B",
        "threads": max(1, min(os.cpu_count() or 1, room // THREAD)),
        "temp_directory": f"{answer}.tmp",
        "preserve_insertion_order": False,
        "autoinstall_known_extensions": False,
        "autoload_known_extensions": False,
    }
    files = ", ".join(_quoted(path) for path in buffer.files)
    form = f"FORMAT parquet, COMPRESSION lz4, ROW_GROUP_SIZE {ROWS}, ROW_GROUP_SIZE_BYTES {BYTES}"
    try:
        with duckdb.connect(config=settings) as database:
            database.execute(f"CREATE VIEW rows AS SELECT * FROM read_parquet([{files}])")
            database.execute(f"COPY ({query}) TO {_quoted(answer)} ({form})")
    except duckdb.Error as error:
        raise EngineFailed(
            f"Rows could not be sorted or grouped on the disk of {answer.parent}: {str(error).partition(chr(10))[0]}. "
            "Allow more memory (--memory), or make room there (TMPDIR names another folder)."
        ) from error
    give_back()
    buffer.drop()
    buffer.files = [answer]
    yield from buffer.numbered()
    buffer.drop()


def _quoted(path: Path) -> str:
    return "'" + str(path).replace("'", "''") + "'"
