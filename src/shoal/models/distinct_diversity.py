"""Distinct l-diversity (Machanavajjhala et al. 2007, section 4; the name is Li et al.'s)."""

from typing import ClassVar

import numpy as np
from pydantic import Field

from shoal.arrays import Mask
from shoal.data._plain_text import counted
from shoal.data._promise_words import FITTING
from shoal.data.group_statistics import GroupStatistics, Histogram
from shoal.errors import Infeasible
from shoal.models._equivalence_classes import PublishedClasses, Tally
from shoal.models._sensitive import Finding, SensitiveModel


class DistinctDiversity(SensitiveModel):
    """Every class holds at least l different values of the sensitive column. Missing is one of them.

    With `entity`, every person has one value in a class: where somebody has several, the promise is broken.
    """

    name: ClassVar[str] = "distinct-diversity"
    paper: ClassVar[str] = (
        "Machanavajjhala, Kifer, Gehrke, Venkitasubramaniam: l-Diversity: privacy beyond k-anonymity. "
        "ACM TKDD 1(1), 2007"
    )
    monotone: ClassVar[bool] = True
    absorbs: ClassVar[bool] = True
    bounded_by: ClassVar[str] = "l"
    greater_is_safer: ClassVar[bool] = True
    one_value: ClassVar[bool] = True

    l: int = Field(ge=2, description="least number of different sensitive values of a class")  # noqa: E741
    entity: str | None = Field(default=None, description="column that says which rows belong to one person")

    def sentence(self, of: str, known: str) -> str:
        """The promise for readers who know no model by its name."""
        return f"{FITTING} have at least {self.l} different values of {of}."

    def keeps(self, histogram: Histogram, statistics: GroupStatistics) -> Mask:
        """Which groups hold l values."""
        mask: Mask = np.diff(histogram.indptr) >= self.l
        return mask

    def least_size(self) -> int:
        """As many as l rows: fewer rows cannot hold l values."""
        return self.l

    def refusal(self, whole: GroupStatistics) -> Infeasible:
        """The largest l is the number of values of the column."""
        names = self.columns() or tuple(whole.sensitive)
        most, name = min((len(whole.sensitive[name].values), name) for name in names)
        return Infeasible(
            f"l = {self.l} cannot be kept: {name} has only {most} different values. The largest l is {most}.",
            most,
        )

    def found(self, tally: Tally, classes: PublishedClasses) -> Finding:
        """Count the different values of each class."""
        filled = tally.sizes > 0
        different = tally.indptr[1:] - tally.indptr[:-1]
        return Finding(
            broken=filled & (different < self.l),
            badness=-different.astype(np.float64),
            value=int(different[filled].min()) if filled.any() else None,
            why=lambda place: (
                f"{counted(int(different[place]), 'different values')} where {self.l} are promised"
            ),
        )

    def promise(self) -> str:
        """The promise in words."""
        return f"every class has at least {self.l} different values of {self._subject()}"
