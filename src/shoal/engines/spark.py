"""The Spark engine: rows in parts on a cluster. This is the only module that imports pyspark.

Rows move between the JVM and Python as Arrow batches and become polars frames in Python, so that the same functions
work on a cluster, in files and in memory. Workers need the same Python packages as the driver. The library is imported
only when a session is needed, so that everything else works without it.
"""

import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeVar

from shoal.data._frames import named
from shoal.data.dataset import COUNT, Parts, TextLayout
from shoal.engines._memory import USUAL, SparkShares, parse_memory, refuse_too_many
from shoal.engines._spark_session import (
    CUT,
    address,
    beginning,
    fewer_parts,
    name_parts,
    parts_by_size,
    said,
    start,
    worker_memory,
)
from shoal.engines._spark_tasks import (
    Folded,
    Grouped,
    Mapped,
    Merged,
    Work,
    Written,
    arrow_schema,
    plain,
    small,
    to_frame,
    unpacked,
)
from shoal.engines.distributed import Distributed, tallied
from shoal.errors import BadData, MissingExtra

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from shoal.data.dataset import Frame, Schema

Result = TypeVar("Result")

ALL_CORES = "local[*]"
"""The default master: all cores of this machine."""

MANY = 64
"""With more parts than this, their results are first merged on the cluster."""


class Spark(Distributed):
    """A Spark cluster, or this machine's cores under Spark.

    Parameters
    ----------
    session
        An existing session; it is left as it was, and not stopped.
    master
        Where to start a session if none is given: ``local[*]`` (all cores of this machine) or ``spark://host:port``.
    settings
        Further settings of a session that the engine starts, such as ``spark.executor.memory``.
    memory
        Bytes that the rows of one part may take in a Python worker, such as ``"1GB"``. By default, what
        ``spark.executor.pyspark.memory`` leaves for each worker, or 512 MiB without that setting.
    """

    name = "spark"
    here = False
    place = "on a cluster"
    numbers_lines = False

    def __init__(
        self,
        session: "SparkSession | None" = None,
        *,
        master: str = ALL_CORES,
        settings: Mapping[str, str] | None = None,
        memory: str | int | None = None,
    ) -> None:
        self._memory = parse_memory(memory) if isinstance(memory, str) else memory
        self.countable: int | None = None
        self._session, self._own = session, False
        self._master, self._settings = master, dict(settings or {})
        self._kept: list[DataFrame] = []

    @classmethod
    def within(cls, memory: str | None = None, master: str | None = None) -> "Spark":
        """The engine with a limit of the memory that it takes on this machine."""
        shares = SparkShares.of(memory or USUAL, master or ALL_CORES)
        engine = cls(
            master=shares.master,
            settings={"spark.driver.memory": f"{shares.jvm >> 20}m"},
            memory=shares.part,
        )
        engine.countable = shares.countable
        return engine

    @property
    def memory(self) -> int:
        """Bytes that the rows of one part may take in a worker."""
        if self._memory is None:
            self._memory = worker_memory(self.session)
        return self._memory

    @memory.setter
    def memory(self, bytes_of_rows: int) -> None:
        self._memory = bytes_of_rows

    @property
    def session(self) -> "SparkSession":
        """The session; it is started on first use."""
        if self._session is None:
            self._session, self._own = start(_builder, self._master, self._settings), True
        return self._session

    @said()
    def parts(self, frame: "Frame") -> "SparkParts":
        """Distribute rows that are in memory to the cluster."""
        import polars as pl
        import pyarrow as pa

        table = frame.to_arrow(compat_level=pl.CompatLevel.oldest())
        table = table.cast(
            pa.schema([(name, small(table.schema.field(name).type)) for name in frame.columns])
        )
        return self.rows(
            self.session.createDataFrame(table.rename_columns(plain(frame.columns))), frame.columns
        )

    def own(self, source: Any) -> "SparkParts | None":
        """The rows of a Spark frame; None for anything else."""
        if isinstance(source, SparkParts):
            return source
        if not is_spark_frame(source):
            return None
        with said():
            return self.rows(fewer_parts(source))

    def rows(
        self, frame: "DataFrame", names: Sequence[str] | None = None, path: str | None = None
    ) -> "SparkParts":
        """The rows of a Spark frame; its columns can be renamed."""
        return SparkParts(self, frame.toDF(*plain(frame.columns)), names or frame.columns, path)

    def head(self, path: str) -> bytes:
        """The beginning of a text file, or of the first one in a folder."""
        with said():
            return beginning(self.session, path)

    @said()
    def delimited(self, path: str, layout: TextLayout) -> "SparkParts":
        """The rows of delimited text.

        A line with a different number of cells is an error, and so is a cell with a line break, because the file is cut
        at all line ends.
        """
        self._refuse_open_quotes(path)
        schema = ", ".join(f"{_quoted(name)} string" for name in layout.header or layout.names)
        frame = self.session.read.csv(
            address(path),
            schema=schema,
            sep=layout.separator,
            quote='"',
            escape='"',
            header=layout.header is not None,
            enforceSchema=layout.header is None,
            ignoreLeadingWhiteSpace=layout.trim,
            mode="FAILFAST",
            columnNameOfCorruptRecord="",
            maxCharsPerColumn=-1,
            maxColumns=1 << 16,
        )
        return self.rows(frame, layout.names, path)

    def _refuse_open_quotes(self, path: str) -> None:
        """Refuse a cell that continues on the next line: each half might have the right number of cells by chance."""
        lines = self.session.read.text(address(path))
        quotes = "octet_length(value) - octet_length(replace(value, '\"'))"
        if lines.where(f"({quotes}) % 2 = 1").head(1):
            raise BadData(CUT, path)

    def columns(self, path: str) -> "SparkParts":
        """The rows of Parquet files."""
        with said(path):
            return self.rows(self.session.read.parquet(address(path)), path=path)

    def lines(self, path: str) -> "SparkParts":
        """The lines of text files, in one column ``line``."""
        with said(path):
            return self.rows(self.session.read.text(address(path)), ["line"], path)

    def close(self) -> None:
        """Release the frames that were kept, and stop the session if the engine started it."""
        kept, self._kept = self._kept, []
        session, self._session = (self._session, None) if self._own else (None, self._session)
        self._own = False
        with said(), warnings.catch_warnings():
            # One error message about a JVM that is gone is enough.
            warnings.filterwarnings("ignore", "Unable to cleanly shutdown Spark JVM", RuntimeWarning)
            for frame in kept:
                frame.unpersist()
            if session is not None:
                session.stop()

    @contextmanager
    def working(self, path: str | None = None) -> Iterator[None]:
        """A context for work on the cluster: errors of Spark become a sentence, and parts fit the size of the rows."""
        with said(path), parts_by_size(self.session):
            yield

    def remember(self, frame: "DataFrame") -> None:
        """Remember a persisted frame, to release it when the engine closes."""
        self._kept.append(frame)


