"""What the page says before a run: faults of the settings, and sentences without options of the command line."""

from pathlib import Path
from typing import Any

import polars as pl
import pytest

from shoal.errors import WrongUse
from shoal.pipeline import publish
from shoal.recipe import Output, Recipe, Roles, Source
from shoal.studio import queries, step_roles
from shoal.studio.faults import faults_of
from shoal.studio.first_recipe import recipe_for
from shoal.studio.jobs import ASIDE, JobQueue
from shoal.studio.page_words import page_words
from shoal.studio.sitting import SittingStore


@pytest.fixture
def numbered(tmp_path: Path) -> Path:
    """A table whose rows have a number each."""
    path = tmp_path / "people.csv"
    frame = {
        "number": [f"P{n:04}" for n in range(60)],
        "age": [20 + n % 6 for n in range(60)],
        "disease": ["flu", "cold", "none"] * 20,
    }
    pl.DataFrame(frame).write_csv(path)
    return path


def known(path: Path, tmp_path: Path, **method: Any) -> tuple[Recipe, dict[str, Any]]:
    found = queries.look({"path": str(path)}, str(tmp_path))
    made = recipe_for(found, Source(path=str(path)))
    roles = Roles(quasi=("number", "age"), sensitive=("disease",))
    return made.model_copy(update={"roles": roles, "method": {"name": "mondrian", "k": 5, **method}}), found


def test_an_identifier_is_known_only_if_somebody_insists(numbered: Path, tmp_path: Path) -> None:
    made, found = known(numbered, tmp_path)
    (fault,) = faults_of(made, found)
    assert (fault.step, fault.column) == ("roles", "number")
    folder = Output(folder=str(tmp_path / "out"))
    with pytest.raises(WrongUse, match="looks like an identifier"):
        publish(made.model_copy(update={"output": folder}))
    insisted = made.roles.model_copy(update={"insist": ("number",)})
    made = made.model_copy(update={"roles": insisted, "output": folder})
    assert not faults_of(made, found)
    run, _ = publish(made)
    assert run.holds
    assert step_roles._with(insisted, ["number"], "identifying").insist == ()
    assert step_roles._with(insisted, ["age"], "identifying").insist == ("number",)


def test_what_cannot_be_promised_is_a_fault(numbered: Path, tmp_path: Path) -> None:
    made, found = known(numbered, tmp_path, l=4)
    made = made.model_copy(update={"roles": Roles(quasi=("age",), sensitive=("disease",))})
    (fault,) = faults_of(made, found)
    assert (fault.step, fault.column) == ("promise", "disease")
    assert not faults_of(made.model_copy(update={"method": {**made.method, "l": 3}}), found)
    (bare,) = faults_of(
        made.model_copy(update={"roles": Roles(), "method": {"name": "mondrian", "k": 5}}), found
    )
    assert bare.short == "no known column"
    population = {"name": "mondrian", "k_map": 3}
    assert "population" in faults_of(made.model_copy(update={"method": population}), found)[0].sentence


@pytest.mark.parametrize(
    "sentence",
    [
        "'999' looks like a code: say --missing age=999, or --kind age=numeric if not.",
        "The quasi-identifier looks like an identifier. Make it identifying (--identifying id), or say --insist id.",
        "Columns without a role: say --others drop, or --others insensitive.",
        "--improve moves rows between all classes, which needs all rows at once; use --engine local.",
        "Hide more rows (--suppression-limit 0.1), or promise less (--k 5 --l 2).",
        "hierarchies FILE: --hierarchy zip='a b.csv', or all with --hierarchies FOLDER (see `shoal hierarchy`).",
    ],
)
def test_the_page_names_no_option_of_the_command_line(sentence: str) -> None:
    said = page_words(sentence)
    assert "--" not in said
    assert "`" not in said
    assert any(step in said for step in ("Data", "Roles", "Hierarchies", "Promise", "Method"))


def test_runs_are_numbered_from_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(JobQueue, "tick", lambda self: None)
    sitting = SittingStore(tmp_path / "kept").begin()
    queue = JobQueue()
    recipe = Recipe(source=Source(path="x.csv"), method={"name": "mondrian", "k": 5})
    kinds = ("recommend", "publish", "attack", "publish")
    assert [queue.ask(sitting, kind, recipe).number for kind in kinds] == [ASIDE, 1, ASIDE + 1, 2]
