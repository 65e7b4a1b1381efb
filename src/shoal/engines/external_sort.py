"""Grouping and sorting rows that do not fit into memory: they are spread over heaps on a disk, each of which does."""

from collections.abc import Iterator
from typing import cast

import polars as pl

from shoal.data._export import named
from shoal.engines.spill import Heap, Scratch, rows_of_frames, spread

BUCKETS = 64
"""Heaps that rows are divided into at a time."""

SAMPLE = 64
"""Rows of each frame from which the bounds of heaps are found when rows are sorted."""


def together(
    frames: Iterator[pl.DataFrame], by: str, memory: int, scratch: Scratch, turn: int = 0
) -> Iterator[pl.DataFrame]:
    """Rows in pieces of which two fit into memory, those of a group in one piece, which may be larger."""

    def divided() -> Iterator[tuple[int, pl.DataFrame]]:
        for frame in frames:
            bucket = frame[by].hash(seed=turn) % BUCKETS
            for (number,), piece in frame.group_by(bucket.alias("bucket"), maintain_order=True):
                yield int(cast(int, number)), piece

    for heap in spread(divided(), BUCKETS, scratch, memory // 4):
        if not heap.rows:
            continue
        if heap.bytes <= memory // 2 or _alike(heap, by):
            yield pl.concat(list(heap.frames()), rechunk=True)
        else:
            yield from together(heap.frames(), by, memory, scratch, turn + 1)
        heap.drop()


def _alike(heap: Heap, by: str) -> bool:
    """Whether all rows of a heap belong to one group."""
    first = None
    for frame in heap.frames():
        first = frame[by][0] if first is None else first
        if not (frame[by] == first).all():
            return False
    return True


def in_order(
    frames: Iterator[pl.DataFrame], names: list[str], memory: int, scratch: Scratch
) -> Iterator[pl.DataFrame]:
    """Rows in order: spread over heaps that follow each other, each sorted by itself."""
    heap = Heap(scratch)
    sample: list[pl.DataFrame] = []
    for frame in frames:
        heap.add(frame)
        sample.append(frame.select(named(names)).gather_every(max(frame.height // SAMPLE, 1)))
        if heap.waiting > memory // 4:
            heap.flush()
    if not heap.rows:
        return
    if heap.bytes <= memory // 2:
        yield from pieces(pl.concat(list(heap.frames())).sort(named(names)))
        heap.drop()
        return
    heap.flush()
    drawn = pl.concat(sample).sort(named(names))
    bounds = drawn.gather_every(-(-drawn.height // BUCKETS)).unique(maintain_order=True)
    if bounds.height == 1 and drawn.unique().height == 1:
        yield from (
            heap.frames() if _equal(heap, names) else _sorted_halves(heap, names, memory, scratch, bounds)
        )
        heap.drop()
        return
    numbered = (piece for frame in heap.frames() for piece in _between(frame, bounds, names))
    heaps = spread(numbered, bounds.height + 1, scratch, memory // 4)
    heap.drop()
    for part in heaps:
        if part.bytes <= memory // 2:
            yield from pieces(pl.concat(list(part.frames())).sort(named(names))) if part.rows else ()
        else:
            yield from in_order(part.frames(), names, memory, scratch)
        part.drop()


def _equal(heap: Heap, names: list[str]) -> bool:
    """Whether all rows of a heap are equal, so that they are sorted already."""
    seen = [frame.select(named(names)).unique() for frame in heap.frames()]
    return pl.concat(seen).unique().height == 1


def _sorted_halves(
    heap: Heap, names: list[str], memory: int, scratch: Scratch, bound: pl.DataFrame
) -> Iterator[pl.DataFrame]:
    """Sort rows nearly all of which are equal to one: those before it, those equal, and those after."""
    numbered = (piece for frame in heap.frames() for piece in _around(frame, bound, names))
    before, equal, after = spread(numbered, 3, scratch, memory // 4)
    yield from in_order(before.frames(), names, memory, scratch)
    yield from equal.frames()
    yield from in_order(after.frames(), names, memory, scratch)
    for part in (before, equal, after):
        part.drop()


def _between(
    frame: pl.DataFrame, bounds: pl.DataFrame, names: list[str]
) -> Iterator[tuple[int, pl.DataFrame]]:
    """The rows of a frame by the number of bounds that are not above them."""
    mark, place = _free(frame, "bound"), _free(frame, "place")
    keys = pl.concat(
        [
            bounds.select(named(names)).with_columns(pl.lit(1).alias(mark), pl.lit(-1).alias(place)),
            frame.select(named(names)).with_columns(
                pl.lit(0).alias(mark), pl.int_range(pl.len(), dtype=pl.Int32).alias(place)
            ),
        ]
    )
    ordered = (
        keys.sort(named(names), maintain_order=True)
        .select(pl.col(mark).cum_sum(), place)
        .filter(pl.col(place) >= 0)
    )
    for (number,), group in ordered.group_by(mark, maintain_order=True):
        yield int(cast(int, number)), frame[group[place]]


def _around(frame: pl.DataFrame, bound: pl.DataFrame, names: list[str]) -> Iterator[tuple[int, pl.DataFrame]]:
    """The rows of a frame before a row, equal to it, and after it."""
    place = _free(frame, "place")
    numbered = frame.with_columns(pl.int_range(pl.len()).alias(place))
    equal = numbered.join(bound.select(named(names)), on=named(names), how="semi", nulls_equal=True)[place]
    others = numbered.filter(~pl.col(place).is_in(equal.implode())).drop(place)
    yield 1, frame[equal]
    for number, piece in _between(others, bound, names):
        yield 2 if number else 0, piece


def _free(frame: pl.DataFrame, name: str) -> str:
    while name in frame.columns:
        name += "_"
    return name


def pieces(frame: pl.DataFrame) -> list[pl.DataFrame]:
    """A frame in frames of no more rows than are worked on at once."""
    return list(frame.iter_slices(rows_of_frames(frame))) if frame.height else [frame]
