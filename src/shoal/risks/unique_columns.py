"""What columns tell persons apart: each alone, and the smallest combinations of them that do.

A combination is found by turning the question around. A set of columns that does not tell all rows apart is widened
until no column can be added; every combination that does must hold a column outside of it. The smallest sets that hit
all of these complements are the only candidates, and one that fails yields the next complement. So every answer is
exact, all are found, and the work grows with the number of answers and not with the number of subsets of columns.
"""

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from shoal.arrays import Counts, Rows
from shoal.data._plain_text import counted
from shoal.data.table import Column

LARGEST = 6
"""Combinations of more columns are not looked for."""

CANDIDATES = 20_000
"""With more candidates at a time the search gives up, and says so."""


@dataclass(frozen=True, slots=True)
class ColumnRisk:
    """How far one column tells rows apart."""

    name: str
    distinct: int  # different values
    unique: float  # the share of rows whose value no other row has
    distinction: float
    """Different values by rows: so large a share of the rows could stay if the column had to tell all apart."""
    separation: float  # the share of pairs of rows that the column tells apart

    def sentence(self) -> str:
        """The same in words."""
        return (
            f"{self.name} has {counted(self.distinct, 'values')}; it alone singles out {self.unique:.1%} of the rows, "
            f"and two rows drawn at random differ in it in {self.separation:.1%} of all cases."
        )

    def as_dict(self) -> dict[str, Any]:
        """The same as plain data."""
        return {**asdict(self), "sentence": self.sentence()}


@dataclass(frozen=True, slots=True)
class Combinations:
    """The minimal combinations of columns that single out so large a share of the rows."""

    wanted: float  # the share of rows that must be unique; 1 for all
    found: tuple[tuple[str, ...], ...]
    """Names of columns, the smallest combinations first: without any of its columns, none would single out enough."""
    largest: int  # the largest number of columns that was looked for
    complete: bool = True  # whether all were found up to that number; otherwise there were too many


def column_risks(columns: Iterable[Column]) -> tuple[ColumnRisk, ...]:
    """How far each column tells rows apart."""
    return tuple(_column_risk(column) for column in columns)


def _column_risk(column: Column) -> ColumnRisk:
    counts = np.bincount(column.codes, minlength=1)
    counts = counts[counts > 0].astype(np.int64)
    rows = len(column.codes)
    return ColumnRisk(
        column.name,
        len(counts),
        int((counts == 1).sum()) / rows if rows else 0.0,
        len(counts) / rows if rows else 0.0,
        separation(counts),
    )


def separation(sizes: Counts) -> float:
    """The share of pairs of rows that lie in different classes of these sizes.

    >>> separation(np.array([2, 1, 1]))
    0.8333333333333334
    """
    rows = int(sizes.sum())
    pairs = rows * (rows - 1) // 2
    histogram = zip(*(part.tolist() for part in np.unique(sizes, return_counts=True)), strict=True)
    same = sum(count * size * (size - 1) // 2 for size, count in histogram)
    return (pairs - same) / pairs if pairs else 0.0


def unique_combinations(
    columns: Sequence[Column], wanted: float = 1.0, largest: int = LARGEST
) -> Combinations:
    """Find all minimal combinations of columns that single out at least a share of the rows.

    `wanted`: the share, above 0; at 1 the combinations are keys of the table. `largest`: the largest number of columns
    of a combination.
    """
    search = _Search(columns, wanted)
    if not search.enough(range(len(columns))):
        return Combinations(wanted, (), largest)
    candidates: list[int] = [0]
    proved: set[int] = set()
    while open_ones := [one for one in candidates if one not in proved]:
        candidate = min(open_ones, key=lambda one: (one.bit_count(), one))
        if search.enough(_places(candidate)):
            proved.add(candidate)
            continue
        candidates = _hitting(candidates, search.complement(candidate), largest)
        if len(candidates) > CANDIDATES:
            return Combinations(wanted, _named(proved & set(candidates), columns), largest, complete=False)
    return Combinations(wanted, _named(proved, columns), largest)


def _hitting(sets: list[int], edge: int, largest: int) -> list[int]:
    """The minimal sets that hit one more edge, from those that hit all others (Berge)."""
    hit = [one for one in sets if one & edge]
    short = [one for one in sets if not one & edge and one.bit_count() < largest]
    grown = {one | 1 << place for one in short for place in _places(edge)}
    return hit + [one for one in sorted(grown) if not any(other & one == other for other in hit)]


def _places(number: int) -> list[int]:
    return [place for place in range(number.bit_length()) if number >> place & 1]


def _named(sets: Iterable[int], columns: Sequence[Column]) -> tuple[tuple[str, ...], ...]:
    ordered = sorted((_places(one) for one in sets), key=lambda places: (len(places), places))
    return tuple(tuple(columns[place].name for place in places) for places in ordered)


class _Search:
    """Which sets of columns single out enough rows, with rows that are singled out already left aside."""

    def __init__(self, columns: Sequence[Column], wanted: float) -> None:
        self._codes = [np.unique(column.codes, return_inverse=True)[1].astype(np.int64) for column in columns]
        self._rows = len(columns[0].codes) if columns else 0
        # At most so many rows may share their cells with another.
        self._room = self._rows - int(np.ceil(wanted * self._rows - 1e-9))

    def enough(self, places: Iterable[int]) -> bool:
        """Whether the columns at these places single out enough rows."""
        return len(self._left(places)[0]) <= self._room

    def complement(self, candidate: int) -> int:
        """Columns outside of a largest set that holds the candidate and does not single out enough rows."""
        inside = _places(candidate)
        rows, numbers = self._left(inside)
        for place in range(len(self._codes)):
            if candidate >> place & 1:
                continue
            fewer, finer = self._split(rows, numbers, place)
            if len(fewer) > self._room:
                rows, numbers, candidate = fewer, finer, candidate | 1 << place
        return ((1 << len(self._codes)) - 1) & ~candidate

    def _left(self, places: Iterable[int]) -> tuple[Rows, Rows]:
        """The rows that share all of these cells with another row, and the numbers of their classes."""
        rows = np.arange(self._rows, dtype=np.int64)
        numbers = np.zeros(self._rows, dtype=np.int64)
        if self._rows < 2:
            return rows[:0], numbers[:0]
        for place in sorted(places, key=lambda place: -int(self._codes[place].max(initial=0))):
            rows, numbers = self._split(rows, numbers, place)
        return rows, numbers

    def _split(self, rows: Rows, numbers: Rows, place: int) -> tuple[Rows, Rows]:
        codes = self._codes[place]
        keys = numbers * (int(codes.max(initial=0)) + 1) + codes[rows]
        _, finer, sizes = np.unique(keys, return_inverse=True, return_counts=True)
        shared = sizes[finer] > 1
        return rows[shared], finer[shared].astype(np.int64)
