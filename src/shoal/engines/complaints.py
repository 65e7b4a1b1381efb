"""What Spark and its JVM say, in one sentence or not at all."""

import os
import re
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import cast

from shoal import errors
from shoal.errors import BadData, EngineFailed, ShoalError


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


@contextmanager
def said(path: str | None = None) -> Iterator[None]:
    """Say in one sentence what Spark says in a page; an error of Shoal on a worker stays what it is."""
    try:
        yield
    except Exception as error:
        if type(error).__module__.partition(".")[0] not in ("py4j", "pyspark"):
            raise
        raise _sentence(error, path) from error


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
    if "CSV header" in text:
        return BadData("the files do not have the same header; part files of one table do.", path)
    lines = [line.strip() for line in text.splitlines() if line.strip()] or [type(error).__name__]
    python = [line for line in lines if re.match(r"[\w.]*(Error|Exception): ", line)]
    return EngineFailed(f"Spark could not do the work: {python[-1] if python else lines[0]}")
