"""anonypy's Mondrian beside ours, on the same rows. Nothing is installed for it: ``pip install anonypy`` first."""

import time
from importlib.util import find_spec
from typing import Any

from benchmarks.case import show
from benchmarks.suite.mondrian import codes, table


def run() -> None:
    """Print the table, or that there is no peer."""
    print("\n## Peers: Mondrian, k = 10, 30,000 rows\n")
    if find_spec("anonypy") is None:
        print("anonypy is not installed.")
        return
    show([compare(columns) for columns in (2, 5)])


def compare(columns: int, rows: int = 30_000) -> dict[str, Any]:
    """Seconds of anonypy and of Shoal in the same process, publishing included."""
    import anonypy
    import pandas

    from shoal.methods.mondrian.method import Mondrian

    names = [f"q{place}" for place in range(columns)]
    frame = pandas.DataFrame(dict(zip(names, codes(rows, columns), strict=True)))
    frame["secret"] = "a"
    frame["secret"] = frame["secret"].astype("category")
    begin = time.perf_counter()
    anonypy.Preserver(frame, names, "secret").anonymize_k_anonymity(k=10)
    peer = time.perf_counter() - begin
    data = table(rows, columns)
    Mondrian(k=10).anonymize(data)
    begin = time.perf_counter()
    Mondrian(k=10).anonymize(data)
    ours = time.perf_counter() - begin
    return {"columns": columns, "anonypy s": peer, "shoal s": ours, "ratio": peer / ours}
