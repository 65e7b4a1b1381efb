"""Which persons of a population a published class may stand for, and what promises beside one have in common."""

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from math import isnan
from typing import Self

import numpy as np
from pydantic import ConfigDict, Field, PrivateAttr

from shoal.arrays import Codes, Counts, Floats, Mask, Rows, distinct, flagged
from shoal.data._calendar import iso
from shoal.data._equal_rows import row_classes
from shoal.data.domain import Domain, Kind
from shoal.data.group_statistics import GroupStatistics
from shoal.data.published_syntax import SUPPRESSED, set_members
from shoal.data.table import Column, Table
from shoal.errors import WrongUse
from shoal.models._equivalence_classes import PublishedClasses
from shoal.models._exact import group_sums
from shoal.models.model import TableModel

_RANGE = re.compile(r"\[([^,]+),\s*([^,]+)([\])\[])")

SEVERAL = 8
"""So many texts are looked up at once, where they stand for few values."""

SHORT = 10_000
"""Masks over a domain of so many values are kept."""

TEXTS = 4_000_000
"""Published texts times values of a domain up to which all masks are kept as one."""

DENSE = 20_000_000
"""Classes times persons up to which all are compared."""


_readers: "ContextVar[dict[tuple[int, int], CellReader] | None]" = ContextVar("readers", default=None)


@contextmanager
def shared_readers() -> Iterator[None]:
    """Let all that reads published cells in the meantime read each text of a column once."""
    token = None if _readers.get() is not None else _readers.set({})
    try:
        yield
    finally:
        if token is not None:
            _readers.reset(token)


def reader_of(column: Column) -> "CellReader":
    """A reader of published cells as values of a column: the one that is shared, where there is one."""
    kept = _readers.get()
    if kept is None:
        return CellReader(column)
    # The reader holds both, so that nothing else gets their addresses.
    key = id(column.domain), id(column.hierarchy)
    if key not in kept:
        kept[key] = CellReader(column)
    return kept[key]


def matching_rows(classes: PublishedClasses, population: Table) -> Counts:
    """How many rows of a population match the published cells of each class.

    Raises `UnknownName` if the population lacks a quasi-identifier of the release.
    """
    weights = distinct_persons(classes, population)[2]
    found = np.zeros(len(classes), dtype=np.int64)
    for here, persons in matches_of(classes, population):
        found[here] = weights[persons].sum()
    return found


def distinct_persons(classes: PublishedClasses, population: Table) -> tuple[tuple[Column, ...], Rows, Counts]:
    """The population's columns, one row of each distinct combination, and how many rows share it."""
    columns = population.select(column.name for column in classes.table.quasi)
    alike = row_classes(columns, population.rows)
    return columns, alike.first, alike.sizes


def matches_of(classes: PublishedClasses, population: Table) -> Iterator[tuple[int, Rows]]:
    """Each class that somebody matches, and the distinct combinations of the population that match its cells.

    Classes are walked through column by column, and those that share their first cells share the rows that match them,
    so that the work is about that of listing the matches and not classes times rows.
    """
    columns, first, _ = distinct_persons(classes, population)
    quasi = classes.table.quasi
    codes = [column.codes[first] for column in columns]
    cells = [column.codes[classes.first] for column in quasi]
    readers = [reader_of(column) for column in columns]
    waiting: list[tuple[int, Rows, Rows]] = [(0, np.arange(len(classes)), np.arange(len(first)))]
    while waiting:
        depth, here, rows = waiting.pop()
        if depth == len(quasi):
            yield int(here[0]), rows
            continue
        here = here[np.argsort(cells[depth][here], kind="stable")]
        kinds, starts = np.unique(cells[depth][here], return_index=True)
        ends = np.append(starts[1:], len(here))
        labels = quasi[depth].domain.labels
        texts = [labels[kind] for kind in kinds.tolist()]
        for place, matching in readers[depth].holders(texts, codes[depth], rows):
            waiting.append((depth + 1, here[starts[place] : ends[place]], matching))


def match_pairs(classes: PublishedClasses, population: Table) -> tuple[Rows, Rows]:
    """The same as pairs: combinations of the population, and the class that each of them matches.

    Where both are few, all are compared, column by column: that takes less than walking.
    """
    columns, first, _ = distinct_persons(classes, population)
    if len(classes) * len(first) > DENSE:
        found = list(matches_of(classes, population))
        places = np.array([place for place, _ in found], dtype=np.int64)
        rows = [matching for _, matching in found] or [np.empty(0, dtype=np.int64)]
        return np.concatenate(rows), np.repeat(places, [len(matching) for _, matching in found])
    # Eight persons a byte.
    fits = np.packbits(np.ones((1, len(first)), dtype=np.bool_), axis=1).repeat(len(classes), axis=0)
    for own, published in zip(columns, classes.table.quasi, strict=True):
        kinds, kind_of = np.unique(published.codes[classes.first], return_inverse=True)
        meant = reader_of(own).masks(published.domain, kinds)[:, own.codes[first]]
        fits &= np.packbits(meant, axis=1)[kind_of]
    matched = np.flatnonzero(fits.any(axis=1))
    here, persons = np.nonzero(np.unpackbits(fits[matched], axis=1, count=len(first)))
    return persons, matched[here]


