"""Measure `relational-transaction` on people with items: python tools/mixed.py [FILE.parquet QUASI ITEMS] > page.

Without a file, the data is that of `shoal generate mixed`. A file has the quasi-identifiers QUASI, separated by commas,
and a column ITEMS of items.
"""

import sys
import time
import warnings
from collections import Counter, defaultdict
from dataclasses import replace
from itertools import combinations, product
from typing import Any

import numpy as np
import polars as pl

import shoal
from shoal.attacks._known_clusters import ClustersView
from shoal.data._item_sets import item_column, item_sets, sets_of
from shoal.data.clustered_table import ClusteredTable
from shoal.data.domain import nominal
from shoal.data.role import Role
from shoal.data.table import Column, Table
from shoal.datasets.shoppers import Shoppers
from shoal.methods.relational_transaction.method import RelationalTransaction
from shoal.models.k_km_anonymity import KKmAnonymity

STEPS = ("generalization", "disassociation")
MERGES = ("relational", "items", "both")
BOUNDS = (0.0, 0.1, 0.3)
KS = (5, 10)
PEOPLE, PAIRS = 300, 20
"""How many people, and how many pairs of items of each, are tried against clusters."""


def rows_of(table: Table) -> list[tuple[tuple[int, ...], tuple[str, ...]]]:
    column = table.items_column
    assert column is not None
    cells = zip(*(one.codes.tolist() for one in table.quasi), strict=True)
    return list(zip(cells, map(tuple, item_sets(column)), strict=True))


def unique(table: Table, known: int) -> float:
    """The share of rows that all cells and the most telling items known single out, by brute force."""
    rows = rows_of(table)
    held = Counter((cell, some) for cell, items in rows for some in combinations(items, known))
    alone = sum(any(held[cell, some] == 1 for some in combinations(items, known)) for cell, items in rows)
    return alone / len(rows)


def fewest(run: Any) -> float:
    """The share of drawn people with a drawn pair of items that fits only one basket in the clusters of their class."""
    data, original = run.release.data, run.original
    assert isinstance(data, ClusteredTable)
    random, view = np.random.default_rng(7), ClustersView(data.clusters)
    sets = list(item_sets(original.items_column).take(run.trace.rows))
    classes, line_class = data.classes, data.classes.number[data.holders][data.lines]
    alone = 0
    tried = random.permutation(len(sets))[:PEOPLE].tolist()
    for row, items in ((row, sets[row]) for row in tried):
        among = line_class == classes.number[row]
        drawn = [
            random.choice(items, 2, replace=False).tolist() for _ in range(PAIRS if len(items) > 1 else 0)
        ]
        alone += any(view.candidates(some, among) < 2 for some in drawn)
    return alone / len(tried)


def run(source: Any, quasi: list[str], items: str, **options: Any) -> Any:
    return shoal.anonymize(
        source, "relational-transaction", quasi=quasi, items=items, others="drop", **options
    )


def one_for_all(done: Any, k: int) -> float:
    """A lower bound: what items lose if each is left out in all classes or in none, already for one known item."""
    classes: dict[tuple[int, ...], Counter[str]] = defaultdict(Counter)
    column = done.original.items_column
    sets = list(item_sets(column).take(done.trace.rows))
    for (cells, _), items in zip(rows_of(done.release.data), sets, strict=True):
        classes[cells].update(items)
    gone = {item for counts in classes.values() for item, count in counts.items() if count < k}
    kept = sum(item not in gone for items in sets for item in items)
    return 1 - kept / max(sum(map(len, sets)), 1)


