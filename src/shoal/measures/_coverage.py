"""Which values of the original column the cells of a release stand for."""

from dataclasses import dataclass, replace
from enum import StrEnum

import numpy as np

from shoal.arrays import Codes, Counts, Floats, Mask, Rows
from shoal.data.domain import Kind
from shoal.data.published_syntax import SUPPRESSED, set_members
from shoal.data.table import Column
from shoal.errors import BadData
from shoal.measures._interval_syntax import NodeTexts, PlainTexts, day, number, plain_texts, read_range


class Form(StrEnum):
    """What a published cell is."""

    EXACT = "exact values"
    RANGE = "ranges"
    NODE = "nodes"
    SET = "sets"
    SUPPRESSED = "suppressed"
    MISSING = "missing"
    UNREAD = "other texts"


FORMS = tuple(Form)


@dataclass(frozen=True, slots=True, eq=False)
class Coverage:
    """What the distinct texts of a published column stand for, one entry a text."""

    forms: Codes  # places in `FORMS`
    levels: Codes  # the level of the hierarchy on which a text stands; -1 where it stands on none
    begin: Rows
    end: Rows
    """`begin`, `end`: texts that stand for values next to each other in the original domain: codes ``begin … end -
    1``."""
    texts: Rows
    members: Rows
    """`texts`, `members`: texts that stand for values here and there: text ``texts[i]`` stands for code
    ``members[i]``."""
    size: int  # the number of values of the original domain

    def rows_by_form(self, rows: Counts) -> dict[Form, int]:
        """The rows of each form that occurs, from the rows of each text."""
        totals = np.bincount(self.forms, weights=rows, minlength=len(FORMS)).astype(np.int64)
        return {form: int(total) for form, total in zip(FORMS, totals, strict=True) if total}

    def rows_by_level(self, rows: Counts, height: int) -> tuple[int, ...]:
        """The rows on each level of the hierarchy, from the rows of each text; cells on no level are left out."""
        on = self.levels >= 0
        totals = np.bincount(self.levels[on], weights=rows[on], minlength=height + 1)
        return tuple(int(total) for total in totals)

    def spread(self, rows: Counts) -> Floats:
        """The rows that a reader expects for each value: those of a cell in equal parts on the values it stands for."""
        widths = self.end - self.begin
        near = widths > 0
        parts = rows[near] / widths[near]
        steps = np.bincount(self.begin[near], weights=parts, minlength=self.size + 1)
        steps -= np.bincount(self.end[near], weights=parts, minlength=self.size + 1)
        expected = np.maximum(np.cumsum(steps)[: self.size], 0.0)
        sizes = np.bincount(self.texts, minlength=len(rows))
        shares = rows[self.texts] / sizes[self.texts]
        expected += np.bincount(self.members, weights=shares, minlength=self.size)
        return expected

    @property
    def sizes(self) -> Counts:
        """The number of values that each text stands for."""
        near = self.end - self.begin
        return near + np.bincount(self.texts, minlength=len(near))

    def total(self, values: Counts | Floats | Mask) -> Floats:
        """The sum, over the values that each text stands for, of a number that each value of the domain has."""
        up_to = np.concatenate(([0.0], np.cumsum(values, dtype=np.float64)))
        apart = np.bincount(self.texts, weights=values[self.members], minlength=len(self.begin))
        sums: Floats = up_to[self.end] - up_to[self.begin] + apart
        return sums


def coverage_of(original: Column, published: Column, used: Mask, plain: PlainTexts | None = None) -> Coverage:
    """Read each text of a published column once; texts that are not used stand for nothing.

    `plain`: what was found out of the texts that are used, where they were looked up before.
    """
    reader = _Reader(original, len(published.domain))
    places = np.flatnonzero(used)
    if plain is None:
        plain = plain_texts(original.domain, [published.domain.labels[place] for place in places.tolist()])
    reader.read(places, plain)
    return reader.coverage()


def read_coverage(original: Column, published: Column) -> Coverage:
    """Read a published column for a measure: every text that rows have must make sense.

    An empty cell in a column where nothing was missing is a suppressed cell.

    Raises `BadData` if a text makes no sense in the column.
    """
    used = np.bincount(published.codes, minlength=len(published.domain)) > 0
    return checked_coverage(original, published, used, coverage_of(original, published, used))


def checked_coverage(original: Column, published: Column, used: Mask, found: Coverage) -> Coverage:
    """What was read of a published column, if every text that rows have makes sense, as `read_coverage` gives it."""
    strange = np.flatnonzero(used & (found.forms == FORMS.index(Form.UNREAD)))
    if len(strange):
        raise BadData(
            f"measure cannot read {published.domain.labels[strange[0]]!r}: it is not a value of the original, a range, "
            "a set, a node of the hierarchy or *. Give the original and the hierarchies that the release was "
            "made from.",
            column=original.name,
        )
    blank = used & (found.forms == FORMS.index(Form.MISSING)) & (found.end == found.begin)
    return replace(found, end=np.where(blank, found.size, found.end)) if blank.any() else found


