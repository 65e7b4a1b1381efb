"""Processes that carry out runs, and the scheduler that hands runs to them.

They replace a library such as pebble, because time limits pause while kernels are compiled, and the last words of a
process that crashed are part of the answer.
"""

import contextlib
import json
import math
import os
import queue
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import IO, Any

import shoal.comparison
from shoal.comparison.grid import Cell

Answer = dict[str, Any]


COMPILING, COMPILED = "compiling", "compiled"
"""The lines that a process writes when it begins to compile kernels and when it is done; any other is an answer."""


class Clock:
    """A timer that can be paused.

    `limit`: the seconds; None for no limit. `late`: called when they are over.
    """

    def __init__(self, limit: float | None, late: Callable[[], None]) -> None:
        self._left, self._late = limit, late
        self._timer: threading.Timer | None = None
        self._begin = 0.0

    def go(self) -> None:
        """Start or resume counting."""
        if self._left is not None and self._timer is None:
            self._begin = time.monotonic()
            self._timer = threading.Timer(max(self._left, 0.0), self._late)
            self._timer.start()

    def stand(self) -> None:
        """Pause until `go` is called again."""
        if self._left is not None and self._timer is not None:
            self._timer.cancel()
            self._timer = None
            self._left -= time.monotonic() - self._begin


class Worker:
    """A process that carries out one run after another, replaced by a new one when it dies.

    `compiling`: called when the process begins to compile kernels, and when it is done. That time depends on the load
    of the machine and on what was compiled before, so it does not count as time of a run.
    """

    def __init__(self, compiling: Callable[[bool], None] | None = None) -> None:
        self._process: subprocess.Popen[str] | None = None
        self._said: IO[bytes] | None = None
        self._compiling = compiling or (lambda _: None)

    def run(self, cell: Cell) -> Answer:
        """Carry out a run. A process that dies or takes too long gives an answer too."""
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
            if late.is_set():  # it finished just in time, but was killed all the same
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
        ended = f"signal {-code}" if code < 0 else f"exit code {code}"
        return {"status": "crashed", "error": f"the process ended with {ended}{said}"}

    def _answered(self, said: IO[str], clock: Clock) -> str:
        """The answer; the clock is paused while kernels are compiled."""
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
        """End the process, whatever it is doing. A thread that waits for it may close it at the same time."""
        process, self._process = self._process, None
        said, self._said = self._said, None
        if process is not None:
            process.kill()
            process.wait()
            for pipe in (process.stdin, process.stdout):
                if pipe is not None:
                    with contextlib.suppress(OSError):
                        pipe.close()
        if said is not None:
            said.close()

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
            self._process.stdout.readline()  # it is ready, or it has ended, which the first run will notice
        return self._process

    def _last_words(self) -> str:
        said = self._said
        if said is None or said.closed:
            return ""
        said.seek(0)
        lines = said.read()[-4000:].decode(errors="replace").strip().splitlines()
        return f": {lines[-1]}" if lines else ""


Begun = Callable[[Cell], None]
"""Told of each run that begins."""


def answers(cells: Sequence[Cell], jobs: int, begun: Begun | None = None) -> Iterator[tuple[Cell, Answer]]:
    """Carry out runs and give each answer as it comes.

    Timed runs come last, each alone in a new process. The others share `jobs` processes, which stay alive between runs.
    Whoever stops asking ends all processes.

    `begun`: told of each run that begins.
    """
    shared = [cell for cell in cells if not cell.timed]
    for together in (shared, *([cell] for cell in cells if cell.timed)):
        if together:
            with Scheduler(min(jobs, len(together))) as scheduler:
                yield from scheduler.answers(together, begun=begun)


class Scheduler:
    """Worker processes that end at a deadline.

    `jobs`: the number of processes. They stay alive from run to run, with their data and compiled kernels. `deadline`:
    when they are ended, by the monotonic clock; by default, never. Time in which any of them compiles kernels does not
    count.
    """

    def __init__(self, jobs: int, deadline: float = math.inf) -> None:
        self._workers = [Worker(self.compiling) for _ in range(jobs)]
        self._deadline = deadline
        self._lock, self._busy, self._since = threading.Lock(), 0, 0.0

    def __enter__(self) -> "Scheduler":
        return self

    def __exit__(self, *_: object) -> None:
        for worker in self._workers:
            worker.close()

    @property
    def left(self) -> float:
        """The seconds that are left."""
        with self._lock:
            now = self._since if self._busy else time.monotonic()
            return max(self._deadline - now, 0.0)

    def compiling(self, begins: bool) -> None:
        """Note that a worker begins to compile kernels, or is done: the deadline moves by the time that it took."""
        with self._lock:
            now = time.monotonic()
            if begins and not self._busy:
                self._since = now
            self._busy += 1 if begins else -1
            if not self._busy:
                self._deadline += now - self._since

    def answers(
        self, cells: Sequence[Cell], *, finish_first: bool = False, begun: Begun | None = None
    ) -> Iterator[tuple[Cell, Answer]]:
        """Each run and what came of it; runs that time was too short for come last.

        `finish_first`: wait for the first run however long it takes, unless another one was done in time. `begun`:
        told of each run that begins, in the thread that asks for answers.
        """
        waiting: queue.SimpleQueue[Cell] = queue.SimpleQueue()
        said: queue.SimpleQueue[tuple[Cell, Answer | None]] = queue.SimpleQueue()
        for cell in cells:
            waiting.put(cell)
        stopped = threading.Event()
        needed = cells[0].key if finish_first else None

        def work(worker: Worker) -> None:
            while not stopped.is_set():
                try:
                    cell = waiting.get_nowait()
                except queue.Empty:
                    return
                if not self.left and cell.key != needed:
                    return
                said.put((cell, None))
                answer = self._answer(worker, cell, unlimited=cell.key == needed)
                if not stopped.is_set():
                    said.put((cell, answer))

        threads = [threading.Thread(target=work, args=(worker,), daemon=True) for worker in self._workers]
        for thread in threads:
            thread.start()
        missing = {cell.key: cell for cell in cells}
        try:
            while missing and (self.left > 0 or needed in missing):
                endless = needed in missing or self.left == math.inf
                try:
                    cell, answer = said.get(timeout=None if endless else self.left)
                except queue.Empty:
                    continue  # the deadline may have moved
                if answer is None:
                    if begun is not None:
                        begun(cell)
                    continue
                missing.pop(cell.key)
                yield cell, answer
                if answer["status"] == "done":
                    needed = None
        finally:
            stopped.set()
            if missing:
                for worker in self._workers:
                    worker.close()
            for thread in threads:
                thread.join(timeout=2)
        for cell in missing.values():
            yield cell, {"status": "timeout", "error": "time was up", "limit": cell.time_limit}

    def _answer(self, worker: Worker, cell: Cell, *, unlimited: bool) -> Answer:
        limit = math.inf if unlimited else min(max(self.left, 0.01), cell.time_limit or math.inf)
        try:
            return worker.run(replace(cell, time_limit=None if limit == math.inf else limit))
        except Exception as error:  # such as no process to be had; the caller needs an answer
            worker.close()
            return {"status": "crashed", "error": f"{type(error).__name__}: {error}"}
