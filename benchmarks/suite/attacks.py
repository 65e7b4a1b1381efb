"""Methods by attacks: what is left of the risk on Adult and BMS-WebView-1, and how attacks grow with the data.

``python benchmarks/run.py attacks`` prints the tables of docs/results/risk.md. Figures are success / control / residual
in percent; seconds are processor time.
"""

import os
import time
from collections.abc import Iterator, Mapping
from math import log
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.case import show

DATA = Path(os.environ.get("SHOAL_DATA", Path(__file__).resolve().parents[3] / "shared" / "data"))
ADULT, BMS1 = "arx-adult/adult.csv.gz", "bms-webview-1/bms-webview-1.dat.gz"
QUASI = ("age", "workclass", "education", "marital-status", "race", "sex", "native-country")
HIERARCHIES = {name: f"{DATA}/arx-adult/hierarchies/adult_hierarchy_{name}.csv" for name in QUASI}
HELD_OUT = 0.1

TABLES: dict[str, dict[str, Any]] = {
    "mondrian k 10": {"name": "mondrian", "k": 10},
    "mondrian k 10, l 5": {"name": "mondrian", "k": 10, "l": 5},
    "mondrian k 10, t 0.3": {"name": "mondrian", "k": 10, "t": 0.3},
    "anatomy l 5": {"name": "anatomy", "l": 5},
    "pram, amplification 3": {"name": "pram", "gamma": 3},
    "lattice k 10": {"name": "lattice", "k": 10, "suppression_limit": 0.02},
    "samarati k 10": {"name": "samarati", "k": 10, "suppression_limit": 0.02},
    "rules hidden by stars, c 0.4": {"name": "table-rule-hiding", "k": 10, "confidence": 0.4},
    "rules hidden by decoys, c 0.4": {
        "name": "table-rule-hiding",
        "k": 10,
        "confidence": 0.4,
        "strategy": "decoy",
    },
}
SETS: dict[str, dict[str, Any]] = {
    "coherence h 0.4, k 10, p 2": {"name": "coherence", "h": 0.4, "k": 10, "p": 2},
    "cahd p 10": {"name": "cahd", "p": 10},
    "permutation-mondrian p 10": {"name": "permutation-mondrian", "p": 10},
    "disassociation k 5, m 2": {"name": "disassociation", "k": 5, "m": 2},
}


def run() -> None:
    """Print the tables."""
    print("\n## Attacks on people who all differ in one number, by 64,000 rows, Mondrian k 10, l 3\n")
    show(growth(distinct(64_000), {"name": "mondrian", "k": 10, "l": 3}))
    if (DATA / ADULT).exists():
        print("\n## Adult, a tenth of the people held out\n")
        show(list(rows_of(adult(), TABLES)))
        print("\n## Attacks on Adult by rows, Mondrian k 10, l 5: seconds, and the exponent of growth\n")
        show(growth(adult(), TABLES["mondrian k 10, l 5"]))
    if (DATA / BMS1).exists():
        print("\n## BMS-WebView-1, five sensitive items, a tenth of the baskets held out\n")
        show(list(rows_of(bms1(), SETS)))
        for label in ("cahd p 10", "disassociation k 5, m 2"):
            print(f"\n## Attacks on BMS-WebView-1 by baskets, {label}: seconds, and the exponent of growth\n")
            show(growth(bms1(), SETS[label]))


def adult() -> Any:
    """Adult with seven quasi-identifiers, along ARX's hierarchies where a method needs them."""
    import shoal

    return shoal.read_table(DATA / ADULT, quasi=QUASI, sensitive=["occupation"], others="drop")


def distinct(rows: int) -> Any:
    """People with a number that nobody else has, a town, and an illness: a text of its own for every class."""
    import polars

    import shoal

    rng = np.random.default_rng(0)
    frame = polars.DataFrame(
        {
            "income": rng.permutation(rows) * 10 + rng.integers(10, size=rows),
            "town": [f"t{town:02}" for town in rng.integers(20, size=rows)],
            "illness": rng.choice(["flu", "cold", "gout", "acne", "asthma"], rows),
        }
    )
    return shoal.read_table(frame, quasi=["income", "town"], sensitive=["illness"])


