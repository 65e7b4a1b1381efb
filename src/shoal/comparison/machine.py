"""What runs were measured on."""

import os
import platform
from datetime import date
from pathlib import Path

from shoal import __version__

CPUINFO = Path("/proc/cpuinfo")


def machine() -> str:
    """Cores, processor, versions and the day, in a line."""
    model = platform.processor() or platform.machine()
    if CPUINFO.exists():
        lines = CPUINFO.read_text(encoding="utf-8", errors="replace").splitlines()
        model = next(
            (line.partition(":")[2].strip() for line in lines if line.startswith("model name")), model
        )
    return (
        f"{os.cpu_count()} cores, {model}, {platform.system()}, Python {platform.python_version()}, "
        f"Shoal {__version__}, {date.today().isoformat()}"
    )
