"""Rows in parts on a Spark cluster: the only module that imports pyspark.

Rows travel between the JVM and Python as Arrow batches and become polars frames there, so that the same functions work
on a cluster, in files and in memory. Workers need the same Python packages as the driver. The library is imported when
a session is asked for, so that all else works without it.
"""

import os
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from shoal.data.parts import COUNT, Parts, TextLayout
from shoal.engines.complaints import aside, refuse_no_java, said
from shoal.engines.hadoop import address, beginning, name_parts
from shoal.engines.memory import SparkShares, parse_memory, refuse_too_many, room_of
from shoal.engines.travel import (
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
from shoal.errors import EngineFailed, MissingExtra

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from shoal.data.parts import Frame, Schema

Result = TypeVar("Result")

MANY = 64
"""Results of parts above which they are merged on the cluster first."""

MEMORY = 1 << 29
"""Bytes that the rows of one part may take in a worker, unless told by anybody."""

SETTINGS = {
    "spark.app.name": "shoal",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.log.level": "ERROR",
    "spark.sql.execution.arrow.maxRecordsPerBatch": "65536",
    "spark.sql.execution.arrow.maxBytesPerBatch": "32m",
    "spark.driver.maxResultSize": "0",
    "spark.driver.extraJavaOptions": "-XX:+ExitOnOutOfMemoryError",
    # What is kept lies in as many parts as it is large; otherwise in 200, each of which costs a Python worker's call.
    "spark.sql.optimizer.canChangeCachedPlanOutputPartitioning": "true",
}
"""Of a session that is started here."""


class Spark:
    """A Spark cluster, or this machine's cores under Spark.

    Parameters
    ----------
    session
        A session that is there already; it is left as it is.
    master
        Where to start a session otherwise: ``local[*]`` (all cores of this machine) or ``spark://host:port``.
    settings
        More settings of a session that is started here, such as ``spark.executor.memory``.
    memory
        Bytes that the rows of one part may take in a Python worker, such as ``"1GB"``. Unless told, what
        ``spark.executor.pyspark.memory`` leaves each of them, and without that setting 512 MiB.
    """

    name = "spark"

    def __init__(
        self,
        session: "SparkSession | None" = None,
        *,
        master: str = "local[*]",
        settings: Mapping[str, str] | None = None,
        memory: str | int | None = None,
    ) -> None:
        self._memory = parse_memory(memory) if isinstance(memory, str) else memory
        self.countable: int | None = None
        self._session, self._own = session, False
        self._master, self._settings = master, dict(settings or {})
        self._kept: list[DataFrame] = []

    @classmethod
    def within(cls, memory: str, master: str) -> "Spark":
        """The engine with a bound of the memory that it takes on this machine."""
        shares = SparkShares.of(memory, master)
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
            self._memory = _worker_memory(self.session)
        return self._memory

    @memory.setter
    def memory(self, bytes_of_rows: int) -> None:
        self._memory = bytes_of_rows

    @property
    def session(self) -> "SparkSession":
        """The session; started when it is first asked for."""
        if self._session is None:
            self._session, self._own = start(self._master, self._settings), True
        return self._session

    def parts(self, frame: "Frame") -> "SparkParts":
        """Rows that are here, as parts on the cluster."""
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
        own = type(source).__module__.startswith("pyspark.sql.") and hasattr(source, "mapInArrow")
        return self.rows(source) if own else None

    def rows(
        self, frame: "DataFrame", names: Sequence[str] | None = None, path: str | None = None
    ) -> "SparkParts":
        """The rows of a Spark frame, whose columns may get other names."""
        return SparkParts(self, frame.toDF(*plain(frame.columns)), names or frame.columns, path)

    def head(self, path: str) -> bytes:
        """The beginning of a text file, or of the first of a folder."""
        with said():
            return beginning(self.session, path)

    def delimited(self, path: str, layout: TextLayout) -> "SparkParts":
        """The rows of delimited text.

        A line with another number of cells than the others is an error, and so is a cell with a line break: the file
        is cut at line ends, wherever they are.
        """
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

    def columns(self, path: str) -> "SparkParts":
        """The rows of Parquet files."""
        with said(path):
            return self.rows(self.session.read.parquet(address(path)), path=path)

    def lines(self, path: str) -> "SparkParts":
        """The lines of text files, in one column ``line``."""
        with said(path):
            return self.rows(self.session.read.text(address(path)), ["line"], path)

    def close(self) -> None:
        """Let go of what was kept, and stop a session that was started here."""
        with said():
            for frame in self._kept:
                frame.unpersist()
            self._kept.clear()
            if self._own and self._session is not None:
                self._session.stop()
                self._session, self._own = None, False

    def remember(self, frame: "DataFrame") -> None:
        """Let go of a frame that is kept when the engine closes."""
        self._kept.append(frame)


class SparkParts:
    """Rows of a Spark frame, with work that is still to be done on them.

    Works that follow each other wait and are done in one go, so that rows cross from the JVM to Python and back once.

    Parameters
    ----------
    frame
        The rows. Its columns have plain names, c0, c1, …
    names
        What the columns are really called.
    path
        Where the rows come from, for messages.
    works, schema
        What is still to be done on each frame, and the Arrow types of what comes out.
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
    def frame(self) -> "DataFrame":
        """The Spark frame of the rows under plain names, with all work in it."""
        if self._works:
            work = Mapped(self._before, self._works, self._schema)
            self._base = self._base.mapInArrow(work, _spark_schema(self._schema))
            self._before, self._works = self.names, ()
        return self._base

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns."""
        return tuple(self._schema.names) if self._works else self._before

    def select(self, names: Sequence[str]) -> "SparkParts":
        """Some of the columns."""
        return self._like(self.frame.select(*self._plain(names)).toDF(*plain(names)), names)

    def map(self, work: Work, schema: "Schema") -> "SparkParts":
        """Transform rows, frame by frame and in their order."""
        works = (*self._works, work)
        return SparkParts(self._engine, self._base, self._before, self._path, works, arrow_schema(schema))

    def group(self, by: str, work: Work, schema: "Schema") -> "SparkParts":
        """Transform all rows with the same integer in a column as one frame."""
        wanted = arrow_schema(schema)
        grouped = self.frame.groupBy(*self._plain([by]))
        whole = Grouped(self.names, work, wanted)
        # Spark counts the parameters of what it is given, and would count `self` among them.
        made = grouped.applyInArrow(lambda table: whole(table), _spark_schema(wanted))
        return self._like(made, wanted.names)

    def fold(
        self, work: "Callable[[Frame], Result]", merge: Callable[[Result, Result], Result]
    ) -> Result | None:
        """A result of each part, merged into one."""
        packed = self._base.mapInArrow(Folded(self._before, self._works, work, merge), "result binary")
        with said(self._path):
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
        """The distinct combinations of some columns with their rows, here.

        Raises
        ------
        WrongUse
            If they take more memory than is allowed here, together with the work on them.
        """
        found, most = self.distinct(names), self._engine.countable
        if most is None:
            return found.collect().sort(list(names))
        rows = max(most // (8 + 8 * len(names)), 1)
        frame = self._like(found.frame.limit(rows + 1), found.names).collect()
        if frame.height > rows or frame.estimated_size() > most:
            refuse_too_many(names)
        return frame.sort(list(names))

    def distinct(self, names: Sequence[str]) -> "SparkParts":
        """The distinct combinations of some columns with their rows, on the cluster."""
        from pyspark.sql import functions

        count = functions.count(functions.lit(1)).alias(COUNT)
        counted = self.frame.groupBy(*self._plain(names)).agg(count)
        return self._like(counted.toDF(*plain((*names, COUNT))), (*names, COUNT))

    def sort(self, names: Sequence[str]) -> "SparkParts":
        """The same rows in ascending order, missing cells first, texts by code points."""
        return self._like(self.frame.orderBy(*self._plain(names)), self.names)

    def with_rows(self, frame: "Frame") -> "SparkParts":
        """The same rows, and those of a frame that is here."""
        return self.union(self._engine.parts(frame.select(self.names)))

    def union(self, other: Parts) -> "SparkParts":
        """The same rows, and those of other parts."""
        assert isinstance(other, SparkParts)
        more = other.select(self.names)
        return self._like(self.frame.union(more.frame), self.names)

    def keep(self) -> "SparkParts":
        """The same rows, computed once and kept on the cluster: in memory, or on its disks where that is full."""
        kept = self.frame.persist(_level())
        self._engine.remember(kept)
        return self._like(kept, self.names)

    def collect(self) -> "Frame":
        """All rows, here."""
        with said(self._path):
            return to_frame(self.frame.toArrow(), self.names)

    def write(self, folder: str, ending: str, header: str | None = None) -> int:
        """Write the rows in their order as part files into a new folder of a disk that driver and workers share."""
        with said(self._path):
            if ending == ".parquet":
                self.frame.toDF(*self.names).write.parquet(address(folder))
            else:
                work = Written(self._before, self._works, header)
                self._base.mapInArrow(work, "value string").write.text(address(folder), lineSep="\n")
        return name_parts(folder, ending, header)

    def _plain(self, names: Sequence[str]) -> list[str]:
        return [f"c{self.names.index(name)}" for name in names]

    def _like(self, frame: "DataFrame", names: Sequence[str]) -> "SparkParts":
        return SparkParts(self._engine, frame, names, self._path)


def start(master: str, settings: Mapping[str, str]) -> "SparkSession":
    """Start a session. What the JVM says while it starts is kept from the terminal, and told if it fails.

    Raises
    ------
    WrongUse
        If there is no Java.
    EngineFailed
        If the session does not start, for example because there is no such master.
    """
    refuse_no_java()
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    if master.startswith("local"):
        os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    builder = _builder().master(master).config(map={**SETTINGS, **settings})
    with aside() as log:
        try:
            session: SparkSession = builder.getOrCreate()
            return session
        except Exception as error:
            told = [line for line in log().splitlines() if "ERROR" in line or "Exception" in line]
            why = told[0].strip() if told else str(error).strip().partition("\n")[0]
            raise EngineFailed(f"No Spark session could be started at {master}: {why}") from error


def _worker_memory(session: "SparkSession") -> int:
    """Bytes of rows that a Python worker has room for, by Spark's own settings."""
    settings = session.sparkContext.getConf()
    allowed = settings.get("spark.executor.pyspark.memory", None)
    return MEMORY if allowed is None else room_of(allowed, settings.get("spark.executor.cores", None) or "1")


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
