"""Differential privacy: what noise promises."""

from typing import ClassVar

import numpy as np
from pydantic import Field

from shoal.data.release import Published
from shoal.data.summary import COUNT
from shoal.data.verdict import Offender, Verdict
from shoal.models._summary_model import SummaryModel

ASSERTED = "guaranteed by the mechanism that drew the noise, and not provable from files"


class DifferentialPrivacy(SummaryModel):
    """One row more or less changes the chance of any release by the factor exp(epsilon) at most.

    It is a promise about how a release was drawn, so that no file can prove it: the verdict says so, and judges only
    that nothing else is published, that no cell is hidden, and that totals are the sums of their parts, as they are
    where one noisy histogram is all that was learned. The lists of values are taken as public.
    """

    name: ClassVar[str] = "differential-privacy"
    paper: ClassVar[str] = (
        "Ghosh, Roughgarden and Sundararajan: Universally utility-maximizing privacy mechanisms. STOC 2009"
    )

    epsilon: float = Field(gt=0, description="privacy budget of all that is published in the folder")

    def sentence(self, of: str, known: str) -> str:
        """The promise for readers who know no model by its name."""
        return (
            "Whether any one person is in the data changes the chance of what is published by a factor of at most "
            f"e^{self.epsilon:g}; no file can prove that, the maker vouches for it."
        )

    def verify(self, published: Published) -> Verdict:
        """Judge what can be judged."""
        summary = self.summary_of(published)
        bounds = self.bounds(summary, COUNT, np.subtract)
        wrong = self.wrong_totals(summary, bounds)
        wrong += [Offender(summary.words(int(row)), "it is hidden") for row in bounds.rows]
        wrong += [
            Offender(value, "it is published beside noisy counts")
            for value in summary.values
            if value != COUNT
        ]
        promise = f"counts are {self.epsilon:g}-differentially private, {ASSERTED}"
        return self.verdict(promise, wrong, None, self.epsilon, "")
