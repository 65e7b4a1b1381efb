"""What promises about the sensitive values of classes have in common."""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, Self, TypeAlias

import numpy as np
from pydantic import Field

from shoal.arrays import Floats, Mask
from shoal.data.release import Published
from shoal.data.role import Role
from shoal.data.statistics import GroupStatistics, Histogram
from shoal.data.table import Column, Table
from shoal.errors import WrongUse
from shoal.models.classes import PublishedClasses, Tally
from shoal.models.model import TableModel
from shoal.models.verdict import SHOWN, Offender, Verdict

Number: TypeAlias = int | float | Fraction
Reached: TypeAlias = Number | None


@dataclass(frozen=True, slots=True, eq=False)
class Finding:
    """What a model found in one sensitive column of a release, class by class.

    Parameters
    ----------
    broken
        The classes that break the promise.
    badness
        How bad each class is: a larger number is worse. For the order of offenders only, never for the judgement.
    value
        What the column reaches: that of its worst class. None where no number says it.
    why
        The numbers of one class, in words.
    """

    broken: Mask
    badness: Floats
    value: Reached
    why: Callable[[int], str]


class SensitiveModel(TableModel):
    """A promise about the distribution of sensitive values in every class.

    Without a `column` it speaks of every sensitive column of the table, each by itself.
    """

    greater_is_safer: ClassVar[bool] = False
    """Whether a greater reached value is a stronger promise, as with l; otherwise a smaller one is, as with t."""

    column: str | None = Field(
        default=None, description="the sensitive column that is promised about; every one unless told"
    )

    def columns(self) -> tuple[str, ...]:
        """The column, where one is named."""
        return () if self.column is None else (self.column,)

    def bound(self, table: Table, *, published: bool = False) -> tuple[Self, ...]:
        """One promise for each sensitive column."""
        named = [
            (model.model_copy(update={"column": column.name}), column)
            for model in super().bound(table, published=published)
            for column in self.judged(table)
        ]
        return tuple(model if published else model.fitted(column) for model, column in named)

    def fitted(self, column: Column) -> Self:
        """The promise with all that a reader of the release must know about the values of the column."""
        return self

    def judged(self, table: Table) -> tuple[Column, ...]:
        """The columns that the promise speaks of.

        Raises
        ------
        UnknownName
            If there is no such column.
        WrongUse
            If the column, or all columns, are not sensitive.
        """
        if self.column is None:
            if not table.sensitive:
                raise WrongUse(f"{self.name} is about sensitive values; name their columns with --sensitive.")
            return table.sensitive
        column = table.column(self.column)
        if column.role is not Role.SENSITIVE:
            raise WrongUse(
                f"{self.name} is about sensitive values, and the column {self.column!r} is {column.role}; "
                "give it the role sensitive."
            )
        return (column,)

    def holds(self, statistics: GroupStatistics) -> Mask:
        """Which groups keep the promise in the column, or in every column that was counted."""
        names = tuple(statistics.sensitive) if self.column is None else (self.column,)
        if not names:
            raise WrongUse(f"{self.name} needs the counts of a sensitive column.")
        mask = np.ones(len(statistics), dtype=np.bool_)
        for name in names:
            mask &= self.keeps(statistics.sensitive[name], statistics)
        return mask

    def keeps(self, histogram: Histogram, statistics: GroupStatistics) -> Mask:
        """Which groups keep the promise in one column."""
        raise NotImplementedError

    def verify(self, published: Published) -> Verdict:
        """Judge the published values of every class, column by column."""
        self.accept(published)
        assert isinstance(published, Table)
        classes = PublishedClasses.of(published)
        columns = self.judged(classes.table)
        found = [(column, self.found(classes.tally(column), classes)) for column in columns]
        broken = [
            (float(finding.badness[place]), number, place)
            for number, (_, finding) in enumerate(found)
            for place in _worst(finding)
        ]
        offenders = []
        for _, number, place in sorted(broken, key=lambda entry: (-entry[0], *entry[1:]))[:SHOWN]:
            column, finding = found[number]
            offenders.append(Offender(f"{classes.words(place)}: {column.name}", finding.why(place)))
        count = sum(int(finding.broken.sum()) for _, finding in found)
        value = self._worst_value([finding.value for _, finding in found]) if len(classes) else None
        return Verdict(self.name, self.promise(), not count, value, self.threshold(), tuple(offenders), count)

    def found(self, tally: Tally, classes: PublishedClasses) -> Finding:
        """Judge one column of a release, from its cells."""
        raise NotImplementedError

    def promise(self) -> str:
        """The promise in words."""
        raise NotImplementedError

    def threshold(self) -> Number:
        """What is promised."""
        raise NotImplementedError

    def _worst_value(self, values: list[Reached]) -> Reached:
        if any(value is None for value in values):
            return None
        known = [value for value in values if value is not None]
        return min(known) if self.greater_is_safer else max(known)

    def _subject(self) -> str:
        return "every sensitive column" if self.column is None else self.column


def _worst(finding: Finding) -> list[int]:
    """The worst classes that break the promise, as many as a verdict shows."""
    places = np.flatnonzero(finding.broken)
    chosen: list[int] = places[np.argsort(-finding.badness[places], kind="stable")][:SHOWN].tolist()
    return chosen
