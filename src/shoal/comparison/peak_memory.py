"""The memory of this process, where the operating system tells it."""

import contextlib
import ctypes
import gc
import re
import sys
from pathlib import Path

STATUS = Path("/proc/self/status")
RESET = Path("/proc/self/clear_refs")


def begin_peak() -> bool:
    """Count the peak anew from here on. False where that cannot be: then a peak is that of the whole process.

    Memory that is free already goes back to the system first, or work that takes it again would seem to need none.
    """
    gc.collect()
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).malloc_trim(0)
    try:
        RESET.write_text("5")
    except OSError:
        return False
    return True


def peak_megabytes() -> float | None:
    """The most memory that this process held since `begin_peak`, or since it began."""
    if STATUS.exists():
        return _field("VmHWM")
    try:
        import resource
    except ImportError:
        return None
    unit = 2**20 if sys.platform == "darwin" else 2**10
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / unit


def held_megabytes() -> float | None:
    """The memory that this process holds now."""
    return _field("VmRSS") if STATUS.exists() else None


def _field(name: str) -> float | None:
    found = re.search(rf"^{name}:\s+(\d+) kB", STATUS.read_text(), re.MULTILINE)
    return int(found[1]) / 1024 if found else None
