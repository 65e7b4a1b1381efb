"""anjana's k-anonymity: whole columns are generalized, and rows left out."""

from typing import Any

import pandas
from anjana.anonymity import k_anonymity

from benchmarks.peers.sides import _adult

DISTRIBUTIONS = ("anjana", "pandas", "numpy")


def load(columns: list[str], k: int, limit: float) -> Any:
    """Adult as a frame of texts, and the hierarchies level by level."""
    frame = pandas.read_csv(_adult.FILE, sep=";", dtype=str)
    trees = {
        name: dict(enumerate(map(pandas.Series, zip(*_adult.hierarchy(name), strict=True))))
        for name in columns
    }
    return frame, columns, k, limit, trees


def work(loaded: Any) -> Any:
    """The anonymous frame."""
    frame, columns, k, limit, trees = loaded
    return k_anonymity(frame, [], columns, k, 100 * limit, trees)


def found(loaded: Any, result: Any) -> dict[str, Any]:
    """Of the published cells."""
    columns = loaded[1]
    return _adult.summary(result[columns].astype(str).itertuples(index=False), columns)
