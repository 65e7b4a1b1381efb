"""Shoal's frequent itemsets."""

from math import ceil
from typing import Any

from benchmarks.peers.sides import _bms1

DISTRIBUTIONS = ("shoal", "numpy", "numba")


def load(support: float) -> Any:
    """The baskets."""
    from shoal.io.baskets.load import read_baskets

    return read_baskets(_bms1.FILE), support


def work(loaded: Any) -> Any:
    """The frequent sets."""
    from shoal.mining.frequent_itemsets import frequent_itemsets

    baskets, support = loaded
    return frequent_itemsets(baskets, least=ceil(support * len(baskets)))


def found(loaded: Any, result: Any) -> dict[str, Any]:
    """How many there are."""
    return {"itemsets": len(result.supports)}
