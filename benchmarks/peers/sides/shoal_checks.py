"""Shoal's proof of three promises on the same rows."""

from typing import Any

from benchmarks.peers.sides import _shoal_adult

DISTRIBUTIONS = ("shoal", "polars", "numpy")


def load(columns: list[str]) -> Any:
    """The table, and promises: what holds is told beside whether they do."""
    from shoal.models.distinct_diversity import DistinctDiversity
    from shoal.models.k_anonymity import KAnonymity
    from shoal.models.t_closeness import TCloseness

    return _shoal_adult.table(columns), (KAnonymity(k=2), DistinctDiversity(l=2), TCloseness(t=0.2))


def work(loaded: Any) -> Any:
    """The verdicts."""
    data, models = loaded
    return [model.verify(data) for model in models]


def found(loaded: Any, result: Any) -> dict[str, Any]:
    """The three levels."""
    return dict(zip(("k", "l", "t"), (float(verdict.value) for verdict in result), strict=True))
