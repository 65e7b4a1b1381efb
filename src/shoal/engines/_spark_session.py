"""Spark sessions: start them, read their memory settings and files, and translate their errors."""

import logging
import os
import re
import shutil
import sys
import tempfile
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, cast

from shoal import errors
from shoal.engines._memory import room_of
from shoal.errors import BadData, EngineFailed, ShoalError, WrongUse

_FULL = {
    "OutOfMemoryError": "The JVM of a worker ran out of memory",
    "MemoryError": "A Python worker ran out of memory",
    "Unable to allocate": "A Python worker ran out of memory",
    "Python worker exited unexpectedly": "A Python worker was killed, most likely because memory ran out",
    "exceeding physical memory limits": "A worker was killed because it took more memory than its container has",
    "exited with code 137": "A worker was killed, most likely because memory ran out",
}
"""Texts in Spark's errors when a part does not fit into memory, and what they mean."""


CUT = (
    "a line has a quote that is not closed in it. Where cells hold line breaks, convert the file to Parquet (shoal "
    "convert) or use --engine stream, because Spark cuts text at line ends."
)
"""Message about text files in which lines are not rows."""

GONE = (
    "The JVM of Spark on this machine has ended in the middle of the work: it ran out of memory, or was stopped. Give "
    "it more with --memory."
)
"""Message when the JVM no longer answers."""


@contextmanager
def aside() -> Iterator[Callable[[], str]]:
    """Redirect standard error, including that of the JVM, into a file while a session starts."""
    sys.stderr.flush()
    kept = os.dup(2)
    with tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as file:

        def read() -> str:
            file.seek(0)
            return file.read()

        os.dup2(file.fileno(), 2)
        try:
            yield read
        finally:
            os.dup2(kept, 2)
            os.close(kept)


def refuse_no_java() -> None:
    """Refuse to start a session if there is no Java."""
    home = Path(os.environ.get("JAVA_HOME", ""))
    if shutil.which("java") is None and not (home / "bin" / "java").is_file():
        raise WrongUse(
            "Spark needs Java 17 or newer, which was not found: install it (on Debian and Ubuntu: apt-get install "
            "openjdk-17-jre-headless), or set JAVA_HOME."
        )


@contextmanager
def said(path: str | None = None) -> Iterator[None]:
    """Turn errors of Spark, which are pages long, into one sentence; errors of Shoal on a worker keep their kind."""
    with _hushed():
        try:
            yield
        except ShoalError:
            raise
        except Exception as error:
            if _is_gone(error):
                # A thread of py4j, which releases unused objects, may notice only later, and would log it.
                logging.getLogger().addFilter(_not_of_py4j)
                raise EngineFailed(GONE) from error
            if _library(error) not in ("py4j", "pyspark"):
                raise
            raise _sentence(error, path) from error


@contextmanager
def _hushed() -> Iterator[None]:
    """Keep messages of py4j about a JVM that does not answer off the terminal: it logs them to the root logger."""

    def ours(record: logging.LogRecord) -> bool:
        return _not_of_py4j(record)

    root = logging.getLogger()
    # If the root logger has no handler, py4j's call would add one permanently.
    handler = logging.lastResort if not root.handlers else None
    root.addFilter(ours)
    if handler is not None:
        root.addHandler(handler)
    try:
        yield
    finally:
        root.removeFilter(ours)
        if handler is not None:
            root.removeHandler(handler)


def _not_of_py4j(record: logging.LogRecord) -> bool:
    return "py4j" not in Path(record.pathname).parts


def _is_gone(error: BaseException | None) -> bool:
    """Whether an error, or one of its causes, says that the JVM no longer answers."""
    while error is not None:
        if isinstance(error, ConnectionError | EOFError) or type(error).__name__ == "Py4JNetworkError":
            return True
        if _library(error) == "pyarrow" and "schema message" in str(error):
            return True
        # py4j's error for an answer that never came names a call, but no Java exception.
        if re.fullmatch(r"An error occurred while calling \S+", str(error).strip()):
            return True
        error = error.__cause__ or error.__context__
    return False


