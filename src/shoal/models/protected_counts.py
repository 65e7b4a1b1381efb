"""Counts of cross-tables: none is small, and no hidden one can be computed."""

from typing import ClassVar

import numpy as np
from pydantic import Field

from shoal.arrays import Floats
from shoal.data.release import Published
from shoal.data.summary import COUNT
from shoal.data.verdict import Offender, Verdict
from shoal.models._summary_model import SummaryModel, hidden_words


class ProtectedCounts(SummaryModel):
    """No published count lies between 0 and the threshold, and every hidden one can be any of many numbers.

    Whoever computes hidden counts knows all published cells, that totals are the sums of their parts, that counts are
    whole, and that a hidden one is not 0, since a cell without rows is published. Between the least and the most that a
    hidden count can be, found by linear and integer programs, must lie at least the threshold. So nobody can tell that
    a hidden count is below it.

    A published 0 tells that nobody is there, and is no offence.
    """

    name: ClassVar[str] = "protected-counts"
    paper: ClassVar[str] = (
        "Fischetti and Salazar-González: Solving the cell suppression problem on tabular data with linear constraints. "
        "Management Science 47(7), 2001"
    )

    threshold: int = Field(
        ge=2, description="least count that is published, and least width of what a hidden one can be"
    )

    def sentence(self, of: str, known: str) -> str:
        """The promise for readers who know no model by its name."""
        return f"No count of 1 to {self.threshold - 1} rows is published, and nobody can compute one from the others."

    def verify(self, published: Published) -> Verdict:
        """Bound every hidden count."""
        summary = self.summary_of(published)
        bounds = self.bounds(summary, COUNT, _width)
        wrong = self.wrong_totals(summary, bounds)
        numbers = summary.numbers(COUNT)
        wrong += [
            Offender(summary.words(row), f"a count of {number} where {self.threshold} are promised")
            for row, number in enumerate(numbers)
            if number is not None and number != 0 and number < self.threshold
        ]
        widths = _width(bounds.low, bounds.high)
        if not bounds.wrong:
            wrong += [
                Offender(summary.words(int(row)), f"it can only be from {low:g} to {high:g}")
                for row, low, high in zip(bounds.rows, bounds.low, bounds.high, strict=True)
                if high - low < self.threshold
            ]
        return self.verdict(
            f"no count from 1 to {self.threshold - 1} is published, and every hidden count is open by {self.threshold} "
            "or more",
            wrong,
            int(widths.min()) if np.isfinite(widths).any() else None,
            self.threshold,
            hidden_words(bounds, "count"),
        )


def _width(low: Floats, high: Floats) -> Floats:
    """How much lies between the bounds of each cell."""
    width: Floats = high - low
    return width
