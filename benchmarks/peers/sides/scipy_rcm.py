"""scipy's reverse Cuthill-McKee on the graph of baskets that share an item."""

from typing import Any

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import reverse_cuthill_mckee

from benchmarks.peers.sides import _bms1

DISTRIBUTIONS = ("scipy", "numpy")


def load() -> Any:
    """The matrix of baskets and items."""
    rows = _bms1.baskets()
    indptr = np.concatenate(([0], np.cumsum([len(row) for row in rows])))
    items = np.concatenate([np.asarray(row, dtype=np.int32) for row in rows])
    return csr_array((np.ones(len(items), dtype=np.int32), items, indptr.astype(np.int32)))


def work(loaded: Any) -> Any:
    """The order of the baskets."""
    return reverse_cuthill_mckee(loaded @ loaded.T, symmetric_mode=True)


def found(loaded: Any, result: Any) -> dict[str, Any]:
    """How far the baskets of an item lie apart."""
    place = np.empty(loaded.shape[0], dtype=np.int64)
    place[result] = np.arange(len(place))
    columns = loaded.tocsc()
    spans = [
        np.ptp(place[columns.indices[a:b]]) for a, b in zip(columns.indptr, columns.indptr[1:], strict=False)
    ]
    return {"mean span of an item": float(np.mean(spans)), "bandwidth": int(max(spans))}
