"""Many rows on a real cluster: a master and two workers with a core each on this machine, beside one machine alone.

``python -m benchmarks.suite.workers --rows 20000000 --write`` runs it in full and writes docs/results/benchmarks.md.
Rows are drawn and written a million at a time. Each run is the command that a user types, in a process of its own;
what the driver and the workers hold is looked at from outside, twice a second. All files are in one temporary folder
that is removed at the end.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from benchmarks.case import ROOT, machine, show, write_page
from benchmarks.processes import Watch, descendants
from benchmarks.suite.stream import TREES, written

EXECUTOR, DRIVER = "2g", "4GB"
"""Memory of the JVM of an executor, and of all that runs on the driver's side."""

DISK = 900
"""Bytes of disk for each row: the source, what is moved and kept between steps, and two releases."""

SETTINGS = {
    "spark.executor.memory": EXECUTOR,
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.executorEnv.PYTHONPATH": f"{ROOT / 'src'}",
}


def command(method: str, source: Path, out: Path, *more: str) -> list[str]:
    """What a user types."""
    options = ["--k", "10", "--quasi", "age,sex,zip,education", "--sensitive", "disease", "--others", "drop"]
    if method != "mondrian":
        options += ["--suppression-limit", "0.02"]
        options += [part for name, tree in TREES.items() for part in ("--hierarchy", f"{name}={tree}")]
    return [sys.executable, "-m", "shoal", "anonymize", method, str(source), *options, "-o", str(out), *more]


