"""anonypy's Mondrian."""

from typing import Any

import anonypy
import pandas

from benchmarks.peers.sides import _adult

DISTRIBUTIONS = ("anonypy", "pandas", "numpy")


def load(columns: list[str], k: int) -> Any:
    """Adult as a frame; names are categories, as it asks for."""
    frame = pandas.read_csv(_adult.FILE, sep=";")
    for name in frame.columns:
        if name not in _adult.NUMBERS:
            frame[name] = frame[name].astype("category")
    return frame, columns, k


def work(loaded: Any) -> Any:
    """Rows of classes with counts of the sensitive values."""
    frame, columns, k = loaded
    return anonypy.Preserver(frame, columns, "occupation").anonymize_k_anonymity(k=k)


def found(loaded: Any, result: Any) -> dict[str, Any]:
    """A class is a row for each of its sensitive values."""
    _, columns, _ = loaded
    rows = [[str(row[name][0]) for name in columns] for row in result for _ in range(row["count"])]
    return _adult.summary(rows, columns)
