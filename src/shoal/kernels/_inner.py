"""Kernels that are called by kernels: linked, optimized and turned into machine code once, as a part of their caller.

Left to itself numba does that for every kernel on its way up, and for each of its own functions that kernels call: one
that lies five calls deep is optimized and compiled six times, five of them for nobody. Here what is called from kernels
alone waits: it gets no entry for Python, no machine code of its own and no file in the cache. The kernel that Python
calls takes in all that it needs, each once, and is optimized with it.

Nor is the same asked twice: left to itself, numba goes through all that an operator could mean at every place where one
stands, and compiles its own functions once for kernels that Python calls and once more for those that kernels call.
"""

from collections.abc import Callable
from typing import Any

from numba.core import codegen, compiler, targetconfig, types
from numba.core.typing import templates

unliteral: Callable[[Any], Any] = types.unliteral

PASSED_ON = ("nrt", "fastmath", "error_model", "auto_parallel", "boundscheck", "debuginfo", "forceinline")
"""Options that change the code of what a function calls; others say how it is called from outside, or what is tried."""

_compiling: list[tuple[bool, bool]] = []
"""What is being compiled, a caller before what it calls: whether it belongs to a kernel, and whether it can wait.

Only whoever holds numba's own lock changes it.
"""

_linking = 0
"""How many functions are being taken in that have no entry of their own."""

_unbound: dict[str, Any] = {}
"""Environments of what waits, by name, until there is a kernel that holds them."""

_signatures: dict[Any, Any] = {}
"""What numba's own functions take and give, by the types of the arguments of kernels."""


def lend(inner: Any, compiled: Any) -> None:
    """Have other kernels call an inner form of a kernel.

    One that calls it with a constant shares what is compiled for a variable: numba would compile it once for each
    constant.
    """
    called = inner.get_call_template

    def call(arguments: Any, named: dict[str, Any]) -> Any:
        return called(
            [unliteral(one) for one in arguments], {name: unliteral(one) for name, one in named.items()}
        )

    compiled.get_call_template, compiled.get_overload = call, inner.get_overload
    compiled.inner, inner.inner = inner, inner


def begin(dispatcher: Any) -> None:
    """Hear that numba begins to compile a function."""
    ours = hasattr(dispatcher, "inner") or bool(_compiling and _compiling[-1][0])
    waits = ours and CAN_WAIT and bool(dispatcher.targetoptions.get("no_cpython_wrapper"))
    if waits:  # nor is it called from C
        dispatcher.targetoptions["no_cfunc_wrapper"] = True
    _compiling.append((ours, waits))


def end() -> None:
    """Hear that it is compiled."""
    _compiling.pop()


def _waits() -> bool:
    """Whether what is being compiled is a part of a kernel that takes it in later."""
    return bool(_compiling) and (_compiling[-1][1] or (_compiling[-1][0] and _linking > 0))


def _needed(library: Any) -> list[Any]:
    """All that a function calls, and what that calls where it waits, each once."""
    found, waiting = {}, list(library._linking_libraries)
    while waiting:
        one = waiting.pop()
        if id(one) not in found:
            found[id(one)] = one
            if getattr(one, "_waits_for_caller", False):
                waiting += one._linking_libraries
    return list(found.values())


def _teach_to_wait() -> bool:
    """Have numba leave inner functions to their callers; false where it is another numba, which does this elsewhere."""
    library: Any = codegen.CPUCodeLibrary
    target: Any = codegen.JITCPUCodegen
    try:
        finalize, link, dynamic = (
            library.finalize,
            library.add_linking_library,
            library._finalize_dynamic_globals,
        )
        bind = target.set_env
    except AttributeError:
        return False

    def finalize_last(self: Any) -> None:
        if _waits():
            dynamic(self)
            self._waits_for_caller = self._finalized = True
            for other in (
                self._linking_libraries if hasattr(self, "_reload_init") else ()
            ):  # numba 0.61 has none
                self._reload_init.update(other._reload_init)
            return
        self._linking_libraries = _needed(self)
        finalize(self)

    def link_in(self: Any, other: Any) -> None:
        global _linking
        _linking += 1
        try:
            link(self, other)
        finally:
            _linking -= 1

    def bind_last(self: Any, name: str, environment: Any) -> None:
        _unbound[name] = environment
        if _waits():
            return
        for one in [one for one in _unbound if self._engine.get_global_value_address(one)]:
            bind(self, one, _unbound.pop(one))

    library.finalize, library.add_linking_library, target.set_env = finalize_last, link_in, bind_last
    return True


def _teach_to_share() -> None:
    """Have numba find its own functions again whoever calls them; where it is another numba, nothing is changed."""
    template: Any = templates._OverloadFunctionTemplate
    function: Any = types.Function
    try:
        look, build, resolve = template._get_impl, template._build_impl, function.get_call_type
        top: Any = targetconfig.ConfigStack.top_or_none
        all(getattr(compiler.Flags, name) for name in PASSED_ON)
    except AttributeError:
        return

    def implemented(self: Any, arguments: Any, named: dict[str, Any]) -> Any:
        flags = top()
        if flags is None or not _compiling or not _compiling[-1][0]:
            return look(self, arguments, named)
        options = tuple(str(getattr(flags, name)) for name in PASSED_ON)
        key = self.context, tuple(arguments), tuple(named.items()), options
        try:
            return self._impl_cache[key]
        except KeyError:
            return build(self, key, arguments, named)

    def called(self: Any, context: Any, arguments: Any, named: dict[str, Any]) -> Any:
        if named or not _compiling or not _compiling[-1][0]:
            return resolve(self, context, arguments, named)
        signature = _signatures.get((self, context, arguments))
        if signature is None:
            signature = _signatures[self, context, arguments] = resolve(self, context, arguments, named)
        return signature

    template._get_impl, function.get_call_type = implemented, called


CAN_WAIT = _teach_to_wait()
_teach_to_share()
