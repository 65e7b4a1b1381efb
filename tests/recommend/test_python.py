"""`shoal.recommend` and `shoal.compare`: the same as the commands, as objects."""

import ast
import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import shoal
from shoal import registry
from shoal.cli import main
from shoal.errors import WrongUse
from shoal.methods._candidates import Aim, Candidate, Goal
from shoal.methods.mondrian.method import Mondrian
from shoal.recommendation import candidate_list as asked
from shoal.recommendation.goal import Stated

SOURCE = Path(shoal.__file__).parent
ROLES: dict[str, Any] = {"quasi": ["age", "education", "sex"], "sensitive": "disease", "others": "drop"}


@pytest.mark.usefixtures("few")
def test_python_proposes_what_the_command_does(people: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = shoal.recommend(people, k=5, **ROLES, time_limit=100)
    words = [
        "--quasi",
        "age,education,sex",
        "--sensitive",
        "disease",
        "--others",
        "drop",
        "--time-limit",
        "100",
    ]
    assert main(["recommend", str(people), "--k", "5", *words, "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert found.command == said["command"]
    assert found.proposal.loss == pytest.approx(said["proposal"]["loss"])
    frame = found.to_frame()
    assert frame.height == len(found.tried)
    assert {"method", "label", "k", "lm_mean", "loss", "privacy", "frontier"} <= set(frame.columns)
    run = shoal.run(found.recipe)
    assert run.holds
    assert run.score(found.scale.loss) == pytest.approx(found.proposal.loss)
    assert "candidates; shoal anonymize" in repr(found)


@pytest.mark.usefixtures("few")
def test_a_frame_is_recommended_for(people: Path) -> None:
    frame = pl.read_csv(people)
    found, read = (shoal.recommend(one, k=5, **ROLES, time_limit=100) for one in (frame, people))
    assert found.proposal.loss == pytest.approx(read.proposal.loss)
    assert found.recipe.source.path == "data.parquet"
    assert shoal.run(found.recipe, data=frame).score("lm_mean") == pytest.approx(found.proposal.loss)


@pytest.mark.usefixtures("few")
def test_baskets_in_memory_are_recommended_for(shop: Path) -> None:
    sets = [line.split() for line in shop.read_text().splitlines()]
    found, read = (shoal.recommend(one, k=5, m=2, time_limit=100) for one in (sets, shop))
    assert found.proposal.loss == pytest.approx(read.proposal.loss)
    assert shoal.run(found.recipe, data=sets).holds


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({}, "Nothing is promised: say what, for example k=10"),
        ({"k": 1}, "recommend: k must be"),
        ({"k": 5, "time_limit": 0}, "(`time_limit`)"),
        ({"k": 5, "hierarchies": {"age": 7}}, "must be a builder or a file here"),
        ({"kk": 5}, "kk is not a parameter here"),
        ({"k": 5, "m": 2}, "`m` is a promise about baskets"),
    ],
)
def test_wrong_use_is_said_in_the_words_of_python(people: Path, given: dict[str, Any], said: str) -> None:
    with pytest.raises(shoal.WrongUse) as error:
        shoal.recommend(people, **{**ROLES, **given})
    assert said in str(error.value)
    assert "--" not in str(error.value)


def test_a_table_that_is_read_is_refused(people: Path) -> None:
    table = shoal.read_table(people, quasi=["age"], others="drop")
    with pytest.raises(shoal.WrongUse, match="give the file or the frame"):
        shoal.recommend(table, k=5)


class Rounded(Mondrian):
    """A method of somebody else, which says what to try of it."""

    name = "rounded"

    @classmethod
    def candidates(cls, goal: Goal) -> list[Candidate]:
        """First of all."""
        return [Candidate("rounded", {"name": cls.name, **goal.promise}, turn=-1)]


class Silent(Mondrian.__base__):  # type: ignore[misc, name-defined]
    """A method of somebody else, which says nothing."""

    name = "silent"


def test_methods_of_others_take_part(monkeypatch: pytest.MonkeyPatch) -> None:
    for kind in (Rounded, Silent):
        monkeypatch.setitem(registry.METHODS, kind.name, f"{__name__}:{kind.__name__}")
    found = asked.candidates(Aim.CLASSES, Stated(k=5), seconds=1.0, suppression_limit=0.05)
    labels = [one.label for one in found]
    assert labels[0] == "rounded"
    assert dict(found[labels.index("silent")].method) == {"name": "silent", "k": 5}
    assert labels.index("silent") < labels.index("samarati")


def test_only_the_registry_names_methods() -> None:
    rooms = [*(SOURCE / "recommendation").rglob("*.py"), *(SOURCE / "comparison").rglob("*.py")]
    rooms += [*(SOURCE / "cli").rglob("*.py"), *SOURCE.glob("*.py")]
    names = set(registry.METHODS) - set(Aim) - set(registry.MODELS)
    found = [
        f"{path.relative_to(SOURCE)}: {node.value}"
        for path in rooms
        if path.name not in ("registry.py", "option_names.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Constant) and node.value in names
    ]
    assert not found


def test_a_comparison_is_a_dictionary_or_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    roles = {"quasi": ["age", "sex"], "sensitive": ["disease"], "others": "drop"}
    plan: dict[str, Any] = {
        "title": "Small",
        "datasets": {"people": {"generate": "table", "rows": 60, "roles": roles}},
        "sweep": [{"name": "k", "datasets": ["people"], "methods": ["mondrian"], "grid": {"k": [2, 5]}}],
    }
    found = shoal.compare(plan, "compared", charts=False, jobs=1)
    frame = found.to_frame()
    assert frame["k"].to_list() == [2, 5]
    assert frame["status"].to_list() == ["done", "done"]
    assert repr(found) == "<Compared: 2 runs (2 done) in compared>"
    (tmp_path / "sweep.toml").write_bytes((tmp_path / "compared" / "recipe.toml").read_bytes())
    again = shoal.compare("sweep.toml", charts=False, jobs=1)
    assert again.folder == Path("sweep")
    assert again.to_frame()["lm"].to_list() == frame["lm"].to_list()
    with pytest.raises(shoal.WrongUse, match="needs a `folder`"):
        shoal.compare(plan)


def test_a_table_with_items_gets_what_keeps_its_promise(tmp_path: Path) -> None:
    path = tmp_path / "shoppers.csv"
    lines = [f"{20 + row % 3},{'a|b' if row % 2 else 'b|c'}" for row in range(24)]
    path.write_text("\n".join(["age,buys", *lines]) + "\n", encoding="utf-8")
    found = shoal.recommend(path, k=3, m=2, quasi="age", items="buys", jobs=1, time_limit=30)
    assert found.proposal.loss == 0
    assert "--items buys" in found.command
    assert found.recipe.method["m"] == 2
    with pytest.raises(WrongUse, match="known items"):
        shoal.recommend(path, l=2, quasi="age", items="buys")
