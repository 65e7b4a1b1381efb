"""Lets callers be notified when kernels are compiled. Importing this module does not import the compiler."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

Tell = Callable[[float], None]
"""Called with an estimate of the seconds when compilation begins, and with 0 when it has ended."""

_told: list[Tell] = []
_eager = ContextVar("eager", default=False)


@contextmanager
def watched(tell: Tell) -> Iterator[None]:
    """Inside the context, have a function called whenever this process compiles something."""
    _told.append(tell)
    try:
        yield
    finally:
        _told.remove(tell)


@contextmanager
def eagerly() -> Iterator[None]:
    """Inside the context, use kernels even for work so small that it would otherwise be left to NumPy."""
    token = _eager.set(True)
    try:
        yield
    finally:
        _eager.reset(token)


def are_loaded() -> bool:
    """Whether this process has already loaded the compiler."""
    return "shoal.kernels._jit" in sys.modules


def is_eager() -> bool:
    """Whether kernels are to be used no matter how small the work is."""
    return _eager.get()


def tell_all(seconds: float) -> None:
    """Notify all watchers that compilation begins, or that it has ended."""
    for tell in tuple(_told):
        tell(seconds)
