"""Whole commands: start, read, anonymize, verify, write, prove, measure and report, by the seconds of the processor.

``python benchmarks/run.py commands`` writes three tables into docs/results/benchmarks.md: commands beside their floor
(polars reads the file, sorts it by all columns and writes it), how they grow with the data, and the first run of each
method with nothing compiled.
"""

import gzip
import json
import math
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.case import ROOT, machine, show, write_page

DATA = Path(os.environ.get("SHOAL_DATA") or ROOT.parent / "shared" / "data")
BUILD = ROOT / "build" / "commands"
LARGE = not os.environ.get("SHOAL_BENCH_SMALL")
"""Whether the table of ten million rows is measured too: it takes minutes and gigabytes."""

LARGEST = 1_000_000
"""Rows of the largest table of the growth."""

FLOOR = "import sys, polars as pl; t = pl.read_csv(sys.argv[1]); t.sort(t.columns).write_csv(sys.argv[2])"
TABLE = """
import sys, polars as pl
from benchmarks.suite.mondrian import table
rows, columns, path = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
made = table(rows, columns)
frame = pl.DataFrame({column.name: column.codes for column in made.columns})
letters = dict(enumerate("abcdefghijklmn"))
frame.with_columns(pl.col("secret").replace_strict(letters, return_dtype=pl.String)).write_csv(path)
"""
LATTICE = """
import time
from benchmarks.suite.lattice import arx_adult
from shoal.methods.lattice import Lattice
table, method = arx_adult(), Lattice(k=5, suppression_limit=0)
method.anonymize(table)
spent = []
for _ in range(5):
    begin = time.process_time(); method.anonymize(table); spent.append(time.process_time() - begin)
print(min(spent))
"""
COMPILED = """
import json, sys, time, warnings
from pathlib import Path
from shoal import registry
from shoal.cli import command_warm_up
from shoal.cli.command_warm_up import HIERARCHIES, made, roles_for
from shoal.data.table import Table
from shoal.kernels._compiling import watched
from shoal.pipeline import anonymize
warnings.simplefilter("ignore")
kind, folder, more = registry.load("method", sys.argv[1]), Path(sys.argv[2]), json.loads(sys.argv[3])
command_warm_up.ROWS = int(sys.argv[4])
file, spent, kernels = made(folder)[kind.accepts], 0.0, 0
def tell(seconds):
    global spent, kernels
    spent, kernels = spent + (-1 if seconds else 1) * time.process_time(), kernels + (seconds > 0)
trees = HIERARCHIES if kind.accepts is Table else None
with watched(tell):
    run = anonymize(file, kind(**{**kind.example, **more}), seed=7, hierarchies=trees, **roles_for(kind))
    run.write(folder / "out")
print(json.dumps({"kernels": kernels, "compiling CPU s": spent}))
"""

FIRST_ROWS = (300, 20_000)
"""Rows of first runs: what is small is not compiled everywhere."""

COHERENT = ("--h", "1", "--k", "100", "--public-share", "0.4", "--seed", "1")
"""How coherence is asked for, but for p."""


class Spent(NamedTuple):
    """What a process took."""

    cpu: float
    wall: float
    megabytes: float
    output: str


class Work(NamedTuple):
    """A command, the file it reads (to measure the floor by, or none), and the target of its CPU seconds."""

    name: str
    words: tuple[str, ...]
    file: Path | None = None
    target: str = ""
    repeats: int = 3


def spent(command: Sequence[str], **environment: str) -> Spent:
    """Run a process, and see what it took; kernels and byte code are kept, as users have it."""
    known = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    paths = os.pathsep.join((str(ROOT / "src"), str(ROOT)))
    with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as errors:
        begin = time.perf_counter()
        process = subprocess.Popen(
            command, stdout=output, stderr=errors, env={**known, "PYTHONPATH": paths, **environment}
        )
        _, status, usage = os.wait4(process.pid, 0)
        wall = time.perf_counter() - begin
        process.returncode = os.waitstatus_to_exitcode(status)
        output.seek(0)
        errors.seek(0)
        if process.returncode:
            raise RuntimeError(f"{' '.join(command[:6])}: {errors.read().decode().strip()[-300:]}")
        return Spent(usage.ru_utime + usage.ru_stime, wall, usage.ru_maxrss / 1024, output.read().decode())


def python(code: str, *words: object, **environment: str) -> Spent:
    """Run Python's code in a process of its own."""
    return spent([sys.executable, "-c", code, *map(str, words)], **environment)


