"""`make results`: a page a recipe, with its pictures, and a page that leads to all."""

from collections.abc import Callable
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parents[2]

SWEEP = """
[[sweep]]
name = "s"
datasets = ["people"]
methods = ["mondrian"]
grid = { k = [2, 5, 9] }
[[chart]]
name = "cost"
sweep = "s"
x = "k"
y = "lm"
"""


@pytest.fixture
def tool(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> ModuleType:
    spec = spec_from_file_location("results_tool", ROOT / "tools" / "results.py")
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    monkeypatch.setattr(module, "EXPERIMENTS", tmp_path)
    monkeypatch.setenv("SHOAL_DATA", str(tmp_path))
    return module


def test_a_page_for_each_recipe(
    tool: ModuleType, recipe: Callable[..., Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    recipe(SWEEP)
    (tmp_path / "broken.toml").write_text("title = 3")
    places = ["--build", str(tmp_path / "build"), "--results", str(tmp_path / "results")]
    assert tool.main(["--quick", *places]) == 1
    assert "broken: " in capsys.readouterr().err
    assert tool.main(["recipe", "--quick", *places]) == 0
    text = (tmp_path / "results" / "recipe.md").read_text()
    assert text.startswith("<!-- Written by `make results` from experiments/recipe.toml")
    assert "![lm against k](recipe/cost.svg)" in text
    assert "`shoal compare recipe.toml --quick -o OUT`: 2 runs (2 done)" in text
    assert (tmp_path / "results" / "recipe" / "cost.svg").read_text().startswith("<svg")
    assert "[A test](recipe.md)" in (tmp_path / "results" / "README.md").read_text()
