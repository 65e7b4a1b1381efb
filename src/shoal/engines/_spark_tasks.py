"""Work that travels to the workers of a cluster: iterators of Arrow batches in, iterators of Arrow batches out.

Every class here is a function that is sent by value, so that what it holds travels along. Small batches are gathered
into larger frames first, because polars is fast on columns and slow on handfuls of rows.
"""

import pickle
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, Any, TypeAlias

import polars as pl
from polars import selectors as cs

from shoal.data._export import named
from shoal.engines._out_of_core import BYTES, ROWS

if TYPE_CHECKING:
    from shoal.data.dataset import Frame, Schema

Work: TypeAlias = "Callable[[Frame], Frame]"
Batches: TypeAlias = Iterator[Any]

TEXT = 1 << 20
"""Characters of the pieces in which lines are handed to a writer."""


@dataclass(frozen=True, slots=True)
class Mapped:
    """Do one work after the other on each frame."""

    names: Sequence[str]
    works: Sequence[Work]
    schema: Any

    def __call__(self, batches: Batches) -> Batches:
        """Batches of the rows that come out."""
        for frame in _worked(batches, self.names, self.works):
            yield from to_arrow(frame, self.schema).to_batches(max_chunksize=ROWS)


@dataclass(frozen=True, slots=True)
class Grouped:
    """Do a work on all rows of a group."""

    names: Sequence[str]
    work: Work
    schema: Any

    def __call__(self, table: Any) -> Any:
        """The rows that come out of a group."""
        return to_arrow(self.work(to_frame(table, self.names)), self.schema)


@dataclass(frozen=True, slots=True)
class Folded:
    """Make one result of all frames of a part."""

    names: Sequence[str]
    works: Sequence[Work]
    work: "Callable[[Frame], Any]"
    merge: Callable[[Any, Any], Any]

    def __call__(self, batches: Batches) -> Batches:
        """One batch with the result, where there are rows."""
        yield from _packed(map(self.work, _worked(batches, self.names, self.works)), self.merge)


@dataclass(frozen=True, slots=True)
class Merged:
    """Merge results of several parts into one."""

    merge: Callable[[Any, Any], Any]

    def __call__(self, batches: Batches) -> Batches:
        """One batch with the result, where there are some."""
        yield from _packed(unpacked(batches), self.merge)


@dataclass(frozen=True, slots=True)
class Written:
    """Join the lines of a part into large pieces of text, the header before the first."""

    names: Sequence[str]
    works: Sequence[Work]
    header: str | None

    def __call__(self, batches: Batches) -> Batches:
        """Batches of texts; a writer ends each of them with a line end."""
        import pyarrow as pa

        before = [] if self.header is None else [self.header]
        for frame in _worked(batches, self.names, self.works):
            lines = frame.to_series()
            pieces = max(1, int(lines.str.len_bytes().sum()) // TEXT)
            size = -(-len(lines) // pieces)
            for start in range(0, len(lines), size):
                text = "\n".join([*before, *lines[start : start + size].to_list()])
                before = []
                yield pa.record_batch({"value": pa.array([text], pa.string())})


def plain(names: Sequence[str]) -> list[str]:
    """Names for columns on the cluster, which gives some letters a meaning of its own."""
    return [f"c{place}" for place in range(len(names))]


def to_frame(table: Any, names: Sequence[str]) -> "Frame":
    """An Arrow table as a frame with other names; moments in UTC, as Parquet has them, whatever zone Spark works in."""
    frame = pl.from_arrow(table.rename_columns(list(names)))
    assert isinstance(frame, pl.DataFrame)
    return frame.with_columns(cs.datetime(time_zone="*").dt.convert_time_zone("UTC"))


def to_arrow(frame: "Frame", schema: Any) -> Any:
    """A frame as an Arrow table of exactly these columns and types, under their plain names."""
    table = frame.select(named(schema.names)).to_arrow(compat_level=pl.CompatLevel.oldest())
    return table.cast(schema).rename_columns(plain(schema.names))


def arrow_schema(schema: "Schema") -> Any:
    """The Arrow types of columns, as Spark knows them."""
    import pyarrow as pa

    empty = pl.DataFrame(schema=dict(schema)).to_arrow(compat_level=pl.CompatLevel.oldest())
    return pa.schema([(field.name, small(field.type)) for field in empty.schema])


def small(kind: Any) -> Any:
    """The type that Spark has for one of polars: lists and texts have offsets of 32 bits."""
    import pyarrow as pa

    if pa.types.is_large_string(kind) or pa.types.is_string_view(kind):
        return pa.string()
    if pa.types.is_large_binary(kind):
        return pa.binary()
    if pa.types.is_large_list(kind) or pa.types.is_list(kind):
        return pa.list_(small(kind.value_type))
    if pa.types.is_struct(kind):
        return pa.struct([(field.name, small(field.type)) for field in kind])
    unsigned = {
        pa.uint8(): pa.int16(),
        pa.uint16(): pa.int32(),
        pa.uint32(): pa.int64(),
        pa.uint64(): pa.int64(),
    }
    return unsigned.get(kind, kind)


def unpacked(batches: Iterable[Any]) -> Iterator[Any]:
    """Results that were packed into batches or tables."""
    for batch in batches:
        for packed in batch.column(0):
            yield pickle.loads(packed.as_py())


def _packed(results: Iterator[Any], merge: Callable[[Any, Any], Any]) -> Batches:
    import pyarrow as pa

    for merged in results:
        for result in results:
            merged = merge(merged, result)
        yield pa.record_batch(
            {"result": pa.array([pickle.dumps(merged)], pa.large_binary()).cast(pa.binary())}
        )


def _worked(batches: Batches, names: Sequence[str], works: Sequence[Work]) -> "Iterator[Frame]":
    for frame in _frames(batches, names):
        for work in works:
            frame = work(frame)
        if frame.height:
            yield frame


def _frames(batches: Batches, names: Sequence[str]) -> "Iterator[Frame]":
    import pyarrow as pa

    waiting: list[Any] = []
    rows = size = 0
    for batch in chain(batches, (None,)):
        if batch is not None and batch.num_rows:
            waiting.append(batch)
            rows, size = rows + batch.num_rows, size + batch.nbytes
        if waiting and (batch is None or rows >= ROWS or size >= BYTES):
            yield to_frame(pa.Table.from_batches(waiting), names)
            waiting, rows, size = [], 0, 0
