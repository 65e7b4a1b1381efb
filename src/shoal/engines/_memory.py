"""Memory limits of the program, and how they are divided up under Spark."""

import ctypes
import os
import re
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NoReturn

from shoal.errors import WrongUse

COPIES = 14
"""Upper bound of the memory for work on distinct combinations, as a multiple of their own: up to 12 was measured."""

USUAL = "4GB"
"""The memory limit by default."""

LEAST = 1_000_000_000
"""The smallest memory limit, in bytes."""

WORKER = 250_000_000
"""Bytes that a Python worker takes without any rows, about."""

SMALLEST = 1 << 26
"""Bytes of rows below which a part is not worth a worker of its own."""

_UNITS = {
    "": 1,
    "KB": 10**3,
    "MB": 10**6,
    "GB": 10**9,
    "TB": 10**12,
    "KIB": 2**10,
    "MIB": 2**20,
    "GIB": 2**30,
}

_JAVA_UNITS = {"b": 1, "k": 2**10, "m": 2**20, "g": 2**30, "t": 2**40}


def parse_memory(text: str) -> int:
    """Parse an amount of memory as people write it, into bytes.

    >>> parse_memory("4GB"), parse_memory("512 MiB")
    (4000000000, 536870912)
    """
    match = re.fullmatch(r"\s*([0-9]+(?:\.[0-9]+)?)\s*([a-zA-Z]*)\s*", text)
    if match is None or match[2].upper() not in _UNITS:
        raise WrongUse(f"Memory is a number of bytes such as 4GB or 512MB, not {text!r}.")
    return int(float(match[1]) * _UNITS[match[2].upper()])


def allowed_memory(memory: str | int) -> int:
    """The memory limit in bytes. Raises `WrongUse` if it is too small for any work."""
    allowed = parse_memory(memory) if isinstance(memory, str) else memory
    if allowed < LEAST:
        raise WrongUse(f"{memory} of memory is too little for any work: allow at least 1GB.")
    return allowed


def java_memory(text: str) -> int:
    """Parse an amount of memory as Spark's settings write it, into bytes; without a unit it is in mebibytes.

    >>> java_memory("2g"), java_memory("512"), java_memory("1024kb")
    (2147483648, 536870912, 1048576)
    """
    match = re.fullmatch(r"\s*([0-9]+)\s*([bkmgt]?)i?b?\s*", text.lower())
    if match is None:
        raise WrongUse(f"Spark's memory is a number such as 512m or 2g, not {text!r}.")
    return int(match[1]) * _JAVA_UNITS[match[2] or "m"]


def room_of(allowed: str, workers: str) -> int:
    """Bytes of rows that each Python worker has room for, if several share an amount of memory.

    >>> room_of("4g", "4")
    823741824
    """
    room = java_memory(allowed) // int(workers) - WORKER
    if room < SMALLEST:
        raise WrongUse(
            f"spark.executor.pyspark.memory = {allowed} for {workers} Python workers leaves no room for rows: give "
            f"each of them at least {(WORKER + SMALLEST) >> 20} MB."
        )
    return room


def give_back() -> None:
    """Return free memory to the system: glibc would keep it, and the limit is for all that the program holds."""
    if sys.platform == "linux":
        trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
        if trim is not None:
            trim(0)


def refuse_too_many(names: Sequence[str]) -> NoReturn:
    """Refuse columns with more distinct combinations than fit into memory."""
    raise WrongUse(
        f"There are more distinct combinations of {', '.join(names)} than the allowed memory holds; allow more "
        "(--memory), or take fewer columns."
    )


@dataclass(frozen=True, slots=True)
class SparkShares:
    """How the memory of this machine is divided up under Spark."""

    master: str  # where to work; for ``local[*]``, as many cores as there is memory for
    jvm: int  # bytes of the JVM on this machine
    part: int | None
    """Bytes of rows that a Python worker on this machine holds at a time; None if the workers are on other machines,
    with memory of their own."""
    countable: int  # bytes of distinct combinations that may be collected on this machine

    @classmethod
    def of(cls, memory: str, master: str) -> "SparkShares":
        """Divide the memory: half for the JVM, half for Python's workers, or for the driver if they are elsewhere.

        >>> SparkShares.of("4GB", "local[2]")
        SparkShares(master='local[2]', jvm=2000000000, part=750000000, countable=142857142)

        Raises `WrongUse` if it is too little for any work, or for that many cores.
        """
        half = allowed_memory(memory) // 2
        here = re.fullmatch(r"local(?:\[(\*|[0-9]+)(?:,[0-9]+)?\])?", master)
        if here is None:
            return cls(master, half, None, half // COPIES)
        room = max(half // (WORKER + SMALLEST), 1)
        if here[1] == "*":
            cores = min(os.cpu_count() or 1, room)
            master = master.replace("*", str(cores))
        else:
            cores = int(here[1] or 1)
            if cores > room:
                enough = -(-2 * cores * (WORKER + SMALLEST) // 10**9)
                raise WrongUse(
                    f"{memory} of memory is too little for {cores} Python workers: allow at least {enough}GB "
                    f"(--memory), or take fewer cores (--master local[{room}])."
                )
        return cls(master, half, max(half // cores - WORKER, SMALLEST), half // COPIES)