def _library(error: BaseException) -> str:
    return type(error).__module__.partition(".")[0]


def _sentence(error: Exception, path: str | None) -> ShoalError:
    text = str(error)
    ours = re.search(r"shoal\.errors\.(\w+): (.+)", text)
    if ours is not None and (kind := getattr(errors, ours[1], None)) in (
        errors.Infeasible,
        errors.WrongUse,
        BadData,
    ):
        return cast(ShoalError, kind(ours[2].strip()))
    if "PATH_NOT_FOUND" in text:
        return BadData("there is no such file, or the workers cannot see it.", path)
    if "MALFORMED_RECORD_IN_PARSING" in text or "MALFORMED_CSV_RECORD" in text:
        return BadData(
            "a line has another number of cells than the header. Correct it; if cells hold line breaks, convert the "
            "file to Parquet (shoal convert), because text is cut at line ends.",
            path,
        )
    if "COLUMN_ALREADY_EXISTS" in text or "AMBIGUOUS_REFERENCE" in text:
        return BadData(
            "names of two columns differ only in upper and lower case, and the session of Spark takes them for one: "
            "set spark.sql.caseSensitive to true in it, or rename one.",
            path,
        )
    if "CSV header" in text:
        return BadData("the files do not have the same header; part files of one table do.", path)
    if absent := re.search(r"ModuleNotFoundError: No module named '(\w+)'", text):
        return EngineFailed(
            f"The Python of the workers has no module {absent[1]}, and needs the packages of this one: set "
            "PYSPARK_PYTHON to a Python in which Shoal is installed, before the session starts."
        )
    if why := next((words for mark, words in _FULL.items() if mark in text), None):
        return EngineFailed(
            f"{why}. Give workers more memory: on this machine with --memory, on a cluster with spark.executor.memory "
            "for the JVM and spark.executor.pyspark.memory for Python; or cut smaller parts with Spark(memory=…)."
        )
    lines = [line.strip() for line in text.splitlines() if line.strip()] or [type(error).__name__]
    python = [line for line in lines if re.match(r"[\w.]*(Error|Exception): ", line)]
    return EngineFailed(f"Spark could not do the work: {python[-1] if python else lines[0]}")


MEMORY = 1 << 29
"""Bytes that the rows of one part may take in a worker, if no setting says otherwise."""

SETTINGS = {
    "spark.app.name": "shoal",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.log.level": "ERROR",
    "spark.sql.execution.arrow.maxRecordsPerBatch": "65536",
    "spark.sql.execution.arrow.maxBytesPerBatch": "32m",
    "spark.driver.maxResultSize": "0",
    "spark.sql.caseSensitive": "true",
    "spark.driver.extraJavaOptions": "-XX:+ExitOnOutOfMemoryError",
}
"""Settings of a session that Shoal starts."""

PARTS_BY_SIZE = {
    "spark.sql.adaptive.enabled": "true",
    "spark.sql.adaptive.coalescePartitions.enabled": "true",
    "spark.sql.optimizer.canChangeCachedPlanOutputPartitioning": "true",
}
"""Settings that make the number of parts of shuffled or persisted rows follow their size. By default it is 200, each of
which costs a call of a Python worker."""

PART = 1 << 24
"""Bytes of a source, by Spark's estimate, that are worth a part of their own."""


@contextmanager
def parts_by_size(session: Any) -> Iterator[None]:
    """Let Spark choose the number of parts by their size; the settings of the session are restored afterwards."""
    before = {name: session.conf.get(name, None) for name in PARTS_BY_SIZE}
    changed = [name for name, value in PARTS_BY_SIZE.items() if before[name] != value]
    try:
        for name in changed:
            session.conf.set(name, PARTS_BY_SIZE[name])
        yield
    finally:
        # A JVM that has ended has no settings to restore; its end is reported elsewhere.
        with suppress(Exception):
            for name in changed:
                restored = before[name]
                session.conf.unset(name) if restored is None else session.conf.set(name, restored)


