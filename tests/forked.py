"""Processes that carry out runs, forked from one that has loaded everything, so that they start at once.

Like any process, each has memory, a working folder and an environment of its own, but it saves the seconds that Python
and its libraries take to load. A command that a test starts as a separate process starts real ones.
"""

import importlib
import os
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from multiprocessing import get_context
from multiprocessing.reduction import DupFd
from typing import IO, Any

LOADED = ["shoal.comparison.worker", "shoal.kernels._jit"]
"""What the process that all others are forked from loads."""

_context = get_context("forkserver")
_context.set_forkserver_preload(LOADED)


PIPE = subprocess.PIPE
COMMAND = [sys.executable, "-m", "shoal.comparison.worker"]


def Popen(command: Sequence[str], **given: Any) -> Any:
    """Start a worker by forking; start any other command as usual."""
    return Worker(given["stderr"], given["env"]) if command == COMMAND else subprocess.Popen(command, **given)


class Worker:
    """A forked worker, with the interface of `subprocess.Popen`."""

    def __init__(self, stderr: IO[bytes], env: Mapping[str, str]) -> None:
        asked, answering = os.pipe(), os.pipe()
        files = [_File(asked[0]), _File(answering[1]), _File(stderr.fileno())]
        self._process: Any = _context.Process(target=_work, args=(files, os.getcwd(), dict(env)), daemon=True)
        self._process.start()
        os.close(asked[0])
        os.close(answering[1])
        self.stdin = os.fdopen(asked[1], "w", encoding="utf-8")
        self.stdout = os.fdopen(answering[0], encoding="utf-8")

    def kill(self) -> None:
        """End it, whatever it is doing."""
        self._process.kill()

    def wait(self) -> int:
        """Wait for its end; returns its exit code, or the signal that ended it as a negative number."""
        self._process.join()
        code: int = self._process.exitcode
        return code


class _File:
    """An open file that is handed to another process."""

    def __init__(self, number: int) -> None:
        self._number = number

    def __reduce__(self) -> tuple[Callable[[Any], int], tuple[Any]]:
        return _opened, (DupFd(self._number),)


def _opened(handed: Any) -> int:
    number: int = handed.detach()
    return number


def _work(files: Sequence[int], folder: str, environment: Mapping[str, str]) -> None:
    """Run as a worker in the given folder and environment."""
    for number, file in enumerate(files):
        os.dup2(file, number)
        os.close(file)
    sys.stdin = os.fdopen(0, encoding="utf-8")
    sys.stdout, sys.stderr = (os.fdopen(number, "w", encoding="utf-8") for number in (1, 2))
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    sys.path[:0] = filter(None, environment.get("PYTHONPATH", "").split(os.pathsep))
    importlib.invalidate_caches()
    sys.modules.pop("sitecustomize", None)
    with suppress(ImportError):
        importlib.import_module("sitecustomize")
    importlib.import_module("shoal.comparison.worker").main()
