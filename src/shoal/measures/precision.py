"""How far up their hierarchies the values of a release stand."""

from typing import ClassVar

import numpy as np

from shoal.data.baskets import Baskets
from shoal.data.release import Release
from shoal.data.table import Table
from shoal.measures._cell_loss import read_cells
from shoal.measures.loss import mean_over
from shoal.measures.measure import Score, TableMeasure


class Precision(TableMeasure):
    """Prec (Sweeney 2002): 1 − the mean over all cells of level / height of the column's hierarchy.

    1 is the original, 0 a release that tells nothing. A cell that is no node, such as a tight range or a set,
    counts with the lowest node that covers it; a suppressed row or cell counts as the root. Columns without a
    hierarchy have no levels and are left out, and so is the score where no quasi-identifier has one.
    """

    name: ClassVar[str] = "precision"
    scores_named: ClassVar[tuple[str, ...]] = ("precision",)

    def scores(self, original: Table | Baskets, release: Release) -> tuple[Score, ...]:
        """Measure the height of each column with a hierarchy, and of all together."""
        before, after = self.tables(original, release)
        parts = {}
        for column in before.quasi:
            if column.hierarchy is None:
                continue
            cells = read_cells(column, after.column(column.name))
            risen = np.where(cells.suppressed, 1.0, cells.levels / max(column.hierarchy.height, 1))
            parts[column.name] = 1 - mean_over(before.rows, cells, risen)
        if not parts:
            return ()
        mean = sum(parts.values()) / len(parts)
        meaning = "Precision: 1 less the mean height of the cells in their hierarchies."
        return (Score("precision", mean, meaning, "higher", parts),)
