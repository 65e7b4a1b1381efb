"""What published texts mean: how many values each may stand for, and how far apart these lie."""

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from shoal.arrays import Codes, Counts, Floats, Mask, Rows
from shoal.data.domain import Kind
from shoal.data.published_syntax import SUPPRESSED, set_members
from shoal.data.table import Column
from shoal.errors import BadData
from shoal.measures._interval_syntax import NodeTexts, PlainTexts, Range, day, number, plain_texts, read_range

COUNTED = float("nan")
"""The width of a cell whose loss is a matter of counting values."""


@dataclass(frozen=True, slots=True, eq=False)
class Cells:
    """The distinct texts of a published column, one entry a text that some row holds, in the order of their codes."""

    rows: Counts  # the published rows that hold the text
    suppressed: Mask  # texts that tell nothing at all: ``*``
    values: Counts  # how many values the text may stand for: M in the papers
    widths: Floats
    """The distance between the ends of a range, as a share of the original column's; NaN where values are counted
    instead."""
    levels: Codes
    """The level of the hierarchy on which the text stands, or the lowest node that covers it; 0 without one."""
    size: int
    """How many values there are: leaves of the hierarchy, or distinct values of the original where there is none. |A|
    in the papers."""


def read_cells(
    original: Column,
    published: Column,
    counts: Counts | None = None,
    held: Counts | None = None,
    plain: PlainTexts | None = None,
) -> Cells:
    """Understand the cells of a published column beside the original column it was made from.

    Each distinct text is read once.

    `counts`, `held`: the rows of each value of the original, and of each published text, where they were counted
    before. `plain`: what was found out of the texts that are used, where they were looked up before. Raises `BadData`:
    naming the column and the text that makes no sense in it.
    """
    if counts is None:
        counts = np.bincount(original.codes, minlength=len(original.domain))
    rows = (
        np.bincount(published.codes, minlength=len(published.domain)).astype(np.int64)
        if held is None
        else held
    )
    used = np.flatnonzero(rows)
    labels = published.domain.labels
    reader = _Flat(original, counts) if original.hierarchy is None else _Tree(original, counts)
    cells = reader.blank(rows[used])
    if plain is None:
        plain = plain_texts(original.domain, [labels[code] for code in used.tolist()])
    reader.read_all(plain, cells)
    return cells


class _Meaning(NamedTuple):
    values: int
    width: float = COUNTED
    level: int = 0
    suppressed: bool = False


RAW = _Meaning(1)
RAW_NUMBER = _Meaning(1, 0.0)


