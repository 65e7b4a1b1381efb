"""What the owner of baskets should hear of how they were taken: the same words for every format and engine."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from shoal.io.baskets.long_tables import Pairs

SHOWN = 3
"""So many items are quoted."""

NUMBERED = (
    "The columns of the matrix have no names: items are called by the numbers of their columns, from 0. Name them with "
    "--names."
)
MISSING_BASKETS = "Some baskets are missing (None), and were taken as baskets without items."
MISSING = "Some baskets hold missing items (None, NaN or an empty text), which were left out."


def missing_in(pairs: "Pairs") -> list[str]:
    """What is said of items and baskets that are missing."""
    return [MISSING] * pairs.missing + [MISSING_BASKETS] * pairs.missing_baskets


def trimmed_items(items: Iterable[str]) -> list[str]:
    """What is said of items that had blanks around them.

    >>> trimmed_items(["cream cheese"])
    ["Blanks around an item were taken away: 'cream cheese'."]
    >>> trimmed_items([])
    []
    """
    found = sorted(set(items))
    if not found:
        return []
    what = "an item" if len(found) == 1 else f"{len(found):,} items"
    more = ", …" if len(found) > SHOWN else ""
    return [f"Blanks around {what} were taken away: {', '.join(map(repr, found[:SHOWN]))}{more}."]


def trimmed_baskets(column: str) -> str:
    """What is said where the names of baskets had blanks around them."""
    return f"Blanks around the names of baskets in column {column!r} were taken away."
