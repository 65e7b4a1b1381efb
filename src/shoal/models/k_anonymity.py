"""k-anonymity (Samarati and Sweeney 1998; Samarati 2001, section 2)."""

from typing import ClassVar

import numpy as np
from pydantic import Field

from shoal.arrays import Counts, Mask, Rows
from shoal.data.release import Published
from shoal.data.statistics import GroupStatistics
from shoal.data.table import Column, Table
from shoal.errors import Infeasible
from shoal.models.model import TableModel
from shoal.models.verdict import SHOWN, Offender, Verdict, counted


class KAnonymity(TableModel):
    """Every class — the rows that agree on all quasi-identifiers — holds at least k rows.

    With `entity`, a class must hold at least k *persons*: rows with the same cell in that column count once. Missing is
    a value like any other: two missing cells agree, a missing and a present one do not.
    """

    name: ClassVar[str] = "k-anonymity"
    paper: ClassVar[str] = (
        "Samarati: Protecting respondents' identities in microdata release. IEEE TKDE 13(6), 2001"
    )
    monotone: ClassVar[bool] = True
    absorbs: ClassVar[bool] = True

    k: int = Field(ge=2, description="least number of rows (or persons) of a class")
    entity: str | None = Field(default=None, description="column that says which rows belong to one person")

    def holds(self, statistics: GroupStatistics) -> Mask:
        """Which groups have at least k persons."""
        mask: Mask = statistics.persons >= self.k
        return mask

    def least_size(self) -> int:
        """K rows: fewer rows cannot be k persons."""
        return self.k

    def refusal(self, whole: GroupStatistics) -> Infeasible:
        """The largest k is the number of rows or persons."""
        most, noun = int(whole.persons[0]), "rows" if self.entity is None else "persons"
        return Infeasible(
            f"k = {self.k} cannot be kept: there are only {most} {noun}. The largest k is {most}.", most
        )

    def verify(self, published: Published) -> Verdict:
        """Count the rows, or persons, of each class of published cells."""
        self.accept(published)
        assert isinstance(published, Table)
        noun = "rows" if self.entity is None else "persons"
        promise = f"every class has at least {self.k} {noun}"
        first, counts = self._classes(published)
        if not len(counts):
            return Verdict(self.name, promise, holds=True, value=None, threshold=self.k)
        small = np.flatnonzero(counts < self.k)
        worst = small[np.argsort(counts[small], kind="stable")][:SHOWN]
        offenders = tuple(
            Offender(
                _cells(published.quasi, int(first[place])),
                f"{counted(int(counts[place]), noun)} where {self.k} are promised",
            )
            for place in worst
        )
        return Verdict(self.name, promise, not len(small), int(counts.min()), self.k, offenders, len(small))

    def _classes(self, table: Table) -> tuple[Rows, Counts]:
        """A first row and the number of rows or persons of each class."""
        if not table.rows:
            return np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64)
        classes = _numbered([column.codes.astype(np.int64) for column in table.quasi], table.rows)
        _, first = np.unique(classes, return_index=True)
        if self.entity is None:
            return first, np.bincount(classes)
        person = _numbered([classes, table.column(self.entity).codes.astype(np.int64)], table.rows)
        one_a_person = np.unique(person, return_index=True)[1]
        return first, np.bincount(classes[one_a_person], minlength=len(first))


def _numbered(columns: list[Rows], rows: int) -> Rows:
    """Number the distinct combinations of the columns 0, 1, 2, …: one number a row."""
    numbers = np.zeros(rows, dtype=np.int64)
    for codes in columns:
        numbers = np.unique(numbers * (int(codes.max()) + 1) + codes, return_inverse=True)[1]
    return numbers


def _cells(columns: tuple[Column, ...], row: int) -> str:
    """The class of a row in words: ``age [25,31], sex Male``."""
    return ", ".join(
        f"{column.name} {column.domain.labels[column.codes[row]] or '(missing)'}" for column in columns
    )
