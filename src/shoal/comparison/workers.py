"""Processes that carry out runs.

They are ours, and not those of a library such as pebble, because a limit of time stands while kernels are compiled, and
what a process said last is part of the answer when it has crashed.
"""

import contextlib
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any

import shoal.comparison
from shoal.comparison.grid import Cell

Answer = dict[str, Any]


COMPILING, COMPILED = "compiling", "compiled"
"""What a process says when kernels begin to be compiled, and when they are; any other line is an answer."""


class Clock:
    """Counts seconds up to a limit, but not those while it stands.

    `limit`: the seconds; none for ever. `late`: called when they are over.
    """

    def __init__(self, limit: float | None, late: Callable[[], None]) -> None:
        self._left, self._late = limit, late
        self._timer: threading.Timer | None = None
        self._begin = 0.0

    def go(self) -> None:
        """Count from here on."""
        if self._left is not None and self._timer is None:
            self._begin = time.monotonic()
            self._timer = threading.Timer(max(self._left, 0.0), self._late)
            self._timer.start()

    def stand(self) -> None:
        """Count no more until it goes again."""
        if self._left is not None and self._timer is not None:
            self._timer.cancel()
            self._timer = None
            self._left -= time.monotonic() - self._begin


class Worker:
    """A process that carries out one run after the other, and a new one where it has died.

    `compiling`: told when the process begins to compile kernels, and when it has done so. That depends on what else
    the machine does and was compiled before, and is no time of a run.
    """

    def __init__(self, compiling: Callable[[bool], None] | None = None) -> None:
        self._process: subprocess.Popen[str] | None = None
        self._said: IO[bytes] | None = None
        self._compiling = compiling or (lambda _: None)

    def run(self, cell: Cell) -> Answer:
        """Carry out a run. A process that dies under it, or takes too long, is an answer too."""
        process = self._started()
        assert process.stdin is not None
        assert process.stdout is not None
        late = threading.Event()

        def give_up() -> None:
            late.set()
            process.kill()

        clock = Clock(cell.time_limit, give_up)
        clock.go()
        try:
            process.stdin.write(json.dumps(cell.plan, default=str) + "\n")
            process.stdin.flush()
            line = self._answered(process.stdout, clock)
        except OSError:
            line = ""
        finally:
            clock.stand()
        if line.endswith("\n"):
            answer: Answer = json.loads(line)
            if late.is_set():  # it was done just in time, and killed all the same
                self.close()
            return answer
        code = process.wait()
        said = self._last_words()
        self.close()
        if late.is_set():
            return {
                "status": "timeout",
                "error": f"given up after {cell.time_limit:g} seconds",
                "limit": cell.time_limit,
            }
        return {"status": "crashed", "error": f"the process ended with {_named(code)}{said}"}

    def _answered(self, said: IO[str], clock: Clock) -> str:
        """The answer; the clock stands while kernels are compiled on the way to it."""
        begun = False
        try:
            while (word := (line := said.readline()).rstrip("\n")) in (COMPILING, COMPILED):
                begun = word == COMPILING
                (clock.stand if begun else clock.go)()
                self._compiling(begun)
        finally:
            if begun:
                self._compiling(False)
        return line

    def close(self) -> None:
        """End the process, whatever it does."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            for pipe in (self._process.stdin, self._process.stdout):
                if pipe is not None:
                    _close(pipe)
        if self._said is not None:
            self._said.close()
        self._process = self._said = None

    def _started(self) -> "subprocess.Popen[str]":
        if self._process is None:
            home = str(Path(shoal.comparison.__file__).resolve().parents[2])
            path = os.pathsep.join(filter(None, [home, os.environ.get("PYTHONPATH")]))
            self._said = tempfile.TemporaryFile()  # noqa: SIM115
            self._process = subprocess.Popen(
                [sys.executable, "-m", "shoal.comparison.worker"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._said,
                text=True,
                encoding="utf-8",
                env={**os.environ, "PYTHONPATH": path},
            )
            assert self._process.stdout is not None
            self._process.stdout.readline()  # it is ready; or it has ended, which the first run will find out
        return self._process

    def _last_words(self) -> str:
        if self._said is None:
            return ""
        self._said.seek(0)
        lines = self._said.read()[-4000:].decode(errors="replace").strip().splitlines()
        return f": {lines[-1]}" if lines else ""


def _close(pipe: IO[str]) -> None:
    with contextlib.suppress(OSError):
        pipe.close()


def _named(code: int) -> str:
    return f"signal {-code}" if code < 0 else f"exit code {code}"
