"""What data holds never steers the terminal, and never hides in JSON."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

ODD = "\x1b[2Jflu\x7f\x9b31m\u2028\u202e\u200b\U000e0041"


@pytest.fixture
def odd(folder: Path) -> Path:
    rows = [f"{20 + row % 2},{ODD if row % 3 else 'cold'}" for row in range(24)]
    path = folder / "odd.csv"
    path.write_text("\n".join([f"q{ODD},s", *rows]) + "\n", encoding="utf-8")
    return path


@pytest.mark.parametrize("form", ["text", "json"])
def test_every_command_escapes(shoal: Callable[..., object], odd: Path, form: str) -> None:
    more = ("--json",) if form == "json" else ()
    roles = ("--quasi", f"q{ODD}", "--sensitive", "s")
    tree = odd.with_name("tree.csv")
    calls = [
        ("inspect", odd),
        ("anonymize", "mondrian", odd, "--k", "3", *roles, "-o", "out"),
        ("verify", "out"),
        ("verify", odd, *roles, "--k", "20"),
        ("verify", odd, *roles, "--l", "3"),
        ("measure", "out", "--original", odd),
        ("hierarchy", "check", tree, odd, "--column", "s"),
    ]
    tree.write_text("cold;*\n", encoding="utf-8")
    said = ""
    for call in calls:
        answer = shoal(*call, *more)
        assert answer.code in (0, 1, 3), answer.err
        for letter in (answer.out + answer.err).replace("\n", ""):
            assert letter.isprintable(), (call, letter)
        if form == "json":
            said += json.dumps(json.loads(answer.out), ensure_ascii=False)
    assert form == "text" or ODD[-1] in said


def test_errors_escape(shoal: Callable[..., object], odd: Path) -> None:
    answer = shoal("anonymize", "mondrian", odd, "--k", "3", "--quasi", "nobody", "-o", "out")
    assert answer.code == 2
    assert answer.err.replace("\n", "").isprintable()
