"""How much detail the cells of a release lose: LM, NCP, GCP and ARX's granularity."""

from math import fsum
from typing import ClassVar

import numpy as np

from shoal.arrays import Floats
from shoal.measures._cell_loss import Cells
from shoal.measures._comparison import Comparison
from shoal.measures.measure import Score, TableMeasure


class Loss(TableMeasure):
    """The normalized loss of each quasi-identifier's cells: 0 is a raw value, 1 a cell that tells nothing.

    All means are taken over the rows of the original; a suppressed row or cell loses 1.

    lm, lm_mean
        Loss metric (Iyengar 2002): (Uᵢ − Lᵢ) / (U − L) for ranges of numbers and dates, (M − 1) / (|A| − 1)
        for nodes of a hierarchy and for sets; the sum of the columns' means, and its mean over the columns.
    ncp, gcp
        Normalized certainty penalty (Xu et al. 2006): as LM for ranges, M / |A| for nodes and sets of more
        than one value; the sum of the columns' means. Global certainty penalty (Ghinita et al. 2007): its
        mean over the columns.
    granularity
        ARX's quality: 1 − Σ wᵢ·lossᵢ / Σ wᵢ with wᵢ = 1 − 1/|Aᵢ|, where the loss of every cell is counted in
        values, (M − 1) / (|A| − 1).

    A release without quasi-identifiers has no such scores.
    """

    name: ClassVar[str] = "loss"
    not_distributable: ClassVar[str | None] = None
    scores_named: ClassVar[tuple[str, ...]] = ("lm", "lm_mean", "ncp", "gcp", "granularity")

    def compare(self, both: Comparison) -> tuple[Score, ...]:
        """Measure the loss of each column, and of all together."""
        self.accept(both)
        if not both.quasi:
            return ()
        lm, ncp, kept, weights = {}, {}, {}, {}
        for column in both.quasi:
            cells = column.cells
            lm[column.name] = mean_over(both.rows, cells, loss(cells))
            ncp[column.name] = mean_over(both.rows, cells, penalty(cells))
            kept[column.name] = 1 - mean_over(both.rows, cells, counted_loss(cells))
            weights[column.name] = 1 - 1 / cells.size
        columns = len(both.quasi)
        total = fsum(weights.values())
        quality = (
            fsum(weights[name] * kept[name] for name in kept) / total
            if total
            else fsum(kept.values()) / columns
        )
        return (
            Score("lm", fsum(lm.values()), "Loss metric: sum of the columns' mean loss of detail.", parts=lm),
            Score("lm_mean", fsum(lm.values()) / columns, "Loss metric as a mean over the columns, 0 to 1."),
            Score(
                "ncp",
                fsum(ncp.values()),
                "Normalized certainty penalty: sum of the columns' means.",
                parts=ncp,
            ),
            Score(
                "gcp", fsum(ncp.values()) / columns, "Global certainty penalty: mean over all cells, 0 to 1."
            ),
            Score("granularity", quality, "Granularity as in ARX: the share of detail kept.", "higher", kept),
        )


def counted_loss(cells: Cells) -> Floats:
    """The loss of each text by the number of values that it may stand for."""
    counted = (cells.values - 1) / max(cells.size - 1, 1)
    return np.where(cells.suppressed, 1.0, counted)


def loss(cells: Cells) -> Floats:
    """The loss of each text as LM defines it."""
    return np.where(np.isnan(cells.widths) | cells.suppressed, counted_loss(cells), cells.widths)


def penalty(cells: Cells) -> Floats:
    """The loss of each text as NCP defines it."""
    counted = np.where(cells.values > 1, cells.values / cells.size, 0.0)
    return np.where(cells.suppressed, 1.0, np.where(np.isnan(cells.widths), counted, cells.widths))


def mean_over(rows: int, cells: Cells, losses: Floats) -> float:
    """The mean loss of a column over the rows of the original; rows that are not published lose 1.

    The sum is exact, so that it does not depend on the order of the texts.
    """
    absent = rows - int(cells.rows.sum())
    return fsum([*(cells.rows * losses).tolist(), absent]) / rows
