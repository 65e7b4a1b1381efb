"""The recipes in experiments/: their quick forms run, without public data too, and every picture can be drawn."""

import json
import os
from pathlib import Path
from typing import Any

import pytest
from tests.conftest import DATA

from shoal.comparison.grid import cells_of
from shoal.comparison.run_data import load
from shoal.comparison.runner import compare
from shoal.comparison.sweep_recipe import Comparison

EXPERIMENTS = Path(__file__).resolve().parents[2] / "experiments"
RECIPES = sorted(EXPERIMENTS.glob("*.toml"))


def test_there_are_recipes() -> None:
    assert RECIPES


def _slow_but_one(recipe: Path) -> Any:
    return recipe if recipe.stem == "mondrian" else pytest.param(recipe, marks=pytest.mark.slow)


@pytest.mark.parametrize("recipe", [*map(_slow_but_one, RECIPES)], ids=lambda path: path.stem)
def test_the_quick_form_runs_on_generated_data(
    recipe: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("SHOAL_DATA", raising=False)
    found = compare(recipe, tmp_path / "out", quick=True)
    wrong = [
        (row["status"], row["error"])
        for row in found.rows
        if row["status"] not in ("done", "refused", "timeout")
    ]
    assert not wrong
    assert [f"{one.chart.name}: {one.problem}" for one in found.pictures if one.problem] == []
    assert found.statuses["done"] > 0
    assert {row["source"] for row in found.rows} <= {"generated", "file"}
    assert found.comparison.question
    for picture in found.pictures:
        assert (tmp_path / "out" / "charts" / f"{picture.chart.name}.png").stat().st_size > 1000


@pytest.mark.parametrize("recipe", RECIPES, ids=lambda path: path.stem)
def test_the_public_data_of_the_full_form_can_be_read(recipe: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if not DATA.is_dir():
        pytest.skip(f"The public datasets are not in {DATA}; set SHOAL_DATA to the folder that holds them.")
    monkeypatch.setenv("SHOAL_DATA", str(DATA))
    cells = cells_of(Comparison.read(recipe), recipe.parent)
    public = {cell.facts["dataset"]: cell for cell in cells if cell.facts["source"] == "public"}
    for cell in public.values():
        plan = json.loads(json.dumps(cell.plan))
        data = load({**plan["data"], "rows": 1000}, plan["draw"], plan["seed"])
        assert len(getattr(data, "quasi", ())) > 0 or hasattr(data, "vocabulary")
        assert os.path.exists(plan["data"]["path"])
