"""Measure `relational-transaction` on people with items: python tools/mixed.py [FILE.parquet QUASI ITEMS] > page.

Without a file, on `shoal generate mixed`. The file has the quasi-identifiers (between commas) and a column of items.
"""

import sys
import time
import warnings
from collections import Counter
from dataclasses import replace
from itertools import combinations
from typing import Any

import polars as pl

import shoal
from shoal.data._item_sets import item_sets, items_of
from shoal.data.role import Role
from shoal.data.table import Table
from shoal.datasets.shoppers import Shoppers
from shoal.methods.relational_transaction.method import RelationalTransaction

MERGES = ("relational", "items", "both")
BOUNDS = (0.0, 0.1, 0.3)
KS = (5, 10)


def unique(table: Table, known: int) -> float:
    """The share of rows that somebody finds alone who knows all cells and the worst so many items: by brute force."""
    column = items_of(table)
    assert column is not None
    cells = list(zip(*(one.codes.tolist() for one in table.quasi), strict=True))
    rows = list(zip(cells, item_sets(column), strict=True))
    held = Counter((cell, some) for cell, items in rows for some in combinations(items, known))
    alone = sum(any(held[cell, some] == 1 for some in combinations(items, known)) for cell, items in rows)
    return alone / len(rows)


def run(source: Any, quasi: list[str], items: str, **options: Any) -> Any:
    return shoal.anonymize(
        source, "relational-transaction", quasi=quasi, items=items, others="drop", **options
    )


def main(given: list[str]) -> None:
    warnings.simplefilter("ignore")
    source: Any = pl.DataFrame()
    quasi, items = ["age", "sex"], "products"
    if given:
        source, quasi, items = pl.read_parquet(given[0]), given[1].split(","), given[2]
    else:
        made = Shoppers(rows=5000, items=100).make(7)
        source = pl.DataFrame(
            {one.name: [one.domain.labels[code] for code in one.codes.tolist()] for one in made.columns}
        )
    original = run(source, quasi, items, k=2, m=1).original
    print(
        f"{original.rows:,} people; alone by all quasi-identifiers and two items: {unique(original, 2):.1%}\n"
    )
    print(
        "| k | bound | merge | classes | 1 − granularity | item loss | alone after |\n|---|---|---|---|---|---|---|"
    )
    for k in KS:
        for bound in BOUNDS:
            for merge in MERGES:
                done = run(source, quasi, items, k=k, m=2, merge=merge, bound={"relational": bound})
                lost = 1 - done.score("granularity")
                print(
                    f"| {k} | {bound:g} | {merge} | {done.trace.notes['classes']} | {lost:.3f} | "
                    f"{done.score('item_loss'):.3f} | {unique(done.release.data, 2):.1%} |"
                )
    if given:
        return
    print("\n| people | seconds of the processor |\n|---|---|")
    for rows in (6_250, 25_000, 100_000):
        table = Shoppers(rows=rows, items=1000, mean=6).make(7)
        roles = {"age": Role.QUASI, "sex": Role.QUASI, "zip": Role.QUASI, "products": Role.ITEMS}
        people = Table(tuple(replace(table.column(name), role=role) for name, role in roles.items()))
        begin = time.process_time()
        RelationalTransaction(k=5, m=2).anonymize(people)
        print(f"| {rows:,} | {time.process_time() - begin:.1f} |")


if __name__ == "__main__":
    main(sys.argv[1:])
