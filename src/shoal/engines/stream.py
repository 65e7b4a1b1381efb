"""The stream engine: rows in parts, in files on this machine, with never more of them in memory than allowed."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import polars as pl

from shoal.data._frames import named
from shoal.data.dataset import COUNT, Parts, TextLayout
from shoal.engines._memory import COPIES, LEAST, USUAL, allowed_memory, give_back, refuse_too_many
from shoal.engines._out_of_core import ROWS, Scratch, SpillBuffer, counted, groups, in_order, pieces
from shoal.engines._text_blocks import blocks, opened, part_paths
from shoal.engines._text_numbers import TextNumbers
from shoal.engines.distributed import Distributed, tallied
from shoal.engines.local import refuse_master
from shoal.errors import BadData
from shoal.io.source import check_utf8

if TYPE_CHECKING:
    from shoal.data.dataset import Frame, Schema

    Work = Callable[[Frame], Frame]

Result = TypeVar("Result")
Frames = Callable[[Sequence[str] | None], Iterator[pl.DataFrame]]
"""A function that yields the frames of a source, with all columns or with some; can be called several times."""

FILE = 1 << 27
"""Bytes of rows in a part file, about."""

PROGRAM = LEAST // 2
"""Bytes that the program takes without any rows, about."""


class Stream(Distributed):
    """Work on this machine within a limit of memory.

    Parameters
    ----------
    memory
        Bytes that the program may take, such as ``"4GB"``. Files are read in pieces, and rows that have to be sorted or
        grouped are spilled to disk.
    scratch
        The folder for these files; the system's temporary folder by default. It needs as much room as the encoded rows
        take.
    """

    name = "stream"
    here = True
    place = "from the disk"
    numbers_lines = True
    side_by_side = False
    in_order = True

    def __init__(self, memory: str | int = USUAL, scratch: str | None = None) -> None:
        allowed = allowed_memory(memory)
        self.memory = (allowed - PROGRAM) // 3
        self.countable = (allowed - PROGRAM // 2) // COPIES
        self.scratch = Scratch(scratch)

    @classmethod
    def within(cls, memory: str | None = None, master: str | None = None) -> "Stream":
        """The engine with a limit of its memory; it takes no master."""
        refuse_master(cls.name, master)
        return cls(memory or USUAL)

    def parts(self, frame: "Frame") -> "StreamParts":
        """Rows in memory, as parts."""
        return StreamParts(self, lambda names: iter(pieces(_some(frame, names))), tuple(frame.columns))

    def own(self, source: Any) -> "StreamParts | None":
        """Parts that were made by this engine; None for anything else."""
        return source if isinstance(source, StreamParts) else None

    def head(self, path: str) -> bytes:
        """The beginning of a text file, or of the first one in a folder."""
        with opened(part_paths(path)[0]) as file:
            return file.read(1 << 18)

    def delimited(self, path: str, layout: TextLayout) -> "StreamParts":
        """The rows of delimited text."""

        def frames(names: Sequence[str] | None) -> Iterator[pl.DataFrame]:
            for place in part_paths(path):
                for text, line in blocks(place, layout):
                    yield from pieces(_some(layout.parse(text, line, place), names))

        def numbered(names: Sequence[str] | None) -> Iterator[pl.DataFrame]:
            for place in part_paths(path):
                for text, line in blocks(place, layout):
                    yield from pieces(layout.numbered(text, line, place, names or layout.names))

        return StreamParts(self, frames, layout.names, source=numbered)

    def columns(self, path: str) -> "StreamParts":
        """The rows of Parquet files."""
        files = part_paths(path)
        try:
            schema = pl.read_parquet_schema(files[0])
        except (pl.exceptions.PolarsError, OSError) as error:
            raise BadData("this is not a whole Parquet file.", files[0]) from error

        def frames(names: Sequence[str] | None) -> Iterator[pl.DataFrame]:
            for place in files:
                lazy = pl.scan_parquet(place, glob=False).select(named(names or schema))
                try:
                    yield from lazy.collect_batches(chunk_size=ROWS, maintain_order=True)
                except pl.exceptions.PolarsError as error:
                    raise BadData(
                        "the columns are not those of the first file, or it is damaged.", place
                    ) from error

        return StreamParts(self, frames, tuple(schema))

    def lines(self, path: str) -> "StreamParts":
        """The lines of text files, in one column ``line``."""

        def frames(_: Sequence[str] | None) -> Iterator[pl.DataFrame]:
            for place in part_paths(path):
                for text, line in blocks(place, None):
                    check_utf8(text, place, line)
                    lines = text.decode("utf-8").removesuffix("\n").replace("\r\n", "\n").split("\n")
                    yield from pieces(pl.DataFrame({"line": lines}, schema={"line": pl.String}))

        return StreamParts(self, frames, ("line",))

    def close(self) -> None:
        """Remove all files that were spilled to disk."""
        self.scratch.close()


@dataclass(frozen=True, slots=True)
class Numbered:
    """Rows in which texts are replaced by numbers; they can be read several times."""

    numbers: TextNumbers
    frames: Frames


class StreamParts:
    """Rows that come frame by frame.

    `frames`: where they come from. `names`: the columns. `numbered`: the same rows with numbers instead of texts; None
    where there are no such. `source`: the same rows with categories, if they can be read so. `coded`: whether texts may
    come as categories.
    """

    def __init__(
        self,
        engine: Stream,
        frames: Frames,
        names: Sequence[str],
        numbered: Callable[[], Numbered | None] = lambda: None,
        source: Frames | None = None,
        *,
        coded: bool = False,
    ) -> None:
        self._engine, self._frames, self._names, self._numbered = engine, frames, tuple(names), numbered
        self._source, self._coded = source, coded

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns."""
        return self._names

    def select(self, names: Sequence[str]) -> "StreamParts":
        """Some of the columns."""

        def numbered() -> Numbered | None:
            rows = self._numbered()
            return rows and Numbered(rows.numbers, lambda some: rows.frames(some or names))

        frames, source = partial(_asked_of, self._frames, names), self._source
        source = source and partial(_asked_of, source, names)
        return StreamParts(self._engine, frames, names, numbered, source, coded=self._coded)

    def as_categories(self) -> "StreamParts":
        """The same rows, with categories instead of texts where they have numbers, or are read as such."""

        def frames(some: Sequence[str] | None) -> Iterator[pl.DataFrame]:
            if (rows := self._numbered()) is not None:
                return map(partial(rows.numbers.texts, coded=True), rows.frames(some))
            return (self._source or self._frames)(some)

        return StreamParts(self._engine, frames, self._names, coded=True)

    def map(self, work: "Work", schema: "Schema") -> "StreamParts":
        """Transform rows, frame by frame and in their order."""
        return self._made(lambda: map(work, self._all()), schema)

    def group(self, by: str, work: "Work", schema: "Schema") -> "StreamParts":
        """Transform all rows with the same integer in a column as one frame."""

        def frames() -> Iterator[pl.DataFrame]:
            engine = self._engine
            for group in groups(self._all(), by, engine.memory, engine.scratch, coded=self._coded):
                yield work(group)
                give_back()

        return self._made(frames, schema)

    def fold(
        self, work: "Callable[[Frame], Result]", merge: Callable[[Result, Result], Result]
    ) -> Result | None:
        """Compute a result of each frame, and merge them into one."""
        results = map(work, self._all())
        for found in results:
            for other in results:
                found = merge(found, other)
                give_back()
            return found
        return None

    def counts(self, names: Sequence[str]) -> "Frame":
        """The distinct combinations of some columns, with how many rows have each.

        Raises `WrongUse` if they, and the work on them, take more memory than allowed.
        """
        keys = list(names)
        found: list[pl.DataFrame] = []
        size = 0
        for frame in self.distinct(names)._all():
            found.append(frame)
            size += int(frame.estimated_size())
            if size > self._engine.countable:
                refuse_too_many(keys)
        if not found:
            return self.collect().select(named(keys)).with_columns(pl.lit(0, pl.Int64).alias(COUNT))
        return pl.concat(found).sort(named(keys))

    def tallies(self, names: Sequence[str]) -> "dict[str, Frame]":
        """The distinct values of each column, with how many rows have each."""
        if self._numbered() is None:
            return tallied(self, names)
        found = {name: list(self.distinct([name])._all()) for name in names}
        return {name: pl.concat(frames).sort(named(name)) for name, frames in found.items() if frames}

    def distinct(self, names: Sequence[str]) -> "StreamParts":
        """The distinct combinations of some columns, with how many rows have each; on disk if there are many."""
        keys, memory, scratch = list(names), self._engine.memory, self._engine.scratch

        def numbered() -> Numbered | None:
            if (rows := self.select(names)._numbered()) is None:
                return None

            def frames(some: Sequence[str] | None) -> Iterator[pl.DataFrame]:
                found = counted(rows.frames(None), keys, memory, scratch, rows.numbers)
                return (_some(frame, some) for frame in found)

            return Numbered(rows.numbers, frames)

        def frames(some: Sequence[str] | None) -> Iterator[pl.DataFrame]:
            if (rows := numbered()) is not None:
                return map(rows.numbers.texts, rows.frames(some))
            found = counted(self.select(names)._all(), keys, memory, scratch, coded=self._coded)
            return (_some(frame, some) for frame in found)

        return StreamParts(self._engine, frames, (*keys, COUNT), numbered, coded=self._coded)

    def sort(self, names: Sequence[str]) -> "StreamParts":
        """The same rows in ascending order, missing cells first, texts by code points."""
        return self._same(
            lambda: in_order(
                self._all(), list(names), self._engine.memory, self._engine.scratch, coded=self._coded
            )
        )

    def union(self, other: Parts) -> "StreamParts":
        """These rows and those of other parts."""
        assert isinstance(other, StreamParts)
        more = other.select(self.names)
        return self._same(lambda: chain(self._all(), more._all()))

    def keep(self) -> "StreamParts":
        """The same rows, computed once and kept on disk."""
        kept: list[SpillBuffer] = []
        room, scratch = self._engine.memory // 8, self._engine.scratch

        def frames() -> Iterator[pl.DataFrame]:
            if not kept and (rows := self._numbered()) is not None:
                kept.append(SpillBuffer.of(rows.frames(None), scratch, room, numbers=rows.numbers))
            elif not kept and self._source is not None:
                kept.append(SpillBuffer.of(_filled(self._source(None)), scratch, room, coded=True))
            if kept:
                yield from kept[0].frames()
                return
            buffer = SpillBuffer(scratch, room, coded=self._coded)
            for frame in self._all():
                buffer.add(frame)
                yield frame
            kept.append(buffer)

        def numbered() -> Numbered | None:
            for _ in () if kept else frames():
                pass
            numbers = kept[0].numbers
            return None if numbers is None else Numbered(numbers, kept[0].numbered)

        return StreamParts(self._engine, self._same(frames)._frames, self.names, numbered)

    def collect(self) -> "Frame":
        """All rows as one frame."""
        frames = list(self._all())
        if frames:
            return pl.concat(frames)
        return next(self._frames(None), pl.DataFrame(schema=dict.fromkeys(self.names, pl.Null)))

    def write(self, folder: str, ending: str, header: str | None = None) -> int:
        """Write the rows in their order as part files into a new folder."""
        place = Path(folder)
        place.mkdir(parents=True)
        count = 0
        for rows in _files_full(self._all()):
            _write(rows, place / f"part-{count:05}{ending}", header)
            count += 1
        if not count and (header is not None or ending == ".parquet"):
            _write(iter((self.collect(),)), place / f"part-00000{ending}", header)
            count = 1
        return count

    def _all(self) -> Iterator[pl.DataFrame]:
        return _filled(self._frames(None))

    def _same(self, frames: Callable[[], Iterator[pl.DataFrame]]) -> "StreamParts":
        def same(names: Sequence[str] | None) -> Iterator[pl.DataFrame]:
            some = False
            for frame in frames():
                some = True
                yield _some(frame, names)
            if not some:
                yield from (_some(frame.clear(), names) for frame in islice(self._frames(None), 1))

        return StreamParts(self._engine, same, self.names, coded=self._coded)

    def _made(self, frames: Callable[[], Iterator[pl.DataFrame]], schema: "Schema") -> "StreamParts":
        wanted = dict(schema)

        def made(names: Sequence[str] | None) -> Iterator[pl.DataFrame]:
            empty = pl.DataFrame(schema=wanted)
            return (_some(frame, names) for frame in chain(frames(), (empty,)))

        return StreamParts(self._engine, made, tuple(wanted), coded=self._coded)


