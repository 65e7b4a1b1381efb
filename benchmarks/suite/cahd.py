"""CAHD: the seed's table of times, growth with the number of baskets, and the whole command."""

import gzip
import os
import subprocess
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.case import ROOT, best_of, in_child, show
from shoal.data.baskets import Baskets

DATA = Path(os.environ.get("SHOAL_DATA") or ROOT.parent / "shared" / "data")
TABLE = DATA / "online-retail" / "online-retail.csv.gz"
BMS1 = DATA / "bms-webview-1" / "bms-webview-1.dat.gz"

SEED_TABLE = [
    ("1,000 lines of Online Retail, drawn", ("22729", "22616"), 0.16),
    ("80,000 first lines of Online Retail", ("22816", "22377"), 6.28),
    ("Online Retail", ("22816", "22377"), 197.4),
    ("BMS-WebView-1, first 6,000 items", ("10877", "18423"), 3.6),
    ("BMS-WebView-1", ("10877", "18423"), 1644.0),
]
"""The rows of the seed's table: data, sensitive items, and its seconds."""

DRAWN = 72
"""A draw of 1,000 lines in which both sensitive items occur."""


def data_of(name: str, sensitive: tuple[str, ...]) -> tuple[Baskets, float]:
    """The baskets of a row of the table, and the seconds to read them."""
    from shoal.io.baskets.load import read_baskets

    def read(path: Path, layout: str | None) -> tuple[Baskets, float]:
        begin = time.perf_counter()
        baskets = read_baskets(path, baskets=layout, sensitive=sensitive)
        return baskets, time.perf_counter() - begin

    if name.startswith("BMS"):
        if "first" not in name:
            return read(BMS1, None)
        lines = gzip.decompress(BMS1.read_bytes()).splitlines()
        ends = np.cumsum([len(line.split()) for line in lines])
        return _written(
            b"\n".join(lines[: int(np.searchsorted(ends, 6000)) + 1]), ".dat", lambda path: read(path, None)
        )
    layout = "long:InvoiceNo,StockCode"
    if name == "Online Retail":
        return read(TABLE, layout)
    lines = gzip.decompress(TABLE.read_bytes()).splitlines()
    chosen = lines[1:80_001]
    if "drawn" in name:
        places = np.random.default_rng(DRAWN).choice(len(lines) - 1, 1000, replace=False)
        chosen = [lines[place + 1] for place in places]
    return _written(b"\n".join([lines[0], *chosen]), ".csv", lambda path: read(path, layout))


def _written(text: bytes, ending: str, read: Any) -> Any:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"part{ending}"
        path.write_bytes(text + b"\n")
        return read(path)


def seed_row(name: str, sensitive: tuple[str, ...], seconds: float) -> dict[str, Any]:
    """One row of the seed's table, p = 4, α = 3: encoding, ordering, grouping and publishing."""
    from shoal.methods.cahd.method import Cahd

    baskets, reading = data_of(name, sensitive)
    row: dict[str, Any] = {
        "data": name,
        "baskets": len(baskets),
        "items": len(baskets.vocabulary),
        "n·d": len(baskets) * len(baskets.vocabulary),
        "sensitive": "+".join(str(baskets.supports[baskets.code(item)]) for item in sensitive),
        "seed s": seconds,
        "reading s": reading,
    }
    for label, method in (
        ("pivots rcm", Cahd(p=4, form="pivots", order="rcm")),
        ("pivots gray", Cahd(p=4, form="pivots")),
        ("near", Cahd(p=4)),
        ("blocks gray", Cahd(p=4, form="blocks")),
    ):
        method.anonymize(baskets)
        stages = ("encode", "order", "group", "publish")
        row[f"{label} s"] = min(
            sum(method.anonymize(baskets)[1].timings[s] for s in stages) for _ in range(3)
        )
    return row


def whole_command() -> dict[str, Any]:
    """``shoal anonymize cahd`` on BMS1: start, read, order, group, verify, measure, write, prove, report."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "shoal", "anonymize", "cahd", str(BMS1), "--p", "4"]
        command += ["--sensitive", "10877,18423", "--quiet", "--force", "-o", f"{folder}/out"]

        def call(*more: str) -> None:
            subprocess.run([*command, *more], env=environment, check=True, capture_output=True, cwd=folder)

        call()
        call("--form", "pivots", "--order", "rcm")
        return {
            "command": "anonymize cahd, BMS1, p = 4",
            "blocks gray s": best_of(call),
            "pivots rcm s": best_of(lambda: call("--form", "pivots", "--order", "rcm")),
        }


def shoppers(rows: int) -> Baskets:
    """Clustered baskets of about 6.6 of 1,657 items, ten of them sensitive."""
    from shoal.datasets.shopping import Shopping

    baskets = Shopping(rows=rows, items=1657, density=0.004, topics=40, correlation=0.7).make(5)
    by_support = np.argsort(-baskets.supports, kind="stable")
    return replace(baskets, sensitive=np.sort(by_support[60:160:10]).astype(np.int32))


def case(rows: int, form: str, order: str) -> dict[str, Any]:
    """The stages of one run, beside sorting as many numbers as there are items in all baskets."""
    from shoal.methods.cahd.method import Cahd

    method = Cahd(p=4, form=form, order=order)  # type: ignore[arg-type]
    method.anonymize(shoppers(2000))
    baskets = shoppers(rows)
    sort = best_of(lambda: np.sort(baskets.items))
    begin = time.process_time()
    _, trace = method.anonymize(baskets)
    spent = time.process_time() - begin
    stages = {f"{name} s": trace.timings[name] for name in ("encode", "order", "group", "publish")}
    return {
        "baskets": rows,
        "entries": len(baskets.items),
        "form": form,
        "order": order,
        **stages,
        "all s": sum(stages.values()),
        "with pictures, CPU s": spent,
        "sort s": sort,
    }


def run() -> None:
    """Print the tables."""
    if TABLE.exists() and BMS1.exists():
        print("\n## The seed's table: p = 4, α = 3, seconds without reading\n")
        show([seed_row(*row) for row in SEED_TABLE])
        print("\n## The whole command, kernels cached\n")
        show([whole_command()])
    print("\n## Growth: 1, 4 and 16 times as many baskets\n")
    show(
        [
            in_child("benchmarks.suite.cahd", rows=rows, form=form, order=order)
            for form, order in (("near", "gray"), ("pivots", "rcm"), ("blocks", "gray"))
            for rows in (62_500, 250_000, 1_000_000)
        ]
    )
