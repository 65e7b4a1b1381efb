"""One number for what a row holds."""

from collections.abc import Sequence

import numpy as np

from shoal.arrays import Rows
from shoal.data.table import Column


def mixed_codes(columns: Sequence[Column]) -> Rows:
    """One number for each row, by the codes of its columns, the first one first; equal rows have equal numbers."""
    mixed = np.zeros(len(columns[0].codes), dtype=np.int64)
    width = 1
    for column in columns:
        size = max(len(column.domain), 1)
        if width * size >= 2**62:
            mixed = np.unique(mixed, return_inverse=True)[1]
            width = len(mixed)
        mixed = mixed * size + column.codes
        width *= size
    return mixed
