"""Ragged rows of items as text, many at once."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from shoal.arrays import Indptr, Items

CHUNK = 1 << 20
"""How many items are spelled at a time."""


@dataclass(frozen=True, slots=True)
class Spelling:
    """How a row of items becomes text."""

    opening: str
    between: str
    closing: str
    """`opening`, `between`, `closing`: what stands before the first item, between two, and after the last."""
    empty: str  # what stands for a row without items

    def texts(self, labels: Sequence[str], indptr: Indptr, items: Items) -> Iterator[str]:
        """The text of all rows, one after the other, in pieces of about a million items.

        Each item has four pieces of text, by whether it is the first and the last of its row, so that a row is spelled
        by one lookup an item.

        >>> lines = Spelling("", " ", ".", ".")
        >>> "".join(lines.texts(["a", "b"], np.array([0, 2, 2, 3]), np.array([0, 1, 1])))
        'a b..b.'
        """
        pieces = np.array(
            [
                *(label + self.between for label in labels),
                *(label + self.closing for label in labels),
                *(self.opening + label + self.between for label in labels),
                *(self.opening + label + self.closing for label in labels),
                self.empty,
            ],
            dtype=object,
        )
        start, rows = 0, len(indptr) - 1
        while start < rows:
            stop = int(np.searchsorted(indptr, indptr[start] + CHUNK, side="right")) - 1
            stop = min(max(stop, start + 1), start + CHUNK, rows)
            yield "".join(pieces[self._lookups(indptr[start : stop + 1], items, len(labels))])
            start = stop

    @staticmethod
    def _lookups(indptr: Indptr, items: Items, labels: int) -> Items:
        """Which piece comes after which."""
        first, last = indptr[:-1], indptr[1:]
        filled = last > first
        base = indptr[0]
        lookups = items[base : indptr[-1]].astype(np.int64)
        lookups[first[filled] - base] += 2 * labels
        lookups[last[filled] - 1 - base] += labels
        return np.insert(lookups, first[~filled] - base, 4 * labels)