def _write(frames: Iterator[pl.DataFrame], path: Path, header: str | None) -> None:
    """Write rows into one file: columns as Parquet, or one column as lines."""
    if path.suffix == ".parquet":
        pl.concat(list(frames)).write_parquet(path)
        return
    with path.open("w", encoding="utf-8", newline="\n") as file:
        file.write("" if header is None else f"{header}\n")
        for frame in frames:
            file.writelines(f"{line}\n" for line in frame.to_series().to_list())


def _files_full(frames: Iterator[pl.DataFrame]) -> Iterator[Iterator[pl.DataFrame]]:
    """Divide frames among files: an iterator of frames for each, to be consumed before the next one."""
    for first in frames:

        def full(first: pl.DataFrame = first) -> Iterator[pl.DataFrame]:
            yield first
            size = first.estimated_size()
            while size < FILE and (frame := next(frames, None)) is not None:
                size += frame.estimated_size()
                yield frame

        yield full()


def _filled(frames: Iterator[pl.DataFrame]) -> Iterator[pl.DataFrame]:
    return (frame for frame in frames if frame.height)


def _asked_of(frames: Frames, names: Sequence[str], some: Sequence[str] | None) -> Iterator[pl.DataFrame]:
    return frames(some or names)


def _some(frame: pl.DataFrame, names: Sequence[str] | None) -> pl.DataFrame:
    return frame if names is None else frame.select(named(names))
