"""Recipes: paths that move with them, and keys that are not columns."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from shoal.cli import main
from shoal.errors import WrongUse
from shoal.methods.mondrian.method import Mondrian
from shoal.recipe import Recipe, make_method, names_folder

TREE = "a;x;*\nb;x;*\n"


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A table with a column called folder, and a population."""
    rows = "".join(f"{20 + row % 4},{'ab'[row % 2]},{'xyz'[row % 3]}\n" for row in range(24))
    (tmp_path / "people.csv").write_text("age,folder,illness\n" + rows)
    (tmp_path / "all.csv").write_text(
        "age,folder\n" + "".join(f"{20 + row % 4},{'ab'[row % 2]}\n" for row in range(96))
    )
    (tmp_path / "trees").mkdir()
    (tmp_path / "trees/folder.csv").write_text(TREE)
    (tmp_path / "plans").mkdir()
    monkeypatch.chdir(tmp_path)
    return tmp_path


ROLES = ("--quasi", "age,folder", "--sensitive", "illness")


def test_a_population_moves_with_its_recipe(data: Path) -> None:
    call = [
        "anonymize",
        "mondrian",
        "people.csv",
        *ROLES,
        "--k-map",
        "4",
        "--population",
        "all.csv",
        "--quiet",
    ]
    assert main([*call, "--no-report", "-o", "one", "--save-recipe", "plans/plan.toml"]) == 0
    text = (data / "plans/plan.toml").read_text()
    assert 'population = "../all.csv"' in text
    assert main(["run", "plans/plan.toml", "-o", "two", "--quiet"]) == 0
    assert (data / "one/release/data.csv").read_bytes() == (data / "two/release/data.csv").read_bytes()


def test_a_search_of_some_seconds_is_repeated_step_by_step(data: Path) -> None:
    call = [
        "anonymize",
        "mondrian",
        "people.csv",
        *ROLES,
        "--k",
        "4",
        "--quiet",
        "--no-report",
        "--seed",
        "3",
    ]
    assert main([*call, "--improve", "0.2", "-o", "one", "--save-recipe", "plan.toml"]) == 0
    text = (data / "plan.toml").read_text()
    assert "improve_steps = [" in text
    assert "improve = " not in text
    assert main(["run", "plan.toml", "-o", "two", "--quiet"]) == 0
    assert (data / "one/release/data.csv").read_bytes() == (data / "two/release/data.csv").read_bytes()


def test_a_column_called_folder(data: Path) -> None:
    call = ["anonymize", "lattice", "people.csv", *ROLES, "--k", "3", "--quiet", "--no-report"]
    trees = ["--hierarchy", "age=suppress", "--hierarchy", "folder=suppress"]
    assert main([*call, *trees, "-o", "one", "--save-recipe", "plans/one.toml"]) == 0
    assert main(["run", "plans/one.toml", "-o", "again", "--quiet"]) == 0
    assert main(["measure", "one", "--original", "people.csv", "--json"]) == 0
    files = ["--hierarchy", "age=suppress", "--hierarchies", "trees"]
    assert main([*call, *files, "-o", "two", "--save-recipe", "plans/two.toml"]) == 0
    assert 'hierarchies_folder = "../trees"' in (data / "plans/two.toml").read_text()
    assert main(["run", "plans/two.toml", "-o", "twice", "--quiet"]) == 0
    both = [*call, *trees, "--hierarchies", "trees", "-o", "three"]
    assert main(both) == 0


def test_the_folder_of_an_older_recipe(data: Path) -> None:
    (data / "plans/old.toml").write_text(
        '[source]\npath = "../people.csv"\n[roles]\nquasi = ["age", "folder"]\nsensitive = ["illness"]\n'
        '[hierarchies]\nage = "suppress"\nfolder = "../trees"\n[method]\nname = "lattice"\nk = 3\n'
        '[output]\nfolder = "../out"\nreport = false\n'
    )
    recipe = Recipe.read("plans/old.toml")
    assert Path(recipe.hierarchies["folder"]).resolve() == data / "trees"
    assert main(["run", "plans/old.toml", "--quiet"]) == 0
    recipe.write(data / "copy.toml")
    assert Recipe.read(data / "copy.toml").hierarchies["folder"] == str(data / "trees")


@pytest.mark.parametrize(
    ("column", "spec", "is_folder"),
    [
        ("folder", "trees", True),
        ("folder", "suppress", False),
        ("folder", "intervals:5,10", False),
        ("folder", "trees/folder.csv", False),
        ("folder", object(), False),
        ("age", "trees", False),
    ],
)
def test_what_a_folder_is(column: str, spec: Any, is_folder: bool) -> None:
    assert names_folder(column, spec) is is_folder


def test_parameters_with_hyphens() -> None:
    assert make_method({"name": "samarati", "k": 2, "max-suppressed": 3}).max_suppressed == 3


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (
            lambda: make_method({"name": "mondrian", "k": 1}),
            "mondrian: k must be at least 2, not 1.",
        ),
        (
            lambda: make_method({"name": "mondrian", "kk": 1}),
            "mondrian: kk is not a parameter here (did you mean k?).",
        ),
        (
            lambda: make_method(
                {"name": "basket-rule-hiding", "support": 0.1, "confidence": 0.5, "rules": ["a"]}
            ),
            "basket-rule-hiding: rules: A rule is written with spaces as 'beer + nuts => wine', not 'a'.",
        ),
        (
            lambda: make_method({"name": "mondrian", "c": 2.0}),
            "mondrian: c belongs to recursive (c,l)-diversity and needs l, for example c=2, l=3.",
        ),
        (
            lambda: make_method({"name": "disassociation", "k": 5, "max_cluster_size": 3}),
            "disassociation: max_cluster_size must be at least k, which is 5, not 3.",
        ),
    ],
)
def test_what_is_said_about_wrong_parameters(make: Callable[[], object], said: str) -> None:
    with pytest.raises(WrongUse) as error:
        make()
    assert str(error.value) == said


def test_a_wrong_part_of_a_list() -> None:
    with pytest.raises(WrongUse) as error:
        Mondrian(k=2, promises=[{"model": "k-anonymity", "k": 3}, 7])
    assert str(error.value).startswith("mondrian: promises.1 must be")
