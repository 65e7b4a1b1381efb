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
from contextlib import suppress
from functools import cache
from pathlib import Path
from types import FunctionType
from typing import Any, TypeVar, cast

import numba
import numpy as np
from numba.core import caching, event, types
from numba.core.runtime.nrt import rtsys
from numba.core.typing.typeof import typeof_impl
from numba.np import numpy_support

from shoal.kernels._compiling import is_eager, tell_all
from shoal.kernels._inner import CAN_WAIT, begin, end, lend

Kernel = TypeVar("Kernel", bound=Callable[..., object])

OPTIONS: dict[str, Any] = {"nogil": True, "no_cfunc_wrapper": True, "_nrt": True}

INNER: dict[str, Any] = {**OPTIONS, "no_cpython_wrapper": True}

SMALL = 5_000
"""Entries for which nothing is compiled: plain Python takes a few tenths of a second for them at the most."""

HASHES = b"_numba_hashsecret"

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


def lean(kernel: Kernel) -> Kernel:
    """Compile a kernel that makes no array and returns none, without counting who holds those it is given.

    That is a third of the code of a kernel with many arrays. An array that is made would stay for ever, and one that is
    returned be freed too early: a test reads from all of them that they do neither.
    """
    compiled: Any = jit(kernel)
    for one in (compiled, getattr(compiled, "inner", compiled)):
        if hasattr(one, "targetoptions"):  # plain Python has none
            one.targetoptions["_nrt"] = False
    return cast(Kernel, compiled)


def cache_folder() -> str | None:
    """Where compiled kernels are kept; None where no folder can be written, and empty where nothing is compiled."""
    from shoal.kernels.ragged import copy_rows

    path: str | None = copy_rows.stats.cache_path if hasattr(copy_rows, "stats") else ""
    return path


def fitting(kernel: Kernel, entries: int) -> Kernel:
    """A kernel; or the plain Python that it was written as, if that is sooner done than it is compiled.

    `entries`: how much there is to do, as entries of arrays that are looked at. Both give the same, to the last bit.
    """
    if entries > SMALL or is_eager() or not hasattr(kernel, "py_func") or _is_ready(kernel):
        return kernel
    plain = _plain(kernel)

    def run(*arguments: Any) -> Any:
        with np.errstate(over="ignore"):  # as the compiled one
            return plain(*arguments)

    return cast(Kernel, run)


def _is_ready(kernel: Any) -> bool:
    """Whether a kernel was compiled before, here or in an earlier run."""
    folder = kernel.stats.cache_path
    written = kernel.py_func.__code__
    files = f"*.{written.co_name}-{written.co_firstlineno}.*nbi"
    return bool(kernel.signatures) or (folder is not None and any(Path(folder).glob(files)))


@cache
def _plain(kernel: Any) -> Any:
    """A kernel as plain Python, and so all that it calls."""
    written = kernel.py_func
    if not hasattr(kernel, "inner"):  # no kernel, but an instruction of the processor
        return written
    names = written.__globals__
    called = {name: names[name] for name in written.__code__.co_names if hasattr(names.get(name), "py_func")}
    plain = {name: _plain(one) for name, one in called.items()}
    return FunctionType(written.__code__, {**names, **plain}, written.__name__, written.__defaults__)


class _Rebuilt(caching.CompileResultCacheImpl):
    """Makes a kernel of what was written of it."""

    def rebuild(self, target: Any, written: Any) -> Any:
        """Load the machine code; what asks for the secret of Python's hashes finds it in numba's library only."""
        if HASHES in written[0][2][0]:
            target.refresh()
        return super().rebuild(target, written)  # type: ignore[no-untyped-call]


class _Kept(caching.FunctionCache):
    """Compiled kernels on disk. Numba would load its library, as for compiling, before it looks for one of them."""

    _impl_class = _Rebuilt

    def load_overload(self, signature: Any, target: Any) -> Any:
        """Find the kernel for the types of a call; a compiler that has to be asked after all loads what it needs."""
        rtsys.initialize(target)
        with self._guard_against_spurious_io_errors():
            return self._load_overload(signature, target)  # type: ignore[no-untyped-call]


def _lazily(kernel: Any) -> Any:
    """The kernel as numba's dispatcher; where no folder can be written, what is compiled lasts for this process."""
    compiled = numba.njit(**OPTIONS)(kernel)
    if hasattr(compiled, "enable_caching"):  # plain Python has none
        # Extensions of numba are not looked for to call a kernel; they are to compile one.
        compiled._compilation_chain_init_hook = tuple
        # Numba may find no place: neither beside the package nor in the user's folder.
        with suppress(RuntimeError):
            compiled._cache = _Kept(kernel)  # type: ignore[no-untyped-call]
    return compiled


class _Listener(event.Listener):
    """Hears of all compiling; what is compiled on the way to something else is part of it.

    Meanwhile Python's garbage collector rests: a compiler makes many objects and leaves few, and a tenth of the time
    would go to looking for them.
    """

    def __init__(self) -> None:
        self._depth, self._lock, self._collects = 0, threading.Lock(), False

    def on_start(self, event: Any) -> None:
        """Something is being compiled."""
        _without_scipy()
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


def _without_masks() -> None:
    """Let numba tell the types of plain arrays of numbers without loading numpy's masked ones to compare with."""
    known = typeof_impl.dispatch(np.ndarray)

    def type_of(array: Any, purpose: Any) -> Any:
        if type(array) is not np.ndarray or array.dtype.kind not in "biuf":
            return known(array, purpose)
        number, layout = numpy_support.from_dtype(array.dtype), numpy_support.map_layout(array)
        return types.Array(number, array.ndim, layout, readonly=not array.flags.writeable)

    typeof_impl.register(np.ndarray)(type_of)


_without_masks()
event.register("numba:compile", _Listener())  # type: ignore[no-untyped-call]