class SparkParts:
    """Rows of a Spark frame, with pending work on them.

    Consecutive works are collected and done together, so that rows move from the JVM to Python and back only once.

    `frame`: the rows, whose columns have plain names, c0, c1, … `names`: the real names of the columns. `path`: where
    the rows come from, for messages. `works`, `schema`: the pending work on each frame, and the Arrow types of its
    results.
    """

    def __init__(
        self,
        engine: Spark,
        frame: "DataFrame",
        names: Sequence[str],
        path: str | None = None,
        works: Sequence[Work] = (),
        schema: Any = None,
    ) -> None:
        self._engine, self._base, self._before, self._path = engine, frame, tuple(names), path
        self._works, self._schema = tuple(works), schema

    @property
    @said()
    def frame(self) -> "DataFrame":
        """The Spark frame of the rows, including pending work, with the real names of the columns."""
        return self._rows.toDF(*self.names)

    @property
    @said()
    def _rows(self) -> "DataFrame":
        """The Spark frame of the rows, including pending work, with plain names of the columns."""
        if self._works:
            work = Mapped(self._before, self._works, self._schema)
            self._base = self._base.mapInArrow(work, _spark_schema(self._schema))
            self._before, self._works = self.names, ()
        return self._base

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns."""
        return tuple(self._schema.names) if self._works else self._before

    @said()
    def select(self, names: Sequence[str]) -> "SparkParts":
        """Some of the columns."""
        return self._like(self._rows.select(*self._plain(names)).toDF(*plain(names)), names)

    def map(self, work: Work, schema: "Schema") -> "SparkParts":
        """Transform rows, frame by frame and in their order."""
        works = (*self._works, work)
        return SparkParts(self._engine, self._base, self._before, self._path, works, arrow_schema(schema))

    @said()
    def group(self, by: str, work: Work, schema: "Schema") -> "SparkParts":
        """Transform all rows with the same integer in a column as one frame."""
        wanted = arrow_schema(schema)
        grouped = self._rows.groupBy(*self._plain([by]))
        whole = Grouped(self.names, work, wanted)
        # Spark inspects the number of parameters of the function, and would count `self`.
        made = grouped.applyInArrow(lambda table: whole(table), _spark_schema(wanted))
        return self._like(made, wanted.names)

    @said()
    def fold(
        self, work: "Callable[[Frame], Result]", merge: Callable[[Result, Result], Result]
    ) -> Result | None:
        """Compute a result of each part, and merge them into one."""
        packed = self._base.mapInArrow(Folded(self._before, self._works, work, merge), "result binary")
        with self._engine.working(self._path):
            parts = self._engine.session.sparkContext.defaultParallelism
            if parts > MANY:
                packed = packed.repartition(int(parts**0.5)).mapInArrow(Merged(merge), "result binary")
            found = unpacked([packed.toArrow()])
            result: Result | None = next(found, None)
            for other in found:
                assert result is not None
                result = merge(result, other)
        return result

    def counts(self, names: Sequence[str]) -> "Frame":
        """The distinct combinations of some columns, with how many rows have each, in memory.

        Raises `WrongUse` if they, and the work on them, take more memory than allowed on this machine.
        """
        found, most = self.distinct(names), self._engine.countable
        if most is None:
            return found.collect().sort(named(names))
        rows = max(most // (8 + 8 * len(names)), 1)
        frame = self._like(found._rows.limit(rows + 1), found.names).collect()
        if frame.height > rows or frame.estimated_size() > most:
            refuse_too_many(names)
        return frame.sort(named(names))

    def tallies(self, names: Sequence[str]) -> "dict[str, Frame]":
        """The distinct values of each column, with how many rows have each, counted in one pass over the files."""
        return tallied(self, names)

    @said()
    def distinct(self, names: Sequence[str]) -> "SparkParts":
        """The distinct combinations of some columns, with how many rows have each, on the cluster."""
        from pyspark.sql import functions

        count = functions.count(functions.lit(1)).alias(COUNT)
        counted = self._rows.groupBy(*self._plain(names)).agg(count)
        return self._like(counted.toDF(*plain((*names, COUNT))), (*names, COUNT))

    @said()
    def sort(self, names: Sequence[str]) -> "SparkParts":
        """The same rows in ascending order, missing cells first, texts by code points.

        They are persisted first, because Spark reads them twice: once to find out where to cut the order.
        """
        return self._like(self.keep()._rows.orderBy(*self._plain(names)), self.names)

    @said()
    def union(self, other: Parts) -> "SparkParts":
        """These rows and those of other parts."""
        assert isinstance(other, SparkParts)
        more = other.select(self.names)
        return self._like(self._rows.union(more._rows), self.names)

    def keep(self) -> "SparkParts":
        """The same rows, computed once and persisted on the cluster: in memory, or on its disks if that is full."""
        with self._engine.working():
            kept = self._rows.persist(_level())
        self._engine.remember(kept)
        return self._like(kept, self.names)

    def as_categories(self) -> "SparkParts":
        """The same rows: texts travel as texts."""
        return self

    def collect(self) -> "Frame":
        """All rows as one frame in memory."""
        with self._engine.working(self._path):
            return to_frame(self._rows.toArrow(), self.names)

    def write(self, folder: str, ending: str, header: str | None = None) -> int:
        """Write the rows in their order as part files into a new folder, on a disk that driver and workers share."""
        with self._engine.working(self._path):
            if ending == ".parquet":
                self.frame.write.parquet(address(folder))
            else:
                work = Written(self._before, self._works, header)
                self._base.mapInArrow(work, "value string").write.text(address(folder), lineSep="\n")
        return name_parts(folder, ending, header)

    def _plain(self, names: Sequence[str]) -> list[str]:
        return [f"c{self.names.index(name)}" for name in names]

    def _like(self, frame: "DataFrame", names: Sequence[str]) -> "SparkParts":
        return SparkParts(self._engine, frame, names, self._path)


def is_spark_frame(source: Any) -> bool:
    """Whether a source is a frame of Spark."""
    return type(source).__module__.startswith("pyspark.sql.") and hasattr(source, "mapInArrow")


def _builder() -> Any:
    try:
        import pyarrow  # noqa: F401
        from pyspark.sql import SparkSession
    except ImportError as error:
        raise MissingExtra("Spark", "spark") from error
    return SparkSession.builder


def _level() -> Any:
    from pyspark import StorageLevel

    return StorageLevel.MEMORY_AND_DISK


def _spark_schema(schema: Any) -> Any:
    import pyarrow as pa
    from pyspark.sql.pandas.types import from_arrow_schema

    return from_arrow_schema(pa.schema([field.with_name(f"c{place}") for place, field in enumerate(schema)]))


def _quoted(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"
