"""How far up their hierarchies the values of a release stand."""

from typing import ClassVar

import numpy as np

from shoal.measures._comparison import Comparison
from shoal.measures.loss import mean_over
from shoal.measures.measure import Score, TableMeasure


class Precision(TableMeasure):
    """Prec (Sweeney 2002): 1 − the mean over all cells of level / height of the column's hierarchy.

    1 is the original, 0 a release that tells nothing. A cell that is no node, such as a tight range or a set,
    counts with the lowest node that covers it; a suppressed row or cell counts as the root. Columns without a
    hierarchy have no levels and are left out, and so is the score where no quasi-identifier has one.
    """

    name: ClassVar[str] = "precision"
    not_distributable: ClassVar[str | None] = None
    scores_named: ClassVar[tuple[str, ...]] = ("precision",)

    def compare(self, both: Comparison) -> tuple[Score, ...]:
        """Measure the height of each column with a hierarchy, and of all together."""
        self.accept(both)
        parts = {}
        for column in both.quasi:
            hierarchy = column.original.hierarchy
            if hierarchy is None:
                continue
            cells = column.cells
            risen = np.where(cells.suppressed, 1.0, cells.levels / max(hierarchy.height, 1))
            parts[column.name] = 1 - mean_over(both.rows, cells, risen)
        if not parts:
            return ()
        mean = sum(parts.values()) / len(parts)
        meaning = "Precision: 1 less the mean height of the cells in their hierarchies."
        return (Score("precision", mean, meaning, "higher", parts),)
