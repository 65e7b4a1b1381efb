"""A driver in a process of its own: anonymizes a file on a cluster, slowly enough to be disturbed."""

import sys
import time
from pathlib import Path

import polars as pl
from tests.cluster import SETTINGS

from shoal.data.dataset import Parts
from shoal.engines.spark import Spark
from shoal.io.tables.distributed import open_parts
from shoal.pipeline import run_on
from shoal.recipe import Output, Recipe, Roles, Source

OPTIONS = {"quasi": ("age", "sex", "zip"), "sensitive": ("disease",), "others": "drop"}
TREES = {"age": "intervals:5,10,20", "sex": "suppress", "zip": "mask"}


def recipe_of(source: str, folder: str, method: str) -> Recipe:
    """The same run for the cluster and for memory."""
    parameters = {"name": method, "k": 10}
    trees = TREES if method == "samarati" else {}
    return Recipe(
        source=Source(path=source),
        roles=Roles(**OPTIONS),  # type: ignore[arg-type]
        hierarchies=trees,
        method=parameters,
        output=Output(folder=folder),
    )


class Slowly:
    """Hands frames on; whoever is first leaves a mark that work is under way, and takes its time."""

    def __init__(self, mark: Path, seconds: float) -> None:
        self._mark, self._seconds = mark, seconds

    def __call__(self, frame: pl.DataFrame) -> pl.DataFrame:
        if time.time() - self._begun() < self._seconds:
            time.sleep(self._seconds)
        return frame

    def _begun(self) -> float:
        """When work began: those who begin together all take their time."""
        if not self._mark.exists():
            self._mark.touch()
        return self._mark.stat().st_mtime


def main(master: str, source: str, folder: str, method: str, mark: str) -> None:
    """Anonymize a file on a cluster, and write the release."""
    engine = Spark(master=master, settings=SETTINGS | {"spark.task.maxFailures": "8"})
    rows: Parts = open_parts(source, engine).parts
    types = dict.fromkeys(rows.names, pl.String)
    slow = rows.map(Slowly(Path(mark), 3.0), types)
    recipe = recipe_of(source, folder, method)
    finished = run_on(engine, recipe, source=slow, verify=False).written(folder)
    assert finished.holds
    engine.close()


if __name__ == "__main__":
    main(*sys.argv[1:])
