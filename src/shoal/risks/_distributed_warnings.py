"""What an owner should hear before publishing a table in parts: the sentences of a table in memory, from counts."""

from functools import partial
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from shoal.arrays import Counts
from shoal.data.dataset import COUNT, Dataset
from shoal.data.profile import profile_column
from shoal.data.role import Role
from shoal.data.table import Column, Table
from shoal.risks.disclosure_warnings import names_values, nothing_told, of_column, warned_of_own_values
from shoal.risks.role_guards import determined_in_parts, known_too_in_parts, warned_of_known, warned_of_names

if TYPE_CHECKING:
    import polars

    Frame: TypeAlias = polars.DataFrame


def concerns(original: Dataset, published: Dataset, classes: int) -> tuple[str, ...]:
    """Plain sentences about columns that may give persons away, and that nothing is left to read.

    `classes`: how many classes are published.
    """
    names = published.schema.names
    kept = [column for column in original.schema.columns if column.name in names]
    counts = value_counts(original, Table(tuple(kept)))
    found = []
    if classes == 1:
        quasi = [column.name for column in kept if column.role is Role.QUASI]
        alike = published.parts.distinct(quasi).collect()
        found += nothing_told(kept, {name: {alike[name][0] or ""} for name in quasi})
    profiles = [profile_column(column, counts[column.name]) for column in kept]
    for column, profile in zip(kept, profiles, strict=True):
        raw = partial(_raw_rows, column, published)
        found += of_column(column, profile, raw, original.rows, original.schema.entity)
    found += warned_of_own_values(kept, profiles) + warned_of_names(kept, profiles)
    coarse = _coarse(kept, published) if any(column.role is Role.INSENSITIVE for column in kept) else {}
    found += determined_in_parts(original, names, coarse)
    return (*found, *warned_of_known(known_too_in_parts(published)))


def _coarse(columns: list[Column], published: Dataset) -> dict[str, bool]:
    """Whether each quasi-identifier is published otherwise than it was."""
    quasi = [column for column in columns if column.role is Role.QUASI]
    return {
        column.name: not {text or "" for text in published.parts.counts([column.name])[column.name].to_list()}
        <= set(column.domain.labels)
        for column in quasi
    }


def value_counts(data: Dataset, table: Table) -> dict[str, Counts]:
    """How many rows have each value of each column of a table."""
    sizes = {column.name: len(column.domain) for column in table.columns}

    def counted(frame: "Frame") -> list[Counts]:
        return [
            np.bincount(frame[name].to_numpy(), minlength=size).astype(np.int64)
            for name, size in sizes.items()
        ]

    def added(one: list[Counts], other: list[Counts]) -> list[Counts]:
        return [first + second for first, second in zip(one, other, strict=True)]

    found = data.parts.select(list(sizes)).fold(counted, added)
    return dict(zip(sizes, found or [np.zeros(size, dtype=np.int64) for size in sizes.values()], strict=True))


def _raw_rows(original: Column, published: Dataset) -> int:
    """How many published cells are or list values of the original."""
    values = set(original.domain.labels) - {""}
    cells = published.parts.counts([original.name])
    return sum(
        count
        for text, count in zip(cells[original.name].to_list(), cells[COUNT].to_list(), strict=True)
        if text is not None and names_values(text, values)
    )
