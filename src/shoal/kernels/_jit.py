"""The decorators for compiled kernels.

Kernels are compiled on their first call, for the argument types of that call, and cached on disk. They release the
interpreter's lock, and use strict floating-point arithmetic, because some of them decide whether a promise is kept.
Importing this module imports numba, which takes about a second. So modules of kernels are imported inside the functions
that need them.
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
"""Up to this many entries nothing is compiled: plain Python handles them in a few tenths of a second at most."""

HASHES = b"_numba_hashsecret"

BYTES = 1800.0
"""How many bytes of Python bytecode are compiled in a second."""


def jit(kernel: Kernel) -> Kernel:
    """Compile a kernel lazily, cached on disk, without the interpreter's lock and without fast math.

    Other kernels call an inner form of it.
    """
    compiled = _lazily(kernel)
    if hasattr(compiled, "get_call_template"):  # plain Python has none
        lend(numba.njit(**INNER)(kernel) if CAN_WAIT else compiled, compiled)
    return cast(Kernel, compiled)


def lean(kernel: Kernel) -> Kernel:
    """Compile a kernel that neither creates nor returns an array, without reference counting for its arguments.

    Reference counting is a third of the code of a kernel with many arrays. Without it, an array that is created would
    never be freed, and one that is returned would be freed too early. A test checks that lean kernels do neither.
    """
    compiled: Any = jit(kernel)
    for one in (compiled, getattr(compiled, "inner", compiled)):
        if hasattr(one, "targetoptions"):  # plain Python has none
            one.targetoptions["_nrt"] = False
    return cast(Kernel, compiled)


def cache_folder() -> str | None:
    """Where compiled kernels are cached; None if no folder is writable, and empty if nothing is compiled."""
    from shoal.kernels.ragged import copy_rows

    path: str | None = copy_rows.stats.cache_path if hasattr(copy_rows, "stats") else ""
    return path


def fitting(kernel: Kernel, entries: int) -> Kernel:
    """The compiled kernel, or the same function as plain Python if that is faster than compiling it.

    `entries`: the amount of work, as the number of array entries to visit. Both give the same result, to the last bit.
    """
    if entries > SMALL or is_eager() or not hasattr(kernel, "py_func") or _is_ready(kernel):
        return kernel
    plain = _plain(kernel)

    def run(*arguments: Any) -> Any:
        with np.errstate(over="ignore"):  # as in the compiled one
            return plain(*arguments)

    return cast(Kernel, run)


def _is_ready(kernel: Any) -> bool:
    """Whether a kernel is already compiled, in this process or in the cache of an earlier run."""
    folder = kernel.stats.cache_path
    written = kernel.py_func.__code__
    files = f"*.{written.co_name}-{written.co_firstlineno}.*nbi"
    return bool(kernel.signatures) or (folder is not None and any(Path(folder).glob(files)))


@cache
def _plain(kernel: Any) -> Any:
    """A kernel as plain Python, along with all kernels that it calls."""
    written = kernel.py_func
    if not hasattr(kernel, "inner"):  # not a kernel, but an intrinsic
        return written
    names = written.__globals__
    called = {name: names[name] for name in written.__code__.co_names if hasattr(names.get(name), "py_func")}
    plain = {name: _plain(one) for name, one in called.items()}
    return FunctionType(written.__code__, {**names, **plain}, written.__name__, written.__defaults__)


class _Rebuilt(caching.CompileResultCacheImpl):
    """Rebuilds a kernel from its cache file."""

    def rebuild(self, target: Any, written: Any) -> Any:
        """Load the machine code; code that needs the secret of Python's hashes needs numba's library loaded too."""
        if HASHES in written[0][2][0]:
            target.refresh()
        return super().rebuild(target, written)  # type: ignore[no-untyped-call]


class _Kept(caching.FunctionCache):
    """The cache of compiled kernels on disk, which is read without first loading numba's library as for compiling."""

    _impl_class = _Rebuilt

    def load_overload(self, signature: Any, target: Any) -> Any:
        """Look up the kernel for the types of a call; if it must be compiled after all, the compiler loads the rest."""
        rtsys.initialize(target)
        with self._guard_against_spurious_io_errors():
            return self._load_overload(signature, target)  # type: ignore[no-untyped-call]


def _lazily(kernel: Any) -> Any:
    """The kernel as a numba dispatcher; if no cache folder is writable, compiled code lasts only for this process."""
    compiled = numba.njit(**OPTIONS)(kernel)
    if hasattr(compiled, "enable_caching"):  # plain Python has none
        # Do not search for extensions of numba before a call; they are only needed when a kernel is compiled.
        compiled._compilation_chain_init_hook = tuple
        # Numba may find no writable place, neither next to the package nor in the user's cache folder.
        with suppress(RuntimeError):
            compiled._cache = _Kept(kernel)  # type: ignore[no-untyped-call]
    return compiled


class _Listener(event.Listener):
    """Notifies watchers when numba compiles; nested compilations count as part of the outermost one.

    Meanwhile Python's garbage collector is off: the compiler creates many objects and leaves few, and a tenth of the
    time would be spent looking for garbage.
    """

    def __init__(self) -> None:
        self._depth, self._lock, self._collects = 0, threading.Lock(), False

    def on_start(self, event: Any) -> None:
        """A compilation begins."""
        _without_scipy()
        begin(event.data["dispatcher"])
        with self._lock:
            self._depth += 1
            if self._depth == 1:
                self._collects = gc.isenabled()
                gc.disable()
                tell_all(seconds_for(event.data["dispatcher"].py_func))

    def on_end(self, event: Any) -> None:
        """A compilation has ended."""
        end()
        with self._lock:
            self._depth -= 1
            if not self._depth:
                tell_all(0.0)
                if self._collects:
                    gc.enable()


def seconds_for(kernel: Any) -> float:
    """Estimate how long it takes to compile a kernel and all that it calls, from the length of their bytecode."""
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
    """Keep numba from loading SciPy to look for a BLAS library: none of our kernels needs one.

    Numba looks for it during its setup, which takes longer than the rest of the setup. Other people's kernels still
    find it.
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
    except (ImportError, AttributeError):  # another version of numba, which looks for it elsewhere
        return


def _without_masks() -> None:
    """Let numba determine the types of plain numeric arrays without loading NumPy's masked arrays to compare with."""
    known = typeof_impl.dispatch(np.ndarray)

    def type_of(array: Any, purpose: Any) -> Any:
        if type(array) is not np.ndarray or array.dtype.kind not in "biuf":
            return known(array, purpose)
        number, layout = numpy_support.from_dtype(array.dtype), numpy_support.map_layout(array)
        return types.Array(number, array.ndim, layout, readonly=not array.flags.writeable)

    typeof_impl.register(np.ndarray)(type_of)


_without_masks()
event.register("numba:compile", _Listener())  # type: ignore[no-untyped-call]
