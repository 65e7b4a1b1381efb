"""What Spark and its JVM say, in one sentence or not at all."""

import logging
import os
import re
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import cast

from shoal import errors
from shoal.errors import BadData, EngineFailed, ShoalError, WrongUse

_FULL = {
    "OutOfMemoryError": "The JVM of a worker ran out of memory",
    "MemoryError": "A Python worker ran out of memory",
    "Unable to allocate": "A Python worker ran out of memory",
    "Python worker exited unexpectedly": "A Python worker was killed, most likely because memory ran out",
    "exceeding physical memory limits": "A worker was killed because it took more memory than its container has",
    "exited with code 137": "A worker was killed, most likely because memory ran out",
}
"""What Spark says where a part does not fit, and what that means."""


CUT = (
    "a line has a quote that is not closed in it. Where cells hold line breaks, convert the file to Parquet (shoal "
    "convert) or use --engine stream, because Spark cuts text at line ends."
)
"""What to say of text whose lines are not its rows."""

GONE = (
    "The JVM of Spark on this machine has ended in the middle of the work: it ran out of memory, or was stopped. Give "
    "it more with --memory."
)
"""Said where nobody answers any more."""


@contextmanager
def aside() -> Iterator[Callable[[], str]]:
    """Keep standard error, that of the JVM too, in a file while a session starts."""
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
    """Refuse to start anything where there is no Java."""
    home = Path(os.environ.get("JAVA_HOME", ""))
    if shutil.which("java") is None and not (home / "bin" / "java").is_file():
        raise WrongUse(
            "Spark needs Java 17 or newer, which is not there: install it (on Debian and Ubuntu: apt-get install "
            "openjdk-17-jre-headless), or set JAVA_HOME."
        )


@contextmanager
def said(path: str | None = None) -> Iterator[None]:
    """Say in one sentence what Spark says in a page; an error of Shoal on a worker stays what it is."""
    with _hushed():
        try:
            yield
        except ShoalError:
            raise
        except Exception as error:
            if _is_gone(error):
                raise EngineFailed(GONE) from error
            if _library(error) not in ("py4j", "pyspark"):
                raise
            raise _sentence(error, path) from error


@contextmanager
def _hushed() -> Iterator[None]:
    """Keep from the terminal what py4j logs of a JVM that does not answer: it goes to the root of all loggers."""

    def ours(record: logging.LogRecord) -> bool:
        return "py4j" not in Path(record.pathname).parts

    root = logging.getLogger()
    # Where nobody handles what is logged, py4j's call would put a handler there that stays.
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


def _is_gone(error: BaseException | None) -> bool:
    """Whether an error, or the one that it came of, says that the JVM does not answer any more."""
    while error is not None:
        if isinstance(error, ConnectionError | EOFError) or type(error).__name__ == "Py4JNetworkError":
            return True
        if _library(error) == "pyarrow" and "schema message" in str(error):
            return True
        # What py4j makes of an answer that never came has a call in it, and nothing of Java.
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
    if why := next((words for mark, words in _FULL.items() if mark in text), None):
        return EngineFailed(
            f"{why}. Give workers more memory: on this machine with --memory, on a cluster with spark.executor.memory "
            "for the JVM and spark.executor.pyspark.memory for Python; or cut smaller parts with Spark(memory=…)."
        )
    lines = [line.strip() for line in text.splitlines() if line.strip()] or [type(error).__name__]
    python = [line for line in lines if re.match(r"[\w.]*(Error|Exception): ", line)]
    return EngineFailed(f"Spark could not do the work: {python[-1] if python else lines[0]}")
