"""How many of several runs are finished, and which are under way: for progress bars and the logger ``shoal``."""

import logging
from collections.abc import Callable

Tell = Callable[[int, int, str], None]
"""Told how many runs are finished, how many there are, and which are under way."""

NAMED = 2
"""So many runs under way are named; the others are counted."""


class Tally:
    """Keeps count of runs, and tells whenever one begins or ends.

    `tell`: who is told. `total`, `done`: how many runs there are, and how many were finished before.
    """

    def __init__(self, tell: Tell | None, total: int, done: int = 0) -> None:
        self._tell = tell or (lambda *_: None)
        self._total, self._done = total, done
        self._going: list[str] = []
        self._say()

    def begun(self, label: str) -> None:
        """A run begins."""
        self._going.append(label)
        self._say()

    def ended(self, label: str) -> None:
        """A run has ended, or will never begin."""
        self._done += 1
        if label in self._going:
            self._going.remove(label)
        logging.getLogger("shoal").info(f"{self._done} of {self._total}: {label}")
        self._say()

    def _say(self) -> None:
        self._tell(self._done, self._total, under_way(self._going))


def under_way(labels: list[str]) -> str:
    """The runs that are under way, in words.

    >>> under_way(["a, k 5"]), under_way(["a", "b", "c", "d"]), under_way([])
    ('a, k 5', 'a; b; and 2 more', '')
    """
    more = len(labels) - NAMED
    return "; ".join([*labels[:NAMED], *([f"and {more} more"] if more > 0 else [])])
