"""A medical table with dates, numbers of persons, high ages and codes, released from one recipe."""

import json
import shutil
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import shoal
from shoal.cli import main
from shoal.errors import WrongUse
from shoal.io.releases.folder import read_release
from shoal.pipeline import publish
from shoal.recipe import Recipe

RECIPE = """
[source]
path = "visits.csv"

[source.reading]
missing = ["weight=999"]
decimal = ","
date_formats = { visit = ["DD/MM/YYYY"], born = ["DD/MM/YYYY"] }
kinds = { ward = "nominal" }

[[preparation]]
name = "shift-dates"
columns = ["visit", "born"]
person = "patient"
key = "secret/key"

[[preparation]]
name = "recode"
values = { sex = { 1 = "male", 2 = "female" } }

[[preparation]]
name = "drop-values"
values = { dx = ["unknown"] }

[[preparation]]
name = "date-part"
parts = { visit = "month", born = "year" }

[[preparation]]
name = "top-coding"
limits = { age = 90 }

[[preparation]]
name = "rounding"
bases = { weight = 5 }

[[preparation]]
name = "microaggregation"
columns = ["cost"]
size = 5

[[preparation]]
name = "pseudonym"
columns = ["case"]
key = "secret/key"

[roles]
identifying = ["patient"]
quasi = ["visit", "age", "sex"]
sensitive = ["dx"]
insensitive = ["cost", "born", "ward", "weight"]

[hierarchies]
age = "intervals:5,10,20"
visit = "dates:quarter,year"

[method]
name = "mondrian"
k = 5

[output]
folder = "out"
"""


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with 300 visits, the recipe, and a place for the key."""
    monkeypatch.chdir(tmp_path)
    random = np.random.default_rng(11)
    lines = ["patient;case;born;visit;age;sex;ward;weight;cost;dx"]
    for row in range(300):
        age = int(random.integers(18, 104))
        day, month = random.integers(1, 29), random.integers(1, 13)
        weight = "999" if row % 20 == 0 else f"{random.integers(50, 110)},5"
        dx = ("flu", "burn", "asthma", "unknown")[int(random.integers(4))]
        lines.append(
            f"P{row // 2};C{row};{day:02d}/{month:02d}/{2024 - age};{month:02d}/{day % 12 + 1:02d}/2024;{age};"
            f"{random.integers(1, 3)};{random.integers(1, 5)};{weight};{random.integers(90, 9000)};{dx}"
        )
    Path("visits.csv").write_text("\n".join(lines) + "\n")
    Path("recipe.toml").write_text(RECIPE)
    Path("secret").mkdir()
    Path("secret/key").write_text("0123456789abcdef" * 4)
    Path("secret/key").chmod(0o600)
    return tmp_path


def test_it_is_released_and_replayed_to_the_same_bytes(
    desk: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["run", "recipe.toml"]) == 0
    said = capsys.readouterr().out
    assert "Prepared: dates shifted by person" in said
    data = Path("out/release/data.csv").read_bytes()
    shutil.move("out", "first")
    assert main(["run", "recipe.toml", "--quiet"]) == 0
    assert Path("out/release/data.csv").read_bytes() == data
    assert Path("out/release/release.json").read_bytes() == Path("first/release/release.json").read_bytes()
    assert main(["verify", "out"]) == 0
    assert main(["measure", "out", "--original", "visits.csv"]) == 0

    frame = pl.read_csv("out/release/data.csv", infer_schema=False)
    assert frame.columns == ["case", "born", "visit", "age", "sex", "ward", "weight", "cost", "dx"]
    assert "C1" not in set(frame["case"])
    assert not frame["age"].str.contains("^9[1-9]|^10").any()
    assert frame["age"].str.contains(r"^[89]0\+$").any()  # 90+, or the open bin above it
    assert not frame["visit"].str.contains("[0-9]{4}-[0-9]{2}-[0-9]{2}").any()
    assert "unknown" not in set(frame["dx"])
    assert {text for text in frame["sex"] if "{" not in text and text != "*"} <= {"male", "female"}
    assert frame["cost"].value_counts()["count"].min() >= 5  # type: ignore[operator]


def test_the_key_and_what_it_hides_are_nowhere_in_the_folder(desk: Path) -> None:
    assert main(["run", "recipe.toml", "--quiet"]) == 0
    key = Path("secret/key").read_bytes().strip()
    for path in Path("out").rglob("*"):
        if path.is_file():
            content = path.read_bytes()
            assert key not in content
            assert b"C299" not in content
    run = json.loads(Path("out/run.json").read_text())
    assert len(run["preparation"]) == 8
    assert "top coding: age from 90 on as 90+" in run["preparation"]
    assert "Prepared before the method: dates shifted" in Path("out/report.html").read_text()


def test_recipients_are_told_what_was_done_to_columns(desk: Path) -> None:
    """And no value that was recoded or dropped."""
    assert main(["run", "recipe.toml", "--quiet"]) == 0
    fields = json.loads(Path("out/release/datapackage.json").read_text())["resources"][0]["schema"]["fields"]
    said = {field["name"]: field["description"].rpartition("Prepared: ")[2] for field in fields}
    assert said["born"] == (
        "all days of a person shifted by the same secret number, days as parts of the calendar."
    )
    assert said["weight"] == "rounded."
    assert said["dx"] == "some values as missing."
    assert "Prepared" not in said["ward"]
    page = Path("out/release/README.md").read_text()
    assert "Not generalized" in page
    assert "Prepared: means of groups of rows." in page
    assert "unchanged" not in page
    for path in Path("out/release").iterdir():
        assert b"unknown" not in path.read_bytes()
    facts = Path("out/release/release.json")
    facts.write_text(facts.read_text().replace('"weight": "rounded"', '"weight": 5'))
    assert main(["verify", "out"]) == 3


def test_a_key_inside_the_folder_is_refused(desk: Path) -> None:
    recipe = Path("recipe.toml")
    recipe.write_text(RECIPE.replace("secret/key", "out/key"))
    with pytest.raises(WrongUse, match="lies in the release folder"):
        publish(Recipe.read(recipe))
    assert not Path("out").exists()
    assert main(["run", "recipe.toml"]) == 2


def test_python_makes_the_same(desk: Path) -> None:
    assert main(["run", "recipe.toml", "--quiet"]) == 0
    plan = Recipe.read("recipe.toml")
    run = shoal.anonymize(
        "visits.csv",
        "mondrian",
        k=5,
        quasi=plan.roles.quasi,
        sensitive=plan.roles.sensitive,
        identifying=plan.roles.identifying,
        insensitive=plan.roles.insensitive,
        hierarchies=plan.hierarchies,
        reading=plan.source.reading,
        preparation=plan.the_preparation(),
        seed=json.loads(Path("out/run.json").read_text())["recipe"].get("seed"),
    )
    assert run.release.to_polars().equals(read_release(Path("out")).to_polars())
    assert [step["name"] for step in run.recipe["preparation"]] == [step["name"] for step in plan.preparation]
    with pytest.raises(WrongUse, match="when it is read"):
        shoal.anonymize(run.original, "mondrian", k=5, preparation=plan.the_preparation())
    with pytest.raises(WrongUse, match="lies in the release folder"):
        run.write("secret", force=True)


def test_options_make_the_recipe(desk: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = [
        *("anonymize", "mondrian", "visits.csv", "--k", "5", "--quasi", "age,visit", "--sensitive", "dx"),
        *("--others", "drop", "--decimal", ",", "--date-format", "visit=DD/MM/YYYY", "--top", "age=90"),
        *("--bottom", "age=20", "--shift-dates", "visit", "--person", "patient", "--shift-days", "30"),
        *("--date-part", "visit=quarter", "--pseudonym", "case", "--key", "secret/key"),
        *("--drop-values", "dx=unknown,flu", "--recode", "dx=burn:fire", "-o", "out"),
    ]
    assert main([*words, "--save-recipe", "saved/recipe.toml"]) != 0  # there is no such folder
    shutil.rmtree("out", ignore_errors=True)
    assert main([*words, "--save-recipe", "secret/recipe.toml"]) == 0
    steps = [dict(step) for step in Recipe.read("secret/recipe.toml").preparation]
    assert [step["name"] for step in steps] == [
        *("recode", "drop-values", "shift-dates", "date-part", "top-coding", "bottom-coding", "pseudonym")
    ]
    assert steps[2] == {
        "name": "shift-dates",
        "columns": ["visit"],
        "key": "secret/key",
        "person": "patient",
        "days": 30,
    }
    capsys.readouterr()
    assert main(["anonymize", "mondrian", "visits.csv", "--k", "5", "--pseudonym", "case", "-o", "x"]) == 2
    assert "--key FILE" in capsys.readouterr().err


def test_baskets_are_not_prepared(desk: Path) -> None:
    with pytest.raises(WrongUse, match="no columns to prepare"):
        shoal.anonymize(
            [["a"], ["a"]], "km-generalization", k=2, preparation=[{"name": "top-coding", "limits": {"a": 1}}]
        )
