"""The short form of the soak: a few cases of every method, and checks of what new methods and models need."""

from pathlib import Path

import pytest
from tests.soak import judges, set_judges
from tests.soak.cases import METHODS, Case, draw
from tests.soak.engines import Engines
from tests.soak.feasible import FINDERS
from tests.soak.judged import run_case
from tests.soak.named import drawable
from tests.soak.run import main

from shoal import registry
from shoal.data.summary import Summary

CASES = 15
"""Cases of every method."""


@pytest.mark.parametrize("method", METHODS)
def test_random_recipes(method: str, tmp_path: Path) -> None:
    """Each is published and proved, or refused with a reason, alike on every engine; no falsified release is proved."""
    engines = Engines(tmp_path)
    turn, turns = METHODS.index(method), len(METHODS)
    tried = published = 0
    while tried < CASES or (published < CASES // 4 and tried < 4 * CASES):
        judged = run_case(draw(7_000_000 + turn + turns * tried), engines, tmp_path)
        assert not judged.faults, judged.case.text(judged.faults)
        published += judged.outcomes[0].status == "published"
        tried += 1
    assert published >= CASES // 4


def test_every_model_has_a_judge() -> None:
    """Except those of cross-tables, which no recipe makes: tests/summaries attacks them."""
    rows = {name for name in registry.MODELS if registry.load("model", name).accepts != (Summary,)}
    missing = rows - set(judges.JUDGES) - set(set_judges.JUDGES)
    assert not missing, (
        f"add a judge of {missing} to tests/soak/judges.py or set_judges.py, from the definition"
    )


def test_every_method_has_a_twin_of_its_refusals() -> None:
    missing = set(METHODS) - set(FINDERS)
    assert not missing, f"say in FINDERS of tests/soak/feasible.py what {missing} can publish, or None"


@pytest.mark.parametrize("family", ["method", "model"])
def test_every_parameter_is_drawn(family: str) -> None:
    for name in registry.FAMILIES[family]:
        drawable(name, registry.load(family, name).model_fields)


def test_a_case_is_drawn_from_its_number_alone(tmp_path: Path) -> None:
    for seed in range(40):
        text = draw(seed).text(["broken"])
        assert text == draw(seed).text(["broken"])
        (tmp_path / "case.json").write_text(text, encoding="utf-8")
        assert Case.read(tmp_path / "case.json") == draw(seed)


def test_the_program_resumes_and_shows_a_table(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    seeds = ["--cases", "0", "--seed", "7", "--out", str(tmp_path)]
    assert main(seeds) == 0
    assert "0 cases from seed 7; 0 failed." in capsys.readouterr().out
