"""Shoal's Mondrian, without proof, measures and files."""

from typing import Any

from benchmarks.peers.sides import _adult, _shoal_adult

DISTRIBUTIONS = ("shoal", "polars", "numpy")


def load(columns: list[str], k: int) -> Any:
    """The table and the method."""
    from shoal.methods.mondrian.method import Mondrian

    return _shoal_adult.table(columns), Mondrian(k=k), columns


def work(loaded: Any) -> Any:
    """The release."""
    data, method, _ = loaded
    return method.anonymize(data, seed=7)[0]


def found(loaded: Any, result: Any) -> dict[str, Any]:
    """Of the published cells."""
    return _adult.summary(_shoal_adult.rows(result, loaded[2]), loaded[2])