class CellReader:
    """Reads published cells as sets of the values of a population's column, each text once."""

    def __init__(self, column: Column) -> None:
        self._column = column
        self._known: dict[str, Codes] = {}
        self._masks: dict[str, Mask] = {}
        self._tables: dict[int, tuple[Domain, Mask]] = {}
        self._codes = {label: code for code, label in enumerate(column.domain.labels)}
        self._coordinates = _coordinates(column.domain)
        self._ascending = np.argsort(self._coordinates, kind="stable")
        self._sorted = self._coordinates[self._ascending]
        self._nodes: dict[str, list[int]] = {}
        if column.hierarchy is not None:
            for path in column.hierarchy.paths():
                if path[0] in self._codes:
                    for text in set(path[1:-1]):
                        self._nodes.setdefault(text, []).append(self._codes[path[0]])

    def values(self, text: str) -> Codes:
        """The codes of the values that a text may stand for, ascending.

        A text that is no value of the population, no range, no set and no node of its hierarchy matches nobody, so
        that a hierarchy which is not given can break a promise but never keep one.
        """
        if text not in self._known:
            self._known[text] = self._read(text)
        return self._known[text]

    def meant(self, text: str) -> Mask:
        """The same as a mask over the domain of the population's column."""
        return flagged(self.values(text), len(self._column.domain))

    def holders(self, texts: Sequence[str], codes: Codes, rows: Rows) -> Iterator[tuple[int, Rows]]:
        """The places of the texts that some rows match, and these rows, ascending.

        `codes`: of the column, by row. `rows`: those that are asked about, ascending.
        """
        own = codes[rows]
        if len(texts) >= SEVERAL:
            meant = [self.values(text) for text in texts]
            sizes = np.array([len(one) for one in meant], dtype=np.int64)
        if len(texts) < SEVERAL or int(sizes.sum()) > len(texts) * len(rows):
            for place, text in enumerate(texts):
                matching = rows[self.mask(text)[own]]
                if len(matching):
                    yield place, matching
            return
        # Many texts of few values each: the rows of each value are looked up, not the values of each row.
        order = np.argsort(own, kind="stable")
        values = np.concatenate(meant)
        begin, end = (np.searchsorted(own[order], values, side) for side in ("left", "right"))
        found = np.repeat(np.arange(len(texts)), sizes)[end > begin]
        begin, end = begin[end > begin], end[end > begin]
        for place in np.unique(found).tolist():
            first, last = np.searchsorted(found, [place, place + 1]).tolist()
            parts = [order[low:high] for low, high in zip(begin[first:last], end[first:last], strict=True)]
            yield place, rows[np.sort(np.concatenate(parts))]

    def mask(self, text: str) -> Mask:
        """The same as `meant`, kept where the column has few values."""
        if text in self._masks:
            return self._masks[text]
        mask = self.meant(text)
        if len(mask) <= SHORT:
            self._masks[text] = mask
        return mask

    def masks(self, domain: Domain, codes: Codes) -> Mask:
        """The same of some texts of a published domain, a line each; those of all its texts are kept where few."""
        if len(domain) * len(self._column.domain) > TEXTS:
            return np.array([self.mask(domain.labels[code]) for code in codes.tolist()])
        if id(domain) not in self._tables:
            masks = np.array([self.mask(text) for text in domain.labels], dtype=np.bool_)
            self._tables[id(domain)] = domain, masks
        mask: Mask = self._tables[id(domain)][1][codes]
        return mask

    def _read(self, text: str, inside: bool = False) -> Codes:
        if text and not text.strip(SUPPRESSED):
            return np.arange(len(self._column.domain), dtype=np.int32)
        if text in self._nodes or text in self._codes:
            own = [self._codes[text]] if text in self._codes else []
            return _united([self._range(text), np.array([*self._nodes.get(text, []), *own], dtype=np.int32)])
        # A set holds no other: braces in the names of a set have a backslash before them.
        members = None if inside else set_members(text)
        if members is None:
            return self._range(text)
        alone = {code for member in members if (code := self._alone(member)) is not None}
        if len(alone) == len(members):
            return np.array(sorted(alone), dtype=np.int32)
        return _united([self._read(member, inside=True) for member in members])

    def _alone(self, name: str) -> int | None:
        """The code of a name that can mean nothing but itself."""
        if self._column.domain.values is not None or name in self._nodes or name[:1] in ("[", SUPPRESSED):
            return None
        return self._codes.get(name)

    def _range(self, text: str) -> Codes:
        matched = _RANGE.fullmatch(text)
        low, high, closing = (text, text, "]") if matched is None else matched.groups()
        first, last = self._coordinate(low.strip()), self._coordinate(high.strip())
        if first is None or last is None or isnan(first) or isnan(last):
            return np.empty(0, dtype=np.int32)
        begin = int(np.searchsorted(self._sorted, first, "left"))
        end = int(np.searchsorted(self._sorted, last, "right" if closing == "]" else "left"))
        return np.sort(self._ascending[begin:end]).astype(np.int32)

    def _coordinate(self, text: str) -> float | None:
        if text in self._codes:
            return float(self._coordinates[self._codes[text]])
        try:
            if self._column.domain.kind is Kind.NUMERIC:
                return float(text)
            if self._column.domain.kind is Kind.DATE:
                return float(np.datetime64(iso(text), "D").astype(np.int64))
        except ValueError:
            return None
        return None


