"""pycanon's checks of a table."""

from typing import Any

import pandas
from pycanon import anonymity

from benchmarks.peers.sides import _adult

DISTRIBUTIONS = ("pycanon", "pandas", "numpy")


def load(columns: list[str]) -> Any:
    """Adult as a frame."""
    return pandas.read_csv(_adult.FILE, sep=";"), columns


def work(loaded: Any) -> Any:
    """The levels that hold."""
    frame, columns = loaded
    return (
        anonymity.k_anonymity(frame, columns),
        anonymity.l_diversity(frame, columns, ["occupation"]),
        anonymity.t_closeness(frame, columns, ["occupation"]),
    )


def found(loaded: Any, result: Any) -> dict[str, Any]:
    """The three levels."""
    return dict(zip(("k", "l", "t"), map(float, result), strict=True))
