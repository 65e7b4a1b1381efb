"""The miner of frequent itemsets beside mlxtend, hidden association rules beside chance, and generalized items."""

import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.case import ROOT, best_of, in_child, show
from shoal.data.baskets import Baskets
from shoal.io.baskets.load import read_baskets
from shoal.mining.frequent_itemsets import frequent_itemsets, least_count, top_itemsets

DATA = ROOT.parent / "shared" / "data"
FILES = {
    "BMS1": "bms-webview-1/bms-webview-1.dat.gz",
    "BMS2": "bms-webview-2/bms-webview-2.dat.gz",
    "Retail": "fimi/retail.dat.gz",
}
TREE = "bms-webview-2/bms-webview-2_hierarchy.csv"
MODULE = "benchmarks.suite.itemsets"


def baskets_of(name: str) -> Baskets:
    """A public dataset, or baskets of groceries' shape: 9,835 of 169 items, 4.4 each."""
    if name == "groceries-like":
        from shoal.datasets.shopping import Shopping

        return Shopping(rows=9835, items=169, density=4.4 / 169, topics=8, correlation=0.8).make(7)
    return read_baskets(Path(DATA) / FILES[name])


def case(kind: str, **arguments: Any) -> dict[str, Any]:
    """One row of a table."""
    return {"mine": mine, "top": top, "hide": hide, "generalize": generalize}[kind](**arguments)


def mine(data: str, share: float, threads: int) -> dict[str, Any]:
    baskets = baskets_of(data)
    least = least_count(len(baskets), share)
    frequent_itemsets(baskets, len(baskets), threads=threads)
    begin = time.perf_counter()
    found = frequent_itemsets(baskets, least, threads=threads)
    first = time.perf_counter() - begin
    again = best_of(lambda: frequent_itemsets(baskets, least, threads=threads))
    return {
        "data": data,
        "support": share,
        "threads": threads,
        "itemsets": len(found),
        "longest": int(found.sizes.max()),
        "first call s": first,
        "best of 3 s": again,
    }


def top(data: str, count: int) -> dict[str, Any]:
    baskets = baskets_of(data)
    found = top_itemsets(baskets, count)
    seconds = best_of(lambda: top_itemsets(baskets, count))
    return {"data": data, "K": count, "least support": found.least, "best of 3 s": seconds}


def rules_to_hide(
    baskets: Baskets, support: float, confidence: float, count: int, draw: int
) -> tuple[str, ...]:
    """Rules that hold, drawn by chance."""
    from shoal.mining.association_rules import association_rules, rule_text

    found = frequent_itemsets(baskets, least_count(len(baskets), support), 3)
    texts = sorted(association_rules(found, confidence, consequent=1).texts(baskets.vocabulary))
    places = np.random.default_rng(draw).choice(len(texts), count, replace=False)
    return tuple(rule_text(*texts[place]) for place in sorted(places.tolist()))


def hide(
    data: str, support: float, confidence: float, count: int, strategy: str, draws: int = 5
) -> dict[str, Any]:
    """Hide rules drawn by chance; means over several draws, and the range of the lost rules."""
    from shoal.measures.associations import Associations
    from shoal.measures.measure import flat
    from shoal.methods.basket_rule_hiding.method import BasketRuleHiding

    baskets = baskets_of(data)
    rows = []
    for draw in range(draws):
        rules = rules_to_hide(baskets, support, confidence, count, draw)
        method = BasketRuleHiding(support=support, confidence=confidence, rules=rules, strategy=strategy)
        begin = time.perf_counter()
        release, trace = method.anonymize(baskets, seed=draw)
        seconds = time.perf_counter() - begin
        rows.append({**flat(Associations().scores(baskets, release)), **trace.notes, "seconds": seconds})
    mean = {name: float(np.mean([row[name] for row in rows])) for name in rows[0] if name in rows[-1]}
    lost = [int(row["lost_rules_count"]) for row in rows]
    return {
        "data": data,
        "support": support,
        "confidence": confidence,
        "rules": int(mean["original_rules"]),
        "sensitive": int(mean["sensitive_rules"]),
        "strategy": strategy,
        "failure": max(row["hiding_failure"] for row in rows),
        "removed": mean["removed"],
        "added": mean["added"],
        "lost": mean["lost_rules_count"],
        "lost, from to": f"{min(lost)} to {max(lost)}",
        "ghosts": mean["ghost_rules_count"],
        "dissimilarity": mean["dissimilarity"],
        "s": mean["seconds"],
    }


def generalize(algorithm: str, k: int, m: int, parts: int = 10) -> dict[str, Any]:
    from shoal.io.hierarchies.load import read_hierarchy
    from shoal.methods.km_generalization.method import KmGeneralization
    from shoal.outcome import judge

    baskets = replace(baskets_of("BMS2"), hierarchy=read_hierarchy(Path(DATA) / TREE))
    begin = time.perf_counter()
    method = KmGeneralization(k=k, m=m, algorithm=algorithm, parts=parts)
    release, trace = method.anonymize(baskets)
    seconds = time.perf_counter() - begin
    return {
        "algorithm": algorithm + (f", {parts} parts" if algorithm == "lra" else ""),
        "k": k,
        "m": m,
        "holds": str(all(judge(release))),
        "NCP": trace.notes["ncp"],
        "published items": trace.notes["published_items"],
        "s": seconds,
    }


def run() -> None:
    """Print the tables."""
    print("\n## Frequent itemsets\n")
    cases = [("BMS1", 0.001), ("BMS1", 0.0006), ("BMS2", 0.001), ("Retail", 0.001)]
    show(
        [
            in_child(MODULE, kind="mine", data=data, share=share, threads=threads)
            for data, share in cases
            for threads in (1, 2)
        ]
    )
    print("\n## The most frequent itemsets\n")
    show([in_child(MODULE, kind="top", data=data, count=1000) for data in FILES])
    print("\n## Hidden rules\n")
    show(
        [
            in_child(
                MODULE, kind="hide", data=data, support=support, confidence=c, count=10, strategy=strategy
            )
            for data, support, c in (
                ("groceries-like", 0.005, 0.2),
                ("BMS1", 0.001, 0.5),
                ("BMS1", 0.002, 0.3),
            )
            for strategy in ("dsr", "dsl", "isl", "random")
        ]
    )
    print("\n## Generalized items, BMS2 with its hierarchy\n")
    show(
        [
            in_child(MODULE, kind="generalize", algorithm=algorithm, k=k, m=m)
            for algorithm, k, m in (
                ("aa", 5, 1),
                ("aa", 5, 2),
                ("vpa", 5, 2),
                ("lra", 5, 2),
                ("aa", 5, 3),
                ("aa", 20, 2),
            )
        ]
    )
