"""Mondrian against sorting the same rows, and the one-line call against polars sorting the same frame."""

from typing import Any

import numpy as np

from benchmarks.case import best_of, in_child, show
from shoal.data.domain import Domain, Kind
from shoal.data.role import Role
from shoal.data.table import Column, Table

SIZES = [500, 1000, 74, 16, 42, 9, 7, 2]
"""Values of each quasi-identifier: the shape of a census table, skewed as such tables are."""


def codes(rows: int, columns: int) -> list[np.ndarray]:
    """Skewed columns of codes."""
    random = np.random.default_rng(7)
    return [
        np.minimum(random.exponential(size / 4, rows), size - 1).astype(np.int32) for size in SIZES[:columns]
    ]


def table(rows: int, columns: int) -> Table:
    """A table of numbers with one sensitive column."""
    made = []
    for place, column in enumerate(codes(rows, columns)):
        size = SIZES[place]
        domain = Domain(Kind.NUMERIC, tuple(map(str, range(size))), np.arange(size, dtype=np.float64))
        made.append(Column(f"q{place}", Role.QUASI, domain, column))
    secret = np.random.default_rng(8).integers(0, 14, rows).astype(np.int32)
    made.append(Column("secret", Role.SENSITIVE, Domain(Kind.NOMINAL, tuple("abcdefghijklmn")), secret))
    return Table(tuple(made))


def case(rows: int, columns: int) -> dict[str, Any]:
    """Seconds of the cuts alone, of the whole method, and of sorting."""
    from shoal.methods.mondrian.method import Mondrian

    data = table(rows, columns)
    mixed = np.zeros(rows, dtype=np.int64)
    for column, size in zip(data.quasi, SIZES, strict=False):
        mixed = mixed * size + column.codes
    sort = best_of(lambda: np.sort(mixed))
    argsort = best_of(lambda: np.argsort(mixed, kind="stable"), 1)
    Mondrian(k=10).anonymize(table(200_000, columns))
    repeats = 3 if rows <= 1_000_000 else 1
    traces = [Mondrian(k=10).anonymize(data)[1] for _ in range(repeats)]
    cut = min(trace.timings["cut"] for trace in traces)
    publish = min(trace.timings["publish"] for trace in traces)
    return {
        "rows": rows,
        "columns": columns,
        "classes": traces[0].notes["classes"],
        "numpy sort s": sort,
        "numpy argsort s": argsort,
        "cut s": cut,
        "publish s": publish,
        "cut / argsort": cut / argsort,
    }


def one_line(rows: int, columns: int) -> dict[str, Any]:
    """The one-line call, verdicts and scores included, against polars sorting the same frame."""
    import polars as pl

    import shoal

    names = [f"q{place}" for place in range(columns)]
    frame = pl.DataFrame(
        {
            **dict(zip(names, codes(rows, columns), strict=True)),
            "secret": np.array(list("abcdefghijklmn"))[np.random.default_rng(8).integers(0, 14, rows)],
        }
    )
    sort = best_of(lambda: frame.sort(names))

    def call() -> object:
        return shoal.anonymize(frame, "mondrian", k=10, quasi=names, sensitive=["secret"])

    call()
    whole = best_of(call)
    return {
        "rows": rows,
        "columns": columns,
        "polars sort s": sort,
        "one line s": whole,
        "ratio": whole / sort,
    }


def run() -> None:
    """Print the tables."""
    print("\n## Mondrian, k = 10, strict\n")
    show(
        [
            in_child("benchmarks.suite.mondrian", rows=rows, columns=columns)
            for rows in (30_000, 1_000_000, 10_000_000)
            for columns in (2, 5, 8)
        ]
    )
    print("\n## shoal.anonymize(frame, …) in one line: read, cut, publish, verify, measure\n")
    show([one_line(1_000_000, 5)])
