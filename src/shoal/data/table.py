"""Tables: one row per person (or several, with an entity column), with cells encoded as integers."""

from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, replace
from itertools import chain, count

import numpy as np

from shoal.arrays import Codes, Rows, freeze
from shoal.data.domain import Domain
from shoal.data.hierarchy import Hierarchy
from shoal.data.role import Role
from shoal.errors import UnknownName, WrongUse

NO_QUASI = "No column is a quasi-identifier; name those that an adversary may know with --quasi."


@dataclass(frozen=True, slots=True, eq=False)
class Column:
    """A named column of codes over a domain, with its role and, if there is one, its hierarchy."""

    name: str
    role: Role
    domain: Domain
    codes: Codes
    hierarchy: Hierarchy | None = None
    sensitive_items: tuple[str, ...] = ()
    insensitive_items: tuple[str, ...] = ()
    """`sensitive_items`, `insensitive_items`: in a column of items, those that must not be learned, and those that are
    neither known nor secret. The hierarchy of such a column is one of items."""

    def __post_init__(self) -> None:
        freeze(self, np.int32, "codes")

    @property
    def occurring(self) -> Rows:
        """The codes that occur in some row, ascending."""
        held = np.zeros(len(self.domain), dtype=np.bool_)
        held[self.codes] = True
        return np.flatnonzero(held)

    def take(self, rows: Rows) -> "Column":
        """The same column with the given rows, in the given order."""
        return replace(self, codes=self.codes[rows])


@dataclass(frozen=True, slots=True, eq=False)
class Table:
    """Columns of equal length with distinct names.

    A table is what is read and, with other domains, what is published: then every domain is a list of published
    texts such as ``[25,31]``.
    """

    columns: tuple[Column, ...]

    def __post_init__(self) -> None:
        if len({column.name for column in self.columns}) != len(self.columns):
            raise WrongUse("Two columns have the same name; give every column a name of its own.")
        if len({len(column.codes) for column in self.columns}) > 1:
            raise WrongUse("The columns of a table must have the same number of rows.")
        if len(self.with_role(Role.ENTITY)) > 1:
            raise WrongUse("Only one column can say which rows belong to one person.")
        if len(self.with_role(Role.ITEMS)) > 1:
            raise WrongUse(
                "Only one column can hold items; join them into one, or publish the others separately."
            )

    def __repr__(self) -> str:
        names = ", ".join(f"{column.name} ({column.role})" for column in self.columns)
        return f"<Table: {self.rows:,} rows; {names}>"

    @property
    def rows(self) -> int:
        """The number of rows."""
        return len(self.columns[0].codes) if self.columns else 0

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns, in order."""
        return tuple(column.name for column in self.columns)

    @property
    def every_column(self) -> "tuple[Column, ...]":
        """The columns of this table, and those of a second table that belongs to it, if any."""
        return self.columns

    @property
    def class_table(self) -> "Table":
        """The table whose equivalence classes promises are judged on."""
        return self

    def refuse_without_quasi(self) -> None:
        """Refuse a table without a quasi-identifier: nothing can be promised of it."""
        if not self.quasi:
            raise WrongUse(NO_QUASI)

    @property
    def quasi(self) -> tuple[Column, ...]:
        """The columns that an adversary may know."""
        return self.with_role(Role.QUASI)

    @property
    def known(self) -> tuple[str, ...]:
        """The names of the quasi-identifiers, for sentences about what an adversary may know."""
        return tuple(column.name for column in self.quasi)

    @property
    def sensitive(self) -> tuple[Column, ...]:
        """The columns that must not be learned about a person."""
        return self.with_role(Role.SENSITIVE)

    @property
    def entity(self) -> Column | None:
        """The column that says which rows belong to one person, if there is one."""
        return next(iter(self.with_role(Role.ENTITY)), None)

    @property
    def items_column(self) -> Column | None:
        """The column of items, if there is one."""
        return next(iter(self.with_role(Role.ITEMS)), None)

    def with_role(self, role: Role) -> tuple[Column, ...]:
        """The columns that have a role, in order."""
        return tuple(column for column in self.columns if column.role is role)

    def column(self, name: str) -> Column:
        """The column of that name. Raises `UnknownName`, which suggests similar names, if there is none."""
        for column in self.columns:
            if column.name == name:
                return column
        raise UnknownName("column", name, self.names)

    def select(self, names: Iterable[str]) -> tuple[Column, ...]:
        """The columns of those names, in the order of the names."""
        return tuple(self.column(name) for name in names)

    def take(self, rows: Rows) -> "Table":
        """The same table with the given rows, in the given order."""
        return Table(tuple(column.take(rows) for column in self.columns))


def canonical_order(columns: Iterable[Column]) -> Rows:
    """The rows in ascending order of their cells' texts, first column first.

    A release in this order discloses nothing about the order of the input, and needs no random numbers. The order is
    computed from ranks of labels, never by comparing texts row by row. Verification of this order does not use this
    function: see ``models/_release_checks.py``, and ``io/releases/file_order.py`` for rows in parts.
    """
    columns = tuple(columns)
    if not columns:
        return np.empty(0, dtype=np.int64)
    ranks = [column.domain.ranks() for column in columns]
    sizes = [
        int(rank[column.occurring].max(initial=0)) + 1 for rank, column in zip(ranks, columns, strict=True)
    ]
    return _ordered(len(columns[0].codes), lambda place: ranks[place][columns[place].codes], sizes)


def cell_ranks(columns: Iterable[Column]) -> Rows:
    """The rank of each row among the distinct combinations of texts, in canonical order."""
    keys = [column.domain.ranks()[column.codes] for column in columns]
    order = order_by(keys, [int(key.max(initial=0)) + 1 for key in keys])
    changes = np.zeros(len(order), dtype=bool)
    for key in keys:
        changes[1:] |= key[order][1:] != key[order][:-1]
    numbers: Rows = np.empty(len(order), dtype=np.int64)
    numbers[order] = np.cumsum(changes)
    return numbers


def order_by(keys: list[Codes], sizes: list[int]) -> Rows:
    """Sort rows by several code columns, first column first; equal rows keep their order."""
    return _ordered(len(keys[0]), keys.__getitem__, sizes)


def _ordered(rows: int, key: Callable[[int], Codes], sizes: list[int]) -> Rows:
    """Sort rows by several keys; each is computed only when it is needed, so that no two are in memory at once.

    As many columns as fit are packed into one integer of 63 bits, with the number of the row in its lowest bits:
    sorting such integers is several times faster than an indirect sort, or than sorting by one column after another.
    """
    places: Rows = np.arange(rows, dtype=np.int64)
    bits = rows.bit_length()
    groups: list[list[int]] = [[]]
    width = 1
    for column, size in enumerate(sizes):
        if groups[-1] and (width * size) << bits > 2**63:
            groups.append([])
            width = 1
        groups[-1].append(column)
        width *= size
    order = places
    for group in reversed(groups):
        mixed = np.zeros(rows, dtype=np.int64)
        for column in group:
            mixed *= sizes[column]
            mixed += key(column)
        if order is not places:
            mixed = mixed[order]
        mixed <<= bits
        mixed |= places
        mixed.sort()
        mixed &= (1 << bits) - 1
        order = mixed if order is places else order[mixed]
    return order


def free_name(name: str, taken: Collection[str]) -> str:
    """A name that is not taken: the given one, or with a number appended.

    >>> free_name("group", ("age", "group")), free_name("group", ())
    ('group_2', 'group')
    """
    names = chain([name], (f"{name}_{number}" for number in count(2)))
    return next(one for one in names if one not in taken)
