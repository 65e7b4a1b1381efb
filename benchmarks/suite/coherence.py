"""(h,k,p)-coherence: Connect and Retail as in the paper, growth with the baskets, and the loss of every pick."""

import os
import time
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.case import ROOT, in_child, show
from shoal.data._random_roles import draw_roles
from shoal.data.baskets import Baskets

DATA = Path(os.environ.get("SHOAL_DATA") or ROOT.parent / "shared" / "data")
SETTINGS: dict[str, dict[str, Any]] = {
    "connect": {"share": 0.4, "k": 100, "p": 4},
    "retail": {"share": 0.2, "k": 20, "p": 4},
}
PICKS = ("mm/il", "1/il", "mm", "all", "optimal")


def public_baskets(name: str, share: float, seed: int) -> Baskets:
    """Connect, or Retail without the items in fewer than a thousandth of the baskets, with public items drawn."""
    from shoal.io.baskets.conversion import without_rare_items
    from shoal.io.baskets.load import read_baskets

    baskets = read_baskets(DATA / "fimi" / f"{name}.dat.gz")
    return draw_roles(without_rare_items(baskets, 0.001 if name == "retail" else 0), share, seed)


def synthetic(rows: int, items: int, density: float, share: float, private: str, skew: float) -> Baskets:
    """Synthetic baskets with public items drawn, and private ones of at most 0.4 of the baskets."""
    from shoal.datasets.shopping import Shopping

    made = Shopping(rows=rows, items=items, density=density, skew=skew).make(7)
    return draw_roles(made, share, 7, private, 0.4)  # type: ignore[arg-type]


def timed(data: Baskets, **parameters: Any) -> dict[str, Any]:
    """Seconds of the fastest of several calls, processor seconds of it and of the first one, and of the proof."""
    from shoal.methods.coherence.method import Coherence
    from shoal.outcome import judge

    seconds, work, traces = [], [], []
    for _ in range(4):
        begin, used = time.perf_counter(), time.process_time()
        release, trace = Coherence(**parameters).anonymize(data)
        seconds.append(time.perf_counter() - begin)
        work.append(time.process_time() - used)
        traces.append(trace)
    used = time.process_time()
    assert all(verdict.holds for verdict in judge(release))
    return {
        "moles": sum(trace.notes["moles"].values()),
        "sets judged": sum(trace.notes["sets_judged"].values()),
        "loss %": 100 * trace.notes["information_loss"],
        "search s": min(trace.timings["moles"] for trace in traces),
        "whole s": min(seconds),
        "CPU s": min(work),
        "first call CPU s": work[0],
        "proof CPU s": time.process_time() - used,
    }


def case(name: str, seed: int = 0, h: float = 1, **parameters: Any) -> dict[str, Any]:
    """One setting: a public dataset by its name, or synthetic baskets."""
    if name in SETTINGS:
        setting = SETTINGS[name]
        data = public_baskets(name, setting["share"], seed)
        answer = timed(data, h=h, k=setting["k"], p=setting["p"])
    else:
        promise = {key: parameters.pop(key) for key in ("k", "p")}
        data = synthetic(**parameters)
        answer = timed(data, h=h, **promise)
    return {
        "data": name,
        "baskets": len(data),
        "public": len(data.public),
        "private": len(data.sensitive),
        **answer,
    }


def losses(name: str, draws: int, seconds: float) -> list[dict[str, Any]]:
    """The loss of every pick over several draws of the public items."""
    from shoal.methods.coherence.method import Coherence

    setting = SETTINGS[name]
    found: dict[str, list[float]] = {pick: [] for pick in PICKS}
    gaps = []
    for seed in range(draws):
        data = public_baskets(name, setting["share"], seed)
        for pick in PICKS:
            method = Coherence(h=1, k=setting["k"], p=setting["p"], pick=pick, time_limit=seconds)
            notes = method.anonymize(data)[1].notes
            found[pick].append(100 * notes["information_loss"])
            gaps += [notes["gap"]] if pick == "optimal" else []
        assert found["optimal"][-1] <= min(found[pick][-1] for pick in ("mm/il", "1/il", "mm"))
    return [
        {
            "data": name,
            "pick": pick,
            "draws": draws,
            "mean loss %": f"{np.mean(values):.2f}",
            "least": f"{min(values):.2f}",
            "most": f"{max(values):.2f}",
            "lower than mm/il": sum(np.array(values) < np.array(found["mm/il"])),
            "mean gap %": f"{100 * np.mean(gaps):.2f}" if pick == "optimal" else None,
            "proven": sum(gap == 0 for gap in gaps) if pick == "optimal" else None,
        }
        for pick, values in found.items()
    ]


def run() -> None:
    """Print the tables."""
    module = "benchmarks.suite.coherence"
    if (DATA / "fimi").exists():
        print(
            "\n## (h,k,p)-coherence: Connect (δ 40 %, k 100, p 4) and Retail (δ 20 %, k 20, p 4), no bound on secrets\n"
        )
        show([in_child(module, name=name, seed=seed) for name in SETTINGS for seed in range(2)])
        print("\n## (h,k,p)-coherence: information loss of every pick, optimal with 10 s\n")
        show([row for name in SETTINGS for row in losses(name, 10, 10.0)])
    else:
        print(f"\n## (h,k,p)-coherence: no public datasets in {DATA}, so no Connect and Retail\n")
    print(
        "\n## (h,k,p)-coherence: 10,000 × 20, density 0.3, δ 0.4, h 0.4, k 10, p 3 (a student program needs 18 s)\n"
    )
    small = {"rows": 10_000, "items": 20, "density": 0.3, "share": 0.4, "private": "rest", "skew": 0.3}
    show([in_child(module, name="10,000 × 20", h=0.4, k=10, p=3, **small)])
    print(
        "\n## (h,k,p)-coherence: growth with the baskets, 300 items, δ 0.4, h 0.5, k 0.1 % of the baskets, p 3\n"
    )
    shape = {"items": 300, "density": 0.03, "share": 0.4, "private": "top", "skew": 1.0}
    show(
        [
            in_child(module, name="synthetic", h=0.5, k=rows // 1000, p=3, rows=rows, **shape)
            for rows in (100_000, 400_000, 1_600_000)
        ]
    )
