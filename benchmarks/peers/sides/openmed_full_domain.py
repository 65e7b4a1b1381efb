"""openmed's k-anonymity: whole columns are generalized, all combinations of levels looked at."""

import csv
import gzip
from typing import Any

from openmed.risk.kanon import enforce_kanon

from benchmarks.peers.sides import _adult

DISTRIBUTIONS = ("openmed",)


def load(columns: list[str], k: int, limit: float) -> Any:
    """Adult as records, and the hierarchies level by level."""
    with gzip.open(_adult.FILE, "rt", encoding="utf-8", newline="") as file:
        records = [{name: row[name] for name in columns} for row in csv.DictReader(file, delimiter=";")]
    trees = {name: _levels(_adult.hierarchy(name)) for name in columns}
    return records, columns, k, limit, trees


def _levels(lines: list[list[str]]) -> list[dict[str, Any]]:
    leaves, *above = zip(*lines, strict=True)
    maps = ({"values": dict(zip(leaves, nodes, strict=True))} for nodes in above)
    return [{"name": "exact"}, *maps]


def work(loaded: Any) -> Any:
    """The anonymous records."""
    records, columns, k, limit, trees = loaded
    made = enforce_kanon(
        records,
        columns,
        target_k=k,
        suppression_rate=limit,
        hierarchies=trees,
        remove_direct_identifiers=False,
    )
    return made["records"]


def found(loaded: Any, result: Any) -> dict[str, Any]:
    """Of the published cells."""
    columns = loaded[1]
    return _adult.summary(([str(row[name]) for name in columns] for row in result), columns)
