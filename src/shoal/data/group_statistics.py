"""Statistics of groups of rows that privacy models need: sizes, persons, sensitive values, and a population."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from shoal.arrays import Codes, Counts, Indptr, Mask, Rows, distinct, indptr_by, indptr_of
from shoal.data.dataset import COUNT
from shoal.data.domain import Domain
from shoal.data.table import Table

if TYPE_CHECKING:
    from shoal.data.dataset import Dataset


@dataclass(frozen=True, slots=True, eq=False)
class Histogram:
    """How often each sensitive value occurs in each group, in sparse form, and in all published rows.

    The values of group g are ``values[indptr[g]:indptr[g + 1]]``, ascending, with their `counts`. Groups are compared
    with the distribution `overall`, that of all rows to be published, because a reader of the release can compute no
    other. The `domain` gives the texts and the order of the values, for models that need them.

    If there is an entity column, `counts` are persons instead of rows: for each value, the persons who have it in some
    row of the group. Then `persons` are all persons of the group; somebody with several values counts for each value.
    """

    indptr: Indptr
    values: Codes
    counts: Counts
    overall: Counts
    domain: Domain | None = None
    persons: Counts | None = None

    @property
    def sums(self) -> Counts:
        """The sum of the counts of each group."""
        return np.diff(indptr_of(self.counts)[self.indptr])

    @property
    def sizes(self) -> Counts:
        """The total that shares of values refer to: the number of persons of each group, or of its rows."""
        return self.sums if self.persons is None else self.persons


@dataclass(frozen=True, slots=True, eq=False)
class GroupStatistics:
    """Statistics of many groups at once, with one entry per group."""

    sizes: Counts  # rows of each group
    persons: Counts
    """Persons of each group: distinct entities, or rows if there is no entity column."""
    sensitive: Mapping[str, Histogram] = field(default_factory=dict)
    """A histogram of each sensitive column that was asked for, by name."""
    population: Counts | None = None
    """The number of rows of a population that match the cells with which each group will be published; None if the
    method cannot count them before it publishes."""
    table: Table | None = None
    groups: Rows | None = None
    """`table`, `groups`: the table, and the group of each of its rows (-1: none). From these, models about a population
    compute a lower bound of the matching rows. None if the method works on counts alone."""

    def __len__(self) -> int:
        return len(self.sizes)


def group_statistics(
    table: Table,
    groups: Rows,
    count: int,
    columns: tuple[str, ...] = (),
    *,
    published: Mask | None = None,
    overall: Mapping[str, Counts] | None = None,
) -> GroupStatistics:
    """Count the rows, persons and sensitive values of groups, some of which may be empty.

    `groups`: the group of each row, 0 … count - 1; -1 leaves a row out. `columns`: the sensitive columns whose values
    are counted. `published`: the rows that will be published, if some are suppressed: the overall distribution is that
    of these rows; all rows by default. `overall`: the overall distribution by column, if the table is only a part of
    the whole.
    """
    inside = groups >= 0
    here = groups[inside]
    sizes = np.bincount(here, minlength=count).astype(np.int64)
    persons = sizes
    if table.entity is not None:
        entity = table.entity
        persons = np.diff(_pairs(here, entity.codes[inside], count, len(entity.domain))[0])
    sensitive = {}
    for column in table.select(columns):
        held, codes = here, column.codes[inside]
        if table.entity is not None:
            held, codes = once_a_person(here, table.entity.codes[inside], codes, len(column.domain))
        indptr, values, counts = _pairs(held, codes, count, len(column.domain))
        kept = column.codes if published is None else column.codes[published]
        if overall is None:
            whole = np.bincount(kept, minlength=len(column.domain)).astype(np.int64)
        else:
            whole = overall[column.name]
        of_persons = None if table.entity is None else persons
        sensitive[column.name] = Histogram(indptr, values, counts, whole, column.domain, of_persons)
    return GroupStatistics(sizes, persons, sensitive, None, table, groups)


def once_a_person(groups: Rows, who: Codes, codes: Codes, size: int) -> tuple[Rows, Codes]:
    """The groups and values of rows, without repeats of a person's value within a group.

    `groups`, `who`, `codes`: the group, the person and the value of each row. `size`: the number of possible values.
    """
    kinds, held = np.unique(who.astype(np.int64) * size + codes, return_inverse=True)
    keys = distinct(groups * max(len(kinds), 1) + held)
    return keys // max(len(kinds), 1), (kinds[keys % max(len(kinds), 1)] % max(size, 1)).astype(np.int32)


def whole_statistics(data: "Dataset", columns: tuple[str, ...] = ()) -> GroupStatistics:
    """The statistics of all rows of a table in parts as one group."""
    sensitive = {}
    for column in data.schema.select(columns):
        held = data.parts.counts([column.name])
        counts = np.zeros((1, len(column.domain)), dtype=np.int64)
        counts[0, held[column.name].to_numpy()] = held[COUNT].to_numpy()
        sensitive[column.name] = counted_histogram(counts, counts[0], column.domain)
    rows = np.array([data.rows], dtype=np.int64)
    return GroupStatistics(rows, rows, sensitive)


def counted_histogram(counts: Counts, overall: Counts, domain: Domain) -> Histogram:
    """The histogram of groups from a matrix of counts, with one row per group and one column per value."""
    groups, values = np.nonzero(counts)
    return Histogram(
        indptr_by(groups, len(counts)), values.astype(np.int32), counts[groups, values], overall, domain
    )


def _pairs(groups: Rows, codes: Codes, count: int, size: int) -> tuple[Indptr, Codes, Counts]:
    """The distinct (group, code) pairs as ragged rows, with how often each occurs."""
    mixed = groups * size + codes
    if count * size <= 4 * len(mixed):
        every = np.bincount(mixed, minlength=count * size)
        mixed = np.flatnonzero(every)
        counts = every[mixed]
    else:
        mixed, counts = np.unique(mixed, return_counts=True)
    return indptr_by(mixed // size, count), (mixed % size).astype(np.int32), counts.astype(np.int64)
