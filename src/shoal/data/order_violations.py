"""Where published rows leave the canonical order: in any other, their places may tell of the input."""

from dataclasses import dataclass

TOLD = 10
"""Places that are named; all are counted."""

LONG = 60
"""Letters of a row that are shown."""

UNSORTED = "its items do not ascend, or one stands twice"
MISNUMBERED = "its number is not its place: baskets are numbered 1, 2, 3, … in their order"


@dataclass(frozen=True, slots=True)
class Disorder:
    """What was found out about the order of published rows."""

    form: str  # what the rows are: ``row``, ``basket``, ``group`` or ``cluster``
    places: tuple[tuple[str, str], ...] = ()
    """The first places where the order is broken: the row in words, and why."""
    count: int = 0  # how many places there are


def early(form: str, ahead: str) -> str:
    """Why a row breaks the order; whether it or the one ahead was moved, nobody can tell.

    >>> early("basket", "basket 3 {z}")
    'in ascending order it would come before the basket ahead of it, basket 3 {z}: one of the two is out of place'
    """
    return f"in ascending order it would come before the {form} ahead of it, {ahead}: one of the two is out of place"


def shortened(text: str) -> str:
    """A text of which no more letters are left than are shown."""
    return text if len(text) <= LONG else text[: LONG - 1] + "…"
