"""Input that is larger than the bound of memory, in files of this machine: time, and the most memory that was held.

``python -m benchmarks.suite.stream --rows 24000000 --memory 1GB --write`` runs it in full and writes
docs/results/benchmarks.md. Every run is a process of its own, whose peak the system tells at its end.
"""

import argparse
import json
import shutil
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.case import in_child, machine, show, write_page

TREES = {"age": "intervals:5,10,20", "sex": "suppress", "zip": "mask", "education": "suppress"}
PART = 1_000_000
"""Rows of a part file."""

DRAWN = 2
"""Part files of baskets that are drawn, which takes long; the others are copies of them."""

TABLES = ("samarati", "lattice", "mondrian")
BASKETS: dict[str, dict[str, Any]] = {"cahd": {"p": 5}}


def written(rows: int, folder: Path) -> Path:
    """People as part files of a million each, drawn one after the other."""
    from shoal.datasets.people import People
    from shoal.io.tables.load import write_table

    place = folder / "people.csv"
    place.mkdir()
    for number, start in enumerate(range(0, rows, PART)):
        people = People(rows=min(PART, rows - start)).make(seed=number)
        write_table(people, place / f"part-{number:03}.csv")
    return place


def written_baskets(rows: int, folder: Path) -> Path:
    """Baskets of 20 items in the mean as part files of a million each, a few of which are drawn and then repeated."""
    from shoal.datasets.shopping import Shopping
    from shoal.io.baskets.load import write_baskets

    place = folder / "baskets.dat"
    place.mkdir()
    for number, start in enumerate(range(0, rows, PART)):
        path = place / f"part-{number:03}.dat"
        if number >= DRAWN and rows - start >= PART:
            shutil.copy(place / f"part-{number % DRAWN:03}.dat", path)
            continue
        baskets = Shopping(rows=min(PART, rows - start), items=1000, density=0.02).make(seed=number)
        write_baskets(baskets, path)
        if not number:
            rare = np.argsort(baskets.supports, kind="stable")[5:10]
            (folder / "secrets").write_text(json.dumps([baskets.vocabulary[item] for item in rare]))
    return place


def case(method: str, engine: str, memory: str, source: str) -> dict[str, Any]:
    """Seconds of the steps of one run."""
    from shoal.pipeline import publish
    from shoal.recipe import Output, Recipe, Roles, Running, Source

    with tempfile.TemporaryDirectory(dir=Path(source).parent) as folder:
        recipe = Recipe(
            **_plan(method, Path(source), Source, Roles),
            running=Running(engine=engine, memory=memory),
            output=Output(folder=f"{folder}/out", report=False),
        )
        run, _ = publish(recipe)
        assert run.holds
    seconds = {f"{step} s": spent for step, spent in run.seconds.items() if step != "measuring"}
    order = ("reading s", "anonymizing s", "writing s", "verifying s")
    return {"method": method, "bound": memory, **{step: seconds.get(step) for step in order}}


def _plan(method: str, source: Path, made: Any, roles: Any) -> dict[str, Any]:
    if method in BASKETS:
        secrets = tuple(json.loads((source.parent / "secrets").read_text()))
        return {
            "source": made(path=str(source), baskets="lines"),
            "roles": roles(sensitive=secrets),
            "method": {"name": method, **BASKETS[method]},
        }
    suppressed = {"suppression_limit": 0.02} if method == "samarati" else {}
    return {
        "source": made(path=str(source)),
        "roles": roles(
            quasi=("age", "sex", "zip", "education"), sensitive=("disease",), others="insensitive"
        ),
        "hierarchies": TREES if method != "mondrian" else {},
        "method": {"name": method, "k": 10, **suppressed},
    }


def in_memory(source: Path) -> float:
    """Megabytes that all cells take as a frame in memory, from those of the first part."""
    import polars as pl

    parts = sorted(source.iterdir())
    first = (
        pl.read_csv(parts[0])
        if source.suffix == ".csv"
        else pl.Series(parts[0].read_text().splitlines()).str.split(" ").to_frame("items")
    )
    whole = sum(part.stat().st_size for part in parts)
    return float(first.estimated_size() * whole / parts[0].stat().st_size / 1e6)


def run(
    rows: int = 12_000_000,
    memory: str = "1GB",
    methods: tuple[str, ...] = (*TABLES, *BASKETS),
    write: bool = False,
) -> None:
    """Print the table of all methods."""
    found = []
    with tempfile.TemporaryDirectory(prefix="shoal-bench-") as folder:
        for make, chosen in ((written, TABLES), (written_baskets, tuple(BASKETS))):
            wanted = [method for method in chosen if method in methods]
            if not wanted:
                continue
            source = make(rows, Path(folder))
            size = sum(part.stat().st_size for part in source.iterdir()) / 1e6
            about = {"input": source.name, "rows": rows, "text MB": size, "as a frame MB": in_memory(source)}
            for method in wanted:
                plan = {"method": method, "engine": "stream", "memory": memory, "source": str(source)}
                found.append({**about, **in_child("benchmarks.suite.stream", **plan)})
            for part in source.iterdir():
                part.unlink()
    print(f"\n## Larger than memory: {rows:,} rows within {memory}\n")
    show(found)
    if write:
        words = (
            f"`--engine stream --memory {memory}`, from part files of a million rows each to a proved release folder. "
            f"{machine()}; `python -m benchmarks.suite.stream --rows {rows} --memory {memory}`. `peak_mb` is the most "
            "that the process ever held."
        )
        write_page("stream", "Larger than memory", words, found)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=12_000_000)
    parser.add_argument("--memory", default="1GB")
    parser.add_argument("--methods", default=",".join((*TABLES, *BASKETS)))
    parser.add_argument(
        "--write", action="store_true", help="write the table into docs/results/benchmarks.md"
    )
    given = parser.parse_args()
    run(given.rows, given.memory, tuple(given.methods.split(",")), given.write)
