"""The rows of a published table that tell anything about somebody."""

import numpy as np

from shoal.arrays import Mask
from shoal.data.published_syntax import SUPPRESSED
from shoal.data.table import Table


def telling_rows(table: Table) -> Mask:
    """Which rows of a published table tell anything about somebody: the rows that have a class.

    A suppressed row may be published with ``*`` in every cell. It can be anybody's, and says of her nothing but that
    she is in the table; so it belongs to no class, however few such rows there are. A row of ``*`` with a sensitive
    value is no such row: it would point at the few who had to be suppressed. Promises about a population count such
    rows, because to be in the table is what they hide.
    """
    hidden: Mask = np.full(table.rows, bool(table.quasi), dtype=np.bool_)
    for column in (*table.quasi, *table.sensitive):
        labels = column.domain.labels
        hidden &= column.codes == (labels.index(SUPPRESSED) if SUPPRESSED in labels else -1)
    return ~hidden
