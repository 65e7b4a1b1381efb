"""The entry point of the program: a help page is printed quickly from a file, everything else goes to the parser."""

import atexit
import gc
import os
import sys
from collections.abc import Callable, Sequence
from functools import partial
from reprlib import recursive_repr
from types import SimpleNamespace
from typing import Any

from shoal.cli.help_pages import show_page, stored_page

PIPE_CLOSED = 141

OBJECTS = 250_000
"""New objects after which Python collects garbage: a short command makes fewer, and nearly all of them stay alive."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command line and return its exit code."""
    tokens = list(sys.argv[1:] if arguments is None else arguments)
    page = stored_page(tokens)
    if page is None:
        _start_lean()
        from shoal.cli import program  # loads the parser

        return program.main(tokens)
    try:
        show_page(page)
        sys.stdout.flush()
    except BrokenPipeError:
        return pipe_closed()
    return 0


def _start_lean() -> None:
    """Switch off work that libraries do on startup and the program does not need."""
    gc.set_threshold(OBJECTS)
    os.environ.setdefault("OPENBLAS_THREAD_TIMEOUT", "4")  # idle threads of numpy sleep instead of spinning
    if (
        os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "1") == "1"
    ):  # otherwise pydantic searches every installed package for plugins
        # Its plugin loader would also load the parser of mail headers, only to find that no plugins are wanted.
        loader: Any = SimpleNamespace(get_plugins=tuple)
        sys.modules.setdefault("pydantic.plugin._loader", loader)
    if sys.version_info < (3, 13):
        _share_functions()
    atexit.register(gc.freeze)  # no garbage collection at exit


def _share_functions() -> None:
    """Let frozen dataclasses share functions that Python before 3.13 compiles for each one, hundreds at startup."""
    import dataclasses

    library: Any = dataclasses
    if library._repr_fn is not _repr_of:
        frozen = dataclasses.make_dataclass("Frozen", (), frozen=True)()
        library._frozen_get_del_attr, library._repr_fn = partial(_refusals, frozen), _repr_of


def _refusals(frozen: Any, cls: Any, fields: Sequence[Any], _: Any) -> tuple[Callable[..., None], ...]:
    """The functions by which a dataclass refuses changes; the errors are those that `frozen` raises."""
    names = frozenset(field.name for field in fields)

    def __setattr__(self: Any, name: str, value: Any) -> None:
        if type(self) is cls or name in names:
            setattr(frozen, name, value)
        super(cls, self).__setattr__(name, value)

    def __delattr__(self: Any, name: str) -> None:
        if type(self) is cls or name in names:
            delattr(frozen, name)
        super(cls, self).__delattr__(name)

    return __setattr__, __delattr__


def _repr_of(fields: Sequence[Any], _: Any) -> Callable[[Any], str]:
    """The ``__repr__`` of a dataclass with these fields."""
    names = tuple(field.name for field in fields)

    @recursive_repr()
    def __repr__(self: Any) -> str:
        return f"{type(self).__qualname__}({', '.join(f'{name}={getattr(self, name)!r}' for name in names)})"

    return __repr__


def pipe_closed() -> int:
    """The exit code if the reader of a pipe is gone; redirects standard output, so that Python can flush it at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return PIPE_CLOSED