def fewer_parts(frame: Any) -> Any:
    """Coalesce a frame to no more parts than its size is worth, but at least one for each core."""
    session = frame.sparkSession
    size = int(frame._jdf.queryExecution().optimizedPlan().stats().sizeInBytes())
    most = max(-(-size // PART), session.sparkContext.defaultParallelism)
    return frame.coalesce(most) if most < 1 << 20 else frame


def start(builder: Callable[[], Any], master: str, settings: Mapping[str, str]) -> Any:
    """Start a session. The output of the JVM while it starts is kept off the terminal, and quoted if it fails.

    `builder`: returns Spark's own builder of sessions. `master`, `settings`: where to work, and settings in addition to
    `SETTINGS`. Raises `WrongUse` if there is no Java. Raises `EngineFailed` if the session does not start, for example
    because there is no such master.
    """
    refuse_no_java()
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    if master.startswith("local"):
        os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    wanted = builder().master(master).config(map={**SETTINGS, **settings})
    with aside() as log:
        try:
            return wanted.getOrCreate()
        except Exception as error:
            lines = [line for line in log().splitlines() if "ERROR" in line or "Exception" in line]
            why = lines[0].strip() if lines else str(error).strip().partition("\n")[0]
            raise EngineFailed(f"No Spark session could be started at {master}: {why}") from error


def worker_memory(session: Any) -> int:
    """Bytes of rows that a Python worker has room for, according to Spark's settings."""
    settings = session.sparkContext.getConf()
    allowed = settings.get("spark.executor.pyspark.memory", None)
    return MEMORY if allowed is None else room_of(allowed, settings.get("spark.executor.cores", None) or "1")


BEGINNING = 1 << 18
"""Bytes that are enough to detect the layout of a text file."""

_GZIP = b"\x1f\x8b"


def address(path: str) -> str:
    """A path in the form that Spark needs: one on this machine becomes a ``file:`` URI, any other is unchanged.

    >>> address("hdfs://host/people.csv")
    'hdfs://host/people.csv'
    """
    return path if "://" in path else Path(path).absolute().as_uri()


def beginning(session: Any, path: str) -> bytes:
    """The first bytes of a file, or of the first part file of a folder, decompressed if necessary.

    Raises `BadData` if there is no such file, or the folder is empty.
    """
    place = session._jvm.org.apache.hadoop.fs.Path(address(path))
    files = place.getFileSystem(session._jsc.hadoopConfiguration())
    if not files.exists(place):
        raise BadData("there is no such file.", path)
    if files.getFileStatus(place).isDirectory():
        parts = sorted(
            str(entry.getPath().getName())
            for entry in files.listStatus(place)
            if entry.getLen() and not str(entry.getPath().getName()).startswith((".", "_"))
        )
        if not parts:
            raise BadData("the folder holds no files, so there is nothing to read.", path)
        place = session._jvm.org.apache.hadoop.fs.Path(place, parts[0])
    stream = files.open(place)
    try:
        data = bytes(stream.readNBytes(BEGINNING))
    finally:
        stream.close()
    return zlib.decompressobj(wbits=31).decompress(data, BEGINNING) if data.startswith(_GZIP) else data


def name_parts(folder: str, ending: str, header: str | None = None) -> int:
    """Rename the files that Spark wrote to the names of part files, and remove its marker files.

    Empty files are removed too; if no file has rows, one with the header is left.
    """
    place = Path(folder)
    written = sorted(
        (entry for entry in place.iterdir() if entry.name.startswith("part-") and entry.stat().st_size),
        key=lambda entry: (int(entry.name.split("-")[1]), entry.name),
    )
    for number, entry in enumerate(written):
        os.replace(entry, place / f"{number:05}.named")
    for entry in place.iterdir():
        if entry.suffix != ".named":
            entry.unlink()
    for number in range(len(written)):
        os.replace(place / f"{number:05}.named", place / f"part-{number:05}{ending}")
    if not written and header is not None:
        (place / f"part-00000{ending}").write_text(f"{header}\n", encoding="utf-8")
    return max(len(written), int(header is not None))
