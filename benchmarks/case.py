"""One benchmark case in a process of its own, so that its peak memory is its own too."""

import json
import platform
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "results" / "benchmarks.md"


def best_of(work: Callable[[], object], repeats: int = 3) -> float:
    """Seconds of the fastest of several runs, which is least disturbed by other work of the machine."""
    seconds = []
    for _ in range(repeats):
        begin = time.perf_counter()
        work()
        seconds.append(time.perf_counter() - begin)
    return min(seconds)


def peak_megabytes() -> float:
    """The most memory that this process has held.

    Linux reports it apart from that of the parent process; `getrusage` gives the larger of the two.
    """
    status = Path("/proc/self/status")
    if status.exists():
        for line in status.read_text().splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) / 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def in_child(module: str, **arguments: Any) -> dict[str, Any]:
    """Call ``case(**arguments)`` of a benchmark module in a new process; returns its answer with ``peak_mb`` added."""
    code = (
        "import importlib, json, sys; from benchmarks.case import peak_megabytes;"
        f"answer = importlib.import_module({module!r}).case(**json.loads(sys.argv[1]));"
        "print(json.dumps({**answer, 'peak_mb': peak_megabytes()}))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, json.dumps(arguments)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise RuntimeError(f"{module} {arguments}: {done.stderr.strip().splitlines()[-1]}")
    answer: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return answer


def machine() -> str:
    """The machine that the figures were measured on."""
    import os

    model = platform.processor() or platform.machine()
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.exists():
        names = [
            line.split(":")[1].strip() for line in cpuinfo.read_text().splitlines() if "model name" in line
        ]
        model = names[0] if names else model
    load = os.getloadavg()[0]
    return (
        f"{os.cpu_count()} cores, {model}, Python {platform.python_version()}, {date.today().isoformat()}, "
        f"load before {load:.1f}"
    )


def show(rows: list[dict[str, Any]]) -> None:
    """Print rows with the same keys as a Markdown table."""
    if rows:
        print(table_text(rows), end="")


def table_text(rows: list[dict[str, Any]]) -> str:
    """Rows with the same keys as a Markdown table."""
    names = list(rows[0])
    cells = [[_text(row.get(name)) for name in names] for row in rows]
    widths = [max(len(name), *(len(line[place]) for line in cells)) for place, name in enumerate(names)]
    return "".join(
        "| " + " | ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)) + " |\n"
        for line in [names, ["-" * width for width in widths], *cells]
    )


def write_page(name: str, title: str, words: str, rows: list[dict[str, Any]]) -> None:
    """Put a table into docs/results/benchmarks.md, in place of an earlier one of the same name."""
    begin, end = f"<!-- {name} -->\n", f"<!-- end of {name} -->\n"
    section = f"{begin}## {title}\n\n{words}\n\n{table_text(rows)}{end}"
    text = PAGE.read_text(encoding="utf-8")
    before, found, after = text.partition(begin)
    if found:
        section += after.partition(end)[2]
    else:
        before = f"{text.rstrip()}\n\n"
    PAGE.write_text(before + section, encoding="utf-8")


def _text(value: Any) -> str:
    if value is None:
        return "-"
    if isinstance(value, float):
        return f"{value:.3g}" if abs(value) < 1000 else f"{value:,.0f}"
    return f"{value:,}" if isinstance(value, int) else str(value)
