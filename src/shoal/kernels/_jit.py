"""The one decorator of every compiled kernel.

Kernels are compiled on their first call, for the types they are then given, and kept on disk; they let other
threads run, and they keep to the letter of floating point arithmetic, because some of them decide a guarantee.
Importing this module imports numba, which takes about a second: modules of kernels are imported inside the
function that needs them.
"""

from collections.abc import Callable
from typing import TypeVar, cast

import numba

Kernel = TypeVar("Kernel", bound=Callable[..., object])


def jit(kernel: Kernel) -> Kernel:
    """Compile a kernel lazily, cached on disk, without the interpreter's lock and without fast mathematics."""
    return cast(Kernel, numba.njit(cache=True, nogil=True)(kernel))
