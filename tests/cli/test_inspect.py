"""A look at data before anything is done to it."""

import json
import shlex
from collections.abc import Callable
from pathlib import Path


def test_a_table(shoal: Callable[..., object], people: Path) -> None:
    answer = shoal("inspect", people)
    assert (answer.code, answer.err) == (0, "")
    assert "120 rows, 5 columns" in answer.out
    row = next(line for line in answer.out.splitlines() if line.startswith("education"))
    assert row.split()[:6] == ["education", "nominal", "3", "0", "0.0%", "quasi"]


def test_the_suggested_command_runs(shoal: Callable[..., object], people: Path, folder: Path) -> None:
    people.rename(folder / "our people.csv")
    answer = shoal("inspect", "our people.csv")
    line = next(line for line in answer.out.splitlines() if line.startswith("  shoal anonymize"))
    _, *arguments = shlex.split(line)
    assert "--identifying" in arguments
    assert shoal(*arguments, "--no-report").code == 0


def test_a_comma_in_a_name_is_escaped(shoal: Callable[..., object], folder: Path) -> None:
    rows = "".join(f"{20 + row % 3},{row % 2}\n" for row in range(40))
    (folder / "any.csv").write_text('"age, years",sex\n' + rows)
    answer = shoal("inspect", "any.csv")
    line = next(line for line in answer.out.splitlines() if line.startswith("  shoal anonymize"))
    assert shoal(*shlex.split(line)[1:], "--no-report").code == 0


def test_columns_together(shoal: Callable[..., object], people: Path) -> None:
    told = json.loads(shoal("inspect", people, "--quasi", "education", "--json").out)
    assert told["quasi"] == ["education"]
    assert (told["classes"], told["smallest"], told["unique"]) == (3, 40, 0.0)
    assert shoal("inspect", people, "--quasi", "educaton").code == 2


def test_baskets(shoal: Callable[..., object], folder: Path) -> None:
    text = "milk bread\nmilk\nbread eggs milk\n\n"
    (folder / "baskets.dat").write_text(text)
    (folder / "baskets.txt").write_text(text)
    answer = shoal("inspect", "baskets.dat")
    assert (answer.code, answer.err) == (0, "")
    assert answer.out.startswith("4 baskets, 3 items")
    assert "milk (3)" in answer.out
    assert shoal("inspect", "baskets.txt", "--baskets", "lines").out == answer.out
    assert json.loads(shoal("inspect", "baskets.dat", "--json").out)["occurrences"] == 6
