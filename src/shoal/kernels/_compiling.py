"""Who wants to be told when kernels are compiled. Importing this imports no compiler."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

Tell = Callable[[float], None]
"""Called with about how many seconds it will take when compiling begins, and with 0 when it has ended."""

_told: list[Tell] = []
_eager = ContextVar("eager", default=False)


@contextmanager
def watched(tell: Tell) -> Iterator[None]:
    """Be told of all compiling of this process in the meantime."""
    _told.append(tell)
    try:
        yield
    finally:
        _told.remove(tell)


@contextmanager
def eagerly() -> Iterator[None]:
    """Let kernels do what would otherwise be left to numpy because it is too small to load them for."""
    token = _eager.set(True)
    try:
        yield
    finally:
        _eager.reset(token)


def are_loaded() -> bool:
    """Whether something in this process has paid for loading the compiler already."""
    return "shoal.kernels._jit" in sys.modules


def is_eager() -> bool:
    """Whether kernels are to be used however small the work is."""
    return _eager.get()


def tell_all(seconds: float) -> None:
    """Tell all that compiling begins, or that it has ended."""
    for tell in tuple(_told):
        tell(seconds)