class _Reader:
    """Reads the texts of one column.

    Values have a coordinate if they have a place in an order: a number, a day, or the place of a name in its
    domain. The missing value has none.
    """

    size: int
    raw: _Meaning

    def __init__(self, column: Column, counts: Counts) -> None:
        self.column = column
        self.names = column.domain.values is None
        self.occurring: Rows = np.flatnonzero(counts)

    def blank(self, rows: Counts) -> Cells:
        """Cells that are all raw values, to be filled in."""
        count = len(rows)
        return Cells(
            rows=rows,
            suppressed=np.zeros(count, dtype=np.bool_),
            values=np.ones(count, dtype=np.int64),
            widths=np.full(count, self.raw.width),
            levels=np.zeros(count, dtype=np.int32),
            size=self.size,
        )

    def read_all(self, plain: PlainTexts, cells: Cells) -> None:
        """Find out what each text means. Ranges are measured together, since there may be very many."""
        exact, ranges = self.understood(plain)
        if SUPPRESSED in self.column.domain.labels:
            exact &= np.array([text != SUPPRESSED for text in plain.texts], dtype=np.bool_)
        ranges &= plain.high >= plain.low
        places: list[int] = []
        others: list[float] = []
        rest = np.flatnonzero(~(exact | ranges)).tolist()
        for place, text in zip(rest, [plain.texts[one] for one in rest], strict=True):
            meaning = self.read(text)
            if type(meaning) is Range:
                places.append(place)
                others.extend(meaning)
            elif meaning is not self.raw:
                cells.values[place], cells.widths[place], cells.levels[place], cells.suppressed[place] = (
                    meaning
                )
        at = np.flatnonzero(ranges)
        ends = np.zeros((len(at), 4))
        ends[:, 0], ends[:, 1] = self.positions[plain.low[at]], self.positions[plain.high[at]]
        if len(at) or places:
            both = np.concatenate((ends, np.array(others).reshape(-1, 4)))
            self.measure(both, np.concatenate((at, np.array(places, dtype=np.int64))), cells)

    def understood(self, plain: PlainTexts) -> tuple[Mask, Mask]:
        """The texts that are raw values, and those that are ranges between two values, without a closer look."""
        raise NotImplementedError

    def read(self, text: str) -> _Meaning | Range:
        """What a text means."""
        if text == SUPPRESSED:
            return self.whole()
        known = self.known(text)
        if known is None and not text.strip(SUPPRESSED):
            return self.whole()
        meaning = known or self.range(text) or self.set(text)
        if meaning is None:
            raise BadData(
                f"measure cannot read {text!r}: it is not a value of the original, a range [a,b], a set "
                "{a|b}, a node of the hierarchy or *. Give the original and the hierarchies that the "
                "release was made from.",
                column=self.column.name,
            )
        return meaning

    def whole(self) -> _Meaning:
        """The meaning of a cell that tells nothing."""
        raise NotImplementedError

    def known(self, text: str) -> _Meaning | None:
        """The meaning of a value or a node."""
        raise NotImplementedError

    def set(self, text: str) -> _Meaning | None:
        """The meaning of a set."""
        raise NotImplementedError

    def measure(self, ranges: Floats, places: Rows, cells: Cells) -> None:
        """Fill in the meaning of ranges, one row each: low, high, and whether these ends are open."""
        raise NotImplementedError

    def range(self, text: str) -> Range | None:
        """A range, or a number that is written in another way than in the original."""
        if text[:1] == "[" and text[-1] in "])[" and text.count(",") == 1:
            low, _, high = text[1:-1].partition(",")
            first, last = self.places.get(low), self.places.get(high)
            if first is not None and last is not None:
                return Range(first, last, False, text[-1] != "]") if first <= last else None
        exact = None if self.names else self.coordinate(text)
        return read_range(text, self.coordinate, self.names) if exact is None else Range(exact, exact)

    @cached_property
    def positions(self) -> Floats:
        """The coordinate of each value of the domain."""
        domain = self.column.domain
        return np.arange(len(domain), dtype=np.float64) if domain.values is None else domain.values

    @cached_property
    def places(self) -> dict[str, float]:
        """The coordinate of each text that is not the missing one."""
        domain = self.column.domain
        present = slice(domain.present)
        return dict(zip(domain.labels[present], self.positions[present].tolist(), strict=True))

    @cached_property
    def present(self) -> Floats:
        """The coordinates that occur in the original, ascending."""
        values = self.occurring[self.occurring != self.column.domain.missing]
        present: Floats = self.positions[values]
        return present

    def coordinate(self, text: str) -> float | None:
        """The coordinate of a value of this column, or of a number or date that might be one."""
        if text in self.places or self.names:
            return self.places.get(text)
        return day(text) if self.column.domain.kind is Kind.DATE else number(text)

    def shares(self, low: Floats, high: Floats) -> Floats:
        """The widths of ranges as shares of the original column's, at most 1."""
        spread = float(self.present[-1] - self.present[0]) if len(self.present) else 0.0
        if spread == 0:
            return np.zeros(len(low))
        widths: Floats = np.minimum((high - low) / spread, 1.0)
        return widths

    def extent(self, coordinates: Floats) -> float:
        """The width of the tightest range around some values; 1 where one of them has no place in it."""
        if not np.isfinite(coordinates).all():
            return 1.0
        return float(self.shares(coordinates.min(keepdims=True), coordinates.max(keepdims=True))[0])


