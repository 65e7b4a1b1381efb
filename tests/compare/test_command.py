"""`shoal compare` as a user calls it."""

import json
import subprocess
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest

from shoal.cli import main

ROOT = Path(__file__).resolve().parents[2]
SWEEP = """
[[sweep]]
name = "s"
datasets = ["people"]
methods = ["mondrian"]
grid = { k = [2, 5, 1000] }
"""


def test_the_result_in_words_and_as_json(
    recipe: Callable[..., Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path, out = recipe(SWEEP), str(tmp_path / "out")
    assert main(["compare", str(path), "-o", out]) == 0
    printed = capsys.readouterr()
    assert printed.err == ""
    assert "3 runs: 2 done, 1 refused.\n" in printed.out
    assert "1000" in printed.out
    assert f"Read     {out}/report.html" in printed.out
    assert main(["compare", str(path), "-o", out, "--json"]) == 0
    plain = json.loads(capsys.readouterr().out)
    assert plain == {
        "runs": 3,
        "resumed": 3,
        "statuses": {"done": 2, "refused": 1},
        "charts": [],
        "folder": out,
    }
    assert main(["compare", str(path), "-o", out, "--quiet"]) == 0
    assert capsys.readouterr().out == ""


EXTRAS = {
    distribution.split(">")[0].split("=")[0]
    for name, wanted in tomllib.loads((ROOT / "pyproject.toml").read_text())["project"][
        "optional-dependencies"
    ].items()
    if name != "dev"
    for distribution in wanted
}
IMPORTED = {"scikit-learn": "sklearn"}
"""What a distribution is imported as, where that is another word."""


def test_no_extra_is_needed(recipe: Callable[..., Path], tmp_path: Path) -> None:
    """The charts too are made by what every install has."""
    text = SWEEP + '[[chart]]\nname = "c"\nsweep = "s"\nx = "k"\ny = "lm"\n'
    absent = [IMPORTED.get(name, name.replace("-", "_")) for name in EXTRAS]
    words = ["compare", str(recipe(text)), "-o", str(tmp_path / "out")]
    code = (
        f"import sys; sys.modules.update(dict.fromkeys({absent!r})); sys.argv[1:] = {words!r}\n"
        "from shoal.cli import main; sys.exit(main(sys.argv[1:]))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "2 done, 1 refused" in done.stdout
    assert list((tmp_path / "out").rglob("*.svg"))


@pytest.mark.usefixtures("misbehaving")
def test_a_failed_run_is_told_by_the_exit_code(
    recipe: Callable[..., Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = SWEEP.replace('["mondrian"]', '["misbehaving"]').replace(
        "k = [2, 5, 1000]", 'k = [2], how = ["raise"]'
    )
    assert main(["compare", str(recipe(text)), "-o", str(tmp_path / "out"), "--no-charts"]) == 1
    assert "failed      1  ZeroDivisionError: division by nothing" in capsys.readouterr().out


@pytest.fixture
def refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Callable[[Path, int], str]:
    """Compares by a recipe that must end with an exit code before anything runs, and gives what is said."""

    def compare(path: Path, code: int) -> str:
        assert main(["compare", str(path), "-o", str(tmp_path / "out")]) == code
        assert not (tmp_path / "out").exists()
        return capsys.readouterr().err

    return compare


@pytest.mark.parametrize(
    ("change", "code", "said"),
    [
        (("mondrian", "mondrain"), 2, "There is no method 'mondrain'. Did you mean 'mondrian'"),
        (("k = [2", "k = [0"), 2, "sweep s: mondrian: k must be at least 2, not 0"),
        (("[[sweep]]", "[[sweep"), 3, "this is not TOML"),
        (("k = [2", '"data.zps" = [3], k = [2'), 2, "called 'zps'. Did you mean 'zips'"),
        (('name = "s"', 'name = "s"\nseeds = 3'), 2, "sweep s: seeds must be a list, such as [3], not 3"),
    ],
)
def test_a_wrong_recipe_is_a_sentence(
    change: tuple[str, str],
    code: int,
    said: str,
    recipe: Callable[..., Path],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["compare", str(recipe(SWEEP.replace(*change))), "-o", str(tmp_path / "out")]) == code
    assert said in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("chart", "said"),
    [
        ('x = "k"\ny = "lmm"', "for the chart 's-k-lmm' called 'lmm'. Did you mean 'lm"),
        ('x = "kk"\ny = "lm"', "called 'kk'. Did you mean 'k'"),
        ('x = "k"\ny = "lm"\npanels = "dataste"', "called 'dataste'. Did you mean 'dataset'"),
        ('x = "k"\ny = "note.classes"', "called 'note.classes'"),
    ],
)
def test_a_chart_of_nothing_is_told_before_anything_runs(
    chart: str, said: str, recipe: Callable[..., Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = f'{SWEEP}[[chart]]\nsweep = "s"\n{chart}\n'
    assert main(["compare", str(recipe(text)), "-o", str(tmp_path / "out")]) == 2
    assert said in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_the_shape_of_a_dataset_is_told_before_anything_runs(
    recipe: Callable[..., Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = f'{SWEEP}[datasets.other]\ngenerate = "table"\nshape = {{ zps = 3 }}\n'
    assert main(["compare", str(recipe(text)), "-o", str(tmp_path / "out")]) == 2
    said = capsys.readouterr().err
    assert "dataset other: " in said
    assert "called 'zps'. Did you mean 'zips'" in said


def test_the_example_replaces_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "sweep.toml"
    assert main(["compare", str(path), "--example"]) == 0
    assert "[[sweep]]" in path.read_text()
    assert main(["compare", str(path), "--example"]) == 2
    assert "sweep.toml" in capsys.readouterr().err


MINE = """
title = "A test"
[datasets.mine]
path = "mine.csv"
"""
TREES = 'roles = { quasi = ["age"], others = "drop" }\nhierarchies = '


@pytest.mark.parametrize(
    ("data", "code", "said"),
    [
        ('roles = { quasi = ["agee"], others = "drop" }', 2, "dataset mine: There is no column 'agee'"),
        ('roles = { quasi = ["age"] }', 2, "dataset mine: These columns have no role: sex."),
        ('roles = { quasi = ["age"], sensitive = ["age"], others = "drop" }', 2, "as quasi and as sensitive"),
        (f'{TREES} {{ sex = "suppress" }}', 2, "dataset mine: The hierarchy of 'sex' has no effect"),
        (f'{TREES} {{ agee = "suppress" }}', 2, "Did you mean 'age'?"),
        (f'{TREES} {{ age = "interval:5" }}', 2, "no hierarchy builder 'interval'. Did you mean 'intervals'"),
        (f'{TREES} {{ age = "intervals:5,7" }}', 2, "7 is not a larger multiple of 5"),
        (f'{TREES} {{ age = "trees.csv" }}', 3, "trees.csv: there is no such hierarchy file"),
        (f'{TREES} {{ age = "bad.csv" }}', 3, "bad.csv"),
        (
            f'{TREES} {{ age = "dates" }}\nreading = {{ kinds = {{ age = "numeric" }} }}',
            2,
            "the column is numeric",
        ),
        (f'{TREES} {{ age = "dates" }}\nreading = {{ kinds = {{ agee = "date" }} }}', 2, "no column 'agee'"),
    ],
)
def test_wrong_columns_roles_and_hierarchies_are_told_before_anything_runs(
    data: str,
    code: int,
    said: str,
    recipe: Callable[..., Path],
    tmp_path: Path,
    refused: Callable[[Path, int], str],
) -> None:
    (tmp_path / "mine.csv").write_text("age,sex\n30,f\n31,m\n32,f\n33,m\n")
    (tmp_path / "bad.csv").write_text("30;x;*\n30;y;*\n")
    path = recipe(SWEEP.replace("people", "mine"), f"{MINE}{data}\n")
    assert said in refused(path, code)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (('quasi = ["age", "sex"]', 'quasi = ["agee"]'), "dataset people: There is no column 'agee'"),
        (("rows = 60\n", 'rows = 60\nhierarchies = { sex = "intervals:5" }\n'), "the column is nominal"),
        (
            ('["mondrian"]', '["disassociation"]'),
            "sweep s: disassociation takes baskets, and the dataset people",
        ),
        (("grid = {", "draw = { sensitive = 2 }\ngrid = {"), "sweep s: Only items of baskets can be drawn"),
        (
            ("grid = {", 'grid = { "roles.other" = ["drop"],'),
            "sweep s: roles: other is not a parameter here (did you mean others?)",
        ),
    ],
)
def test_what_does_not_fit_generated_data_is_told_before_anything_runs(
    change: tuple[str, str],
    said: str,
    recipe: Callable[..., Path],
    refused: Callable[[Path, int], str],
) -> None:
    path = recipe(SWEEP)
    path.write_text(path.read_text().replace(*change))
    assert said in refused(path, 2)


@pytest.mark.parametrize(
    ("data", "code", "said"),
    [
        ('baskets = "long:id,itm"', 2, "dataset mine: There is no column 'itm' in"),
        ('baskets = "lng"', 2, "no layout 'lng'"),
        ('baskets = "long:id,item"\nhierarchies = { items = "balanced:1" }', 2, "items=balanced:1"),
        (
            'baskets = "long:id,item"\nhierarchies = { items = "trees.csv" }',
            3,
            "there is no such hierarchy file",
        ),
    ],
)
def test_wrong_columns_of_baskets_are_told_before_anything_runs(
    data: str,
    code: int,
    said: str,
    recipe: Callable[..., Path],
    tmp_path: Path,
    refused: Callable[[Path, int], str],
) -> None:
    (tmp_path / "mine.csv").write_text("id,item\n1,a\n1,b\n2,a\n")
    sweep = SWEEP.replace("people", "mine").replace("mondrian", "disassociation")
    path = recipe(sweep, f"{MINE}{data}\n")
    assert said in refused(path, code)
