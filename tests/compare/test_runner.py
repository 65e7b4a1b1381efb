"""Runs from the recipe to the folder: failures are results, crashes lose nothing, finished runs stay finished."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest

from shoal.comparison.runner import Journal, compare
from shoal.comparison.worker import Bench, outcome
from shoal.data.baskets import Baskets
from shoal.data.release import Release
from shoal.data.trace import Trace
from shoal.errors import BadData, WrongUse
from shoal.measures.measure import Score
from shoal.outcome import Run

pytestmark = pytest.mark.usefixtures("misbehaving")

SWEEP = """
[[sweep]]
name = "s"
datasets = ["people"]
methods = ["misbehaving"]
parameters = {{ k = 3 }}
grid = {{ {grid} }}
"""

MIXED = SWEEP.format(grid='how = ["work", "raise", "exit", "refuse", "break"], k = [2, 3]')

LATE = SWEEP.format(grid='how = ["wait"], k = [2, 3]').replace('"s"', '"late"') + "time_limit = 2\n"

CHART = '[[chart]]\nname = "c"\nsweep = "s"\nx = "how"\ny = "lm"\n'


def statuses(folder: Path) -> dict[str, list[str]]:
    frame = pl.read_parquet(folder / "results.parquet")
    return {
        how: frame.filter(pl.col("how") == how)["status"].to_list() for how in frame["how"].unique().to_list()
    }


def test_what_fails_is_a_result_and_the_rest_finish(recipe: Callable[..., Path], tmp_path: Path) -> None:
    shown: list[tuple[int, int, str]] = []
    found = compare(
        recipe(MIXED + LATE + CHART),
        tmp_path / "out",
        jobs=2,
        tell=lambda *told: shown.append(told),
    )
    assert list(dict.fromkeys((done, total) for done, total, _ in shown)) == [
        (done, 12) for done in range(13)
    ]
    assert shown[0] == (0, 12, "")
    assert shown[-1] == (12, 12, "")
    assert any(going.count("s: misbehaving") == 2 for *_, going in shown)
    assert statuses(tmp_path / "out") == {
        "work": ["done"] * 2,
        "raise": ["failed"] * 2,
        "exit": ["crashed"] * 2,
        "refuse": ["refused"] * 2,
        "break": ["broken"] * 2,
        "wait": ["timeout"] * 2,
    }
    by_how = {row["how"]: row for row in found.rows}
    assert by_how["raise"]["error"] == "ZeroDivisionError: division by nothing"
    assert by_how["exit"]["error"] == "the process ended with exit code 9: out of everything"
    assert by_how["refuse"]["best"] == 7
    assert by_how["wait"]["error"] == "given up after 2 seconds"
    assert [by_how[how]["verdict"] for how in ("work", "refuse", "break")] == ["kept", None, "broken"]
    page = (tmp_path / "out" / "report.html").read_text()
    assert "division by nothing" in page
    assert "out of everything" in page


def test_a_row_tells_everything(recipe: Callable[..., Path], tmp_path: Path) -> None:
    text = SWEEP.format(grid="k = [3, 4]") + "seeds = [1, 2]\ntimed = true\nrepeats = 2\n"
    compare(recipe(text), tmp_path / "out", charts=False)
    frame = pl.read_parquet(tmp_path / "out" / "results.parquet")
    assert frame.columns[:7] == ["sweep", "dataset", "source", "rows", "method", "label", "k"]
    assert frame["rows"].to_list() == [60] * 4
    assert frame["k"].to_list() == [3, 3, 4, 4]
    assert frame["seed"].to_list() == [1, 2, 1, 2]
    assert (frame["reached.k-anonymity"] >= frame["k"]).all()
    for column in ("lm", "lm.age", "c_avg", "notes.classes", "peak_mb", "added_mb"):
        assert frame[column].null_count() == 0
    for column in (
        "seconds",
        "seconds.reading",
        "seconds.verifying",
        "seconds.measuring",
        "seconds.anonymizing.cut",
    ):
        assert (frame[column] > 0).all()
    written = pl.read_csv(tmp_path / "out" / "results.csv")
    assert written.columns == frame.columns
    assert written["lm"].to_list() == frame["lm"].to_list()
    assert not list((tmp_path / "out").glob(".*"))


def test_finished_runs_are_not_repeated_and_failed_ones_are(
    recipe: Callable[..., Path], tmp_path: Path
) -> None:
    text = SWEEP.format(grid='how = ["work", "raise", "refuse"]')
    assert compare(recipe(text), tmp_path / "out", charts=False).resumed == 0
    journal = tmp_path / "out" / "runs.jsonl"
    before = [json.loads(line)["key"] for line in journal.read_text().splitlines()]
    assert compare(recipe(text), tmp_path / "out", charts=False).resumed == 2
    after = [json.loads(line)["key"] for line in journal.read_text().splitlines()]
    assert after[:3] == before
    assert len(after) == 4
    grown = text.replace('"refuse"', '"refuse", "break"')
    assert compare(recipe(grown), tmp_path / "out", charts=False).resumed == 2
    assert compare(recipe(grown), tmp_path / "out", charts=False, force=True).resumed == 0


def test_a_longer_limit_gives_a_run_another_chance(recipe: Callable[..., Path], tmp_path: Path) -> None:
    text = SWEEP.format(grid="pause = [2.5]")
    for limit, status, resumed in ((0.5, "timeout", 0), (0.25, "timeout", 1), (60, "done", 0)):
        found = compare(recipe(f"{text}time_limit = {limit}\n"), tmp_path / "out", charts=False)
        assert (dict(found.statuses), found.resumed) == ({status: 1}, resumed)


@pytest.mark.parametrize("sent", [signal.SIGKILL, signal.SIGINT], ids=["killed", "interrupted"])
def test_an_ended_run_resumes(sent: signal.Signals, recipe: Callable[..., Path], tmp_path: Path) -> None:
    path = recipe(SWEEP.format(grid="k = [2, 3, 4, 5, 6, 7, 8, 9, 10, 11], pause = [0.2]"))
    out = tmp_path / "out"
    command = [sys.executable, "-m", "shoal", "compare", str(path), "-o", str(out), "--no-charts"]
    started = subprocess.Popen(command, stderr=subprocess.PIPE, start_new_session=True)
    try:
        wait_for(lambda: lines(out / "runs.jsonl") >= 3)
        os.killpg(started.pid, sent)
        _, err = started.communicate(timeout=60)
    finally:
        started.kill()
    assert started.returncode == (130 if sent == signal.SIGINT else -sent)
    if sent == signal.SIGINT:
        assert b"finished runs are kept" in err
    wait_for(lambda: not alive(started.pid))
    finished = Journal(out / "runs.jsonl").finished()
    assert 3 <= len(finished) < 10
    assert not (out / "results.parquet").exists()

    found = compare(path, out, charts=False)
    assert found.resumed == len(finished)
    assert dict(found.statuses) == {"done": 10}
    keys = [json.loads(line)["key"] for line in (out / "runs.jsonl").read_text().splitlines()]
    assert len(keys) == len(set(keys)) == 10
    assert [row["k"] for row in found.rows] == list(range(2, 12))


def wait_for(condition: Callable[[], bool]) -> None:
    for _ in range(1200):
        if condition():
            return
        time.sleep(0.05)
    pytest.fail("it did not come to pass within a minute")


def lines(path: Path) -> int:
    return path.read_bytes().count(b"\n") if path.exists() else 0


def alive(group: int) -> bool:
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    return True


def test_a_line_that_a_crash_cut_is_forgotten(tmp_path: Path) -> None:
    path = tmp_path / "runs.jsonl"
    with Journal(path) as journal:
        journal.add("a", {"status": "done"})
    whole = path.read_bytes()
    for cut in range(len(whole)):
        path.write_bytes(whole + whole.replace(b'"a"', b'"b"')[:cut])
        assert set(Journal(path).finished()) == {"a"}
        with Journal(path) as journal:
            journal.add("c", {"status": "refused"})
        assert set(Journal(path).finished()) == {"a", "c"}
    path.write_bytes(b"[1]\n" + whole)
    with pytest.raises(BadData, match=r"runs.jsonl, line 1: this line is not a run"):
        Journal(path).finished()


def test_without_processes_every_run_has_crashed(
    recipe: Callable[..., Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "executable", str(tmp_path / "nowhere"))
    found = compare(recipe(SWEEP.format(grid="k = [2, 3, 4]")), tmp_path / "out", charts=False, jobs=2)
    assert dict(found.statuses) == {"crashed": 3}
    assert "FileNotFoundError" in found.rows[0]["error"]
    with pytest.raises(WrongUse, match="runs at a time must be at least 1"):
        compare(recipe(SWEEP.format(grid="k = [2]")), tmp_path / "out", jobs=0)


def test_a_foreign_folder_stays_as_it_is(recipe: Callable[..., Path], tmp_path: Path) -> None:
    path = recipe(SWEEP.format(grid="k = [2]"))
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "letter.txt").write_text("dear")
    for force in (False, True):
        with pytest.raises(WrongUse, match="holds something other"):
            compare(path, tmp_path / "out", force=force)
    assert [file.name for file in (tmp_path / "out").iterdir()] == ["letter.txt"]


def test_a_chart_that_cannot_be_drawn_says_why(recipe: Callable[..., Path], tmp_path: Path) -> None:
    text = SWEEP.format(grid='how = ["work"]')
    found = compare(recipe(text + CHART.replace('"lm"', '["lm", "lm.agee"]')), tmp_path / "out")
    assert [bool(one.svg) for one in found.pictures] == [True, False]
    assert "There is no column 'lm.agee'. Did you mean 'lm.age'" in found.pictures[1].problem
    assert sorted(path.name for path in (tmp_path / "out" / "charts").iterdir()) == ["c-lm.png", "c-lm.svg"]
    refused = SWEEP.format(grid='how = ["refuse"]')
    (picture,) = compare(recipe(refused + CHART), tmp_path / "other").pictures
    assert picture.problem == "No run has a value to draw."


def test_data_stays_for_the_next_run_but_not_for_other_data(monkeypatch: pytest.MonkeyPatch) -> None:
    loads: list[object] = []
    monkeypatch.setattr("shoal.comparison.worker.load", lambda *given: loads.append(given) or "data")
    bench = Bench()
    data = {"seed": 7, "roles": {"public_share": None}}
    plans = [
        {"data": data, "draw": {}, "seed": 1},
        {"data": data, "draw": {}, "seed": 2},
        {"data": {**data, "seed": "each"}, "draw": {}, "seed": 2},
        {"data": {**data, "seed": "each"}, "draw": {}, "seed": 3},
        {"data": data, "draw": {"sensitive": 2}, "seed": 3},
        {"data": data, "draw": {"sensitive": 2}, "seed": 4},
        {"data": {**data, "roles": {"public_share": 0.5}}, "draw": {}, "seed": 5},
        {"data": {**data, "roles": {"public_share": 0.5}}, "draw": {}, "seed": 6},
    ]
    for plan in plans:
        bench._loaded(plan)
    assert len(loads) == 7


def test_parts_of_single_items_are_left_out() -> None:
    """They would be other columns for each draw."""
    original = Baskets([0, 2, 3], [0, 1, 1], ("a", "b"), [], [])
    scores = (Score("kl", 0.5, "divergence", parts={"a": 0.1, "b": 0.9, "0.01": 0.3}),)
    run = Run(
        original, Release(original, "m", {}, ()), Trace([0, 1], {}, {"classes": 3, "steps": [1]}), (), scores
    )
    plain = outcome(run)
    assert plain["scores"] == {"kl": 0.5, "kl.0.01": 0.3}
    assert plain["notes"] == {"classes": 3}
