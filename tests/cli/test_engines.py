"""The same command on another engine."""

import json
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path

import pytest
from tests.contract.parted import text_of

from shoal.errors import WrongUse
from shoal.pipeline import run
from shoal.recipe import Recipe

TREES = ("--hierarchy", "age=intervals:5,10,20", "--hierarchy", "sex=suppress", "--hierarchy", "zip=mask")
ROLES = ("--quasi", "age,sex,zip", "--sensitive", "disease", "--others", "drop")


@pytest.fixture
def people(shoal: Callable[..., object]) -> Path:
    shoal("generate", "table", "--rows", 3000, "--seed", 7, "-o", "people.csv")
    return Path("people.csv")


def test_stream(shoal: Callable[..., object], people: Path) -> None:
    command = ("anonymize", "samarati", people, *ROLES, *TREES, "--k", 10, "--max-suppressed", 0.05)
    assert shoal(*command, "-o", "here").code == 0
    answer = shoal(
        *command, "-o", "there", "--engine", "stream", "--memory", "1GB", "--save-recipe", "recipe.toml"
    )
    assert (answer.code, answer.err) == (0, "")
    assert "OK      k-anonymity" in answer.out
    assert "rows published in parts by stream" in answer.out
    assert text_of(Path("here")) == text_of(Path("there"))
    assert shoal("verify", "there").code == 0
    assert Recipe.read("recipe.toml").running.engine == "stream"
    assert shoal("run", "recipe.toml", "-o", "again").code == 0
    assert text_of(Path("again")) == text_of(Path("here"))
    measured = shoal("measure", "there", "--original", people, "--json")
    assert measured.code == 0
    assert (
        json.loads(measured.out)["lm"]
        == json.loads(shoal("measure", "here", "--original", people, "--json").out)["lm"]
    )


def test_json(shoal: Callable[..., object], people: Path) -> None:
    answer = shoal(
        "anonymize", "mondrian", people, *ROLES, "--k", 10, "--engine", "stream", "--json", "-o", "out"
    )
    told = json.loads(answer.out)
    assert (answer.code, told["holds"], told["engine"], told["published"]) == (0, True, "stream", 3000)


def test_refusals(shoal: Callable[..., object], people: Path) -> None:
    asked = ("anonymize", "mondrian", people, *ROLES, "-o", "out")
    command = (*asked, "--k", 10)
    answer = shoal(*command, "--engine", "stream", "--memory", "10MB")
    assert (answer.code, answer.out) == (2, "")
    assert "10MB of memory is too little" in answer.err
    answer = shoal(*command, "--engine", "stream", "--to", "sqlite:///x.db?table=t")
    assert answer.code == 2
    assert "--to" in answer.err
    answer = shoal(*command, "--engine", "sparkle")
    assert answer.code == 2
    assert not Path("out").exists()
    assert shoal(*asked, "--k", 10_000, "--engine", "stream").code == 1


@pytest.mark.skipif(find_spec("pyspark") is not None, reason="pyspark is installed")
def test_missing_extra(shoal: Callable[..., object], people: Path) -> None:
    answer = shoal("anonymize", "mondrian", people, *ROLES, "--k", 10, "-o", "out", "--engine", "spark")
    assert answer.code == 2
    assert 'pip install "shoal[spark]"' in answer.err


def test_a_recipe_of_another_engine_is_not_run_in_memory() -> None:
    plan = Recipe(
        source={"path": "people.csv"}, method={"name": "mondrian", "k": 2}, running={"engine": "stream"}
    )
    with pytest.raises(WrongUse, match="runs on stream"):
        run(plan)
