"""Measure Shoal beside other tools and write docs/results/peers.md.

    python -m benchmarks.peers [TASK …] [--repeat 5] [--arx arx.jar[:more.jar …]] [--program NAME=COMMAND …] [--no-page]

Each tool is installed by pip into an environment of its own in build/peers, on first use. Tools take turns, so that
what else the machine does falls on all of them. ARX is called where its jar is given; any other program, where its
command is: it is measured as a whole. Every run is kept in build/peers/runs.jsonl.
"""

import argparse
import gzip
import json
import os
import shlex
import shutil
import subprocess
import sys
import time
import venv
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks.case import ROOT
from benchmarks.peers.page import write
from benchmarks.peers.tasks import TASKS, Task

BUILD = ROOT / "build" / "peers"
SIDES = Path(__file__).parent / "sides"
DATA = Path(os.environ.get("SHOAL_DATA") or ROOT.parent / "shared" / "data")
NEEDED = {"anonypy": ("pandas<3",)}
"""What a tool needs beside what its package says."""

LIMIT = 900
"""Seconds after which a run is stopped."""


def main(words: list[str]) -> int:
    """Install what is missing, run everything in turns, write the page."""
    given = arguments(words)
    tasks = [task for task in TASKS if not given.tasks or task.key in given.tasks]
    if not DATA.is_dir():
        print(f"The public data is not there: {DATA}. Name its folder in SHOAL_DATA.", file=sys.stderr)
        return 2
    BUILD.mkdir(parents=True, exist_ok=True)
    runs = []
    with (BUILD / "runs.jsonl").open("w", encoding="utf-8") as kept:
        for run in all_runs(tasks, given):
            runs.append(run)
            kept.write(f"{json.dumps(run)}\n")
            kept.flush()
            print(
                f"{run['task']} {run['tool']} {run.get('cold_cpu_s', run.get('failed'))}",
                file=sys.stderr,
                flush=True,
            )
    if given.page:
        print(write(runs, tasks, given.repeat, words))
    return 1 if any("failed" in run for run in runs) else 0


def arguments(words: list[str]) -> argparse.Namespace:
    """What was typed."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.peers", description=(__doc__ or "").partition("\n")[0]
    )
    parser.add_argument("tasks", nargs="*", help=f"some of: {', '.join(task.key for task in TASKS)}")
    parser.add_argument("--repeat", type=int, default=5, help="how often each tool is called anew")
    parser.add_argument(
        "--arx", default="", help="ARX's jar, and others it needs, separated as in a class path"
    )
    parser.add_argument(
        "--program", action="append", default=[], metavar="NAME=COMMAND", help="any other program"
    )
    parser.add_argument(
        "--no-page", dest="page", action="store_false", help="do not write docs/results/peers.md"
    )
    return parser.parse_args(words)


def all_runs(tasks: list[Task], given: argparse.Namespace) -> Iterator[dict[str, Any]]:
    """Every tool once, and then all of them again."""
    for _ in range(given.repeat):
        for task in tasks:
            for tool, side in task.sides.items():
                if tool != "arx":
                    yield {"task": task.key, "tool": tool, **called(python_of(tool), side, task)}
                elif given.arx:
                    yield {"task": task.key, "tool": tool, **called_arx(given.arx, task)}
        for program in given.program:
            name, _, command = program.partition("=")
            yield {"task": "programs", "tool": name, "command": command, **whole(shlex.split(command))}


def python_of(tool: str) -> str:
    """The Python that has a tool: our own, or that of an environment made for it."""
    if tool == "shoal":
        return sys.executable
    folder = BUILD / tool
    python = folder / "bin" / "python"
    if not (folder / "installed").exists():
        print(f"Installing {tool} ...", file=sys.stderr)
        venv.create(folder, clear=True, with_pip=True)
        command = [python, "-m", "pip", "install", "--quiet", "--quiet", "--disable-pip-version-check"]
        subprocess.run([*command, tool, *NEEDED.get(tool, ())], check=True)
        (folder / "installed").touch()
    return str(python)


def called(python: str, side: str, task: Task) -> dict[str, Any]:
    """One run of a side."""
    command = [python, "-m", "benchmarks.peers.call", side, json.dumps(task.arguments), str(time.time())]
    return answered(command)


def called_arx(jars: str, task: Task) -> dict[str, Any]:
    """One run of ARX, by a small program of ours; what it published is judged as that of the others."""
    folder = BUILD / "arx"
    classes, published = folder / "classes", folder / "published.csv"
    if not (folder / "adult.csv").exists():
        folder.mkdir(exist_ok=True)
        with gzip.open(DATA / "arx-adult/adult.csv.gz") as packed, (folder / "adult.csv").open("wb") as plain:
            shutil.copyfileobj(packed, plain)
    if not classes.exists():
        subprocess.run(
            ["javac", "-nowarn", "-cp", jars, "-d", classes, SIDES / "ArxFullDomain.java"], check=True
        )
    words = [folder / "adult.csv", DATA / "arx-adult/hierarchies", ",".join(task.arguments["columns"])]
    words += [task.arguments["k"], task.arguments["limit"], time.time(), published]
    answer = answered(["java", "-cp", f"{classes}{os.pathsep}{jars}", "ArxFullDomain", *map(str, words)])
    if "failed" not in answer:
        from benchmarks.peers.sides import _adult

        rows = [line.split(";") for line in published.read_text(encoding="utf-8").splitlines()]
        answer["found"] = _adult.summary(rows, task.arguments["columns"])
        answer["versions"] = {"arx": Path(jars.split(os.pathsep)[0]).stem}
    return answer


def answered(command: list[str]) -> dict[str, Any]:
    """The line of JSON that a process prints at its end, or why there is none."""
    try:
        done = subprocess.run(
            command, cwd=ROOT, env=environment(), capture_output=True, text=True, timeout=LIMIT, check=False
        )
    except subprocess.TimeoutExpired:
        return {"failed": f"stopped after {LIMIT} s"}
    if done.returncode:
        return {"failed": (done.stderr.strip().splitlines() or ["no message"])[-1]}
    answer: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return answer


def whole(command: list[str]) -> dict[str, Any]:
    """A whole program: seconds, processor seconds and memory."""
    begin = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        return {"failed": f"ended with {process.returncode}"}
    seconds = time.perf_counter() - begin
    return {"cold_s": seconds, "cold_cpu_s": used.ru_utime + used.ru_stime, "peak_mb": used.ru_maxrss / 1024}


def environment() -> dict[str, str]:
    """That of this process, with the place of the data."""
    return {**os.environ, "SHOAL_DATA": str(DATA)}


if __name__ == "__main__":
    os.environ.setdefault("SHOAL_DATA", str(DATA))
    sys.exit(main(sys.argv[1:]))
