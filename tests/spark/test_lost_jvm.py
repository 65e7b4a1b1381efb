"""A JVM that dies in the middle of the work is told in one sentence, and in nothing else."""

import logging
import subprocess
import sys
from collections.abc import Iterator

import pytest
from tests.cluster import JAVA

from shoal.engines._spark_session import said
from shoal.errors import EngineFailed

PROGRAM = """
import os, signal, sys, threading
import polars as pl
from shoal.engines.spark import Spark
from shoal.errors import EngineFailed

def slow(frame):
    import time
    time.sleep(5)
    return frame

settings = {"spark.driver.memory": "512m", "spark.driver.extraJavaOptions": sys.argv[2]}
engine = Spark(master="local[1]", settings=settings)
parts = engine.parts(pl.DataFrame({"a": [1, 2, 3]})).map(slow, {"a": pl.Int64})
java = engine.session._jvm.java.lang.ProcessHandle.current().pid()
threading.Timer(1.5 if sys.argv[1] == "during" else 0, os.kill, (java, signal.SIGKILL)).start()
if sys.argv[1] == "before":
    threading.Event().wait(1)
try:
    try:
        parts.sort(["a"]).collect()
    finally:
        engine.close()
except EngineFailed as error:
    print(error)
"""


WHEN = ("before", "during")


@pytest.fixture(scope="module")
def programs(java: None) -> Iterator[dict[str, subprocess.Popen[str]]]:
    """The program for each time, all begun at once: mostly they wait."""
    begun = {
        when: subprocess.Popen(
            [sys.executable, "-c", PROGRAM, when, JAVA],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for when in WHEN
    }
    yield begun
    for one in begun.values():
        one.kill()
        one.communicate()


@pytest.mark.parametrize("when", WHEN)
def test_a_lost_jvm_is_one_sentence(when: str, programs: dict[str, subprocess.Popen[str]]) -> None:
    said, complained = programs[when].communicate(timeout=120)
    assert programs[when].returncode == 0
    assert said.startswith("The JVM of Spark on this machine has ended in the middle of the work")
    assert (len(said.splitlines()), complained) == (1, "")


def test_what_py4j_logs_later_of_a_lost_jvm_is_kept_from_the_terminal(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    root = logging.getLogger()
    monkeypatch.setattr(root, "filters", [])
    late, of_others = (
        logging.LogRecord("root", logging.ERROR, f"site-packages/{package}/module.py", 1, "", (), None)
        for package in ("py4j", "other")
    )
    with pytest.raises(ValueError, match="nothing of Spark"), said():
        raise ValueError("nothing of Spark")
    assert root.filter(late)
    with pytest.raises(EngineFailed, match="has ended"), said():
        raise ConnectionResetError
    assert not root.filter(late)
    assert root.filter(of_others)
