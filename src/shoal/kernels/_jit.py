"""The one decorator of every compiled kernel.

Kernels are compiled on their first call, for the types they are then given, and kept on disk; they let other
threads run, and they keep to the letter of floating point arithmetic, because some of them decide a guarantee.
Importing this module imports numba, which takes about a second: modules of kernels are imported inside the
function that needs them.
"""

import gc
import sys
import threading
from collections.abc import Callable
from typing import Any, TypeVar, cast

import numba
from numba.core import event

from shoal.kernels._compiling import tell_all
from shoal.kernels._inner import CAN_WAIT, begin, end, lend

Kernel = TypeVar("Kernel", bound=Callable[..., object])

OPTIONS: dict[str, Any] = {"nogil": True, "no_cfunc_wrapper": True}

INNER: dict[str, Any] = {**OPTIONS, "no_cpython_wrapper": True}

BYTES = 1800.0
"""Of Python's code, compiled in a second."""


def jit(kernel: Kernel) -> Kernel:
    """Compile a kernel lazily, cached on disk, without the interpreter's lock and without fast mathematics.

    Other kernels call an inner form of it.
    """
    compiled = _lazily(kernel)
    if hasattr(compiled, "get_call_template"):  # plain Python has none
        lend(numba.njit(**INNER)(kernel) if CAN_WAIT else compiled, compiled)
    return cast(Kernel, compiled)


def _lazily(kernel: Any) -> Any:
    """The kernel as numba's dispatcher; where no folder can be written, what is compiled lasts for this process."""
    try:
        return numba.njit(cache=True, **OPTIONS)(kernel)
    except (
        RuntimeError
    ):  # numba found no place for its cache: neither beside the package nor in the user's folder
        return numba.njit(**OPTIONS)(kernel)


class _Listener(event.Listener):
    """Hears of all compiling; what is compiled on the way to something else is part of it.

    Meanwhile Python's garbage collector rests: a compiler makes many objects and leaves few, and a tenth of the time
    would go to looking for them.
    """

    def __init__(self) -> None:
        self._depth, self._lock, self._collects = 0, threading.Lock(), False

    def on_start(self, event: Any) -> None:
        """Something is being compiled."""
        begin(event.data["dispatcher"])
        with self._lock:
            self._depth += 1
            if self._depth == 1:
                self._collects = gc.isenabled()
                gc.disable()
                tell_all(seconds_for(event.data["dispatcher"].py_func))

    def on_end(self, event: Any) -> None:
        """It is compiled."""
        end()
        with self._lock:
            self._depth -= 1
            if not self._depth:
                tell_all(0.0)
                if self._collects:
                    gc.enable()


def seconds_for(kernel: Any) -> float:
    """About how long it takes to compile a kernel and all that it calls: by the length of their code."""
    found = {kernel}
    waiting = [kernel]
    while waiting:
        one = waiting.pop()
        called = (one.__globals__.get(name) for name in one.__code__.co_names)
        more = {other.py_func for other in called if hasattr(other, "py_func")} - found
        found |= more
        waiting += more
    return sum(len(one.__code__.co_code) for one in found) / BYTES


def _without_scipy() -> None:
    """Let numba know that there is a BLAS without loading scipy's: none of our kernels needs it.

    It looks for one when it is set up, which takes longer than the rest of that. Kernels of others still find it.
    """
    if "numba.np.arraymath" in sys.modules:
        return
    try:
        from numba.np import linalg

        looked = linalg.ensure_blas
        linalg.ensure_blas = lambda: None
        try:
            from numba.np import arraymath
        finally:
            linalg.ensure_blas = looked
        arraymath.ensure_blas = looked  # type: ignore[attr-defined]
    except (ImportError, AttributeError):  # another numba, which looks for it elsewhere
        return


_without_scipy()
event.register("numba:compile", _Listener())  # type: ignore[no-untyped-call]