def _united(parts: Sequence[Codes]) -> Codes:
    """All codes of some lists, each once, ascending."""
    return np.unique(np.concatenate([np.empty(0, dtype=np.int32), *parts])).astype(np.int32)


def _coordinates(domain: Domain) -> Floats:
    """Where the values of a column lie; nowhere for the missing one."""
    places = np.arange(len(domain), dtype=np.float64) if domain.values is None else domain.values.copy()
    if domain.missing is not None:
        places[domain.missing] = np.nan
    return places


def rows_alike(table: Table, population: Table) -> tuple[Rows, Counts]:
    """Number the distinct quasi-identifiers of a table, and count the rows of a population that have the same.

    Returns the number of each row of the table, and the rows of the population for each number.
    """
    alike = row_classes(table.quasi, table.rows)
    number, first = alike.number, alike.first
    here, there = np.zeros(len(first), dtype=np.int64), np.zeros(population.rows, dtype=np.int64)
    known: Mask = np.ones(population.rows, dtype=np.bool_)
    for column, other in zip(
        table.quasi, population.select(column.name for column in table.quasi), strict=True
    ):
        translated = _translated(column.domain, other.domain)[other.codes]
        known &= translated >= 0
        _, both = np.unique(
            np.concatenate([here, there]) * len(column.domain)
            + np.concatenate([column.codes[first], np.maximum(translated, 0)]),
            return_inverse=True,
        )
        here, there = both[: len(here)], both[len(here) :]
    size = int(max(here.max(initial=0), there.max(initial=0))) + 1
    counts = np.bincount(there[known], minlength=size).astype(np.int64)
    return number, counts[here]


def _translated(domain: Domain, other: Domain) -> Rows:
    """The code in a domain of each value of another one: by text, or by number or day; -1 where there is none."""
    codes = {label: code for code, label in enumerate(domain.labels)}
    translated = np.array([codes.get(label, -1) for label in other.labels], dtype=np.int64)
    if domain.values is not None and other.values is not None and domain.kind is other.kind:
        places = {value: code for code, value in enumerate(domain.values.tolist())}
        unknown = np.flatnonzero(translated < 0)
        translated[unknown] = [places.get(value, -1) for value in other.values[unknown].tolist()]
    return translated


class PopulationModel(TableModel):
    """A promise that compares the release with a population from which its persons come.

    The population is a table with the quasi-identifiers of the release, raw. It is no part of the promise as plain
    data: a release never says where a population lies, nor holds it, and whoever verifies the promise brings it along.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", arbitrary_types_allowed=True)

    population: Table | None = Field(
        default=None,
        exclude=True,
        repr=False,
        description="the population: a table with the same quasi-identifiers",
    )
    _alike: tuple[Table, Rows, Counts] | None = PrivateAttr(default=None)

    def among(self, population: Table | None) -> Self:
        """The same promise with its population."""
        return self.model_copy(update={"population": population})

    def needed(self) -> Table:
        """The population.

        Raises `WrongUse` if there is none.
        """
        if self.population is None:
            raise WrongUse(f"{self.name} is judged beside a population; give its file with --population.")
        return self.population

    def matches(self, statistics: GroupStatistics) -> Counts:
        """Rows of the population that match each group: counted by the method, or at least as many as given here.

        Before it is known how a group will be published, the rows of the population that have the same raw
        quasi-identifiers as one of its rows are those that match it whatever happens.
        """
        if statistics.population is not None:
            return statistics.population
        if statistics.table is None or statistics.groups is None:
            raise WrongUse(f"This method does not count a population, and cannot promise {self.name}.")
        if self._alike is None or self._alike[0] is not statistics.table:
            self._alike = (statistics.table, *rows_alike(statistics.table, self.needed()))
        _, number, weights = self._alike
        inside = np.flatnonzero(statistics.groups >= 0)
        pairs = distinct(statistics.groups[inside] * len(weights) + number[inside])
        indptr = np.searchsorted(pairs, np.arange(len(statistics) + 1) * len(weights))
        counts: Counts = group_sums(indptr, weights[pairs % max(len(weights), 1)])
        return counts

    def hint(self, matches: int) -> str:
        """What to do about a class that nobody of the population matches."""
        if matches:
            return ""
        return "; if its cells are nodes of a hierarchy, give it with --hierarchy or --hierarchies"
