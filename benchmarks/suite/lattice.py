"""The optimum over the lattice on ARX's own data, beside ARX's published values and times."""

import gzip
import os
import tarfile
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.case import ROOT, in_child, show
from shoal.data.domain import Domain, Kind
from shoal.data.hierarchy import Hierarchy
from shoal.data.role import Role
from shoal.data.table import Column, Table

DATA = Path(os.environ.get("SHOAL_DATA") or ROOT.parent / "shared" / "data")

ARX_COLD = {0.0: 3.49, 0.02: 4.54, 1.0: 9.29}
"""Seconds of ARX 3.9.2's core on two cores, from the start of the process to the end of the search; median of 3."""

PUBLISHED = {"adult": (0.7296, None), "creditcard": (0.3399, 0.4512), "mach2019": (0.4609, 0.6319)}
"""ARX's published quality, global and with local recoding, k = 5 (its benchmark of 2021)."""


def arx_adult() -> Table:
    """ARX's Adult with its nine hierarchies."""
    return _read(DATA / "arx-adult/adult.csv.gz", DATA / "arx-adult/hierarchies")


def arx_integers(name: str) -> Table:
    """A table of ARX's benchmark of 2021, integer-coded, with its hierarchies."""
    with tempfile.TemporaryDirectory() as folder:
        with tarfile.open(DATA / "arx-benchmark-int/hierarchies.tar.gz") as archive:
            for member in archive.getmembers():
                if member.isfile() and Path(member.name).name.startswith(f"{name}_int_"):
                    member.name = Path(member.name).name
                    archive.extract(member, folder, filter="data")
        return _read(DATA / f"arx-benchmark-int/{name}_int.csv.gz", Path(folder))


def _read(path: Path, hierarchies: Path) -> Table:
    from shoal.io.tables.load import read_table
    from shoal.sources import with_hierarchies

    with gzip.open(path, "rt") as file:
        names = file.readline().strip().split(";")
    return with_hierarchies(read_table(path, quasi=names), {"folder": str(hierarchies)})


def synthetic(rows: int) -> Table:
    """A census-like table of nine columns whose lattice has 12,960 vectors."""
    random = np.random.default_rng(7)
    columns = []
    for place, widths in enumerate(
        ([72, 15, 8, 5], [2], [5], [7, 2], [16, 5, 3], [41, 5], [7, 3], [14, 3], [2])
    ):
        codes = np.minimum(random.exponential(widths[0] / 4, rows), widths[0] - 1).astype(np.int32)
        labels = [
            tuple(f"{place}.{level}.{node}" for node in range(width)) for level, width in enumerate(widths)
        ]
        parents = [
            (np.arange(low) * high // low).astype(np.int32)
            for low, high in zip(widths, [*widths[1:], 1], strict=True)
        ]
        tree = Hierarchy((*labels, ("*",)), tuple(parents))
        domain = Domain(Kind.NOMINAL, labels[0])
        columns.append(Column(f"q{place}", Role.QUASI, domain, codes, tree))
    return Table(tuple(columns))


def case(name: str, limit: float, local: bool = False, rows: int = 0) -> dict[str, Any]:
    """One search, with what it looked at."""
    from shoal.methods.lattice import Lattice

    data = synthetic(rows) if rows else arx_adult() if name == "arx-adult" else arx_integers(name)
    method = Lattice(k=5, suppression_limit=limit, objective="granularity", local=local)
    begin = time.perf_counter()
    release, trace = method.anonymize(data)
    notes = trace.notes
    return {
        "data": name,
        "rows": data.rows,
        "limit": limit,
        "local": "yes" if local else "no",
        "granularity": notes["solutions"][0]["granularity"],
        "suppressed": release.suppressed,
        "proven": "yes" if notes["proven"] else f"bound {1 - notes['bound']:.3f}",
        "evaluated": notes["evaluated"],
        "pruned": notes["pruned"],
        "ms a vector": 1000 * notes["seconds_per_vector"],
        "s": time.perf_counter() - begin,
    }


def cold(limit: float) -> dict[str, Any]:
    """The whole command in a fresh process, as ARX's cold figures are: start, reading, search, and more: the release
    written, verified and measured.
    """
    import subprocess
    import sys

    with tempfile.TemporaryDirectory() as folder:
        names = "sex,age,race,marital-status,education,native-country,workclass,occupation,salary-class"
        call = [
            sys.executable, "-m", "shoal", "anonymize", "lattice", str(DATA / "arx-adult/adult.csv.gz"),
            "--k", "5", "--suppression-limit", str(limit), "--objective", "granularity", "--quasi", names,
            "--hierarchies", str(DATA / "arx-adult/hierarchies"), "--no-report", "--quiet", "-o", f"{folder}/out",
        ]  # fmt: skip
        seconds = []
        for place in range(3):
            begin = time.perf_counter()
            subprocess.run([*call[:-1], f"{folder}/out{place}"], check=True, cwd=ROOT)
            seconds.append(time.perf_counter() - begin)
    ours = sorted(seconds)[1]
    theirs = ARX_COLD.get(limit)
    return {
        "limit": limit,
        "shoal command s (median of 3)": ours,
        "ARX core s (median of 3, quiet machine)": theirs,
        "ARX / shoal": theirs / ours if theirs else None,
    }


def run() -> None:
    """Print the tables."""
    print("\n## lattice, k = 5, granularity, large synthetic tables\n")
    show(
        [
            in_child("benchmarks.suite.lattice", name="synthetic", limit=0.05, rows=rows)
            for rows in (30_000, 1_000_000)
        ]
    )
    if not (DATA / "arx-adult").exists():
        print(f"\nARX's data is not in {DATA}; set SHOAL_DATA.")
        return
    print("\n## lattice, k = 5, ARX's Adult, nine quasi-identifiers, 12,960 vectors\n")
    limits = (0.0, 0.02, 0.05, 1.0)
    show([in_child("benchmarks.suite.lattice", name="arx-adult", limit=limit) for limit in limits])
    print("\n## The command from a cold start\n")
    show([cold(limit) for limit in limits])
    print("\n## lattice, k = 5, ARX's benchmark of 2021, at most 60 s\n")
    rows = []
    for name, published in PUBLISHED.items():
        for local in (False, True):
            found = in_child("benchmarks.suite.lattice", name=name, limit=1.0, local=local)
            rows.append({**found, "ARX published": published[local]})
    show(rows)
