"""What promises about sensitive numbers have in common: their exact order, and exact distances between them."""

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from fractions import Fraction
from typing import Any

import numpy as np
from pydantic import Field, PrivateAttr

from shoal.arrays import Codes, Counts, Indptr, Rows, owners, summed
from shoal.data.domain import Domain
from shoal.data.published_syntax import SUPPRESSED
from shoal.data.table import Column, Table
from shoal.errors import WrongUse
from shoal.models._sensitive import SensitiveModel
from shoal.models._value_order import keys_of

_FIRST_DAY = datetime(1, 1, 1)


@dataclass(frozen=True, slots=True, eq=False)
class Numbers:
    """The numbers of a column, exact and ascending."""

    ranks: Rows  # the place of each code among the numbers; -1 where it is none, as a missing value is
    values: list[Fraction]  # the different numbers

    @classmethod
    def of(cls, labels: Sequence[str]) -> "Numbers | None":
        """The numbers, or the days, that texts spell; None where some text is neither."""
        keys = keys_of([label for label in labels if label not in ("", SUPPRESSED)])
        if keys is None:
            return None
        exact = {label: _exact(key) for label, key in keys.items()}
        values = sorted(set(exact.values()))
        place = {value: rank for rank, value in enumerate(values)}
        ranks = [place[exact[label]] if label in exact else -1 for label in labels]
        return cls(np.array(ranks, dtype=np.int64), values)

    def from_below(self, distance: Callable[[Fraction], Fraction]) -> Rows:
        """The least place whose number is at least that of each place plus its distance."""
        return np.array(
            [bisect_left(self.values, one + distance(one)) for one in self.values], dtype=np.int64
        )

    def near(self, radius: Callable[[Fraction], Fraction]) -> tuple[Rows, Rows]:
        """The first place within the radius of each number, and the one behind the last."""
        low = [bisect_left(self.values, one - radius(one)) for one in self.values]
        high = [bisect_right(self.values, one + radius(one)) for one in self.values]
        return np.array(low, dtype=np.int64), np.array(high, dtype=np.int64)

    def ranked(self, indptr: Indptr, codes: Codes, counts: Counts) -> tuple[Rows, Rows, Counts]:
        """The groups, places and counts of numbers in groups of coded values, ascending; each number once a group."""
        ranks = self.ranks[codes]
        known = ranks >= 0
        size = max(len(self.values), 1)
        kinds, place = np.unique(owners(indptr)[known] * size + ranks[known], return_inverse=True)
        return kinds // size, kinds % size, summed(place, counts[known], len(kinds))


class NumericModel(SensitiveModel):
    """A promise about how far apart the sensitive numbers of every class are.

    Days count as numbers, a day apart.
    """

    column: str = Field(description="the sensitive column of numbers or dates that is promised about")

    _known: tuple[Domain, Numbers] | None = PrivateAttr(default=None)

    def judged(self, table: Table) -> tuple[Column, ...]:
        """The column.

        Raises `WrongUse` if it holds something else than numbers.
        """
        (column,) = super().judged(table)
        if self._numbers(column.domain) is None:
            raise WrongUse(
                f"{self.name} is about numbers or dates, and {column.name} holds other texts. Name a column of "
                "numbers, or promise l-diversity or t-closeness."
            )
        return (column,)

    def numbers(self, domain: Domain | None) -> Numbers:
        """The numbers of a column; kept for the next call on the same values."""
        assert domain is not None
        numbers = self._numbers(domain)
        assert numbers is not None
        return numbers

    def _numbers(self, domain: Domain) -> Numbers | None:
        if self._known is None or self._known[0] is not domain:
            numbers = Numbers.of(domain.labels)
            if numbers is None:
                return None
            self._known = (domain, numbers)
        return self._known[1]


def _exact(key: Any) -> Fraction:
    """A number as it is written, or a moment as days since the first one."""
    if isinstance(key, datetime):
        since = key - _FIRST_DAY
        return since.days + Fraction(since.seconds * 10**6 + since.microseconds, 86_400 * 10**6)
    return Fraction(key)
