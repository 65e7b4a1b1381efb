"""Tasks for the workers of a cluster: functions from iterators of Arrow batches to iterators of Arrow batches.

Every class here is a callable that is serialized and sent with everything it holds. Small batches are first combined to
larger frames, because polars is fast on long columns and slow on a few rows at a time.
"""

import pickle
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, Any, TypeAlias

import polars as pl
from polars import selectors as cs

from shoal.data._frames import named
from shoal.engines._out_of_core import BYTES, ROWS

if TYPE_CHECKING:
    from shoal.data.dataset import Frame, Schema

Work: TypeAlias = "Callable[[Frame], Frame]"
Batches: TypeAlias = Iterator[Any]

TEXT = 1 << 20
"""Size of the pieces of text in which lines are passed to a writer, about."""


@dataclass(frozen=True, slots=True)
class Mapped:
    """Apply several works one after another to each frame."""

    names: Sequence[str]
    works: Sequence[Work]
    schema: Any

    def __call__(self, batches: Batches) -> Batches:
        """The batches of the resulting rows."""
        for frame in _worked(batches, self.names, self.works):
            yield from to_arrow(frame, self.schema).to_batches(max_chunksize=ROWS)


@dataclass(frozen=True, slots=True)
class Grouped:
    """Apply a work to all rows of a group."""

    names: Sequence[str]
    work: Work
    schema: Any

    def __call__(self, table: Any) -> Any:
        """The rows that result from a group."""
        return to_arrow(self.work(to_frame(table, self.names)), self.schema)


@dataclass(frozen=True, slots=True)
class Folded:
    """Reduce all frames of a part to one result."""

    names: Sequence[str]
    works: Sequence[Work]
    work: "Callable[[Frame], Any]"
    merge: Callable[[Any, Any], Any]

    def __call__(self, batches: Batches) -> Batches:
        """One batch with the result; none if there are no rows."""
        yield from _packed(map(self.work, _worked(batches, self.names, self.works)), self.merge)


@dataclass(frozen=True, slots=True)
class Merged:
    """Merge results of several parts into one."""

    merge: Callable[[Any, Any], Any]

    def __call__(self, batches: Batches) -> Batches:
        """One batch with the merged result; none if there are no results."""
        yield from _packed(unpacked(batches), self.merge)


@dataclass(frozen=True, slots=True)
class Written:
    """Join the lines of a part into large pieces of text, with the header before the first."""

    names: Sequence[str]
    works: Sequence[Work]
    header: str | None

    def __call__(self, batches: Batches) -> Batches:
        """Batches of texts; the writer adds a line end to each."""
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
    """Plain names for columns on the cluster, because some characters have a meaning in Spark."""
    return [f"c{place}" for place in range(len(names))]


def to_frame(table: Any, names: Sequence[str]) -> "Frame":
    """Convert an Arrow table to a frame with given names; timestamps become UTC, whatever time zone Spark works in."""
    frame = pl.from_arrow(table.rename_columns(list(names)))
    assert isinstance(frame, pl.DataFrame)
    return frame.with_columns(cs.datetime(time_zone="*").dt.convert_time_zone("UTC"))


def to_arrow(frame: "Frame", schema: Any) -> Any:
    """Convert a frame to an Arrow table of exactly these columns and types, with plain names."""
    table = frame.select(named(schema.names)).to_arrow(compat_level=pl.CompatLevel.oldest())
    return table.cast(schema).rename_columns(plain(schema.names))


def arrow_schema(schema: "Schema") -> Any:
    """The Arrow types of columns, limited to those that Spark supports."""
    import pyarrow as pa

    empty = pl.DataFrame(schema=dict(schema)).to_arrow(compat_level=pl.CompatLevel.oldest())
    return pa.schema([(field.name, small(field.type)) for field in empty.schema])


def small(kind: Any) -> Any:
    """Spark's type for an Arrow type of polars: lists and texts have 32-bit offsets, and no type is unsigned."""
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
    """Unpack results from batches or tables."""
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
