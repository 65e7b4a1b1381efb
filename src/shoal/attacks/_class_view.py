"""A published table as an adversary sees it who knows something about some people."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from shoal.arrays import Counts, Floats, Mask, Rows, flagged, indptr_of
from shoal.data._equal_rows import row_classes
from shoal.data._sparse_rows import SparseRows
from shoal.data.clustered_table import ClusteredTable
from shoal.data.domain import Domain, Kind
from shoal.data.linked import Linked
from shoal.data.published_syntax import SUPPRESSED
from shoal.data.related import Related
from shoal.data.role import Role
from shoal.data.table import Column, Table
from shoal.models._equivalence_classes import PublishedClasses
from shoal.models._matching import match_pairs, reader_of
from shoal.risks.learned_secrets import alike_pairs

LONG = 1_000
"""Domains with more values are cut down to those that are asked about."""


@dataclass(frozen=True, slots=True, eq=False)
class ClassView:
    """Which published classes fit which people."""

    classes: PublishedClasses  # of the published table, by the columns that are known
    fits: SparseRows
    """People by classes, 1 where they fit. Of linked tables the share of a group that is like a person."""
    sizes: Counts  # rows of each class, or persons where a column tells them

    @property
    def candidates(self) -> Floats:
        """How many published rows fit each of the people."""
        return self.fits.weighed(self.sizes)

    def homes(self) -> tuple[Rows, Mask]:
        """The class of each of the people where it is certain, else -1; and the classes of which all people are known.

        A class that as many of all people fit as it has rows is theirs, though it stays open which row is whose.
        """
        whole = self.fits.held == self.classes.sizes
        home = np.full(len(self.fits), -1, dtype=np.int64)
        inside = whole[self.fits.columns]
        home[self.fits.rows[inside]] = self.fits.columns[inside]
        return home, whole

    def counts(self, column: Column) -> SparseRows:
        """How often each class has each value of a published column, stars aside: classes by values."""
        tally = self.classes.tally(column)
        values = tally.values.astype(np.int64)
        return SparseRows(tally.indptr, values, tally.counts.astype(np.float64), len(column.domain))


def class_view(published: Table | Linked, people: Table, known: Sequence[str] | None = None) -> ClassView:
    """See which classes fit people, or of linked tables, which groups.

    `people`: with the columns that are known, and the hierarchies of the original. `known`: the columns that are known;
    all quasi-identifiers by default. Of linked tables always all public ones.
    """
    if isinstance(published, Linked):
        return _group_view(published, people)
    if known is not None:
        published = with_known(published, known)
    people = compacted(people)
    classes, sizes = _classes(published)
    combos = people.select(column.name for column in published.quasi)
    number = row_classes(combos, people.rows).number
    combo, found = match_pairs(classes, people)
    kinds = int(number.max(initial=-1)) + 1
    matrix = SparseRows.of(combo, found, 1.0, (kinds, len(classes)))
    return ClassView(classes, matrix.take(number), sizes)


def fitting_classes(
    published: Table, person: Table, known: Sequence[str]
) -> tuple[PublishedClasses, Counts, Rows]:
    """The classes by some known columns, the size of each, and those that fit one person, without a sparse matrix."""
    classes, sizes = _classes(with_known(published, known))
    return classes, sizes, np.unique(match_pairs(classes, compacted(person))[1])


def _classes(published: Table) -> tuple[PublishedClasses, Counts]:
    """The classes of a table, and how many rows or persons each has."""
    classes, entity = PublishedClasses.of(published), published.entity
    return classes, classes.sizes if entity is None else classes.persons(entity.name)


def _group_view(data: Linked, people: Table) -> ClassView:
    """The groups of the rows that are like people: each such row counts for its share of the group."""
    classes = PublishedClasses.of(data.secrets)
    who, rows = alike_pairs(people, data)
    group, sizes = data.groups[rows], data.sizes
    fits = SparseRows.of(who, group, 1 / sizes[group], (people.rows, len(classes)))
    return ClassView(classes, fits, sizes)


def compacted(people: Table) -> Table:
    """The same people without the values of long domains that none of them has: cells are read value by value."""
    return Table(
        tuple(_compact(column) if len(column.domain) > LONG else column for column in people.columns)
    )


def _compact(column: Column) -> Column:
    domain = column.domain
    if domain.kind is Kind.ORDINAL or (domain.kind is not Kind.NOMINAL and not _parsed(domain)):
        return column
    used, codes = np.unique(column.codes, return_inverse=True)
    values = None if domain.values is None else domain.values[used]
    missing = len(used) - 1 if len(used) and used[-1] == domain.missing else None
    labels = tuple(domain.labels[code] for code in used.tolist())
    return replace(column, domain=Domain(domain.kind, labels, values, missing), codes=codes.astype(np.int32))


def _parsed(domain: Domain) -> bool:
    """Whether the ends of ranges can be read without the other values."""
    try:
        if domain.kind is Kind.DATE:
            np.array(domain.labels[: domain.present], dtype="datetime64[D]")
        else:
            np.array(domain.labels[: domain.present], dtype=np.float64)
    except ValueError:
        return False
    return True


def some_classes(published: Table, rows: int, seed: int, wanted: Mask | None = None) -> Table:
    """The rows of some classes, drawn at random, that have about so many rows together.

    `wanted`: for each row whether its class may be drawn; it may if one of its rows may.
    """
    classes = PublishedClasses.of(published)
    able = np.ones(len(classes), dtype=np.bool_)
    if wanted is not None:
        able = flagged(classes.number[wanted], len(classes))
    order = np.random.default_rng(seed).permutation(np.flatnonzero(able))
    before = np.cumsum(classes.sizes[order]) - classes.sizes[order]
    chosen = flagged(order[before < rows], len(classes))
    return compacted(classes.table.take(np.flatnonzero(chosen[classes.number])))


def with_known(published: Table, known: Sequence[str]) -> Table:
    """The table whose quasi-identifiers are these columns alone."""
    columns = tuple(
        replace(column, role=Role.INSENSITIVE)
        if column.role is Role.QUASI and column.name not in known
        else column
        for column in published.columns
    )
    # Where items are in clusters, rows of stars have a class too.
    return replace(published, columns=columns) if isinstance(published, ClusteredTable) else Table(columns)


def dressed(people: Table, original: Table) -> Table:
    """Other people with the hierarchies of the original, by which published cells are read."""
    trees = {column.name: column.hierarchy for column in original.columns}
    if isinstance(people, Related) and isinstance(original, Related):
        persons, records = Table(people.columns), people.records
        return people.with_columns(
            dressed(persons, Table(original.columns)).columns, dressed(records, original.records).columns
        )
    return Table(tuple(replace(column, hierarchy=trees.get(column.name)) for column in people.columns))


def secrets(published: Table, original: Table) -> tuple[Column, ...]:
    """The published sensitive columns that tell something, which the original has too."""
    return tuple(
        column
        for column in published.sensitive
        if column.name in original.names and set(column.domain.labels) != {SUPPRESSED}
    )


def covers(published: Column, original: Column) -> SparseRows:
    """Which values of the original each published text may stand for: texts by values, 1 where it may."""
    reader = reader_of(original)
    values = [reader.values(text) for text in published.domain.labels]
    indptr = indptr_of([len(one) for one in values])
    flat = np.concatenate([np.empty(0, dtype=np.int64), *values])
    return SparseRows(indptr, flat, np.ones(len(flat)), len(original.domain))
