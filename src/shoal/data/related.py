"""Persons with records: a table with one row per person, and a second one with any number of records of each."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from shoal.arrays import Rows, indptr_by
from shoal.data.baskets import ragged_ranks
from shoal.data.domain import nominal
from shoal.data.role import Role
from shoal.data.table import Column, Table, cell_ranks, free_name

SHOWN = 60
"""The most characters of a person's records that are used to name a class."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Related(Table):
    """A table of persons, and a table of their records."""

    records: Table  # the other table, without the key
    owners: Rows  # the row of the person of each record
    key: str
    """The name of the column by which both files are joined. Its cells are not kept: a release has the number of the
    person's row instead."""

    def __repr__(self) -> str:
        return f"{Table.__repr__(self)[:-1]}; joined by {self.key} with {self.records!r}>"

    @property
    def every_column(self) -> tuple[Column, ...]:
        """The columns of the persons, and those of their records."""
        return (*self.columns, *self.records.columns)

    @property
    def class_table(self) -> Table:
        """The view of the join, on which promises are judged."""
        return self.joined()

    @property
    def known(self) -> tuple[str, ...]:
        """The names of the quasi-identifiers and of those of the records, for sentences about what may be known."""
        own = Table(self.columns).known
        return (*own, *known_of_records(self.records.known))

    def take(self, rows: Rows) -> "Related":
        """The given persons, in the given order, with their records."""
        place = np.full(self.rows, -1, dtype=np.int64)
        place[rows] = np.arange(len(rows))
        owners = place[self.owners]
        kept = np.flatnonzero(owners >= 0)
        columns = tuple(column.take(rows) for column in self.columns)
        return replace(self, columns=columns, records=self.records.take(kept), owners=owners[kept])

    def known_records(self) -> Rows:
        """The rank of each person by the quasi-identifiers of all her records, which an adversary may know."""
        return list_ranks(_ranks(self.records.quasi, self.records.rows), self.owners, self.rows)

    def joined(self) -> Table:
        """The view of the join: persons with an additional quasi-identifier, which holds those of all their records.

        Two persons agree on it if their records are the same multisets of rows in all quasi-identifiers.
        """
        rank = self.known_records()
        kinds, first, codes = np.unique(rank, return_index=True, return_inverse=True)
        by_owner = np.argsort(self.owners, kind="stable")
        begins = np.searchsorted(self.owners[by_owner], np.arange(self.rows + 1))
        labels = []
        for place, person in enumerate(first.tolist()):
            rows = by_owner[begins[person] : begins[person + 1]].tolist()
            text = "; ".join(
                ", ".join(one.domain.labels[one.codes[row]] for one in self.records.quasi) for row in rows
            )
            labels.append(f"{len(rows)} ({text[:SHOWN]}{'…' * (len(text) > SHOWN)}) #{place + 1}")
        assert len(kinds) == len(labels)
        known = Column(
            free_name("records", self.names), Role.QUASI, nominal(tuple(labels)), codes.astype(np.int32)
        )
        return Table((*self.columns, known))

    def numbered(self) -> tuple[Table, Table]:
        """The tables as written: persons with their number in the last column, records with it in the first."""
        domain = nominal(tuple(str(row + 1) for row in range(self.rows)))
        own = Column(self.key, Role.INSENSITIVE, domain, np.arange(self.rows, dtype=np.int32))
        theirs = Column(self.key, Role.INSENSITIVE, domain, self.owners.astype(np.int32))
        return Table((*self.columns, own)), Table((theirs, *self.records.columns))

    def with_columns(self, columns: Sequence[Column], records: Sequence[Column]) -> "Related":
        """The same persons and records with other columns, such as columns with hierarchies."""
        return replace(self, columns=tuple(columns), records=Table(tuple(records)))


def known_of_records(names: Sequence[str]) -> tuple[str, ...]:
    """Names for what an adversary may know of records, for sentences; their number is known in any case.

    >>> known_of_records(["day"]), known_of_records([])
    (('day of all records',), ('the number of records',))
    """
    return tuple(f"{name} of all records" for name in names) or ("the number of records",)


def related(
    persons: Sequence[Column], records: Sequence[Column], owners: Rows, key: str
) -> tuple[Related, Rows, Rows]:
    """Put persons and records into canonical order, so that row numbers disclose nothing about the input.

    Persons ascend by their cells, and then by the ascending lists of their records; records ascend by their person, and
    then by their cells.

    Returns the tables, and the original row of each person and of each record.
    """
    rows = len(persons[0].codes)
    ranks = _ranks(records, len(owners))
    order = np.lexsort((list_ranks(ranks, owners, rows), cell_ranks(persons)))
    place = np.empty(rows, dtype=np.int64)
    place[order] = np.arange(rows)
    lines = np.lexsort((ranks, place[owners]))
    made = Related(
        tuple(column.take(order) for column in persons),
        Table(tuple(column.take(lines) for column in records)),
        place[owners][lines],
        key,
    )
    return made, order, lines


def list_ranks(ranks: Rows, groups: Rows, count: int) -> Rows:
    """The rank of each group by its sorted list of ranks."""
    order = np.lexsort((ranks, groups))
    return ragged_ranks(indptr_by(groups, count), ranks[order])


def _ranks(columns: Sequence[Column], rows: int) -> Rows:
    """The rank of each row; all are equal if there are no columns."""
    return cell_ranks(columns) if columns else np.zeros(rows, dtype=np.int64)
