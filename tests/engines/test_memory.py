"""How memory is written, and how it is shared out."""

import os

import pytest

from shoal.engines._memory import SMALLEST, WORKER, SparkShares, java_memory, parse_memory, room_of
from shoal.engines._spark_session import said
from shoal.errors import EngineFailed, WrongUse


def test_units() -> None:
    assert parse_memory("1.5GB") == 1_500_000_000
    assert java_memory("3g") == 3 << 30
    for wrong in ("", "two", "-1g", "1.5g"):
        with pytest.raises(WrongUse, match="Spark's memory"):
            java_memory(wrong)


@pytest.mark.parametrize("cores", [1, 2, 3, 6])
def test_shares_of_this_machine_stay_below_the_bound(cores: int) -> None:
    shares = SparkShares.of("4GB", f"local[{cores}]")
    assert shares.part is not None
    assert shares.jvm + cores * (WORKER + shares.part) <= 4_000_000_000
    assert shares.part >= SMALLEST


def test_all_cores_are_those_that_there_is_memory_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "cpu_count", lambda: 64)
    few = SparkShares.of("1GB", "local[*]")
    assert few.master == "local[1]"
    many = SparkShares.of("4GB", "local[*]")
    assert many.master == "local[6]"
    assert SparkShares.of("64GB", "local[*,4]").master == "local[64,4]"
    with pytest.raises(WrongUse, match=r"too little for 64 Python workers: allow at least 41GB"):
        SparkShares.of("4GB", "local[64]")
    assert SparkShares.of("41GB", "local[64]").part is not None


def test_a_cluster_has_a_memory_of_its_own() -> None:
    shares = SparkShares.of("4GB", "spark://host:7077")
    assert (shares.master, shares.jvm, shares.part) == ("spark://host:7077", 2_000_000_000, None)
    with pytest.raises(WrongUse, match="100MB of memory is too little"):
        SparkShares.of("100MB", "spark://host:7077")


def test_settings_of_spark_say_how_large_parts_are() -> None:
    assert room_of("4g", "2") == (2 << 30) - WORKER
    with pytest.raises(WrongUse, match="at least 302 MB"):
        room_of("1g", "8")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("java.lang.OutOfMemoryError: Java heap space", "The JVM of a worker ran out of memory"),
        ("numpy.core._exceptions._ArrayMemoryError: Unable to allocate 4 GiB", "A Python worker ran out"),
        (
            "org.apache.spark.SparkException: Python worker exited unexpectedly (crashed)",
            "A Python worker was killed",
        ),
        ("Container killed by YARN for exceeding physical memory limits.", "its container has"),
    ],
)
def test_a_part_that_does_not_fit_is_told_in_one_sentence(text: str, words: str) -> None:
    failure = type("Failure", (Exception,), {"__module__": "pyspark.errors"})
    with pytest.raises(EngineFailed, match=words) as shown, said():
        raise failure(f"Job aborted due to stage failure:\n{text}\n\tat somewhere")
    assert "`memory`" in str(shown.value)
    assert "\n" not in str(shown.value)