def any_two_of_all(original: Table, k: int) -> tuple[Table, float]:
    """A release that promises k for any two cells or items, as Amnesia does, and what its items lose.

    Columns of numbers are cut into five ranges with equally many rows. Then items are left out until no pair is held by
    too few rows: always the item in most such pairs.
    """
    column = original.items_column
    assert column is not None
    cells = [_in_ranges(one) for one in original.quasi]
    told = list(
        zip(*([f"{one.name}={one.domain.labels[code]}" for code in one.codes] for one in cells), strict=True)
    )
    sets = list(map(set, item_sets(column)))
    total = sum(map(len, sets))
    held = Counter(pair for own, items in zip(told, sets, strict=True) for pair in product(own, items))
    rare = {item for (_, item), count in held.items() if count < k}
    sets = [items - rare for items in sets]
    both = Counter(pair for items in sets for pair in combinations(sorted(items), 2))
    broken = {pair for pair, count in both.items() if count < k}
    while broken:
        rare_pairs = Counter(item for pair in broken for item in pair)
        worst = min(rare_pairs, key=lambda item: (-rare_pairs[item], item))
        broken = {pair for pair in broken if worst not in pair}
        sets = [items - {worst} for items in sets]
    owner = np.repeat(np.arange(len(sets)), [len(one) for one in sets])
    texts = pl.Series([item for one in sets for item in sorted(one)], dtype=pl.String)
    shown = item_column(column.name, sets_of(owner, texts, len(sets)))
    return Table((*cells, shown)), 1 - sum(map(len, sets)) / total


def _in_ranges(column: Column) -> Column:
    values = column.domain.values
    if values is None:
        return column
    own = values[column.codes]
    edges = np.unique(np.quantile(own, [0.2, 0.4, 0.6, 0.8]))
    place = np.digitize(own, edges)
    labels = [f"[{own[place == one].min():g},{own[place == one].max():g}]" for one in range(len(edges) + 1)]
    return Column(column.name, Role.QUASI, nominal(tuple(labels)), place.astype(np.int32))


def table_of_steps(source: Any, quasi: list[str], items: str) -> None:
    print(
        "| k | bound | merge | items by | classes | 1 − granularity | item loss | pair loss | alone after |"
    )
    print("|---|---|---|---|---|---|---|---|---|")
    for k in KS:
        for bound in BOUNDS:
            for merge in MERGES:
                for step in STEPS:
                    options = {"merge": merge, "bound": {"relational": bound}, "item_step": step}
                    done = run(source, quasi, items, k=k, m=2, **options)
                    alone = fewest(done) if step == "disassociation" else unique(done.release.data, 2)
                    print(
                        f"| {k} | {bound:g} | {merge} | {step} | {done.trace.notes['classes']} | "
                        f"{1 - done.score('granularity'):.3f} | {done.score('item_loss'):.3f} | "
                        f"{done.score('pair_loss'):.3f} | {alone:.1%} |",
                        flush=True,
                    )


def rivals(source: Any, quasi: list[str], items: str, original: Table) -> None:
    print(
        "\n| classes by | one k^m for all loses at least | by class | by class, disassociated |\n|---|---|---|---|"
    )
    for bound in (0.0, 0.1):
        done = run(source, quasi, items, k=5, m=2, bound={"relational": bound})
        apart = run(source, quasi, items, k=5, m=2, bound={"relational": bound}, item_step="disassociation")
        name = "mondrian" if bound == 0 else f"mondrian, united within {bound:g}"
        print(
            f"| {name} | {one_for_all(done, 5):.3f} | {done.score('item_loss'):.3f} | {apart.score('item_loss'):.3f} |"
        )
    table, lost = any_two_of_all(original, 5)
    verdict = KKmAnonymity(k=5, m=2).verify(table)
    print(
        f"\nk for any two of all cells and items together: the items lose {lost:.3f}; alone by all quasi-identifiers "
        f"and two items: {unique(table, 2):.1%}. {'OK' if verdict.holds else 'BROKEN'}  {verdict.promise}; found "
        f"{verdict.value}, in {verdict.offender_count:,} places. First: {verdict.offenders[:1]}"
    )


def growth() -> None:
    print("\n| people | generalization | disassociation |\n|---|---|---|")
    for rows in (6_250, 25_000, 100_000):
        table = Shoppers(rows=rows, items=1000, mean=6).make(7)
        roles = {"age": Role.QUASI, "sex": Role.QUASI, "zip": Role.QUASI, "products": Role.ITEMS}
        people = Table(tuple(replace(table.column(name), role=role) for name, role in roles.items()))
        spent = []
        for step in STEPS:
            begin = time.process_time()
            RelationalTransaction(k=5, m=2, item_step=step).anonymize(people)
            spent.append(time.process_time() - begin)
        print(f"| {rows:,} | {spent[0]:.1f} | {spent[1]:.1f} |", flush=True)


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
    table_of_steps(source, quasi, items)
    rivals(source, quasi, items, original)
    if not given:
        growth()


if __name__ == "__main__":
    main(sys.argv[1:])
