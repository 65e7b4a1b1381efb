"""A process that carries out runs: it reads plans and writes answers as lines of JSON.

Whatever happens to a run happens to this process alone: its parent sees an error as an answer, and a crash as the end
of the lines.
"""

import contextlib
import ctypes
import gc
import json
import math
import os
import re
import signal
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from shoal.comparison.run_data import load
from shoal.comparison.workers import COMPILED, COMPILING
from shoal.data.baskets import Baskets
from shoal.data.table import Table
from shoal.errors import BrokenPromise, Infeasible, ShoalError
from shoal.kernels._compiling import watched
from shoal.measures.measure import Score
from shoal.outcome import Run
from shoal.pipeline import carry_out
from shoal.recipe import make_measure, make_method

READY = "ready"
"""The first line of the process. A time limit counts from the plan on, not from the start of the process."""

PARTS = 60
"""Parts of a score are left out of the answer where there are more than this."""


def main() -> None:
    """Answer plans until there are no more."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent decides when to end
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)

    def say(text: str) -> None:
        answers.write(f"{text}\n")
        answers.flush()

    say(READY)
    bench = Bench()
    with watched(lambda seconds: say(COMPILING if seconds else COMPILED)):
        for line in sys.stdin:
            say(json.dumps(bench.answer(json.loads(line)), default=str))


class Bench:
    """Carries out one run after another, and keeps the data of the last, because the next often needs it."""

    def __init__(self) -> None:
        self._key = ""
        self._data: Table | Baskets | None = None

    def answer(self, plan: Mapping[str, Any]) -> dict[str, Any]:
        """The result of a run as plain data; an error is a result."""
        try:
            return self._carried_out(plan)
        except Infeasible as error:
            return {"status": "refused", "error": str(error), "best": _plain(error.best)}
        except BrokenPromise as error:
            return {"status": "broken", "error": str(error)}
        except ShoalError as error:
            return {"status": "failed", "error": str(error)}
        except Exception as error:
            return {"status": "failed", "error": f"{type(error).__name__}: {error}"}

    def _carried_out(self, plan: Mapping[str, Any]) -> dict[str, Any]:
        begin = time.perf_counter()
        data = self._loaded(plan)
        seconds = {"reading": time.perf_counter() - begin}
        method = make_method(plan["method"])
        begin_peak()
        held = held_megabytes()
        peaks: list[float | None] = []

        def stage(name: str) -> None:
            if name == "verifying":
                peaks.append(peak_megabytes())

        measures = plan.get("measures")
        judges = None if measures is None else tuple(make_measure(one) for one in measures)
        run = carry_out(method, data, seed=plan["seed"], stage=stage, measures=judges)
        fastest, trace = run.seconds["anonymizing"], run.trace
        for _ in range(plan["repeats"] - 1):
            begin = time.perf_counter()
            _, again = method.anonymize(data, seed=plan["seed"])
            if (took := time.perf_counter() - begin) < fastest:
                fastest, trace = took, again
        seconds |= run.seconds
        seconds |= {f"anonymizing.{stage}": took for stage, took in trace.timings.items()}
        seconds["anonymizing"] = fastest
        peak = peaks[0]
        return {
            "status": "done",
            **sizes(data),
            **outcome(run),
            "seconds": seconds,
            "peak_mb": peak,
            "added_mb": None if peak is None or held is None else peak - held,
        }

    def _loaded(self, plan: Mapping[str, Any]) -> Table | Baskets:
        data = plan["data"]
        chance = plan["draw"] or data.get("seed") == "each" or data["roles"]["public_share"] is not None
        key = json.dumps([plan["data"], plan["draw"], plan["seed"] if chance else None], sort_keys=True)
        if self._data is None or key != self._key:
            self._data = None  # two datasets at once may need too much memory
            self._data, self._key = load(plan["data"], plan["draw"], plan["seed"]), key
        return self._data


def sizes(data: Table | Baskets) -> dict[str, int]:
    """The size of data: rows, columns or items, and so on."""
    if isinstance(data, Table):
        return {"rows": data.rows, "columns": len(data.quasi)}
    occurring = int((data.supports > 0).sum())
    return {
        "rows": len(data),
        "items": len(data.vocabulary),
        "cells": len(data) * occurring,
        "occurrences": len(data.items),
        "public_items": len(data.public),
        "sensitive_items": len(data.sensitive),
    }


def outcome(run: Run) -> dict[str, Any]:
    """The outcome of a run: verdicts, scores and notes. Parts of a score for single items are left out."""
    items = frozenset(run.original.vocabulary if isinstance(run.original, Baskets) else ())
    return {
        "suppressed": run.release.suppressed,
        "reached": {verdict.model: _plain(verdict.value) for verdict in run.verdicts},
        "scores": {name: _plain(value) for score in run.scores for name, value in _numbers(score, items)},
        "better": {score.name: score.better for score in run.scores},
        "meaning": {score.name: score.meaning for score in run.scores},
        "notes": {
            name: _plain(value)
            for name, value in run.trace.notes.items()
            if isinstance(value, bool | int | float)
        },
    }


def _numbers(score: Score, items: frozenset[str]) -> list[tuple[str, float]]:
    parts = {part: value for part, value in score.parts.items() if part not in items}
    if len(parts) > PARTS:
        parts = {}
    return [(score.name, score.value), *((f"{score.name}.{part}", value) for part, value in parts.items())]


def _plain(value: Any) -> bool | int | float | None:
    """A number that JSON can hold; None for one that is not finite."""
    if value is None or isinstance(value, bool | int):
        return value
    number = float(value)
    return number if math.isfinite(number) else None


STATUS = Path("/proc/self/status")
RESET = Path("/proc/self/clear_refs")


def begin_peak() -> bool:
    """Start measuring the peak of memory. False where that is not possible: the peak is then that of the whole process.

    Free memory is first given back to the system, because work that reuses it would seem to need none.
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
    """The most memory that this process has held since `begin_peak`, or else since its start."""
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


if __name__ == "__main__":
    main()
