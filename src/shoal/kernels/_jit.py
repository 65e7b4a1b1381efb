"""The one decorator of every compiled kernel.

Kernels are compiled on their first call, for the types they are then given, and kept on disk; they let other
threads run, and they keep to the letter of floating point arithmetic, because some of them decide a guarantee.
Importing this module imports numba, which takes about a second: modules of kernels are imported inside the
function that needs them.
"""

import threading
from collections.abc import Callable
from typing import Any, TypeVar, cast

import numba
from numba.core import event, types

Kernel = TypeVar("Kernel", bound=Callable[..., object])


def jit(kernel: Kernel) -> Kernel:
    """Compile a kernel lazily, cached on disk, without the interpreter's lock and without fast mathematics.

    A kernel that calls another with a constant shares what is compiled for a variable: numba would compile it once for
    each constant.
    """
    compiled: Any = numba.njit(cache=True, nogil=True, no_cfunc_wrapper=True)(kernel)  # type: ignore[call-overload]
    if hasattr(compiled, "get_call_template"):  # plain Python has none
        called = compiled.get_call_template

        def for_variables(arguments: Any, named: dict[str, Any]) -> Any:
            plain: Any = types.unliteral
            return called([plain(one) for one in arguments], {name: plain(one) for name, one in named.items()})

        compiled.get_call_template = for_variables
    return cast(Kernel, compiled)


class Watch(event.Listener):
    """Told when compiling begins and when it has ended; what is compiled on the way to something else is part of it.

    Parameters
    ----------
    tell
        Called with True and False by turns.
    """

    def __init__(self, tell: Callable[[bool], None]) -> None:
        self._tell, self._depth, self._lock = tell, 0, threading.Lock()

    def on_start(self, event: Any) -> None:
        """Something is being compiled."""
        with self._lock:
            self._depth += 1
            if self._depth == 1:
                self._tell(True)

    def on_end(self, event: Any) -> None:
        """It is compiled."""
        with self._lock:
            self._depth -= 1
            if not self._depth:
                self._tell(False)


def watch(tell: Callable[[bool], None]) -> None:
    """Be told of all compiling of this process from now on."""
    event.register("numba:compile", Watch(tell))  # type: ignore[no-untyped-call]
