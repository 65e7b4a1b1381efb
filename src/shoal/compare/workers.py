"""Processes that carry out runs."""

import contextlib
import json
import os
import subprocess
import sys
import tempfile
import threading
from pathlib import Path
from typing import IO, Any

import shoal.compare
from shoal.compare.cells import Cell

Answer = dict[str, Any]


class Worker:
    """A process that carries out one run after the other, and a new one where it has died."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[str] | None = None
        self._said: IO[bytes] | None = None

    def run(self, cell: Cell) -> Answer:
        """Carry out a run. A process that dies under it, or takes too long, is an answer too."""
        process = self._started()
        assert process.stdin is not None
        assert process.stdout is not None
        late = threading.Event()

        def give_up() -> None:
            late.set()
            process.kill()

        clock = threading.Timer(cell.time_limit, give_up) if cell.time_limit is not None else None
        if clock is not None:
            clock.start()
        try:
            process.stdin.write(json.dumps(cell.plan, default=str) + "\n")
            process.stdin.flush()
            line = process.stdout.readline()
        except OSError:
            line = ""
        finally:
            if clock is not None:
                clock.cancel()
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
            home = str(Path(shoal.compare.__file__).resolve().parents[2])
            path = os.pathsep.join(filter(None, [home, os.environ.get("PYTHONPATH")]))
            self._said = tempfile.TemporaryFile()  # noqa: SIM115
            self._process = subprocess.Popen(
                [sys.executable, "-m", "shoal.compare.worker"],
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
