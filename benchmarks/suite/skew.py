"""Skewed data on a cluster, simulated: how uneven the parts become, and what that does to the time of a job.

Rows are drawn, Mondrian's top cuts them by the very code that runs on a cluster, and its parts are handed to as many
cores as a cluster has. The cost of a part is that of its cuts: rows times the levels of its tree.
"""

from typing import Any

import numpy as np

from benchmarks.case import in_child, show
from benchmarks.suite.mondrian import SIZES
from shoal.data.domain import Domain, Kind
from shoal.data.role import Role
from shoal.data.table import Column, Table

ROWS, CORES, K = 2_000_000, 64, 10
PARTS = 4 * CORES


def drawn(skew: str, rows: int) -> list[np.ndarray]:
    """Four columns of codes: even, by Zipf's law, or with one tuple that has a share of all rows."""
    random = np.random.default_rng(11)
    sizes = SIZES[:4]
    if skew.startswith("zipf"):
        exponent = float(skew.removeprefix("zipf "))
        return [((random.zipf(exponent, rows) - 1) % size).astype(np.int32) for size in sizes]
    columns = [random.integers(0, size, rows).astype(np.int32) for size in sizes]
    if skew.startswith("one tuple"):
        share = float(skew.removeprefix("one tuple ").rstrip("%")) / 100
        for column in columns:
            column[: int(share * rows)] = 3
    return columns


def makespan(costs: np.ndarray, cores: int) -> float:
    """The time until all tasks are done: each core takes the next one when it is free."""
    free = np.zeros(cores)
    for cost in costs:
        free[free.argmin()] += cost
    return float(free.max())


def cost_of(sizes: np.ndarray) -> np.ndarray:
    """What a part of so many rows costs: rows times the levels of its tree."""
    return sizes * np.maximum(np.log2(np.maximum(sizes / K, 2)), 1)


def case(skew: str) -> dict[str, Any]:
    """The parts of one kind of data, by Mondrian's top and by the hash of the rows' first cell."""
    import polars as pl

    from shoal.data.dataset import Dataset
    from shoal.data.group_statistics import whole_statistics
    from shoal.engines.stream import Stream
    from shoal.methods.mondrian._choice import Rules, Space
    from shoal.methods.mondrian._distributed import Axes, cut_top
    from shoal.methods.mondrian._plan import Plan
    from shoal.models.k_anonymity import KAnonymity

    columns = drawn(skew, ROWS)
    table = Table(
        tuple(
            Column(
                f"q{place}",
                Role.QUASI,
                Domain(Kind.NUMERIC, tuple(map(str, range(size))), np.arange(size, dtype=np.float64)),
                np.empty(0, dtype=np.int32),
            )
            for place, size in enumerate(SIZES[:4])
        )
    )
    engine = Stream("4GB")
    try:
        frame = pl.DataFrame({f"q{place}": column for place, column in enumerate(columns)})
        data = Dataset(table, engine.parts(frame), ROWS)
        plan = Plan.of(table, "ranges", (KAnonymity(k=K),), {}, False, "widest")
        space = Space.of([axis.positions for axis in plan.axes], [axis.depths for axis in plan.axes], None)
        room = ROWS // PARTS
        axes = Axes(table.names, tuple(axis.place for axis in plan.axes))
        top = cut_top(
            data, axes, Rules(space, K, False, "widest"), plan.models, whole_statistics(data), 0, room
        )
    finally:
        engine.close()
    leaves = np.flatnonzero(top.tree.children < 0)
    sizes = top.tree.sizes[leaves]
    pieces = np.concatenate(
        [
            np.full(-(-size // room), room) if leaf in top.held else [size]
            for leaf, size in zip(leaves.tolist(), sizes.tolist(), strict=True)
        ]
    )
    even = cost_of(np.full(PARTS, ROWS / PARTS)).sum() / CORES
    hashed = np.bincount(columns[0] % PARTS, minlength=PARTS).astype(np.float64)
    # A class that cannot be cut costs its rows once, and not once a level.
    whole = np.where(np.isin(leaves, list(top.held)), sizes, cost_of(sizes))
    divided = np.where(pieces == room, pieces, cost_of(pieces))
    random = np.random.default_rng(1)
    return {
        "rows": skew,
        "passes": top.passes,
        "parts": len(leaves),
        "largest part, of the mean": float(sizes.max() / (ROWS / PARTS)),
        "after dividing": float(pieces.max() / (ROWS / PARTS)),
        "slowdown by hash of a cell": float(makespan(cost_of(hashed), CORES) / even),
        "slowdown undivided": float(makespan(random.permutation(whole), CORES) / even),
        "slowdown": float(makespan(random.permutation(divided), CORES) / even),
    }


def shares(exponent: float, order: str, baskets: int = 200_000, items: int = 20_000) -> dict[str, Any]:
    """The shares of workers that count sets of items: sets begin with their rarest item, or with their first."""
    random = np.random.default_rng(3)
    lengths = random.poisson(8, baskets)
    rows = np.repeat(np.arange(baskets), lengths)
    drawn_items = (random.zipf(exponent, len(rows)) - 1) % items
    pairs = np.unique(rows * items + drawn_items)
    rows, held = pairs // items, pairs % items
    supports = np.bincount(held, minlength=items)
    rank = np.empty(items, dtype=np.int64)
    rank[np.argsort(supports if order == "rarest first" else -supports, kind="stable")] = np.arange(items)
    place = np.lexsort((rank[held], rows))
    rows, ranks = rows[place], rank[held[place]]
    ends = np.searchsorted(rows, rows, side="right")
    owner = ranks % CORES
    _, first = np.unique(rows * CORES + owner, return_index=True)
    load = np.bincount(owner[first], weights=(ends[first] - first).astype(np.float64), minlength=CORES)
    return {
        "items": f"zipf {exponent}",
        "sets begin with": "the rarest" if order == "rarest first" else "the most frequent",
        "items sent, of those held": float(load.sum() / len(rows)),
        "largest share, of the mean": float(load.max() / load.mean()),
    }


def run() -> None:
    """Print both tables."""
    print(f"\n## Skewed parts: {ROWS:,} rows, {CORES} cores, {PARTS} parts wanted (simulated)\n")
    kinds = ["even", "zipf 2.0", "zipf 1.5", "zipf 1.1", "one tuple 10%", "one tuple 50%", "one tuple 90%"]
    show([in_child("benchmarks.suite.skew", skew=skew) for skew in kinds])
    print(f"\n## Skewed items: 200,000 baskets, {CORES} workers (simulated)\n")
    show(
        [
            shares(exponent, order)
            for exponent in (1.2, 1.5, 2.0)
            for order in ("rarest first", "frequent first")
        ]
    )
