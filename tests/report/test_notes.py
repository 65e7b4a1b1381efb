"""What a method tells of its work."""

from dataclasses import replace

import numpy as np

from shoal.outcome import Run
from shoal.report.notes import SHOWN, explanation_of, notes_of, summary_of
from shoal.report.page import render

EVIL = "<script>alert(1)</script>\x1b"


def test_notes_become_lines() -> None:
    notes = {
        "pictures": [1],
        "solutions": [2],
        "summary": ["x"],
        "rules.s": {"stars": 3},
        "groups_given_up": 1200,
        "share": 0.25,
        "band": {"before": {"profile": 7}},
        "proven": True,
        "nothing": None,
        "text": "a" * 500,
        "counted": np.int64(4),
    }
    lines = dict(notes_of(notes))
    assert set(lines) == {"groups given up", "share", "band, before, profile", "proven", "text", "counted"}
    assert lines["groups given up"] == "1,200"
    assert lines["proven"] == "yes"
    assert lines["counted"] == "4"
    assert len(lines["text"]) == 200
    assert len(notes_of({str(place): place for place in range(500)})) == SHOWN


def test_a_long_explanation_is_cut() -> None:
    assert explanation_of({}) == ""
    assert len(explanation_of({"explanation": "a line\n" * 9000})) < 21_000


def test_the_page_says_what_the_method_chose(run: Run) -> None:
    notes = {"summary": [EVIL, "Levels: age 2 of 3."], "explanation": f"first\n{EVIL}", EVIL: EVIL}
    page = render(replace(run, trace=replace(run.trace, notes=notes)))
    assert "<script" not in page
    assert "Levels: age 2 of 3." in page
    assert "Step by step" in page
    assert summary_of(notes)[0].endswith("␛")
