"""The data that every method must cope with."""

from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
from tests.tables import column

from shoal.data._hierarchy_builders import build
from shoal.data._item_sets import item_column
from shoal.data.baskets import Baskets
from shoal.data.related import Related
from shoal.data.role import Role
from shoal.data.table import Column, Table

ROWS = 120


def with_hierarchy(values: Column, builder: str) -> Column:
    """A column with the hierarchy of a builder, since some methods need hierarchies."""
    tree = build(builder, values.domain, values.name)
    return replace(values, hierarchy=tree.covering(values.domain, values.name))


def people() -> Table:
    """Numbers, names, missing cells, a secret, a harmless column, and a name that must never be published."""
    random = np.random.default_rng(5)
    ages = [None if draw > 95 else int(draw) for draw in random.integers(18, 100, ROWS)]
    cities = [None if draw == 0 else "ABCDE"[draw - 1] for draw in random.integers(0, 6, ROWS)]
    return Table(
        (
            column("name", [f"person {row}" for row in range(ROWS)], Role.IDENTIFYING),
            with_hierarchy(column("age", ages), "intervals:5,10,20"),
            with_hierarchy(column("city", cities), "suppress"),
            column(
                "illness",
                [["flu", "cold", "gout"][draw] for draw in random.integers(0, 3, ROWS)],
                Role.SENSITIVE,
            ),
            column(
                "shift", [["day", "night"][draw] for draw in random.integers(0, 2, ROWS)], Role.INSENSITIVE
            ),
        )
    )


def shopping() -> Baskets:
    """Baskets of all lengths, empty ones among them, with two rare secrets."""
    random = np.random.default_rng(5)
    held = random.random((ROWS, 10)) < np.linspace(0.6, 0.08, 10)
    indptr = np.concatenate(([0], np.cumsum(held.sum(axis=1))))
    return Baskets(
        indptr=indptr,
        items=np.nonzero(held)[1].astype(np.int32),
        vocabulary=tuple(f"item{place}" for place in range(10)),
        sensitive=np.array([8, 9], dtype=np.int32),
        insensitive=np.array([], dtype=np.int32),
    )


def shoppers() -> Table:
    """People and what they buy, including two rare items that are secret."""
    sets = item_column("buys", shopping())
    return Table((*people().columns, sets))


def patients() -> Related:
    """People with visits, some without any."""
    random = np.random.default_rng(8)
    persons = people()
    owners = np.repeat(np.arange(persons.rows), random.integers(0, 4, persons.rows))
    records = Table(
        (
            column("month", random.integers(1, 13, len(owners)).tolist()),
            column("ward", random.choice(["A", "B", "C"], len(owners)).tolist()),
            column("finding", random.choice(["x", "y"], len(owners)).tolist(), Role.SENSITIVE),
        )
    )
    return Related(persons.columns, records, owners, "person")


def data_for(method: Any) -> Table | Baskets:
    """The data that a method is tried on."""
    if method.needs_link:
        return patients()
    if method.needs_items:
        return shoppers()
    return people() if method.accepts is Table else shopping()


def permuted(data: Table | Baskets) -> Table | Baskets:
    """The same persons in another order."""
    rows = len(data) if isinstance(data, Baskets) else data.rows
    return data.take(np.random.default_rng(6).permutation(rows).astype(np.int64))


def without_ties(data: Table | Baskets) -> Table | Baskets:
    """Only the first of all rows that are equal in what is public."""
    if isinstance(data, Baskets):
        secret = set(data.sensitive.tolist())
        public = [frozenset(data.items[a:b].tolist()) - secret for a, b in pairwise(data.indptr)]
    else:
        public = [
            frozenset(enumerate(row)) for row in zip(*(one.codes.tolist() for one in data.quasi), strict=True)
        ]
    first = {one: row for row, one in reversed(list(enumerate(public)))}
    return data.take(np.array(sorted(first.values()), dtype=np.int64))
