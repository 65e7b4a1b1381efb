"""(X,Y)-privacy (Wang and Fung 2006)."""

from dataclasses import replace
from fractions import Fraction
from typing import ClassVar

import numpy as np
from pydantic import Field

from shoal.arrays import Mask
from shoal.data._plain_text import counted
from shoal.data._promise_words import joined, percent
from shoal.data.group_statistics import GroupStatistics, Histogram
from shoal.data.release import Published
from shoal.data.role import Role
from shoal.data.table import Table
from shoal.errors import Infeasible, UnknownName
from shoal.models._equivalence_classes import Excerpt, PublishedClasses, Tally
from shoal.models._exact import at_most, fraction, group_maxima, rounded_up
from shoal.models._sensitive import Finding, SensitiveModel
from shoal.models.model import Evidence


class XyPrivacy(SensitiveModel):
    """Rows that agree on X have at least k different values of Y, and none of them in more than a share h of the rows.

    X are quasi-identifiers, all of them unless some are named: what an adversary knows. Y is a sensitive column. The
    first half is (X,Y)-anonymity, the second (X,Y)-linkability. Classes that keep the promise have unions that keep
    it, so that a method that keeps it in every class keeps it for every choice of X; a release may keep it for some X
    alone. Missing is a value. Compared exactly.
    """

    name: ClassVar[str] = "xy-privacy"
    paper: ClassVar[str] = "Wang, Fung: Anonymizing sequential releases. KDD 2006"
    accepts: ClassVar[tuple[type, ...]] = (Table,)
    monotone: ClassVar[bool] = True
    absorbs: ClassVar[bool] = False
    bounded_by: ClassVar[str] = "h"

    column: str = Field(description="Y: the sensitive column")
    x: tuple[str, ...] = Field(
        default=(), description="X: the quasi-identifiers that are known; default: all of them"
    )
    k: int = Field(default=2, ge=1, description="least number of different values of Y beside the same X")
    h: float = Field(default=1, gt=0, le=1, description="largest share of a value of Y beside the same X")

    def sentence(self, of: str, known: str) -> str:
        """The promise for readers who know no model by its name."""
        same = joined(self.x, "columns") or "public values"
        return (
            f"Rows with the same {same} have at least {self.k} different values of {of}, each in at most "
            f"{percent(self.h)} of them."
        )

    def vacuous(self) -> str:
        """One value, of any share, is always there."""
        return "k = 1 with h = 1 promises nothing" if self.k == 1 and self.h >= 1 else ""

    def refuse_unknown(self, data: Published) -> None:
        """Refuse an X that is no quasi-identifier."""
        super().refuse_unknown(data)
        if isinstance(data, Table):
            known = [column.name for column in data.quasi]
            for name in self.x:
                if name not in known:
                    raise UnknownName("quasi-identifier", name, known)

    def separable(self, table: Table) -> bool:
        """Not where rows of several classes agree on X."""
        return not self.x or {column.name for column in table.quasi} <= set(self.x)

    def examine(self, published: Excerpt) -> Evidence:
        """Judge the published values beside each X."""
        if self.separable(published.table):
            return super().examine(published)
        self.refuse_unknown(published.table)
        telling = published.telling()
        columns = (
            replace(column, role=Role.INSENSITIVE)
            if column.role is Role.QUASI and column.name not in self.x
            else column
            for column in telling.table.columns
        )
        return super().examine(replace(telling, table=Table(tuple(columns))))

    def keeps(self, histogram: Histogram, statistics: GroupStatistics) -> Mask:
        """Which groups have k values, and none of too large a share."""
        different = np.diff(histogram.indptr)
        most = group_maxima(histogram.indptr, histogram.counts)
        mask: Mask = (different >= self.k) & at_most(most, histogram.sizes, fraction(self.h))
        return mask

    def least_size(self) -> int:
        """As many as k rows: fewer cannot hold k values."""
        return self.k

    def refusal(self, whole: GroupStatistics) -> Infeasible:
        """The largest k is the number of values of the column, the least h the largest share of one."""
        histogram = whole.sensitive[self.column]
        if (most := len(histogram.values)) < self.k:
            return Infeasible(
                f"k = {self.k} of {self.name} cannot be kept: {self.column} has only {most} different values. The "
                f"largest k is {most}.",
                most,
            )
        share = Fraction(int(histogram.counts.max(initial=0)), int(histogram.sizes[0]))
        best = rounded_up(share)
        return Infeasible(
            f"h = {self.h:g} of {self.name} cannot be kept: a value of {self.column} has a share of {float(share):.4g} "
            f"in the whole table. The least h is {best:g}.",
            best,
        )

    def found(self, tally: Tally, classes: PublishedClasses) -> Finding:
        """Count the different values beside each X, and the most frequent one."""
        filled = tally.sizes > 0
        different = tally.indptr[1:] - tally.indptr[:-1]
        most = group_maxima(tally.indptr, tally.counts)
        shares = most / np.maximum(tally.sizes, 1)
        worst = int(np.argmax(np.where(filled, shares, -1.0))) if len(shares) else 0
        few, frequent = different < self.k, ~at_most(most, tally.sizes, fraction(self.h))
        return Finding(
            broken=filled & (few | frequent),
            badness=np.maximum(shares, np.where(few, 1 + (self.k - different) / self.k, 0)),
            value=Fraction(int(most[worst]), int(tally.sizes[worst])) if filled.any() else None,
            why=lambda place: (
                f"{counted(int(different[place]), 'different values')}, the most frequent in {most[place]} of "
                f"{tally.sizes[place]} rows, where {self.k} and a share of {self.h:g} are promised"
            ),
        )

    def promise(self) -> str:
        """The promise in words."""
        beside = " and ".join(self.x) if self.x else "all quasi-identifiers"
        return (
            f"rows that agree on {beside} have at least {self.k} different values of {self._subject()}, none of them "
            f"with a share above {self.h:g}"
        )
