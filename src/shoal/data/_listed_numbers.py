"""Cells that list the numbers of persons, such as ``P103; P208``: relatives, contacts, earlier cases."""

import re
from collections import Counter
from collections.abc import Sequence
from itertools import chain

from shoal.data.domain import Domain, Kind

LEAST = 20
"""Fewer values tell too little."""

VALUES_PER_ROW = 0.5
"""Lists of persons hardly repeat: there are at least so many different ones by rows."""

LISTS = 0.5
"""From this share of lists among the values on, a column holds lists."""

CELLS_OF_A_NUMBER = 2
"""Numbers of persons stand in so many lists on average at most: codes of illnesses stand in many."""

SOME = 1000
"""So many values are looked at first, where there are more."""

_BETWEEN = re.compile(r"\s*[;,|]\s*|\s+")
_NUMBERED = re.compile(r"[^\W_]*[0-9][\w-]*")


def share_of_lists(domain: Domain, rows: int) -> float:
    """The share of values that are lists of numbers, where these are as good as names of persons; 0 where not."""
    labels = domain.labels[: domain.present]
    if domain.kind is not Kind.NOMINAL or len(labels) < max(LEAST, VALUES_PER_ROW * rows):
        return 0.0
    some = _lists(labels[:: len(labels) // SOME or 1])
    if len(some) < LISTS / 2 * min(SOME, len(labels)) or _repeat(some):
        return 0.0
    lists = _lists(labels)
    share = len(lists) / len(labels)
    return share if share >= LISTS and not _repeat(lists) else 0.0


def _lists(labels: Sequence[str]) -> list[list[str]]:
    return [parts for parts in map(_parts, labels) if parts]


def _repeat(lists: Sequence[list[str]]) -> bool:
    """Whether numbers stand in more lists than those of persons do; the more lists there are, the more they repeat."""
    met = Counter(chain.from_iterable(lists))
    return met.total() > CELLS_OF_A_NUMBER * len(met)


def _parts(label: str) -> list[str]:
    """The numbers of a list; none where a text is something else.

    >>> _parts("P103; P208"), _parts("12 Main Street"), _parts("P103")
    (['P103', 'P208'], [], [])
    """
    parts = _BETWEEN.split(label.strip("[](){} "))
    several = len(parts) > 1 and all(map(_NUMBERED.fullmatch, parts))
    return parts if several else []
