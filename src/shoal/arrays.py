"""Names for the arrays that travel through Shoal."""

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Codes: TypeAlias = NDArray[np.int32]
"""One small integer a row: the place of its value in the column's domain."""

Indptr: TypeAlias = NDArray[np.int64]
"""Row i of a ragged array lies at ``indptr[i]:indptr[i + 1]``."""

Items: TypeAlias = NDArray[np.int32]
"""The items of all baskets, one basket after the other, ascending inside a basket."""

Counts: TypeAlias = NDArray[np.int64]
Rows: TypeAlias = NDArray[np.int64]
Mask: TypeAlias = NDArray[np.bool_]
Floats: TypeAlias = NDArray[np.float64]
AnyArray: TypeAlias = NDArray[Any]
