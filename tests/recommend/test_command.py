"""``shoal recommend``: what it shows and writes, and that its command runs as it is printed."""

import csv
import json
import shlex
from pathlib import Path

import pytest

from shoal.cli import command_anonymize, main
from shoal.cli.program import program
from shoal.io.reading import Reading
from shoal.recipe import Recipe, Roles, Source
from shoal.recommendation.command_line import command_line

pytestmark = pytest.mark.usefixtures("few")

ROLES = ("--quasi", "age,education,sex", "--sensitive", "disease", "--others", "drop")
LIMIT = ("--time-limit", "100")


def test_the_command_runs_as_it_is_printed(people: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["recommend", str(people), "--k", "5", *ROLES, *LIMIT, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    program_name, *words = shlex.split(found["command"])
    assert program_name == "shoal"
    assert main([*words, "--json"]) == 0
    made = json.loads(capsys.readouterr().out)
    assert made["holds"]
    assert made["scores"][found["scale"]["loss"]] == pytest.approx(found["proposal"]["loss"])
    assert found["proposal"]["frontier"]
    assert found["proposal"] in found["frontier"]
    assert found["frontier"][0]["privacy"] <= found["frontier"][-1]["privacy"]


def test_what_it_shows_and_writes(people: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["recommend", str(people), "--k", "5", *ROLES, *LIMIT, "-o", "tried"]
    assert main(arguments) == 0
    shown = capsys.readouterr().out
    assert "=>" in shown
    assert "frontier" in shown
    assert "list the exact values of a class, such as {" in shown
    command = shown.partition("\nRun\n")[2].strip().splitlines()[0]
    assert command.startswith("shoal anonymize ")
    page = Path("tried/recommend.html").read_text()
    assert "<script" not in page
    assert "Proposed: " in page
    with Path("tried/results.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert {"label", "loss", "privacy", "frontier", "status"} <= set(rows[0])
    assert main(["run", "tried/recipe.toml", "--json"]) == 0
    capsys.readouterr()
    assert main(arguments) == 2
    assert "--force" in capsys.readouterr().err


def test_another_folder_is_left_alone(people: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("mine").mkdir()
    Path("mine/thesis.txt").write_text("years of work")
    arguments = ["recommend", str(people), "--k", "5", *ROLES, *LIMIT, "-o", "mine", "--force"]
    assert main(arguments) == 2
    assert "something other" in capsys.readouterr().err
    assert Path("mine/thesis.txt").read_text() == "years of work"


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        ((), 2, "Nothing is promised"),
        (("--m", "2"), 2, "promise about baskets"),
        (("--k", "1"), 2, "k must be"),
        (("--k", "5", "--l", "300"), 1, "l = 300 cannot be kept"),
    ],
)
def test_errors(
    people: Path, arguments: tuple[str, ...], code: int, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["recommend", str(people), *arguments, *ROLES, *LIMIT]) == code
    assert said in capsys.readouterr().err


def test_quoting(monkeypatch: pytest.MonkeyPatch) -> None:
    recipe = Recipe(
        source=Source(
            path="my data.csv",
            reading=Reading(names=("age", "income, yearly", "a=b"), missing=("", "-"), separator=";"),
        ),
        roles=Roles(quasi=("age", "income, yearly", "a=b"), others="drop"),
        hierarchies={"age": "intervals:5,10", "a=b": "my trees/a.csv"},
        method={
            "name": "table-rule-hiding",
            "confidence": 0.5,
            "options": {"partitioning": "relaxed"},
            "k": 3,
        },
    )
    words = shlex.split(shlex.join(command_line(recipe)))
    seen = {}

    def keep(given: Recipe, **_: object) -> int:
        seen["recipe"] = given
        return 0

    monkeypatch.setattr(command_anonymize, "carried_out", keep)
    program(words[1:])(words[1:], exit_on_error=False, print_error=False)
    got = seen["recipe"]
    assert got.source == recipe.source
    assert got.roles == recipe.roles
    assert got.hierarchies == recipe.hierarchies
    assert got.the_method() == recipe.the_method()
