"""Sums of cross-tables: no hidden one can be estimated to within some percent."""

from typing import ClassVar

import numpy as np
from pydantic import Field

from shoal.arrays import Floats
from shoal.data.release import Published
from shoal.data.summary import SUM
from shoal.data.verdict import Offender, Verdict
from shoal.models._summary_model import SummaryModel, hidden_words

CLOSE = 1e-6


class ProtectedSums(SummaryModel):
    """No hidden sum can be estimated to within so many percent.

    Whoever computes hidden sums knows all published cells, that totals are the sums of their parts, and that no amount
    is negative. Where linear programs bound a hidden sum by L and U, the best guess lies within (U - L) / (U + L)
    of the truth; that must be at least the promised share, and U - L at least 1.

    That the published sums are harmless (the p% rule, dominance) follows from the amounts of persons alone, which are
    not published: the run checked it, and no file can prove it.
    """

    name: ClassVar[str] = "protected-sums"
    paper: ClassVar[str] = (
        "Fischetti and Salazar-González: Solving the cell suppression problem on tabular data with linear constraints. "
        "Management Science 47(7), 2001"
    )

    column: str = Field(description="the column that is summed up")
    percent: float = Field(
        gt=0, lt=100, description="to within so many percent no hidden sum can be estimated"
    )

    def sentence(self, of: str, known: str) -> str:
        """The promise for readers who know no model by its name."""
        return f"No hidden sum of {of} can be computed to within {self.percent:g} percent."

    def verify(self, published: Published) -> Verdict:
        """Bound every hidden sum."""
        summary = self.summary_of(published)
        bounds = self.bounds(summary, SUM + self.column, _share)
        wrong = self.wrong_totals(summary, bounds)
        low, high = bounds.low, bounds.high
        share = _share(low, high)
        narrowed = share < self.percent / 100 - CLOSE
        if not bounds.wrong:
            wrong += [
                Offender(
                    summary.words(int(bounds.rows[n])), f"it can only be from {low[n]:.12g} to {high[n]:.12g}"
                )
                for n in np.flatnonzero(narrowed).tolist()
            ]
        value = float(100 * share.min()) if len(share) else None
        remark = (
            f"{hidden_words(bounds, 'sum')}; that published sums give no amount away follows from the amounts, and was "
            "checked when they were summed up: no file proves it"
        )
        promise = f"no hidden sum of {self.column} can be estimated to within {self.percent:g} percent"
        return self.verdict(promise, wrong, value, self.percent, remark)


def _share(low: Floats, high: Floats) -> Floats:
    """How far the best guess of each cell may be from the truth, as a share of it; 0 for bounds less than 1 apart."""
    endless = np.isinf(high)
    end = np.where(endless, low + 1, high)
    share = np.where(endless, 1.0, (end - low) / np.maximum(end + low, 1e-300))
    return np.where(end - low < 1 - CLOSE, 0.0, share)