class _Flat(_Reader):
    """Reads a column without a hierarchy: its values are those that occur in the original."""

    def __init__(self, column: Column, counts: Counts) -> None:
        super().__init__(column, counts)
        self.size = len(self.occurring)
        self.raw = RAW if self.names else RAW_NUMBER

    def understood(self, plain: PlainTexts) -> tuple[Mask, Mask]:
        exact: Mask = plain.exact >= 0
        return exact, ~exact & (plain.low >= 0)

    def whole(self) -> _Meaning:
        return _Meaning(self.size, suppressed=True)

    def known(self, text: str) -> _Meaning | None:
        missing = text == "" and self.column.domain.missing is not None
        return self.raw if missing or text in self.places else None

    def set(self, text: str) -> _Meaning | None:
        members = set_members(text)
        if members is None or not all(self.known(member) for member in members):
            return None
        if self.names:
            return _Meaning(len(set(members)))
        return _Meaning(
            len(set(members)), self.extent(np.array([self.places.get(one, COUNTED) for one in members]))
        )

    def measure(self, ranges: Floats, places: Rows, cells: Cells) -> None:
        first, last = _inside(self.present, ranges)
        values = np.maximum(last - first, 1)
        by_rank = (values - 1) / max(len(self.present) - 1, 1)
        cells.values[places] = values
        cells.widths[places] = by_rank if self.names else self.shares(ranges[:, 0], ranges[:, 1])


class _Tree(_Reader):
    """Reads a column with a hierarchy: its values are the leaves, whether they occur in the original or not."""

    def __init__(self, column: Column, counts: Counts) -> None:
        super().__init__(column, counts)
        assert column.hierarchy is not None
        self._hierarchy = column.hierarchy
        self._nodes = NodeTexts(column.hierarchy)
        self._by_width = not self.names and column.hierarchy.by_width
        self.size = len(column.hierarchy.leaves)
        self.raw = RAW_NUMBER if self._by_width else RAW

    @cached_property
    def _leaf_places(self) -> Floats:
        """The coordinate of each leaf; NaN where it has none."""
        known = [self.coordinate(leaf) for leaf in self._hierarchy.leaves]
        return np.array([COUNTED if place is None else place for place in known])

    def understood(self, plain: PlainTexts) -> tuple[Mask, Mask]:
        # A value may be a node above several too.
        known = np.array([text in self._nodes for text in plain.texts], dtype=np.bool_)
        return np.zeros(len(known), dtype=np.bool_), ~known & (plain.low >= 0)

    def whole(self) -> _Meaning:
        return _Meaning(self.size, level=self._hierarchy.height, suppressed=True)

    def known(self, text: str) -> _Meaning | None:
        if text not in self._nodes:
            return None
        values, level = self._nodes.count(text), self._nodes.level(text)
        if not self._by_width:
            return _Meaning(values, level=level)
        if level == 0:
            return self.raw
        ends = read_range(text, self.coordinate)
        known = self._leaf_places[self._nodes.leaves(text)] if ends is None else np.array(ends[:2])
        return _Meaning(values, self.extent(known), level)

    def set(self, text: str) -> _Meaning | None:
        members = set_members(text)
        if members is None or not all(member in self._nodes for member in members):
            return None
        leaves = np.unique(np.concatenate([self._nodes.leaves(member) for member in members]))
        width = self.extent(self._leaf_places[leaves]) if self._by_width else COUNTED
        return _Meaning(len(leaves), width, self._nodes.common_level(leaves))

    def measure(self, ranges: Floats, places: Rows, cells: Cells) -> None:
        order = np.argsort(self._leaf_places, kind="stable")[: np.isfinite(self._leaf_places).sum()]
        first, last = _inside(self._leaf_places[order], ranges)
        cells.values[places] = np.maximum(last - first, 1)
        if self._by_width:
            cells.widths[places] = self.shares(ranges[:, 0], ranges[:, 1])
        for place, begin, end in zip(places.tolist(), first.tolist(), last.tolist(), strict=True):
            cells.levels[place] = self._nodes.common_level(order[begin:end]) if begin < end else 0


def _inside(ascending: Floats, ranges: Floats) -> tuple[Rows, Rows]:
    """The first value inside each range, and the one after the last."""
    low, high, low_open, high_open = ranges.T
    first = np.where(low_open, np.searchsorted(ascending, low, "right"), np.searchsorted(ascending, low))
    last = np.where(high_open, np.searchsorted(ascending, high), np.searchsorted(ascending, high, "right"))
    return first, last
