"""The options that a command line may name: the parser is offered no others."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from itertools import chain

_typed: ContextVar[frozenset[str] | None] = ContextVar("typed", default=None)


@contextmanager
def only_typed(tokens: Sequence[str]) -> Iterator[None]:
    """Let commands offer only what a command line may name, and what they cannot do without.

    The parser takes about half a millisecond for each option that it is offered, and few of a hundred are typed.
    """
    words = chain(tokens, *(token[1:] for token in tokens if token.startswith("-")))
    token = _typed.set(frozenset(_bare(word.partition("=")[0]) for word in words))
    try:
        yield
    finally:
        _typed.reset(token)


def _bare(word: str) -> str:
    """An option without what it may be spelled with or without."""
    return word.lower().replace("_", "-").lstrip("-").removeprefix("no-")


def may_be_typed(*names: str) -> bool:
    """Whether the command line may hold an option of one of these names."""
    typed = _typed.get()
    return typed is None or not typed.isdisjoint(map(_bare, names))
