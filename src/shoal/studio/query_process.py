"""A separate process for quick questions about data, which remembers what it read, so that clicks do not wait."""

import asyncio
import multiprocessing
import os
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, field
from typing import Any

from shoal.errors import BadData, ShoalError
from shoal.option_names import TERMINAL

WAIT = 120.0
"""Seconds after which a question is given up."""


def _born() -> None:
    """Prepare the process: errors worded as on the command line, private files, and imports done beforehand."""
    os.environ[TERMINAL] = "1"
    os.umask(0o077)
    import shoal.studio.queries  # noqa: F401


@dataclass(slots=True)
class QueryProcess:
    """Asks functions of `queries` in another process; a crash there costs one answer."""

    wait: float = WAIT  # seconds after which a question is given up
    _pool: ProcessPoolExecutor | None = field(default=None, repr=False)

    def start(self) -> None:
        """Start the process before it is needed: its imports take a second."""
        self._ready().submit(os.getpid)

    async def ask(self, look: Callable[..., Any], *arguments: Any) -> Any:
        """What a function answers.

        Raises `ShoalError`: what the function raised, or a sentence about the process if it is gone.
        """
        pool = self._ready()
        try:
            return await asyncio.wait_for(asyncio.wrap_future(pool.submit(look, *arguments)), self.wait)
        except ShoalError:
            raise
        except BrokenProcessPool as error:
            self.close()
            raise BadData("looking at the data ended too early; there may not be enough memory.") from error
        except TimeoutError as error:
            self.close()
            raise BadData(
                f"looking at the data took more than {self.wait:g} seconds, and was given up."
            ) from error

    def close(self) -> None:
        """End the process."""
        pool, self._pool = self._pool, None
        if pool is not None:
            for process in list((pool._processes or {}).values()):
                process.kill()
            pool.shutdown(wait=False, cancel_futures=True)

    def _ready(self) -> ProcessPoolExecutor:
        if self._pool is None:
            context = multiprocessing.get_context("spawn")
            self._pool = ProcessPoolExecutor(1, mp_context=context, initializer=_born)
        return self._pool
