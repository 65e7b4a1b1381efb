"""The number of ones in a word of 64 bits, by the processor's own instruction."""

from typing import Any

from numba.core import config, types
from numba.extending import intrinsic


def _ones_in_python(word: Any) -> int:
    return int(word).bit_count()


@intrinsic
def _ones_compiled(context: Any, word: Any) -> Any:
    """Ask the compiler for it: loops over words become vector instructions, which bit tricks do not."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.ctpop(arguments[0])

    return types.uint64(types.uint64), generate


ones: Any = _ones_in_python if getattr(config, "DISABLE_JIT", False) else _ones_compiled
"""``ones(word)`` inside a kernel: how many bits of an unsigned word are set."""
