"""Shoal's lattice: the best levels for whole columns, and rows left out; without proof, measures and files."""

from typing import Any

from benchmarks.peers.sides import _adult, _shoal_adult

DISTRIBUTIONS = ("shoal", "polars", "numpy", "numba")


def load(columns: list[str], k: int, limit: float) -> Any:
    """The table and the method."""
    from shoal.methods.lattice import Lattice

    return _shoal_adult.table(columns), Lattice(k=k, suppression_limit=limit), columns


def work(loaded: Any) -> Any:
    """The release."""
    data, method, _ = loaded
    return method.anonymize(data, seed=7)[0]


def found(loaded: Any, result: Any) -> dict[str, Any]:
    """Of the published cells."""
    return _adult.summary(_shoal_adult.rows(result, loaded[2]), loaded[2])
