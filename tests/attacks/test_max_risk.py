"""Nothing is published where an attack leaves more risk than was allowed."""

import json
import logging
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.cli.conftest import ROLES, folder, people, shoal

__all__ = ["folder", "people", "shoal"]


def publish(shoal: Callable[..., Any], people: Path, *more: object) -> Any:
    return shoal("anonymize", "mondrian", people, "--k", 5, *ROLES, "--no-report", *more, "-o", "out")


def test_a_release_below_the_limits_is_written(
    shoal: Callable[..., Any], people: Path, folder: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.INFO, logger="shoal"):
        answer = publish(shoal, people, "--max-risk", "linkage=0.2,certainty=1")
    assert answer.code == 0, answer.err
    assert "attacking" in [record.getMessage() for record in caplog.records]
    assert (folder / "out" / "release").is_dir()
    assert "OK      linkage: a residual risk of 0.1" in answer.out
    assert "and at most 0.2 was allowed" in answer.out
    kept = json.loads((folder / "out" / "run.json").read_text())["risks"]
    assert kept["linkage"]["limit"] == 0.2 >= kept["linkage"]["residual"] > 0
    assert set(kept) == {"linkage", "certainty"}


def test_the_report_and_json_say_what_is_left(shoal: Callable[..., Any], people: Path, folder: Path) -> None:
    limits = ("--max-risk", "downcoding=0.9")
    answer = shoal("anonymize", "mondrian", people, "--k", 5, *ROLES, *limits, "--json", "-o", "out")
    left = json.loads(answer.out)["risks"]["downcoding"]
    assert left["limit"] == 0.9
    page = (folder / "out" / "report.html").read_text()
    assert f"downcoding: a residual risk of {left['residual']:.4g} is left" in page


def test_nothing_is_written_above_a_limit(shoal: Callable[..., Any], people: Path, folder: Path) -> None:
    answer = publish(shoal, people, "--max-risk", "certainty=1", "--max-risk", "linkage=0.05")
    assert answer.code == 1
    assert "linkage leaves a residual risk" in answer.err
    assert not (folder / "out").exists()


def test_a_recipe_keeps_its_limits(shoal: Callable[..., Any], people: Path, folder: Path) -> None:
    assert publish(shoal, people, "--max-risk", "linkage=0.2", "--save-recipe", "recipe.toml").code == 0
    text = (folder / "recipe.toml").read_text()
    assert "linkage = 0.2" in text
    (folder / "recipe.toml").write_text(text.replace("linkage = 0.2", "linkage = 0.01"))
    answer = shoal("run", "recipe.toml", "-o", "again")
    assert (answer.code, (folder / "again").exists()) == (1, False)


@pytest.mark.parametrize(
    ("limit", "said"),
    [
        ("linkag=0.1", "linkage"),
        ("linkage=2", "between 0 and 1"),
        ("linkage=x", "linkage"),
        ("membership=0.1", "afterwards"),
    ],
)
def test_bad_limits_are_refused(shoal: Callable[..., Any], people: Path, limit: str, said: str) -> None:
    answer = publish(shoal, people, "--max-risk", limit)
    assert (answer.code, said in answer.err) == (2, True), answer.err


def test_rows_in_files_are_not_attacked(shoal: Callable[..., Any], people: Path) -> None:
    answer = publish(shoal, people, "--max-risk", "linkage=1", "--engine", "stream")
    assert (answer.code, "--engine local" in answer.err) == (2, True)