def shoal(*words: object) -> Spent:
    """Run a command of Shoal; what it writes is overwritten by the next."""
    return spent([sys.executable, "-m", "shoal", *map(str, words)])


def least(runs: Sequence[Spent]) -> Spent:
    """The run that took least."""
    return min(runs, key=lambda one: one.cpu)


def table_file(rows: int, columns: int) -> Path:
    """A table of the shape of a census, made once."""
    path = BUILD / f"table-{rows}-{columns}.csv"
    if not path.exists():
        python(TABLE, rows, columns, path)
    return path


def baskets_file(rows: int, **shape: float) -> Path:
    """Synthetic baskets, made once."""
    path = BUILD / f"baskets-{rows}-{'-'.join(map(str, shape.values()))}.dat"
    if not path.exists():
        options = [word for name, value in shape.items() for word in (f"--{name}", value)]
        shoal("generate", "baskets", "--rows", rows, *options, "-o", path, "--quiet", "--force")
    return path


def adult_file() -> Path:
    """Adult as a CSV with names."""
    path = BUILD / "adult.csv"
    if not path.exists():
        path.write_text(
            gzip.decompress((DATA / "arx-adult/adult.csv.gz").read_bytes()).decode().replace(";", ",")
        )
    return path


def mondrian(rows: int, columns: int) -> tuple[str, ...]:
    """Mondrian on a table of so many rows and quasi-identifiers."""
    quasi = ",".join(f"q{place}" for place in range(columns))
    words = ("--k", "10", "--quasi", quasi, "--sensitive", "secret")
    return ("anonymize", "mondrian", str(table_file(rows, columns)), *words)


def cahd(rows: int) -> tuple[str, ...]:
    """CAHD on clustered baskets, ten items of middling support sensitive."""
    file = baskets_file(rows, items=1657, density=0.004, topics=40, correlation=0.7, seed=5)
    return ("anonymize", "cahd", str(file), "--p", "4", "--sensitive", ",".join(map(str, range(61, 161, 10))))


def disassociation(rows: int) -> tuple[str, ...]:
    """Disassociation on baskets of POS's shape."""
    file = baskets_file(rows, items=1657, density=6.5 / 1657, topics=20, seed=1)
    return ("anonymize", "disassociation", str(file), "--k", "5", "--m", "2")


def coherence(rows: int) -> tuple[str, ...]:
    """Coherence on synthetic baskets, two fifths of whose items are public."""
    file = baskets_file(rows, items=300, density=0.05, seed=7)
    return ("anonymize", "coherence", str(file), *COHERENT, "--p", "3")


GROWING = {
    "mondrian": lambda rows: mondrian(rows, 5),
    "cahd": cahd,
    "disassociation": disassociation,
    "coherence": coherence,
}


def works() -> list[Work]:
    """The commands to measure."""
    connect = DATA / "fimi" / "connect.dat.gz"
    adult = adult_file()
    quasi = "sex,age,race,marital-status,education,native-country,workclass"
    roles = ("--quasi", quasi, "--sensitive", "occupation", "--others", "drop")
    found = [
        Work("anonymize mondrian --help", ("anonymize", "mondrian", "--help"), None, "0.4", 5),
        Work("mondrian, Adult", ("anonymize", "mondrian", str(adult), "--k", "10", *roles), adult, "1.2", 5),
        Work(
            "coherence, Connect, p 4",
            (
                "anonymize",
                "coherence",
                str(connect),
                *COHERENT,
                "--p",
                "4",
            ),
            None,
            "4",
        ),
        Work("mondrian, 1 M × 5", mondrian(1_000_000, 5), table_file(1_000_000, 5), "3 × floor", 2),
        Work("CAHD, 1 M baskets", cahd(1_000_000), None, "8", 2),
        Work("disassociation, 515,597 baskets", disassociation(515_597), None, "12", 2),
    ]
    if LARGE:
        file = table_file(10_000_000, 8)
        found.append(Work("mondrian, 10 M × 8", mondrian(10_000_000, 8), file, "3 × floor, 2,000 MB", 1))
    return found


