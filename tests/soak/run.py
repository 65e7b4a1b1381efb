"""Run many cases in several processes, resumable, with a table of outcomes and a file for each failure."""

import argparse
import json
import os
import shutil
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from tests.soak.cases import Case, draw
from tests.soak.engines import Engines
from tests.soak.judged import Judged, run_case

BATCH = 50
"""Cases that a process runs at a time, between two lines of the journal."""

ROOT = Path(__file__).resolve().parents[2]


def main(arguments: list[str] | None = None) -> int:
    """Run what the command line asks for; returns 1 where a case failed."""
    asked = _parser().parse_args(arguments)
    out = Path(asked.out)
    (out / "failures").mkdir(parents=True, exist_ok=True)
    if asked.replay:
        return _replay(Path(asked.replay))
    journal = out / f"journal-{asked.seed}.jsonl"
    if asked.fresh:
        journal.unlink(missing_ok=True)
    done = _done(journal)
    seeds = range(asked.seed * 1_000_000, asked.seed * 1_000_000 + asked.cases)
    batches = [list(seeds[place : place + BATCH]) for place in range(0, len(seeds), BATCH)]
    left = [batch for batch in batches if batch[0] not in done]
    counts: Counter[str] = sum((Counter(one["counts"]) for one in done.values()), Counter())
    begin, finished = time.monotonic(), len(done) * BATCH
    with journal.open("a", encoding="utf-8") as file:
        for batch in _worked(left, asked.processes, asked.spark, out):
            file.write(json.dumps(batch) + "\n")
            file.flush()
            counts.update(batch["counts"])
            finished += BATCH
            rate = (finished - len(done) * BATCH) / (time.monotonic() - begin)
            so_far = f"{min(finished, asked.cases):,} of {asked.cases:,} cases"
            _say(f"\r{so_far}, {counts['failed']} failed, {rate:.1f} a second ")
    _say("\n" + table(counts) + "\n")
    _say(f"{asked.cases:,} cases from seed {asked.seed}; {counts['failed']} failed")
    _say(f"; see {out / 'failures'}\n" if counts["failed"] else ".\n")
    return 1 if counts["failed"] else 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="make soak", description=__doc__)
    parser.add_argument("--cases", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=1, help="cases of different seeds are different")
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--spark", type=int, default=0, metavar="N", help="also run every N-th case on Spark")
    parser.add_argument("--fresh", action="store_true", help="forget what an earlier run has done")
    parser.add_argument("--replay", metavar="FILE", help="run the case of a failure again")
    parser.add_argument("--out", default=str(ROOT / "build" / "soak"))
    return parser


def _done(journal: Path) -> dict[int, dict[str, Any]]:
    """The batches of an earlier run, by their first case; a batch whose line was cut off is run again."""
    found = {}
    for line in journal.read_text(encoding="utf-8").splitlines() if journal.exists() else []:
        try:
            batch = json.loads(line)
        except json.JSONDecodeError:
            continue
        found[batch["first"]] = batch
    return found


def _worked(batches: list[list[int]], processes: int, spark: int, out: Path) -> Iterator[dict[str, Any]]:
    # Frames of a few rows gain nothing from threads.
    os.environ.setdefault("POLARS_MAX_THREADS", "1")
    with ProcessPoolExecutor(processes, mp_context=get_context("spawn")) as pool:
        waiting: set[Future[dict[str, Any]]] = set()
        queue = iter(batches)
        while True:
            for batch in queue:
                waiting.add(pool.submit(work, batch, spark, out))
                if len(waiting) >= 2 * processes:
                    break
            if not waiting:
                return
            finished, waiting = wait(waiting, return_when=FIRST_COMPLETED)
            for one in finished:
                yield one.result()


_ENGINES: list[Engines] = []


def work(seeds: Iterable[int], spark: int, out: Path) -> dict[str, Any]:
    """Run some cases, and write those that fail."""
    home = Path(tempfile.mkdtemp(prefix="shoal-soak-"))
    if not _ENGINES:
        _ENGINES.append(Engines(home.parent))
    counts: Counter[str] = Counter()
    first = -1
    try:
        for seed in seeds:
            first = seed if first < 0 else first
            case = draw(seed)
            judged = run_case(case, _ENGINES[0], home, spark=bool(spark) and seed % spark == 0)
            counts.update(tally(judged))
            if judged.faults:
                (out / "failures" / f"{seed}.json").write_text(case.text(judged.faults), encoding="utf-8")
    finally:
        shutil.rmtree(home, ignore_errors=True)
    return {"first": first, "counts": dict(counts)}


def tally(judged: Judged) -> Counter[str]:
    """What a case contributes to the table."""
    found: Counter[str] = Counter()
    case = judged.case
    for outcome in judged.outcomes:
        found[f"method\t{case.method}\t{outcome.engine}\t{outcome.name}"] += 1
        models = {one["model"] for one in case.promises}
        for model in models or {"(of the method)"}:
            found[f"model\t{model}\t{outcome.engine}\t{outcome.name}"] += 1
    if judged.tampered:
        found[f"tampered\t{case.method}\tlocal\t{judged.tampered}"] += 1
    found["failed"] += bool(judged.faults)
    return found


def table(counts: Counter[str]) -> str:
    """Methods, models and falsified releases by engine and outcome."""
    keys = sorted(key for key in counts if "\t" in key)
    lines = [(*key.split("\t"), f"{counts[key]:,}") for key in keys]
    widths = [max((len(line[place]) for line in lines), default=0) for place in range(5)]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip()
        for line in lines
    )


def _replay(path: Path) -> int:
    home = Path(tempfile.mkdtemp(prefix="shoal-soak-"))
    try:
        judged = run_case(Case.read(path), Engines(home), home)
    finally:
        shutil.rmtree(home)
    for outcome in judged.outcomes:
        _say(f"{outcome.engine}: {outcome.name} {outcome.message}\n")
    for fault in judged.faults:
        _say(f"BROKEN  {fault}\n")
    return 1 if judged.faults else 0


def _say(text: str) -> None:
    sys.stdout.write(text)
    sys.stdout.flush()
