"""Kernels that are called by kernels: optimized and turned into machine code once, as a part of their caller.

Left to itself numba does all of that for every kernel on its way up: one that lies five calls deep is optimized six
times and compiled six times, five of them for nobody. Here an inner kernel gets no entry for Python and no file in the
cache, and it stays as it was written down until the kernel that Python calls is made, which holds a copy of it.
"""

from collections.abc import Callable
from typing import Any

from numba.core import codegen, types

unliteral: Callable[[Any], Any] = types.unliteral

_waiting: list[tuple[str, Any]] = []
"""Environments of inner kernels, by name, until there is a kernel that holds them."""

_depth = 0
"""Inner kernels that are being compiled; only whoever holds numba's own lock changes it."""


def lend(inner: Any, compiled: Any) -> None:
    """Have other kernels call an inner form of a kernel.

    One that calls it with a constant shares what is compiled for a variable: numba would compile it once for each
    constant.
    """
    called = inner.get_call_template

    def call(arguments: Any, named: dict[str, Any]) -> Any:
        global _depth
        _depth += 1
        try:
            return called(
                [unliteral(one) for one in arguments], {name: unliteral(one) for name, one in named.items()}
            )
        finally:
            _depth -= 1

    compiled.get_call_template, compiled.get_overload = call, inner.get_overload
    compiled.inner = inner


def _teach() -> bool:
    """Have numba leave inner kernels alone; false where it is another numba, which does this elsewhere."""
    library: Any = codegen.CPUCodeLibrary
    target: Any = codegen.JITCPUCodegen
    try:
        optimize, finish = library._optimize_final_module, library._finalize_final_module
        bind, dynamic = target.set_env, library._finalize_dynamic_globals
    except AttributeError:
        return False

    def optimize_last(self: Any) -> None:
        if not _depth:
            optimize(self)

    def finish_last(self: Any) -> None:
        if not _depth:
            finish(self)
            return
        dynamic(self)
        self._finalized = True

    def bind_last(self: Any, name: str, environment: Any) -> None:
        _waiting.append((name, environment))
        if _depth:
            return
        for one, other in _waiting:
            if self._engine.get_global_value_address(one):
                bind(self, one, other)
        _waiting.clear()

    library._optimize_final_module, library._finalize_final_module = optimize_last, finish_last
    target.set_env = bind_last
    return True


CAN_WAIT = _teach()
