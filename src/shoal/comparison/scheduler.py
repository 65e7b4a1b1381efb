"""Runs side by side, until all are done or time is up."""

import math
import queue
import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace

from shoal.comparison.grid import Cell
from shoal.comparison.workers import Answer, Worker


def answers(cells: Sequence[Cell], jobs: int) -> Iterator[tuple[Cell, Answer]]:
    """Carry out runs and give each answer as it comes.

    Timed runs come last, each alone in a new process. The others share `jobs` processes, which stay alive between runs.
    Whoever stops asking ends all processes.
    """
    shared = [cell for cell in cells if not cell.timed]
    for together in (shared, *([cell] for cell in cells if cell.timed)):
        if together:
            with Race(min(jobs, len(together))) as race:
                yield from race.answers(together)


class Race:
    """Worker processes, which end at a set time.

    `jobs`: processes at a time. They stay alive from run to run, with their data and compiled kernels. `deadline`:
    when they are ended, by the monotonic clock; never unless told. Time in which some of them compile kernels does not
    count.
    """

    def __init__(self, jobs: int, deadline: float = math.inf) -> None:
        self._workers = [Worker(self.compiling) for _ in range(jobs)]
        self._deadline = deadline
        self._lock, self._busy, self._since = threading.Lock(), 0, 0.0

    def __enter__(self) -> "Race":
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
        """A worker begins to compile kernels, or has done so: the deadline moves by the time that it took."""
        with self._lock:
            now = time.monotonic()
            if begins and not self._busy:
                self._since = now
            self._busy += 1 if begins else -1
            if not self._busy:
                self._deadline += now - self._since

    def answers(self, cells: Sequence[Cell], *, finish_first: bool = False) -> Iterator[tuple[Cell, Answer]]:
        """Each run and what came of it; runs that time was too short for come last.

        `finish_first`: wait for the first run however long it takes, unless another one was done in time.
        """
        waiting: queue.SimpleQueue[Cell] = queue.SimpleQueue()
        finished: queue.SimpleQueue[tuple[Cell, Answer]] = queue.SimpleQueue()
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
                answer = self._answer(worker, cell, unlimited=cell.key == needed)
                if not stopped.is_set():
                    finished.put((cell, answer))

        threads = [threading.Thread(target=work, args=(worker,), daemon=True) for worker in self._workers]
        for thread in threads:
            thread.start()
        missing = {cell.key: cell for cell in cells}
        try:
            while missing and (self.left > 0 or needed in missing):
                endless = needed in missing or self.left == math.inf
                try:
                    cell, answer = finished.get(timeout=None if endless else self.left)
                except queue.Empty:
                    continue  # the deadline may have moved
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
        except Exception as error:  # such as no process to be had: whoever waits must hear of it
            worker.close()
            return {"status": "crashed", "error": f"{type(error).__name__}: {error}"}
