"""Rows in files within a bound of memory, beside the same rows in memory."""

import tempfile
from pathlib import Path
from typing import Any

from benchmarks.case import in_child, show

TREES = {"age": "intervals:5,10,20", "sex": "suppress", "zip": "mask", "education": "suppress"}
PART = 1_000_000
"""Rows of a part file."""


def written(rows: int, folder: Path) -> Path:
    """People as part files of a million each."""
    from shoal.datasets.people import People
    from shoal.io.tables import write_table

    place = folder / "people.csv"
    place.mkdir()
    for number, start in enumerate(range(0, rows, PART)):
        people = People(rows=min(PART, rows - start)).make(seed=number)
        write_table(people, place / f"part-{number:03}.csv")
    return place


def case(method: str, engine: str, memory: str, source: str) -> dict[str, Any]:
    """Seconds of the steps of one run."""
    from shoal.pipeline import publish
    from shoal.recipe import Output, Recipe, Roles, Running, Source

    with tempfile.TemporaryDirectory() as folder:
        suppressed = {"max_suppressed": 0.02} if method == "samarati" else {}
        recipe = Recipe(
            source=Source(path=source),
            roles=Roles(
                quasi=("age", "sex", "zip", "education"), sensitive=("disease",), others="insensitive"
            ),
            hierarchies=TREES if method != "mondrian" else {},
            method={"name": method, "k": 10, **suppressed},
            running=Running(engine=engine, memory=memory),  # type: ignore[arg-type]
            output=Output(folder=f"{folder}/out", report=False),
        )
        run, _ = publish(recipe)
    seconds = {f"{step} s": spent for step, spent in run.seconds.items() if step != "measuring"}
    return {"method": method, "engine": engine, "bound": memory if engine == "stream" else "", **seconds}


def run(rows: int = 12_000_000, memory: str = "1GB") -> None:
    """An input larger than the bound, in files; and a quarter of it in memory."""
    with tempfile.TemporaryDirectory() as folder:
        source = written(rows, Path(folder))
        size = sum(part.stat().st_size for part in source.iterdir())
        print(f"\n{rows:,} rows of 11 columns, {size / 1e6:,.0f} MB of CSV\n")
        found = [
            in_child(__name__, method=method, engine="stream", memory=memory, source=str(source))
            for method in ("samarati", "lattice", "mondrian")
        ]
        show(found)


if __name__ == "__main__":
    run()
