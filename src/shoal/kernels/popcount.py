"""The number of set bits in 64-bit words, by the processor's own instruction."""

from typing import Any

import numpy as np
from numba.core import config, types
from numba.extending import intrinsic

from shoal.arrays import AnyArray as Array
from shoal.kernels._jit import jit


def _ones_in_python(word: Any) -> int:
    return int(word).bit_count()


@intrinsic
def _ones_compiled(context: Any, word: Any) -> Any:
    """Use the compiler's intrinsic: loops over words then become vector instructions, unlike with bit tricks."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.ctpop(arguments[0])

    return types.uint64(types.uint64), generate


ones: Any = _ones_in_python if getattr(config, "DISABLE_JIT", False) else _ones_compiled
"""``ones(word)`` inside a kernel: how many bits of an unsigned word are set."""
ones.py_func = _ones_in_python


@jit
def count_both(one: Array, other: Array) -> int:
    """The number of bits that are set in both bitmaps."""
    total = np.uint64(0)
    for word in range(len(one)):
        total += ones(one[word] & other[word])
    return int(total)


@jit
def count_all_three(one: Array, other: Array, third: Array) -> int:
    """The number of bits that are set in all three bitmaps."""
    total = np.uint64(0)
    for word in range(len(one)):
        total += ones(one[word] & other[word] & third[word])
    return int(total)
