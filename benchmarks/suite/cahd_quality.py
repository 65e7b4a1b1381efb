"""CAHD: what orders and forms tell of the data, and what they betray, over draws of sensitive items.

The arguments of ``run`` are few so that it ends within minutes; the guide's tables say which were taken.
"""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.case import show
from benchmarks.suite.cahd import DATA
from shoal.data._basket_orders import ORDERS
from shoal.data.baskets import Baskets

FILES = {
    "BMS1": "bms-webview-1/bms-webview-1.dat.gz",
    "BMS2": "bms-webview-2/bms-webview-2.dat.gz",
    "Online Retail": "online-retail/online-retail-baskets.dat.gz",
}
SEED_ITEMS = {"BMS1": ("10877", "18423"), "Online Retail": ("22816", "22377")}
SCORES = ("kl", "kl_frequent")


def path_of(name: str) -> Path:
    return DATA / FILES[name]


def draws_of(name: str, count: int, sensitive: int, p: int) -> Iterator[Baskets]:
    """The data with so many items made sensitive, drawn from those that can be: in at most 0.9/p of all baskets."""
    from shoal.io.baskets.load import read_baskets

    baskets = read_baskets(path_of(name))
    able = np.flatnonzero((baskets.supports * p <= 0.9 * len(baskets)) & (baskets.supports >= 10))
    for seed in range(count):
        drawn = np.random.default_rng(seed).choice(able, sensitive, replace=False)
        yield replace(baskets, sensitive=np.sort(drawn).astype(np.int32))


def scores_of(baskets: Baskets, methods: dict[str, Any], seed: int) -> dict[str, dict[str, float]]:
    """What each method reaches on the same questions."""
    from shoal.measures.reconstruction import Reconstruction

    measure = Reconstruction(seed=seed, questions=50)
    return {
        name: {score.name: score.value for score in measure.scores(baskets, method.anonymize(baskets)[0])}
        for name, method in methods.items()
    }


def orders(
    name: str, p: int, draws: int = 20, sensitive: int = 10, names: tuple[str, ...] = ORDERS
) -> list[dict[str, Any]]:
    """The divergence of every order and form: mean and spread over draws, and in how many it is below that of rcm."""
    from shoal.methods.cahd.method import Cahd
    from shoal.methods.permutation_mondrian import PermutationMondrian

    methods: dict[str, Any] = {
        f"{form} {order}": Cahd(p=p, form=form, order=order)  # type: ignore[arg-type]
        for form in ("blocks", "pivots")
        for order in names
    }
    if p <= 4:
        methods |= {"blocks gray improved": Cahd(p=p, form="blocks", improve=True)}
    methods |= {"near": Cahd(p=p), "permutation-mondrian": PermutationMondrian(p=p)}
    found = [
        scores_of(baskets, methods, seed)
        for seed, baskets in enumerate(draws_of(name, draws, sensitive, max(p, 20)))
    ]
    rows = []
    for method in methods:
        row: dict[str, Any] = {"data": name, "p": p, "method": method}
        rival = f"{method.split()[0]} rcm"
        for score in SCORES:
            values = np.array([one[method][score] for one in found])
            row[score] = f"{values.mean():.4f} ± {values.std(ddof=1):.4f}"
            if rival in methods and rival != method:
                below = sum(one[method][score] < one[rival][score] for one in found)
                row[f"{score} below rcm"] = f"{below} of {draws}"
            else:
                row[f"{score} below rcm"] = None
        rows.append(row)
    return rows


def attacks(name: str) -> list[dict[str, Any]]:
    """How often the attacks name the right one, with the seed's two items."""
    from shoal.io.baskets.load import read_baskets
    from shoal.measures.pivot import Pivot
    from shoal.measures.reconstruction import Reconstruction
    from shoal.methods.cahd.method import Cahd

    baskets = read_baskets(path_of(name), sensitive=SEED_ITEMS[name])
    rows = []
    for p in (4, 10, 20):
        for label, method in (
            ("pivots rcm", Cahd(p=p, form="pivots", order="rcm")),
            ("pivots gray", Cahd(p=p, form="pivots")),
            ("near", Cahd(p=p)),
            ("blocks rcm", Cahd(p=p, form="blocks", order="rcm")),
            ("blocks gray", Cahd(p=p, form="blocks")),
            ("blocks gray improved", Cahd(p=p, form="blocks", improve=True)),
        ):
            release, _ = method.anonymize(baskets)
            scores = (*Pivot().scores(baskets, release), *Reconstruction().scores(baskets, release))
            measured = {score.name: score.value for score in scores}
            names = ("guess", "largest", "central", "replay", "certain")
            rows.append(
                {
                    "data": name,
                    "p": p,
                    "1/p": 1 / p,
                    "form": label,
                    **{entry: measured[f"pivot_{entry}"] for entry in names},
                    "kl": measured["kl"],
                    "kl_frequent": measured["kl_frequent"],
                }
            )
    return rows


def forms(name: str, p: int, draws: int = 3, sensitive: int = 10) -> list[dict[str, Any]]:
    """What each form tells and betrays: means over draws. The learned reader learns from the other draws."""
    from shoal.measures.pivot import Pivot
    from shoal.measures.reconstruction import Reconstruction
    from shoal.methods.cahd.method import Cahd
    from shoal.risks._learned_reader import learn

    data = list(draws_of(name, draws, sensitive, max(p, 20)))
    rows = []
    for label, method in (
        ("pivots rcm", Cahd(p=p, form="pivots", order="rcm")),
        ("blocks gray", Cahd(p=p, form="blocks")),
        ("near", Cahd(p=p)),
    ):
        releases = [method.anonymize(baskets, seed=seed)[0] for seed, baskets in enumerate(data)]
        measured = [
            {
                score.name: score.value
                for score in (
                    *Reconstruction(seed=seed, questions=50).scores(baskets, release),
                    *Pivot().scores(baskets, release),
                )
            }
            for seed, (baskets, release) in enumerate(zip(data, releases, strict=True))
        ]
        learned = []
        for seed, (baskets, release) in enumerate(zip(data, releases, strict=True)):
            others = [(releases[one].data, data[one]) for one in range(draws) if one != seed]
            learned.append(learn(others).success(release.data, baskets))  # type: ignore[arg-type]
        names = ("kl_sum", "kl_frequent_sum", "pivot_guess", "pivot_central", "pivot_replay")
        row: dict[str, Any] = {"data": name, "p": p, "1/p": 1 / p, "form": label}
        row |= {entry: float(np.mean([one[entry] for one in measured])) for entry in names}
        rows.append({**row, "learned": float(np.mean(learned))})
    return rows


def run() -> None:
    """Print the tables; three draws only."""
    names = [name for name in FILES if path_of(name).exists()]
    for name in names:
        print(f"\n## {name}: divergence by order and form, 10 sensitive items, 3 draws\n")
        show([row for p in (4, 20) for row in orders(name, p, draws=3)])
    for name in names:
        print(f"\n## {name}: forms, 10 sensitive items, 3 draws\n")
        show([row for p in (4, 10, 20) for row in forms(name, p)])
    for name in SEED_ITEMS.keys() & set(names):
        print(f"\n## {name}: attacks\n")
        show(attacks(name))
