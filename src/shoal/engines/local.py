"""Threads of this machine."""

import os
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import TypeVar

Part = TypeVar("Part")
Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class Local:
    """The default engine. Kernels release the interpreter's lock, so threads work side by side."""

    threads: int = field(default_factory=lambda: os.cpu_count() or 1)

    def map(self, work: Callable[[Part], Result], parts: Iterable[Part]) -> list[Result]:
        """Do the same work on every part; results in the order of the parts."""
        tasks = list(parts)
        if self.threads == 1 or len(tasks) < 2:
            return [work(part) for part in tasks]
        with ThreadPoolExecutor(self.threads) as pool:
            return list(pool.map(work, tasks))
