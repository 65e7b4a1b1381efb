"""Linked tables (anatomy): one with exact public columns, one with the secrets of groups, linked by the groups."""

from dataclasses import dataclass

import numpy as np

from shoal.arrays import Counts, Floats, Rows
from shoal.data._plain_text import counted
from shoal.data.domain import nominal
from shoal.data.related import list_ranks
from shoal.data.role import Role
from shoal.data.table import Column, Table, cell_ranks, free_name

COUNT = "count"
"""The column of the second file that says how often a secret occurs in a group."""


@dataclass(frozen=True, slots=True, eq=False)
class Linked:
    """Two tables linked by groups: which row of a group has which of its secrets is not published."""

    public: Table  # quasi-identifiers and insensitive columns, unchanged, and the group as the last column
    secrets: Table
    """The group, which is the quasi-identifier of this table, and the sensitive columns: one row per secret."""
    link: str = "group"
    """The name of the column of groups. Its labels are 1, 2, …, in both tables."""

    def __repr__(self) -> str:
        return f"<Linked: {self.rows:,} rows in {counted(len(self), 'groups')}; {self.public!r}; {self.secrets!r}>"

    def __len__(self) -> int:
        return len(self.public.column(self.link).domain)

    @property
    def rows(self) -> int:
        """The number of published rows."""
        return self.public.rows

    @property
    def class_table(self) -> Table:
        """The table that promises are judged on: that of the secrets, whose classes are the groups."""
        return self.secrets

    @property
    def groups(self) -> Rows:
        """The group of each public row, counted from 0."""
        return self.public.column(self.link).codes.astype(np.int64)

    @property
    def secret_groups(self) -> Rows:
        """The group of each secret."""
        return self.secrets.column(self.link).codes.astype(np.int64)

    @property
    def sizes(self) -> Counts:
        """The number of public rows in each group."""
        return np.bincount(self.groups, minlength=len(self)).astype(np.int64)

    def known(self) -> tuple[Column, ...]:
        """The public columns without the group."""
        return tuple(column for column in self.public.columns if column.name != self.link)

    def shares(self, column: Column, groups: Rows) -> Floats:
        """The share of each value of a sensitive column in each of some groups, given in ascending order.

        Returns a matrix of groups by values.
        """
        values, holders = len(column.domain), self.secret_groups
        inside = np.isin(holders, groups)
        keys = np.searchsorted(groups, holders[inside]) * values + column.codes[inside]
        counts = np.bincount(keys, minlength=len(groups) * values).reshape(len(groups), values)
        return np.asarray(counts / np.maximum(self.sizes[groups], 1)[:, None])

    def share(self, column: Column, groups: Rows, codes: Rows) -> Floats:
        """The share of a value of a sensitive column in a group, for pairs of groups and values."""
        values = max(len(column.domain), 1)
        held, counts = np.unique(self.secret_groups * values + column.codes, return_counts=True)
        keys = groups * values + codes
        places = np.minimum(np.searchsorted(held, keys), max(len(held) - 1, 0))
        there = (held[places] == keys) & (codes >= 0)
        return np.asarray(np.where(there, counts[places] / self.sizes[groups], 0.0))

    def highest_share(self, column: Column) -> float:
        """The largest share that any value of a sensitive column has in any group."""
        held, counts = np.unique(
            self.secret_groups * max(len(column.domain), 1) + column.codes, return_counts=True
        )
        return float((counts / self.sizes[held // max(len(column.domain), 1)]).max(initial=0.0))


def link_name(names: tuple[str, ...]) -> str:
    """An unused name for the column of groups.

    >>> link_name(("age", "group"))
    'group_2'
    """
    return free_name("group", (*names, COUNT))


def linked(
    public: tuple[Column, ...], groups: Rows, secrets: tuple[Column, ...], secret_groups: Rows, link: str
) -> tuple[Linked, Rows]:
    """Link two tables by groups, in canonical order.

    Groups are numbered in ascending order of their lists of public rows, then of their secrets; public rows ascend by
    their texts and then by their group, secrets by their group and then by their texts. This order discloses nothing
    about the input, nor which row of a group has which of its secrets.

    `public`, `secrets`: the columns of both tables; their rows need not correspond. `groups`, `secret_groups`: the
    group of each of their rows, numbered in any way from 0 on. Returns the tables, and for each public row the given
    row that it was.
    """
    count = int(groups.max(initial=-1)) + 1
    ranks, secret_ranks = cell_ranks(public), cell_ranks(secrets)
    order = np.lexsort((list_ranks(secret_ranks, secret_groups, count), list_ranks(ranks, groups, count)))
    number = np.empty(count, dtype=np.int64)
    number[order] = np.arange(count)
    rows = np.lexsort((number[groups], ranks))
    places = np.lexsort((secret_ranks, number[secret_groups]))
    domain = nominal(tuple(str(place + 1) for place in range(count)))
    column = Column(link, Role.INSENSITIVE, domain, number[groups[rows]].astype(np.int32))
    holder = Column(link, Role.QUASI, domain, number[secret_groups[places]].astype(np.int32))
    return (
        Linked(
            Table((*(one.take(rows) for one in public), column)),
            Table((holder, *(one.take(places) for one in secrets))),
            link,
        ),
        rows,
    )


def canonical(data: Linked) -> Linked:
    """The same tables in canonical order."""
    secrets = tuple(column for column in data.secrets.columns if column.name != data.link)
    return linked(data.known(), data.groups, secrets, data.secret_groups, data.link)[0]


def same_cells(one: Table, other: Table) -> Rows:
    """The rows that differ between two tables with the same columns and domains."""
    differs = np.zeros(one.rows, dtype=np.bool_)
    for column in one.columns:
        differs |= column.codes != other.column(column.name).codes
    return np.flatnonzero(differs)
