"""How far a step of a run is: told to whoever watches, such as a terminal, and logged to ``shoal`` for debugging.

A method or an attack that takes long tells its parts here, because it cannot know who started it. Where nobody watches,
telling costs a comparison.
"""

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

Tell = Callable[[str, float | None], None]
"""Called with the part that a step is at, and the share of the part that is done, where it is known.

The part is empty once the step has left all.
"""

Told = Callable[[float], None]
"""Called with the share of a part that is done, as often as is convenient."""

_watching: ContextVar[Tell | None] = ContextVar("watching", default=None)
_inside: ContextVar[str] = ContextVar("inside", default="")


@contextmanager
def watched(tell: Tell) -> Iterator[None]:
    """Be told of all parts of steps that begin here in the meantime."""
    token = _watching.set(tell)
    try:
        yield
    finally:
        _watching.reset(token)


@contextmanager
def part(name: str) -> Iterator[Told]:
    """A part of a step that takes long; it gives what to call with the share that is done.

    Only whole percents are handed on. A part may have parts itself.

    >>> with watched(lambda name, share: print(repr(name), share)), part("improving") as told:
    ...     for step in range(3):
    ...         told(step / 300)
    'improving' None
    'improving' 0.0
    '' None
    >>> with watched(lambda name, share: print(repr(name))), part("repeating"), part("improving"):
    ...     pass
    'repeating'
    'repeating: improving'
    'repeating'
    ''
    """
    logging.getLogger("shoal").debug(name)
    tell, outer = _watching.get(), _inside.get()
    if tell is None:
        yield _nobody
        return
    whole, percent = ": ".join(filter(None, (outer, name))), -1

    def told(share: float) -> None:
        nonlocal percent
        if (now := min(int(100 * share), 100)) != percent:
            percent = now
            tell(whole, now / 100)

    tell(whole, None)
    token = _inside.set(whole)
    try:
        yield told
    finally:
        _inside.reset(token)
        tell(outer, None)


def _nobody(share: float) -> None:
    """Nobody is told."""


def in_words(step: str, name: str, share: float | None) -> str:
    """A step with the part that it is at, for people.

    >>> in_words("attacking", "linkage, 1 of 5", None), in_words("anonymizing", "improving", 0.42)
    ('attacking: linkage, 1 of 5', 'anonymizing: improving, 42%')
    """
    return ": ".join(filter(None, (step, name))) + ("" if share is None else f", {share:.0%}")