def watched(arguments: list[str], home: Path, workers: tuple[int, ...] = ()) -> dict[str, Any]:
    """Run a command; seconds on the clock, and the most memory of each role."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src"), "SPARK_CONF_DIR": str(home / "conf")}
    environment |= {
        "TMPDIR": str(home),
        "SPARK_LOCAL_DIRS": str(home / "scratch"),
        "SPARK_LOCAL_IP": "127.0.0.1",
    }
    begin = time.perf_counter()
    with (home / "log").open("w+") as log:
        process = subprocess.Popen(arguments, env=environment, cwd=home, stdout=log, stderr=log)

        def roles() -> dict[str, list[int]]:
            below = descendants(process.pid)
            found = {
                "driver": [process.pid],
                "driver's JVM": [one for one, name in below.items() if name == "java"],
            }
            for number, pid in enumerate(workers, 1):
                there = descendants(pid)
                found[f"executor {number}"] = [one for one, name in there.items() if name == "java"]
                found[f"Python of {number}"] = [
                    one for one, name in there.items() if name.startswith("python")
                ]
            return found

        with Watch(roles, home) as watch:
            code = process.wait()
        if code:
            log.seek(0)
            raise RuntimeError(f"{' '.join(arguments)}: {log.read().strip()[-2000:]}")
    return {"s": time.perf_counter() - begin, "megabytes": watch.megabytes, "disk": watch.disk}


def case(method: str, engine: str, source: Path, home: Path, cluster: Any) -> dict[str, Any]:
    """One run from the files to a proved release."""
    out = home / f"{method}-{engine}"
    if engine == "spark":
        more = ["--engine", "spark", "--master", cluster.master, "--memory", DRIVER]
        found = watched(command(method, source, out, *more), home, cluster.worker_pids)
    else:
        # Measures and the report look at both tables at once, and are no part of what is compared.
        found = watched(_local(method, source, out), home)
    seconds = json.loads((out / "run.json").read_text())["seconds"]
    answer: dict[str, Any] = {"method": method, "engine": engine, "s": found["s"]}
    answer |= {f"{step} s": seconds.get(step) for step in ("reading", "anonymizing", "writing", "verifying")}
    names = (
        "driver",
        "driver's JVM",
        "executor 1",
        "Python of 1",
        "executor 2",
        "Python of 2",
        "all together",
    )
    answer |= {f"{name} MB": found["megabytes"].get(name) or None for name in names}
    return {**answer, "disk MB": found["disk"]}


def _local(method: str, source: Path, out: Path) -> list[str]:
    """The same on one machine, without measures."""
    arguments = json.dumps({"method": method, "source": str(source), "out": str(out)})
    return [
        sys.executable,
        "-c",
        f"import sys; sys.path.insert(0, {str(ROOT)!r})\n"
        f"from benchmarks.suite.workers import run_local\nrun_local(**{arguments})",
    ]


def run_local(method: str, source: str, out: str) -> None:
    """Read, anonymize, verify, write and prove in memory."""
    from shoal.pipeline import carry_out, request_of
    from shoal.recipe import Recipe, Roles, Source
    from shoal.sources import load

    suppressed = {} if method == "mondrian" else {"suppression_limit": 0.02}
    recipe = Recipe(
        source=Source(path=source),
        roles=Roles(quasi=("age", "sex", "zip", "education"), sensitive=("disease",), others="drop"),
        hierarchies={} if method == "mondrian" else TREES,
        method={"name": method, "k": 10, **suppressed},
    )
    begin = time.perf_counter()
    intake = load(request_of(recipe), recipe.the_method())
    seconds = {"reading": time.perf_counter() - begin}
    finished = carry_out(recipe.the_method(), intake.data, measures=())
    seconds |= {step: spent for step, spent in finished.seconds.items() if step != "measuring"}
    begin = time.perf_counter()
    finished.write(out, report=False)
    path = Path(out) / "run.json"
    kept = json.loads(path.read_text())
    seconds["writing"] = time.perf_counter() - begin
    path.write_text(json.dumps({**kept, "seconds": seconds}))


def same_text(one: Path, other: Path) -> bool:
    """Whether two releases hold the same rows, one as a file and one in parts."""
    from hashlib import blake2b

    sums = []
    for out in (one, other):
        data = out / "release" / "data.csv"
        digest = blake2b()
        for part in sorted(data.iterdir()) if data.is_dir() else [data]:
            with part.open("rb") as file:
                file.readline()
                while block := file.read(1 << 20):
                    digest.update(block)
        sums.append(digest.digest())
    return sums[0] == sums[1]


def run(
    rows: int = 1_000_000, methods: tuple[str, ...] = ("mondrian", "samarati"), write: bool = False
) -> None:
    """Print the table of all methods, on the cluster and on one machine."""
    if find_spec("pyspark") is None or shutil.which("java") is None:
        print("\n## Two workers: pyspark or Java is not installed\n")
        return
    from tests.cluster import Cluster

    if shutil.disk_usage(tempfile.gettempdir()).free < rows * DISK:
        raise SystemExit(
            f"{rows * DISK / 1e9:,.0f} GB of disk are needed in {tempfile.gettempdir()} (TMPDIR)."
        )
    found = []
    with tempfile.TemporaryDirectory(prefix="shoal-bench-") as name:
        home = Path(name)
        (home / "conf").mkdir()
        lines = "".join(f"{key} {value}\n" for key, value in SETTINGS.items())
        (home / "conf" / "spark-defaults.conf").write_text(lines)
        source = written(rows, home)
        for method in methods:
            local = case(method, "local", source, home, None)
            cluster = Cluster(_made(home / f"cluster-{method}"), memory="3g")
            try:
                spark = case(method, "spark", source, home, cluster)
            finally:
                cluster.stop()
            equal = same_text(home / f"{method}-local", home / f"{method}-spark")
            found += [local | {"of local": 1.0, "same rows": ""}]
            found += [spark | {"of local": spark["s"] / local["s"], "same rows": "yes" if equal else "NO"}]
            for out in (f"{method}-local", f"{method}-spark", f"cluster-{method}", "scratch"):
                shutil.rmtree(home / out, ignore_errors=True)
    title = (
        f"{rows:,} rows of people in CSV, a master and two workers of one core and {EXECUTOR} each on one machine, "
        f"driver within {DRIVER}"
    )
    print(f"\n## {title}\n")
    show(found)
    if write:
        write_page(
            "workers",
            "Two workers",
            f"{title}. {machine()}; `python -m benchmarks.suite.workers --rows {rows}`.",
            found,
        )


def _made(folder: Path) -> Path:
    folder.mkdir()
    return folder


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--methods", default="mondrian,samarati")
    parser.add_argument(
        "--write", action="store_true", help="write the table into docs/results/benchmarks.md"
    )
    given = parser.parse_args()
    run(given.rows, tuple(given.methods.split(",")), given.write)
