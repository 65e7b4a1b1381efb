"""Releases that are right, and some that are wrong on purpose."""

import numpy as np
from tests.sets import baskets_of
from tests.tables import column

from shoal.data.groups import Groups
from shoal.data.release import Release
from shoal.data.role import Role
from shoal.data.table import Column, Table

__all__ = ["as_release", "baskets_of", "homogeneous", "people_table", "with_index"]


def people_table(rows: int = 600, seed: int = 1) -> Table:
    """People whose illness depends on their age a little, with a zip code that says nothing."""
    rng = np.random.default_rng(seed)
    age = rng.integers(18, 80, size=rows)
    zips = rng.integers(100, 160, size=rows)
    sex = rng.choice(["f", "m"], size=rows)
    old = rng.random(rows) < (age - 18) / 100
    illness = np.where(
        old, rng.choice(["gout", "cataract", "flu"], rows), rng.choice(["flu", "cold", "acne"], rows)
    )
    return Table(
        (
            column("age", age.tolist()),
            column("zip", [str(one) for one in zips]),
            column("sex", sex.tolist()),
            column("illness", illness.tolist(), Role.SENSITIVE),
        )
    )


def as_release(data: Table | Groups, promises: tuple[dict[str, object], ...] = ()) -> Release:
    """Data published as it is."""
    return Release(data, "none", {}, promises)


def homogeneous(size: int = 10) -> tuple[Release, Table]:
    """A table of k-anonymous classes in each of which all people have the same illness."""
    original = Table(
        (
            column("zip", [str(place) for place in range(4) for _ in range(size)]),
            column(
                "illness",
                [ill for ill in ("flu", "cold", "gout", "acne") for _ in range(size)],
                Role.SENSITIVE,
            ),
        )
    )
    return as_release(original), original


def with_index(table: Table, original_rows: np.ndarray) -> Table:
    """The same table with a column of the rows of the input, as careless tools publish it."""
    numbers: Column = column("index", [str(row) for row in original_rows.tolist()], Role.INSENSITIVE)
    return Table((numbers, *table.columns))
