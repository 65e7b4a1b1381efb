"""The comparison with other tools: the same measure of loss for all, and medians of their runs."""

from pathlib import Path

import pytest

pytest.importorskip("benchmarks")

from benchmarks.peers import page
from benchmarks.peers.sides import _adult
from benchmarks.peers.tasks import TASKS, Task

SIDES = Path(page.__file__).parent / "sides"


@pytest.mark.parametrize(
    ("cell", "is_number", "lost"),
    [
        ("20", True, 0.0),
        ("17-27", True, 0.1),
        ("[17,27]", True, 0.1),
        ("old", True, 2 / 3),
        ("17", False, 0.0),
        ("17,20", False, 1 / 3),
        ("17|20|60", False, 2 / 3),
        ("*", False, 1.0),
    ],
)
def test_what_a_cell_has_lost(cell: str, is_number: bool, lost: float) -> None:
    values = ["17", "20", "60", "117"]
    assert _adult.share(cell, values, {"old": 3, "*": 4}, is_number) == pytest.approx(lost)


def test_a_summary(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_adult, "ROWS", 4)
    monkeypatch.setattr(_adult, "values_of", lambda columns: {"sex": ["f", "m"]})
    monkeypatch.setattr(_adult, "hierarchy", lambda column: [["f", "*"], ["m", "*"]])
    found = _adult.summary([["f"], ["f"], ["*"]], ["sex"])
    assert found == {"classes": 2, "smallest class": 1, "rows left out": 1, "loss": 0.5}


def test_every_side_of_a_task_is_there() -> None:
    for task in TASKS:
        for side in task.sides.values():
            assert list(SIDES.glob(f"{side}.*")), side


def test_medians_and_failures() -> None:
    task = Task("t", "T", "", {"a": "x", "b": "y"})
    runs = [
        {"task": "t", "tool": "a", "cold_s": s, "cold_cpu_s": s, "peak_mb": 10 * s, "found": {"loss": 0.5}}
        for s in (1.0, 2.0, 4.0)
    ]
    assert page.row("a", page.of(runs, "t", "a")) == {
        "tool": "a",
        "cold s": 2.0,
        "cold CPU s": "2 (1–4)",
        "peak MB": 40,
        "loss": 0.5,
    }
    failed = [{"task": "t", "tool": "b", "failed": "no such module"}]
    assert page.row("b", failed) == {"tool": "b", "cold s": "no such module"}
    assert "no such module" in page.table_text(page.aligned([page.row("a", runs), page.row("b", failed)]))
    assert "<svg" in page.drawn(runs, [task])
