"""Domains: the values that a column can take, and their order."""

from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from shoal.arrays import Codes, Floats, frozen


class Kind(StrEnum):
    """How the values of a column relate to each other."""

    NOMINAL = "nominal"
    """Names without an order."""

    ORDINAL = "ordinal"
    """Names in a given order."""

    NUMERIC = "numeric"
    """Numbers: differences mean something."""

    DATE = "date"
    """Days: differences mean something."""


@dataclass(frozen=True, slots=True, eq=False)
class Domain:
    """The distinct values of a column; a code is a position in this list."""

    kind: Kind
    """How the values relate. Numbers and dates are listed in ascending order, ordinal values in their own order,
    nominal ones in code-point order."""
    labels: tuple[str, ...]
    """The text of each value, without duplicates. Texts are what is read and what is published."""
    values: Floats | None = None
    """The coordinate of each value, for numbers (the number) and dates (days since 1970-01-01); NaN for the missing
    value. None for names."""
    missing: int | None = None
    """The code of the missing value, or None if no cell is missing. It is always the last code, its label is the empty
    text, and it is a value like any other: two missing cells are equal."""

    def __post_init__(self) -> None:
        assert (self.values is not None) == (self.kind in (Kind.NUMERIC, Kind.DATE))
        assert self.missing is None or self.missing == len(self.labels) - 1
        if self.values is not None:
            assert len(self.values) == len(self.labels)
            object.__setattr__(self, "values", frozen(self.values))

    def __len__(self) -> int:
        return len(self.labels)

    @property
    def present(self) -> int:
        """The number of values that are not the missing one."""
        return len(self.labels) - (self.missing is not None)

    @property
    def bounds(self) -> tuple[float, float]:
        """Smallest and largest coordinate; for values without coordinates, the first and last code."""
        if self.present == 0:
            return 0.0, 0.0
        if self.values is None:
            return 0.0, float(self.present - 1)
        return float(self.values[0]), float(self.values[self.present - 1])

    def ranks(self) -> Codes:
        """The rank of each label in ascending code-point order, from which canonical order is computed."""
        order = sorted(range(len(self.labels)), key=self.labels.__getitem__)
        ranks = np.empty(len(order), dtype=np.int32)
        ranks[order] = np.arange(len(order), dtype=np.int32)
        return ranks


def nominal(labels: tuple[str, ...]) -> Domain:
    """A domain of names, as for published cells: nothing is interpreted, not even missing values."""
    return Domain(kind=Kind.NOMINAL, labels=labels)