def bms1() -> Any:
    """BMS-WebView-1; five sensitive items, each in one basket of a hundred at most."""
    from shoal.io.baskets.load import read_baskets

    plain = read_baskets(DATA / BMS1)
    able = np.flatnonzero((plain.supports * 100 <= len(plain)) & (plain.supports >= 50))
    chosen = np.sort(np.random.default_rng(0).choice(able, 5, replace=False))
    return read_baskets(DATA / BMS1, sensitive=[plain.vocabulary[item] for item in chosen])


def released(data: Any, method: Mapping[str, Any]) -> Any:
    """The release of some data, with ARX's hierarchies for methods that need them."""
    import shoal
    from shoal import registry
    from shoal.sources import with_hierarchies

    if getattr(registry.load("method", method["name"]), "along_hierarchies", False):
        data = with_hierarchies(data, HIERARCHIES)
    options = {name: value for name, value in method.items() if name != "name"}
    return data, shoal.anonymize(data, method["name"], seed=1, **options).release


def rows_of(data: Any, methods: Mapping[str, Mapping[str, Any]]) -> Iterator[dict[str, Any]]:
    """A row for the raw data, and one for each method."""
    from shoal import registry
    from shoal.attacks._together import attack_all
    from shoal.attacks.attack import Target
    from shoal.data.release import Release

    count = data.rows if hasattr(data, "rows") else len(data)
    order = np.random.default_rng(0).permutation(count)
    outside = data.take(np.sort(order[: round(HELD_OUT * count)]))
    inside = data.take(np.sort(order[round(HELD_OUT * count) :]))
    third = inside.take(np.arange(0, len(order) - round(HELD_OUT * count), 3))
    for label, method in {"raw": None, **methods}.items():
        if method is None:
            original, release, other = inside, Release(inside, "none", {}, ()), None
        else:
            original, release = released(inside, method)
            other = released(third, method)[1]
        begin = time.process_time()
        found = attack_all(Target(release, original, outside, other))
        seconds = time.process_time() - begin
        cells = {name: _figures(found.get(name)) for name in registry.ATTACKS}
        yield {"release": label, **cells, "seconds": round(seconds, 1)}


def _figures(found: Any) -> str:
    if found is None:
        return "–"
    return " / ".join(f"{100 * share:.1f}" for share in (found.success, found.control, found.residual))


def growth(data: Any, method: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Processor seconds of each attack on a sixteenth, a quarter and all of the data, and the exponent between."""
    from shoal import registry
    from shoal.attacks.attack import Target

    count = data.rows if hasattr(data, "rows") else len(data)
    found: dict[str, list[float]] = {}
    for part in (16, 4, 1):
        some = data.take(np.arange(0, count, part))
        rows = some.rows if hasattr(some, "rows") else len(some)
        outside = data.take(np.arange(1, count, max(part, 4)))
        original, release = released(some, method)
        other = released(some.take(np.arange(0, rows, 2)), method)[1]
        target = Target(release, original, outside, other)
        for name, kind in registry.load_all("attack").items():
            attack = kind()
            if not isinstance(release.data, attack.accepts):
                continue
            attack.run(target)
            begin = time.process_time()
            if attack.run(target) is not None:
                found.setdefault(name, []).append(time.process_time() - begin)
    return [
        {
            "attack": name,
            **{label: round(value, 3) for label, value in zip(("1/16", "1/4", "all"), seconds, strict=True)},
            "exponent": round(log(max(seconds[-1], 1e-4) / max(seconds[0], 1e-4), 16), 2),
        }
        for name, seconds in found.items()
        if len(seconds) == 3
    ]
