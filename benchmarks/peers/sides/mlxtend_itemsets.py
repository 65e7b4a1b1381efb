"""mlxtend's FP-growth."""

from typing import Any

import pandas
from mlxtend.frequent_patterns import fpgrowth
from mlxtend.preprocessing import TransactionEncoder

from benchmarks.peers.sides import _bms1

DISTRIBUTIONS = ("mlxtend", "pandas", "numpy")


def load(support: float) -> Any:
    """The baskets as a frame of booleans."""
    rows = _bms1.baskets()
    encoder = TransactionEncoder().fit(rows)
    return pandas.DataFrame(encoder.transform(rows), columns=encoder.columns_), support


def work(loaded: Any) -> Any:
    """The frequent sets."""
    frame, support = loaded
    return fpgrowth(frame, min_support=support)


def found(loaded: Any, result: Any) -> dict[str, Any]:
    """How many there are."""
    return {"itemsets": len(result)}
