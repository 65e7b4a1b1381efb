"""Sorting, grouping and counting rows that do not fit into memory: DuckDB does it within a bound, from file to file.

The only module that imports DuckDB. What fits is sorted, grouped and counted by polars, in the same order.
"""

import os
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import polars as pl

from shoal.data._export import named
from shoal.data.dataset import COUNT
from shoal.engines.memory import give_back
from shoal.engines.spill import BYTES, ROWS, Scratch, SpillBuffer, pieces
from shoal.errors import EngineFailed

LEAST = 1 << 28
"""Bytes below which DuckDB takes very long: it merges a few rows at a time."""

THREAD = 1 << 26
"""Bytes without which a thread of DuckDB gives up."""


def in_order(
    frames: Iterator[pl.DataFrame], names: Sequence[str], memory: int, scratch: Scratch
) -> Iterator[pl.DataFrame]:
    """Rows in ascending order of texts, numbers or lists of them, missing cells first."""
    buffer = SpillBuffer.of(frames, scratch, memory // 4)
    if buffer.bytes <= memory // 2:
        yield from _here(buffer, lambda rows: rows.sort(named(names)))
        return
    places = {name: place for place, name in enumerate(buffer.schema)}
    keys = ", ".join(f"c{places[name]} ASC NULLS FIRST" for name in names)
    yield from _asked(f"SELECT * FROM rows ORDER BY {keys}", buffer, memory, scratch)


def groups(frames: Iterator[pl.DataFrame], by: str, memory: int, scratch: Scratch) -> Iterator[pl.DataFrame]:
    """The rows of each integer in a column as one frame."""
    waiting: list[pl.DataFrame] = []
    for frame in in_order(frames, [by], memory, scratch):
        # One group is copied at a time: all of them would take the memory of the rows again.
        for _, piece in frame.group_by(named(by), maintain_order=True):
            if waiting and waiting[0][by][0] != piece[by][0]:
                yield pl.concat(waiting, rechunk=True)
                waiting = []
            waiting.append(piece)
    if waiting:
        yield pl.concat(waiting, rechunk=True)


def counted(
    frames: Iterator[pl.DataFrame], names: Sequence[str], memory: int, scratch: Scratch
) -> Iterator[pl.DataFrame]:
    """The distinct combinations of some columns, with how many rows have each."""
    rows = pl.len().cast(pl.Int64).alias(COUNT)
    buffer = SpillBuffer.of(
        (frame.group_by(named(names)).agg(rows) for frame in frames), scratch, memory // 4
    )
    if buffer.bytes <= memory // 2:
        yield from _here(buffer, lambda rows: rows.group_by(named(names)).agg(pl.col(COUNT).sum()))
        return
    *keys, count = (f"c{place}" for place in range(len(buffer.schema)))
    some = ", ".join(keys)
    yield from _asked(
        f"SELECT {some}, sum({count})::BIGINT FROM rows GROUP BY {some}", buffer, memory, scratch
    )


def _here(buffer: SpillBuffer, work: Callable[[pl.DataFrame], pl.DataFrame]) -> Iterator[pl.DataFrame]:
    """What a work makes of rows that fit into memory."""
    if buffer.rows:
        made = work(buffer.collect())
        buffer.drop()
        yield from pieces(made)


def _asked(query: str, buffer: SpillBuffer, memory: int, scratch: Scratch) -> Iterator[pl.DataFrame]:
    """What DuckDB answers to a query about the rows of a buffer, which has the same columns.

    Raises `EngineFailed` if the disk is full, or the rows cannot be handled within the memory.
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
    yield from buffer.frames()
    buffer.drop()


def _quoted(path: Path) -> str:
    return "'" + str(path).replace("'", "''") + "'"
