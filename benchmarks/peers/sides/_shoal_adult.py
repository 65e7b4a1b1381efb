"""Adult as Shoal reads it, and the published cells of its quasi-identifiers."""

from collections.abc import Iterator
from typing import Any

from benchmarks.peers.sides import _adult


def table(columns: list[str]) -> Any:
    """Adult with its hierarchies."""
    from shoal.io.tables.load import read_table
    from shoal.sources import with_hierarchies

    read = read_table(
        _adult.FILE, quasi=columns, sensitive=["occupation"] * ("occupation" not in columns), others="drop"
    )
    return with_hierarchies(read, {"folder": str(_adult.HIERARCHIES)})


def rows(release: Any, columns: list[str]) -> Iterator[list[str]]:
    """The texts that are published."""
    published = [release.data.column(name) for name in columns]
    labels = [column.domain.labels for column in published]
    for codes in zip(*(column.codes.tolist() for column in published), strict=True):
        yield [str(label[code]).strip("{}") for label, code in zip(labels, codes, strict=True)]