class _Reader:
    """Reads the texts of one column into lists: all that are alike at once, since there may be very many."""

    def __init__(self, column: Column, count: int) -> None:
        domain, hierarchy = column.domain, column.hierarchy
        self._domain = domain
        self._codes = {label: code for code, label in enumerate(domain.labels)}
        self._nodes = None if hierarchy is None else NodeTexts(hierarchy)
        self._top = -1 if hierarchy is None else hierarchy.height
        self._inner = self._shared_texts()
        leaves = () if hierarchy is None else hierarchy.leaves
        self._leaf_codes = np.array([self._codes.get(leaf, -1) for leaf in leaves], dtype=np.int64)
        places = np.arange(domain.present, dtype=np.float64)
        self._ascending = places if domain.values is None else domain.values[: domain.present]
        self._forms = np.full(count, FORMS.index(Form.UNREAD), dtype=np.int32)
        self._levels = np.full(count, -1, dtype=np.int32)
        self._begin, self._end = np.zeros((2, count), dtype=np.int64)
        self._members: list[int] = []
        self._member_places: list[int] = []
        self._member_counts: list[int] = []

    def _shared_texts(self) -> frozenset[str]:
        """Texts that are a value and a node above several: a reader must think of all of them."""
        if self._nodes is None:
            return frozenset()
        nodes = self._nodes
        return frozenset(text for text in self._codes if text in nodes and nodes.count(text) > 1)

    def read(self, places: Rows, plain: PlainTexts) -> None:
        """Read the texts that stand at places of the published domain."""
        texts = plain.texts
        exact: Mask = plain.exact >= 0
        if SUPPRESSED in self._codes or self._inner:
            # A suppressed cell is no value, whatever the original holds.
            exact &= np.array([text not in self._inner and text != SUPPRESSED for text in texts])
        self._set_exact(places[exact], plain.exact[exact].astype(np.int64))
        nodes = self._nodes
        ranges: Mask = ~exact & (plain.low >= 0)
        if nodes is not None:
            ranges &= np.array([text not in nodes for text in texts], dtype=np.bool_)
        # Ranges between two values of the original, which is what methods publish.
        at, low = places[ranges], plain.low[ranges]
        self._forms[at] = FORMS.index(Form.RANGE)
        self._begin[at], self._end[at] = low, np.maximum(plain.high[ranges] + 1, low)
        rest = np.flatnonzero(~(exact | ranges))
        for place, text in zip(places[rest].tolist(), [texts[one] for one in rest.tolist()], strict=True):
            self._read_one(place, text)

    def _read_one(self, place: int, text: str) -> None:
        if text and not text.strip(SUPPRESSED):
            self._set(place, Form.SUPPRESSED, 0, len(self._domain), self._top)
        elif self._nodes is not None and text in self._nodes:
            self._set(place, Form.NODE, level=self._nodes.level(text))
            self._add_members(place, self._leaf_codes[self._nodes.leaves(text)].tolist())
        elif text[:1] == "{" and (members := set_members(text)) is not None:
            if (codes_inside := self._codes_of_members(members)) is not None:
                self._set(place, Form.SET)
                self._add_members(place, codes_inside)
        elif text == "":
            self._set(place, Form.MISSING)
        elif (codes := self._codes_between(text)) is not None:
            self._set(place, Form.RANGE, *codes)

    def _set(self, place: int, form: Form, begin: int = 0, end: int = 0, level: int = -1) -> None:
        self._forms[place] = FORMS.index(form)
        self._begin[place], self._end[place], self._levels[place] = begin, end, level

    def _set_exact(self, at: Rows, values: Rows) -> None:
        """Texts that are values of the original."""
        missing = -1 if self._domain.missing is None else self._domain.missing
        self._forms[at] = np.where(values == missing, FORMS.index(Form.MISSING), FORMS.index(Form.EXACT))
        self._begin[at], self._end[at] = values, values + 1
        if self._nodes is not None:
            self._levels[at] = 0

    def _codes_of_members(self, members: list[str]) -> list[int] | None:
        """The values that the members of a set stand for, each once; None where one stands for nothing known."""
        found: dict[int, None] = {}
        for member in members:
            if self._nodes is not None and member in self._nodes:
                found |= dict.fromkeys(self._leaf_codes[self._nodes.leaves(member)].tolist())
            elif (code := self._codes.get(member)) is not None:
                found[code] = None
            else:
                return None
        return list(found)

    def _add_members(self, place: int, codes: list[int]) -> None:
        self._members += codes
        self._member_places.append(place)
        self._member_counts.append(len(codes))

    def _codes_between(self, text: str) -> tuple[int, int] | None:
        """The codes of the values in a range, the end not included; or of a number that is written in another way."""
        exact = None if self._domain.values is None else self._coordinate(text)
        if exact is not None:
            first, last = (np.searchsorted(self._ascending, exact, side) for side in ("left", "right"))
            return (int(first), int(last)) if last > first else None
        ends = read_range(text, self._coordinate, self._domain.values is None)
        if ends is None:
            return None
        begin = int(np.searchsorted(self._ascending, ends.low, "right" if ends.low_open else "left"))
        end = int(np.searchsorted(self._ascending, ends.high, "left" if ends.high_open else "right"))
        return begin, max(begin, end)

    def _coordinate(self, text: str) -> float | None:
        code = self._codes.get(text)
        if self._domain.values is None:
            return None if code is None or code == self._domain.missing else float(code)
        return day(text) if self._domain.kind is Kind.DATE else number(text)

    def coverage(self) -> Coverage:
        """All that was read."""
        members = np.array(self._members, dtype=np.int64)
        texts = np.repeat(np.array(self._member_places, dtype=np.int64), self._member_counts)
        known = members >= 0
        ends = self._begin, self._end
        return Coverage(self._forms, self._levels, *ends, texts[known], members[known], len(self._domain))
