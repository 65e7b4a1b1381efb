"""What a row costs on Spark: seconds of each step, bytes over the network, memory; beside the same in memory.

Spark's own event log tells what its executors did. On one machine two executor cores stand for a cluster, so that all
rows which a shuffle moves are counted, although they do not leave the machine.
"""

import json
import os
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.case import in_child, peak_megabytes, show
from benchmarks.suite.mondrian import SIZES, codes

SETTINGS = {
    "spark.driver.memory": "1g",
    "spark.sql.shuffle.partitions": "8",
    "spark.executor.processTreeMetrics.enabled": "true",
    "spark.executor.metrics.pollingInterval": "500ms",
    "spark.eventLog.enabled": "true",
    "spark.eventLog.logStageExecutorMetrics": "true",
    "spark.eventLog.compress": "false",
    "spark.eventLog.rolling.enabled": "false",
}


def source(rows: int, folder: Path) -> Path:
    """A Parquet file of four numbers and a secret."""
    import polars as pl

    columns = {f"q{place}": column for place, column in enumerate(codes(rows, 4))}
    secret = np.random.default_rng(8).integers(0, 14, rows)
    frame = pl.DataFrame({**columns, "secret": np.array(list("abcdefghijklmn"))[secret]})
    path = folder / "rows.parquet"
    frame.write_parquet(path, row_group_size=max(rows // 16, 1))
    return path


def events(folder: Path) -> dict[str, float]:
    """Sums and peaks of what Spark logged."""
    totals = {"written": 0.0, "cpu": 0.0, "run": 0.0, "spilled": 0.0, "jvm": 0.0, "python": 0.0}
    for file in folder.iterdir():
        for line in file.read_text().splitlines():
            event = json.loads(line)
            metrics = event.get("Task Metrics")
            if metrics:
                totals["written"] += metrics["Shuffle Write Metrics"]["Shuffle Bytes Written"]
                totals["cpu"] += metrics["Executor CPU Time"] / 1e9
                totals["run"] += metrics["Executor Run Time"] / 1e3
                totals["spilled"] += metrics["Disk Bytes Spilled"]
            peaks = event.get("Executor Metrics") or event.get("Task Executor Metrics") or {}
            totals["jvm"] = max(totals["jvm"], peaks.get("ProcessTreeJVMRSSMemory", 0))
            totals["python"] = max(totals["python"], peaks.get("ProcessTreePythonRSSMemory", 0))
    return totals


BASKETS: dict[str, dict[str, Any]] = {
    "coherence": {"h": 0.8, "k": 10, "p": 2},
    "disassociation": {"k": 5, "m": 2},
    "cahd": {"p": 5},
}
"""Parameters of the methods of baskets."""


def plan_of(rows: int, method: str, folder: Path) -> dict[str, Any]:
    """What to run, on rows that are drawn."""
    if method not in BASKETS:
        plan: dict[str, Any] = {
            "source": {"path": str(source(rows, folder))},
            "roles": {"quasi": [f"q{place}" for place in range(4)], "sensitive": ["secret"]},
            "method": {"name": method, "k": 10},
        }
        if method != "mondrian":
            plan["hierarchies"] = {f"q{place}": "intervals:8,64,512" for place in range(4)}
        return plan
    from shoal.datasets.shopping import Shopping
    from shoal.io.baskets.load import write_baskets

    baskets = Shopping(rows=rows, items=1000).make(seed=1)
    rarest = np.argsort(baskets.supports)[:10]
    write_baskets(baskets, folder / "baskets.dat")
    return {
        "source": {"path": str(folder / "baskets.dat"), "baskets": "lines"},
        "roles": {"sensitive": [baskets.vocabulary[item] for item in rarest]},
        "method": {"name": method, **BASKETS[method]},
    }


def case(rows: int, method: str = "mondrian", engine: str = "spark") -> dict[str, Any]:
    """One run from a file to a proved release folder."""
    from shoal import pipeline
    from shoal.recipe import Recipe

    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        plan = plan_of(rows, method, folder)
        (folder / "events").mkdir()
        begin, cpu = time.perf_counter(), time.process_time()
        if engine == "local":
            run: Any = pipeline.run(Recipe(**plan))
            run.write(folder / "out", report=False)
            seconds = dict(run.seconds)
        elif engine == "stream":
            from shoal.engines.stream import Stream

            stream = Stream("4GB")
            seconds = dict(
                pipeline.run_on(stream, Recipe(**plan), verify=False).written(folder / "out").seconds
            )
            stream.close()
        else:
            from shoal.engines.spark import Spark

            os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
            log = {"spark.eventLog.dir": f"file://{folder / 'events'}"}
            spark = Spark(master="local[2]", settings={**SETTINGS, **log})
            _ = spark.session
            started = time.perf_counter() - begin
            begin, cpu = time.perf_counter(), time.process_time()
            made = pipeline.run_on(spark, Recipe(**plan), verify=False).written(folder / "out")
            seconds = dict(made.seconds)
            spark.close()
        wall, cpu = time.perf_counter() - begin, time.process_time() - cpu
        answer: dict[str, Any] = {"method": method, "rows": rows, "engine": engine, "s": wall}
        answer |= {
            f"{step} s": seconds.get(step) for step in ("reading", "anonymizing", "writing", "verifying")
        }
        answer |= {"cpu s here": cpu, "driver MB": peak_megabytes()}
        if engine == "spark":
            totals = events(folder / "events")
            answer |= {
                "start s": started,
                "task s": totals["run"],
                "jvm cpu s": totals["cpu"],
                "shuffle B/row": totals["written"] / rows,
                "jvm MB": totals["jvm"] / 2**20,
                "python MB": totals["python"] / 2**20,
            }
        return answer


def works(rows: int) -> list[dict[str, Any]]:
    """Seconds of one core that the functions take which travel to the workers, by row."""
    import polars as pl

    from benchmarks.suite.mondrian import table
    from shoal.data.dataset import COUNT
    from shoal.methods.mondrian import _distributed as parts
    from shoal.methods.mondrian._choice import Space
    from shoal.methods.mondrian._distributed import Axes, Tree, _codes_of
    from shoal.methods.mondrian._plan import Plan
    from shoal.models import _distributed as in_parts
    from shoal.models.k_anonymity import KAnonymity
    from shoal.models.t_closeness import TCloseness

    data = table(rows, 4)
    frame = pl.DataFrame({column.name: column.codes for column in data.columns})
    plan = Plan.of(data, "ranges", (KAnonymity(k=10),), {}, False, "widest")
    axes = Axes(tuple(column.name for column in data.quasi), tuple(axis.place for axis in plan.axes))
    space = Space.of([axis.positions for axis in plan.axes], [axis.depths for axis in plan.axes], None)
    tree = Tree.root(rows, 0)
    leaves = np.zeros(1, dtype=np.int64)
    empty = data.take(np.empty(0, dtype=np.int64))
    task = parts._Task(empty, plan, axes, tree, {}, "part")
    numbered = parts._numbered(task, frame)
    parts._published(task, numbered)
    published = parts._published(task, numbered)
    distinct = published.group_by(published.columns).agg(pl.len().cast(pl.Int64).alias(COUNT))
    wholes = {"secret": in_parts._overall(_Here(distinct), "secret")}
    models = (KAnonymity(k=10), TCloseness(t=1))
    deep, ends = _grown(tree, 8), np.arange(255, 511)
    steps = {
        "a pass of the top, first level": lambda: _codes_of(tree, axes, leaves, space.offsets, frame),
        "a pass of the top, ninth level": lambda: _codes_of(deep, axes, ends, space.offsets, frame),
        "number the parts": lambda: parts._numbered(task, frame),
        "cut and publish a part": lambda: parts._published(task, numbered),
        "judge classes (k, t)": lambda: in_parts._examined(distinct, models, empty.columns, wholes, rows),
    }
    found = []
    for name, work in steps.items():
        spent = []
        for _ in range(3):
            begin = time.process_time()
            work()
            spent.append(time.process_time() - begin)
        found.append({"work": name, "µs a row": 1e6 * min(spent) / rows})
    found.append({"work": "distinct rows of the release, of all rows", "µs a row": distinct.height / rows})
    return found


def _grown(tree: Any, levels: int) -> Any:
    """A tree of so many levels, all of whose leaves are cut at the middle of the next column."""
    from shoal.methods.mondrian._choice import Cuts

    for level in range(levels):
        leaves = np.flatnonzero(tree.children < 0)
        count = len(leaves)
        size, turn = SIZES[level % 4], level // 4
        pivots = np.full(count, size // (8 if turn == 0 else 16))
        cuts = Cuts(np.arange(count), np.full(count, level % 4), tree.sizes[leaves] // 2, pivots, pivots)
        tree = tree.cut(leaves, cuts)
    return tree


class _Here:
    """Rows in one frame, as parts that can be folded."""

    def __init__(self, frame: Any) -> None:
        self.frame = frame

    def fold(self, work: Any, _: Any) -> Any:
        return work(self.frame)


def run() -> None:
    """Print the tables."""
    print("\n## Work of one core\n")
    show(works(1_000_000))
    from importlib.util import find_spec

    if find_spec("pyspark") is None:
        print("\n## Spark: not installed\n")
        return
    print(
        f"\n## Four quasi-identifiers of {SIZES[:4]} values and a secret, k = 10, from Parquet to a proved release\n"
    )
    answers = [
        in_child("benchmarks.suite.cluster", rows=rows, method=method, engine=engine)
        for method in ("mondrian", "samarati")
        for rows in (200_000, 1_000_000)
        for engine in ("local", "stream", "spark")
    ]
    names = list(dict.fromkeys(name for answer in answers for name in answer))
    show([{name: answer.get(name) for name in names} for answer in answers])
    print("\n## Baskets of 1,000 items\n")
    show(
        [
            in_child("benchmarks.suite.cluster", rows=rows, method=method, engine=engine)
            for method in BASKETS
            for rows in (100_000, 400_000)
            for engine in ("local", "stream")
        ]
    )