def measured(work: Work) -> dict[str, Any]:
    """A row of the table: the command after one that warms up, and its floor."""
    with tempfile.TemporaryDirectory() as folder:
        more = () if "--help" in work.words else ("--quiet", "--force", "-o", f"{folder}/out")
        runs = [shoal(*work.words, *more) for _ in range(work.repeats)]
        best, floor, method = least(runs), None, None
        if more:
            method = json.loads((Path(folder) / "out" / "run.json").read_text())["seconds"]["anonymizing"]
        if work.file is not None:
            floor = least([python(FLOOR, work.file, f"{folder}/floor.csv") for _ in range(work.repeats)])
    return {
        "command": work.name,
        "CPU s": best.cpu,
        "wall s": best.wall,
        "peak MB": round(best.megabytes),
        "method s": method,
        "floor CPU s": floor and floor.cpu,
        "floor MB": floor and round(floor.megabytes),
        "times the floor": floor and best.cpu / floor.cpu,
        "target": work.target,
    }


def grown(method: str, largest: int) -> dict[str, Any]:
    """A command on 1, 4 and 16 times as much, the same one on hardly anything taken out."""
    sizes = (largest // 16, largest // 4, largest)
    with tempfile.TemporaryDirectory() as folder:

        def cpu(rows: int, repeats: int) -> float:
            words = (*GROWING[method](rows), "--quiet", "--force", "-o", f"{folder}/out")
            return least([shoal(*words) for _ in range(repeats)]).cpu

        begin = cpu(2_000, 2)
        seconds = [max(cpu(rows, 1) - begin, 1e-3) for rows in sizes]
    return {
        "command": method,
        "rows": f"{sizes[0]:,}, {sizes[1]:,}, {sizes[2]:,}",
        "start CPU s": begin,
        **{f"{factor}× CPU s": one for factor, one in zip((1, 4, 16), seconds, strict=True)},
        "exponent 1–4": math.log(seconds[1] / seconds[0], 4),
        "exponent 4–16": math.log(seconds[2] / seconds[1], 4),
    }


def first_run(method: str, more: dict[str, Any]) -> dict[str, Any]:
    """What is compiled by the first run of a method, where nothing is compiled: on little data, and on more."""
    found = {"first run": f"{method} {' '.join(more)}".strip()}
    for rows in FIRST_ROWS:
        with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory() as cache:
            done = python(COMPILED, method, folder, json.dumps(more), rows, NUMBA_CACHE_DIR=cache)
        spent = {**json.loads(done.output), "CPU s": done.cpu, "wall s": done.wall}
        found |= {f"{name}, {rows:,} rows": value for name, value in spent.items()}
    return found


def first_runs() -> list[dict[str, Any]]:
    """All methods, and the search for better classes."""
    names = spent(
        [
            sys.executable,
            "-c",
            "from shoal.registry import load_all as a; print(*(n for n, m in a('method').items() if not m.needs_link))",
        ]
    )
    methods: list[tuple[str, dict[str, Any]]] = [(name, {}) for name in names.output.split()]
    return [first_run(*one) for one in [*methods, ("mondrian", {"improve_steps": [300]})]]


def lattice() -> dict[str, Any]:
    """The optimum on Adult at 0 %, called again in the same process."""
    seconds = float(python(LATTICE).output)
    return {"command": "lattice, Adult, 0 %, warm call", "CPU s": seconds, "target": "ARX 0.10–0.17"}


def whole() -> list[dict[str, Any]]:
    """All commands."""
    rows = []
    for work in works():
        rows.append(measured(work))
        print(f"{work.name}: {rows[-1]['CPU s']:.2f} CPU s", file=sys.stderr, flush=True)
    warm = lattice()
    return [*rows, {name: warm.get(name) for name in rows[0]}]


def growth() -> list[dict[str, Any]]:
    """The methods that are meant for much data."""
    return [grown(name, LARGEST if name == "mondrian" else LARGEST // 2) for name in GROWING]


WORDS = (
    "The least of a few runs, kernels compiled. Method: its steps, pictures too. Floor: polars reads, sorts and writes "
    "the same file."
)
TABLES: tuple[tuple[str, str, str, Callable[[], list[dict[str, Any]]]], ...] = (
    ("commands", "Whole commands", WORDS, whole),
    ("compiling", "First runs, nothing compiled", "Small and larger data.", first_runs),
    ("growth", "Growth of whole commands, start-up taken out", "CPU seconds of the whole command.", growth),
)


def run() -> None:
    """Measure, print and write the tables, one after the other."""
    BUILD.mkdir(parents=True, exist_ok=True)
    where = f"{machine()}; `python benchmarks/run.py commands`."
    for name, title, words, made in TABLES:
        rows = made()
        print(f"\n## {title}\n")
        show(rows)
        sys.stdout.flush()
        write_page(name, title, f"{words} {where}", rows)
