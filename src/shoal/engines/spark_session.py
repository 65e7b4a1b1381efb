"""The session of Spark: how it is started, and what its settings leave to Python."""

import os
import sys
from collections.abc import Callable, Mapping
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
    # What is kept lies in as many parts as it is large; otherwise in 200, each of which costs a Python worker's call.
    "spark.sql.optimizer.canChangeCachedPlanOutputPartitioning": "true",
}
"""Of a session that is started here."""


def start(builder: Callable[[], Any], master: str, settings: Mapping[str, str]) -> Any:
    """Start a session. What the JVM says while it starts is kept from the terminal, and told if it fails.

    Parameters
    ----------
    builder
        Gives Spark's own builder of sessions.
    master, settings
        Where to work, and what is set beside `SETTINGS`.

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
