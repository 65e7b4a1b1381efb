"""Runs side by side until they are done or time is up."""

import queue
import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace

from shoal.compare.cells import Cell
from shoal.compare.workers import Answer, Worker


class Race:
    """Worker processes that end at a set time, whatever they do.

    Parameters
    ----------
    jobs
        Processes at a time. They stay alive from run to run, with their data and compiled kernels.
    deadline
        When all of them are ended, by the monotonic clock.
    """

    def __init__(self, jobs: int, deadline: float) -> None:
        self._workers = [Worker() for _ in range(jobs)]
        self._deadline = deadline

    def __enter__(self) -> "Race":
        return self

    def __exit__(self, *_: object) -> None:
        for worker in self._workers:
            worker.close()

    @property
    def left(self) -> float:
        """The seconds that are left."""
        return max(self._deadline - time.monotonic(), 0.0)

    def answers(self, cells: Sequence[Cell]) -> Iterator[tuple[Cell, Answer]]:
        """Each run and what came of it; runs that time was too short for come last."""
        waiting: queue.SimpleQueue[Cell] = queue.SimpleQueue()
        finished: queue.SimpleQueue[tuple[Cell, Answer]] = queue.SimpleQueue()
        for cell in cells:
            waiting.put(cell)
        stopped = threading.Event()

        def work(worker: Worker) -> None:
            while not stopped.is_set() and self.left > 0:
                try:
                    cell = waiting.get_nowait()
                except queue.Empty:
                    return
                limit = self.left if cell.time_limit is None else min(self.left, cell.time_limit)
                try:
                    answer = worker.run(replace(cell, time_limit=max(limit, 0.01)))
                except Exception as error:  # such as no process to be had: whoever waits must hear of it
                    worker.close()
                    answer = {"status": "crashed", "error": f"{type(error).__name__}: {error}"}
                if not stopped.is_set():
                    finished.put((cell, answer))

        threads = [threading.Thread(target=work, args=(worker,), daemon=True) for worker in self._workers]
        for thread in threads:
            thread.start()
        missing = {cell.key: cell for cell in cells}
        try:
            while missing and self.left > 0:
                try:
                    cell, answer = finished.get(timeout=self.left)
                except queue.Empty:
                    break
                missing.pop(cell.key)
                yield cell, answer
        finally:
            stopped.set()
            if missing:
                for worker in self._workers:
                    worker.close()
            for thread in threads:
                thread.join(timeout=2)
        for cell in missing.values():
            yield cell, {"status": "timeout", "error": "time was up", "limit": cell.time_limit}
