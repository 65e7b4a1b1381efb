"""Who wants to be told when kernels are compiled. Importing this imports no compiler."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

Tell = Callable[[float], None]
"""Called with about how many seconds it will take when compiling begins, and with 0 when it has ended."""

_told: list[Tell] = []


@contextmanager
def watched(tell: Tell) -> Iterator[None]:
    """Be told of all compiling of this process in the meantime."""
    _told.append(tell)
    try:
        yield
    finally:
        _told.remove(tell)


def tell_all(seconds: float) -> None:
    """Tell all that compiling begins, or that it has ended."""
    for tell in tuple(_told):
        tell(seconds)
