"""The code in the guide for Python runs."""

import doctest
import re
from pathlib import Path

import pytest

import shoal
from shoal.cli import main

PAGE = Path(__file__).resolve().parents[1] / "docs" / "guide" / "python.md"


@pytest.mark.filterwarnings("ignore::shoal.errors.ShoalWarning")
def test_the_page_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    text = re.sub(r"^```.*$", "", PAGE.read_text(encoding="utf-8"), flags=re.MULTILINE)
    test = doctest.DocTestParser().get_doctest(text, {}, PAGE.name, str(PAGE), 0)
    assert len(test.examples) > 30
    runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS)
    said: list[str] = []
    runner.run(test, out=said.append)
    assert runner.summarize(verbose=False).failed == 0, "".join(said)


def test_the_recipe_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = PAGE.with_name("repeat.md").read_text(encoding="utf-8")
    recipe = text.partition("```toml\n")[2].partition("```")[0]
    monkeypatch.chdir(tmp_path)
    (tmp_path / "recipe.toml").write_text(recipe, encoding="utf-8")
    assert main(["generate", "table", "--rows", "300", "--seed", "7", "-o", "people.csv"]) == 0
    run = shoal.run("recipe.toml")
    assert [(verdict.model, verdict.holds) for verdict in run.verdicts] == [
        ("k-anonymity", True),
        ("ke-anonymity", True),
    ]
