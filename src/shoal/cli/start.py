"""The way in: a help page is read from a file in a moment, all else goes to the parser."""

import atexit
import gc
import os
import sys
from collections.abc import Sequence

from shoal.cli.help_pages import show_page, stored_page

PIPE_CLOSED = 141

OBJECTS = 250_000
"""New objects after which Python looks for garbage: a short command makes fewer, and nearly all of them stay."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command line and return its exit code."""
    tokens = list(sys.argv[1:] if arguments is None else arguments)
    page = stored_page(tokens)
    if page is None:
        os.environ.setdefault("OPENBLAS_THREAD_TIMEOUT", "4")  # idle threads of numpy sleep and do not spin
        os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "1")  # or every installed package is looked through
        gc.set_threshold(OBJECTS)
        atexit.register(gc.freeze)  # nothing is looked through again on the way out
        from shoal.cli import program  # loads the parser

        return program.main(tokens)
    try:
        show_page(page)
        sys.stdout.flush()
    except BrokenPipeError:
        return pipe_closed()
    return 0


def pipe_closed() -> int:
    """The exit code where the reader of a pipe is gone; Python shall not write to it at the end."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return PIPE_CLOSED
