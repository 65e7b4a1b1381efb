"""The classes of a published table and their sensitive values, read off its cells."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from shoal.arrays import Codes, Counts, Indptr, Mask, Rows, distinct, owners, summed
from shoal.data._equal_rows import row_classes
from shoal.data.published_syntax import SUPPRESSED, telling_rows
from shoal.data.table import Column, Table

SPARSE = 4
"""Keys are sorted where their range is more than so many times as large as their number, and counted elsewhere."""


@dataclass(frozen=True, slots=True, eq=False)
class Tally:
    """The sensitive values of each class, as far as they are published.

    A cell ``*`` tells no value: it is left out, and so a class all of whose cells are ``*`` says nothing and can break
    nothing. A missing cell is a value.

    Where persons are counted, they stand for the cells: a person counts once for each value that she has in the class.
    """

    column: Column  # the column that is judged
    sizes: Counts  # cells of each class that tell a value, or persons of whom one does
    indptr: Indptr
    values: Codes
    counts: Counts
    """`indptr`, `values`, `counts`: the values of class c are ``values[indptr[c]:indptr[c + 1]]``, ascending, with
    their counts."""
    overall: Counts  # how often each value is published in all
    noun: str = "rows"  # what is counted: rows, or persons

    @property
    def several(self) -> Mask:
        """The classes in which somebody has several values."""
        mask: Mask = summed(owners(self.indptr), self.counts, len(self.sizes)) > self.sizes
        return mask

    @property
    def total(self) -> int:
        """All cells that tell a value."""
        return int(self.overall.sum())

    def of(self, place: int) -> dict[str, int]:
        """The values of one class with their counts, the most frequent first."""
        inside = slice(int(self.indptr[place]), int(self.indptr[place + 1]))
        pairs = zip(self.values[inside].tolist(), self.counts[inside].tolist(), strict=True)
        labels = self.column.domain.labels
        return {
            labels[value] or "(missing)": count for value, count in sorted(pairs, key=lambda pair: -pair[1])
        }


@dataclass(frozen=True, slots=True, eq=False)
class Excerpt:
    """Some classes of a published table, each of them whole."""

    table: Table  # The rows. Without weights they are all rows of the published table.
    weights: Counts | None = None
    """How many rows of the published table each row stands for; None where that is 1."""
    telling_rows: int | None = None
    """The rows of the published table that tell anything about somebody; None where all its rows are here."""
    overall: Mapping[str, Counts] = field(default_factory=dict)
    """How often each value of a sensitive column is published in all, by the codes of the table, where that cannot be
    counted here."""
    found: "dict[bool, PublishedClasses]" = field(default_factory=dict, init=False)
    """The classes, with and without rows that tell nothing, once somebody has asked for them."""

    def telling(self) -> "Excerpt":
        """Without rows that tell nothing about anybody: see `telling_rows`."""
        kept = telling_rows(self.table)
        if kept.all():
            return self
        weights = None if self.weights is None else self.weights[kept]
        return replace(self, table=self.table.take(np.flatnonzero(kept)), weights=weights)

    def summed(self, groups: Rows, count: int) -> Counts:
        """The rows of the published table in each of some groups of rows."""
        if self.weights is None:
            return np.bincount(groups, minlength=count).astype(np.int64)
        return summed(groups, self.weights, count)


@dataclass(frozen=True, slots=True, eq=False)
class PublishedClasses:
    """Rows that agree on the published texts of all quasi-identifiers."""

    excerpt: Excerpt  # the classes of the published table that are looked at
    number: Rows  # the class of each row
    first: Rows  # one row of each class
    sizes: Counts  # rows of each class
    tallies: dict[tuple[str, str | None], Tally] = field(default_factory=dict, init=False)
    """What was counted before, by the column that is judged and that of the persons."""

    @classmethod
    def of(cls, published: Table | Excerpt, *, with_suppressed: bool = False) -> "PublishedClasses":
        """Number the classes of the rows that tell something.

        `with_suppressed`: number those that tell nothing too, for promises about who is in the table (see
        `telling_rows`).
        """
        whole = Excerpt(published) if isinstance(published, Table) else published
        if with_suppressed not in whole.found:
            excerpt = whole if with_suppressed else whole.telling()
            rows = row_classes(excerpt.table.quasi, excerpt.table.rows)
            sizes = rows.sizes if excerpt.weights is None else excerpt.summed(rows.number, len(rows))
            whole.found[with_suppressed] = cls(excerpt, rows.number, rows.first, sizes)
        return whole.found[with_suppressed]

    @property
    def table(self) -> Table:
        """The rows."""
        return self.excerpt.table

    def __len__(self) -> int:
        return len(self.first)

    def persons(self, entity: str | None, rows: Rows | slice = slice(None)) -> Counts:
        """Persons of each class: rows with the same cell in the entity column count once.

        `rows`: the rows that count; all by default.
        """
        if entity is None:
            return self.sizes
        column = self.table.column(entity)
        pairs = distinct(self.number[rows] * len(column.domain) + column.codes[rows])
        return np.bincount(pairs // max(len(column.domain), 1), minlength=len(self)).astype(np.int64)

    def tally(self, column: Column, entity: str | None = None) -> Tally:
        """Count the published values of a column in each class, once: the rows, or the persons of an entity column."""
        kept = self.tallies.get((column.name, entity))
        if kept is None or kept.column is not column:
            kept = self.tallies[column.name, entity] = self._counted(column, entity)
        return kept

    def _counted(self, column: Column, entity: str | None) -> Tally:
        labels = column.domain.labels
        shown: Mask = np.array([label != SUPPRESSED for label in labels], dtype=np.bool_)
        rows = slice(None) if shown.all() else np.flatnonzero(shown[column.codes])
        pairs, counts = self._pairs(rows, column, entity)
        indptr = np.searchsorted(pairs, np.arange(len(self) + 1) * len(labels))
        values = (pairs % max(len(labels), 1)).astype(np.int32)
        overall = self.excerpt.overall.get(column.name)
        if overall is None:
            overall = summed(values, counts, len(labels))
        sizes = summed(owners(indptr), counts, len(self))
        if entity is None:
            return Tally(column, sizes, indptr, values, counts, overall)
        return Tally(column, self.persons(entity, rows), indptr, values, counts, overall, "persons")

    def _pairs(self, rows: Rows | slice, column: Column, entity: str | None) -> tuple[Rows, Counts]:
        """The pairs of class and value of some rows, ascending, and how many rows, or persons, have each."""
        keys = self.number[rows] * len(column.domain) + column.codes[rows]
        if entity is not None:
            who = self.table.column(entity)
            kinds, keys = np.unique(keys, return_inverse=True)
            held = distinct(keys * max(len(who.domain), 1) + who.codes[rows])
            return kinds, np.bincount(held // max(len(who.domain), 1), minlength=len(kinds)).astype(np.int64)
        if self.excerpt.weights is None:
            return _distinct(keys, len(self) * len(column.domain))
        pairs, place = np.unique(keys, return_inverse=True)
        return pairs, summed(place, self.excerpt.weights[rows], len(pairs))

    def words(self, place: int) -> str:
        """A class in words: ``age [25,31], sex Male``."""
        return cell_words(self.table.quasi, int(self.first[place]))


def cell_words(columns: Iterable[Column], row: int) -> str:
    """The cells of a row in words: ``age [25,31], sex Male``."""
    return ", ".join(
        f"{column.name} {column.domain.labels[column.codes[row]] or '(missing)'}" for column in columns
    )


def _distinct(keys: Rows, size: int) -> tuple[Rows, Counts]:
    """The distinct keys below a size, ascending, and how many there are of each; the keys may come back sorted."""
    if size <= SPARSE * len(keys):
        counts = np.bincount(keys, minlength=size)
        found = np.flatnonzero(counts)
        return found, counts[found]
    keys.sort()
    starts = np.flatnonzero(np.concatenate(([True], keys[1:] != keys[:-1]))) if len(keys) else keys[:0]
    return keys[starts], np.diff(np.append(starts, len(keys)))
