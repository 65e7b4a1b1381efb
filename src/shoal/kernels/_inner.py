"""Faster compilation of kernels that kernels call: each is optimized and compiled once, as a part of its caller.

By default, numba links, optimizes and compiles every function at each level of the call tree: a kernel that is five
calls deep is compiled six times, five of them for nothing. The same goes for numba's own functions that kernels call.
Here, functions that only kernels call wait: they get no entry point for Python, no machine code of their own and no
cache file. The kernel that Python calls links everything that it needs, each once, and is optimized as a whole.

Lookups are not repeated either. By default, numba resolves all possible meanings of an operator wherever it occurs, and
compiles its own functions once for kernels that Python calls and again for those that kernels call.
"""

from collections.abc import Callable
from typing import Any

from numba.core import codegen, compiler, targetconfig, types
from numba.core.typing import templates

unliteral: Callable[[Any], Any] = types.unliteral

PASSED_ON = ("nrt", "fastmath", "error_model", "auto_parallel", "boundscheck", "debuginfo", "forceinline")
"""The compiler options that affect the code of the functions that a function calls."""

_compiling: list[tuple[bool, bool]] = []
"""The functions being compiled, callers first: whether each belongs to a kernel, and whether it can wait.

It is only changed while numba's own lock is held.
"""

_linking = 0
"""How many functions without an entry point of their own are being linked."""

_unbound: dict[str, Any] = {}
"""The environments of waiting functions, by name, until there is a kernel that contains them."""

_signatures: dict[Any, Any] = {}
"""The resolved signatures of numba's own functions that kernels call, by argument types."""


def lend(inner: Any, compiled: Any) -> None:
    """Make other kernels call an inner form of a kernel.

    Calls with a constant argument share the code compiled for a variable; otherwise numba would compile the kernel once
    for each constant.
    """
    called = inner.get_call_template

    def call(arguments: Any, named: dict[str, Any]) -> Any:
        return called(
            [unliteral(one) for one in arguments], {name: unliteral(one) for name, one in named.items()}
        )

    compiled.get_call_template, compiled.get_overload = call, inner.get_overload
    compiled.inner, inner.inner = inner, inner


def begin(dispatcher: Any) -> None:
    """Note that numba begins to compile a function."""
    ours = hasattr(dispatcher, "inner") or bool(_compiling and _compiling[-1][0])
    waits = ours and CAN_WAIT and bool(dispatcher.targetoptions.get("no_cpython_wrapper"))
    if waits:  # it is not called from C either
        dispatcher.targetoptions["no_cfunc_wrapper"] = True
    _compiling.append((ours, waits))


def end() -> None:
    """Note that numba has compiled a function."""
    _compiling.pop()


def _waits() -> bool:
    """Whether the function being compiled is part of a kernel that links it later."""
    return bool(_compiling) and (_compiling[-1][1] or (_compiling[-1][0] and _linking > 0))


def _needed(library: Any) -> list[Any]:
    """All libraries that a function calls, and those that waiting ones call in turn, each once."""
    found, waiting = {}, list(library._linking_libraries)
    while waiting:
        one = waiting.pop()
        if id(one) not in found:
            found[id(one)] = one
            if getattr(one, "_waits_for_caller", False):
                waiting += one._linking_libraries
    return list(found.values())


def _teach_to_wait() -> bool:
    """Patch numba to leave inner functions to their callers; False if this version of numba is built differently."""
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
    """Patch numba to reuse its own compiled functions for all callers; does nothing if numba is built differently."""
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
