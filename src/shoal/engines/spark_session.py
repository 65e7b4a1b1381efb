"""The session of Spark: how it is started, and what its settings leave to Python."""

import os
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any

from shoal.engines.memory import room_of
from shoal.engines.spark_errors import aside, refuse_no_java
from shoal.errors import EngineFailed

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
    "spark.sql.caseSensitive": "true",
    "spark.driver.extraJavaOptions": "-XX:+ExitOnOutOfMemoryError",
}
"""Of a session that is started here."""

PARTS_BY_SIZE = {
    "spark.sql.adaptive.enabled": "true",
    "spark.sql.adaptive.coalescePartitions.enabled": "true",
    "spark.sql.optimizer.canChangeCachedPlanOutputPartitioning": "true",
}
"""Rows that were moved, or are kept, lie in as many parts as they are large; otherwise in 200, each of which costs a
call of a Python worker."""

PART = 1 << 24
"""Bytes of a source, by Spark's estimate, that are worth a part."""


@contextmanager
def parts_by_size(session: Any) -> Iterator[None]:
    """Let Spark choose the number of parts by their size; the session is left with the settings that it had."""
    before = {name: session.conf.get(name, None) for name in PARTS_BY_SIZE}
    changed = [name for name, value in PARTS_BY_SIZE.items() if before[name] != value]
    try:
        for name in changed:
            session.conf.set(name, PARTS_BY_SIZE[name])
        yield
    finally:
        # A JVM that has ended has no settings, and whoever waits hears of its end.
        with suppress(Exception):
            for name in changed:
                restored = before[name]
                session.conf.unset(name) if restored is None else session.conf.set(name, restored)


def fewer_parts(frame: Any) -> Any:
    """The rows of a frame, in no more parts than its size is worth and cores can share."""
    session = frame.sparkSession
    size = int(frame._jdf.queryExecution().optimizedPlan().stats().sizeInBytes())
    most = max(-(-size // PART), session.sparkContext.defaultParallelism)
    return frame.coalesce(most) if most < 1 << 20 else frame


def start(builder: Callable[[], Any], master: str, settings: Mapping[str, str]) -> Any:
    """Start a session. What the JVM says while it starts is kept from the terminal, and told if it fails.

    `builder`: gives Spark's own builder of sessions. `master`, `settings`: where to work, and what is set beside
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
            told = [line for line in log().splitlines() if "ERROR" in line or "Exception" in line]
            why = told[0].strip() if told else str(error).strip().partition("\n")[0]
            raise EngineFailed(f"No Spark session could be started at {master}: {why}") from error


def worker_memory(session: Any) -> int:
    """Bytes of rows that a Python worker has room for, by Spark's own settings."""
    settings = session.sparkContext.getConf()
    allowed = settings.get("spark.executor.pyspark.memory", None)
    return MEMORY if allowed is None else room_of(allowed, settings.get("spark.executor.cores", None) or "1")
