"""Disassociation on baskets of POS's shape, and what it costs to prove and to reconstruct."""

import time
from typing import Any

from benchmarks.case import in_child, show
from shoal.data.baskets import Baskets

POS = 515_597
"""Baskets of the point-of-sale dataset of the papers: 1,657 items, 6.5 a basket on the average."""


def pos(rows: int = POS) -> Baskets:
    """Synthetic baskets of that shape, with twenty tastes."""
    from shoal.datasets.shopping import Shopping

    return Shopping(rows=rows, items=1657, density=6.5 / 1657, topics=20).make(seed=1)


def case(rows: int, k: int = 5, m: int = 2, max_cluster_size: int = 30, **options: Any) -> dict[str, Any]:
    """Seconds of each stage, of the proof and of one reconstruction."""
    from shoal.data._reconstruct import reconstruct
    from shoal.methods.disassociation.method import Disassociation

    # The paper's form, as all figures before.
    method = Disassociation(k=k, m=m, max_cluster_size=max_cluster_size, **{"safe": 1, **options})
    method.anonymize(pos(5_000))
    data = pos(rows)
    begin = time.perf_counter()
    release, trace = method.anonymize(data)
    whole = time.perf_counter() - begin
    begin = time.perf_counter()
    verdict = method.models()[0].verify(release.data)
    proof = time.perf_counter() - begin
    begin = time.perf_counter()
    reconstruct(release.data, 1)  # type: ignore[arg-type]
    drawn = time.perf_counter() - begin
    return {
        "baskets": rows,
        "k": k,
        "m": m,
        "holds": str(verdict.holds),
        "simple clusters": trace.notes["simple_clusters"],
        "hidden before refining": trace.notes["unrefined_hidden_share"],
        "hidden": trace.notes["hidden_share"],
        "horizontal s": trace.timings["horizontal"],
        "vertical s": trace.timings["vertical"],
        "refining s": trace.timings["refining"],
        "publishing s": trace.timings["publishing"],
        "whole s": whole,
        "proof s": proof,
        "reconstruct s": drawn,
    }


def run() -> None:
    """Print the tables."""
    module = "benchmarks.suite.disassociation"
    print("\n## Disassociation, k = 5, m = 2, clusters below 30, refined: growth\n")
    show([in_child(module, rows=rows) for rows in (POS // 16, POS // 4, POS)])
    print("\n## The same on all baskets with other parameters\n")
    show([in_child(module, rows=POS, k=k, m=m) for k, m in ((5, 1), (5, 3), (2, 2), (20, 2))])
