"""The same command on another engine."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.contract.parted import text_of
from tests.papers import without_papers

from shoal.pipeline import run
from shoal.recipe import Recipe

TREES = ("--hierarchy", "age=intervals:5,10,20", "--hierarchy", "sex=suppress", "--hierarchy", "zip=mask")
ROLES = ("--quasi", "age,sex,zip", "--sensitive", "disease", "--others", "drop")


@pytest.fixture
def people(shoal: Callable[..., object]) -> Path:
    shoal("generate", "table", "--rows", 3000, "--seed", 7, "-o", "people.csv")
    return Path("people.csv")


def test_stream(shoal: Callable[..., object], people: Path) -> None:
    command = ("anonymize", "samarati", people, *ROLES, *TREES, "--k", 10, "--suppression-limit", 0.05)
    assert shoal(*command, "-o", "here").code == 0
    answer = shoal(
        *command, "-o", "there", "--engine", "stream", "--memory", "1GB", "--save-recipe", "recipe.toml"
    )
    assert (answer.code, answer.err) == (0, "")
    assert "OK      k-anonymity" in answer.out
    assert "rows published in parts by stream" in answer.out
    assert "\nlm  " in answer.out
    assert "Hierarchies: age intervals:5,10,20; sex suppress; zip mask." in answer.out
    assert text_of(Path("here")) == text_of(Path("there"))
    assert shoal("verify", "there").code == 0
    assert Recipe.read("recipe.toml").running.engine == "stream"
    assert shoal("run", "recipe.toml", "-o", "again").code == 0
    assert text_of(Path("again")) == text_of(Path("here"))
    measured = shoal("measure", "there", "--original", people, "--json")
    assert measured.code == 0
    assert (
        json.loads(measured.out)["lm"]
        == json.loads(shoal("measure", "here", "--original", people, "--json").out)["lm"]
    )


def test_json(shoal: Callable[..., object], people: Path) -> None:
    answer = shoal(
        "anonymize", "mondrian", people, *ROLES, "--k", 10, "--engine", "stream", "--json", "-o", "out"
    )
    shown = json.loads(answer.out)
    assert (answer.code, shown["holds"], shown["engine"], shown["published"]) == (0, True, "stream", 3000)


def test_refusals(shoal: Callable[..., object], people: Path) -> None:
    asked = ("anonymize", "mondrian", people, *ROLES, "-o", "out")
    command = (*asked, "--k", 10)
    answer = shoal(*command, "--engine", "stream", "--memory", "10MB")
    assert (answer.code, answer.out) == (2, "")
    assert "10MB of memory is too little" in answer.err
    answer = shoal(*command, "--engine", "stream", "--to", "sqlite:///x.db?table=t")
    assert answer.code == 2
    assert "--to" in answer.err
    answer = shoal(*command, "--engine", "sparkle")
    assert answer.code == 2
    assert not Path("out").exists()
    assert shoal(*asked, "--k", 10_000, "--engine", "stream").code == 1


@pytest.mark.parametrize(
    ("option", "instead"),
    [
        (("--form", "blocks", "--order", "rcm"), "gray or lexicographic"),
        (("--improve",), "omit it"),
    ],
)
def test_parameters_that_need_all_rows_are_refused_before_any_is_read(
    shoal: Callable[..., object], option: tuple[str, ...], instead: str
) -> None:
    command = ("anonymize", "cahd", "absent.dat", "--sensitive", "a", "--p", 2, "-o", "out")
    answer = shoal(*command, *option, "--engine", "stream")
    assert (answer.code, answer.out) == (2, "")
    assert f"in parts, {'take ' if '--order' in option else ''}{instead}" in answer.err


SHOPPERS = (
    "--k",
    5,
    "--m",
    2,
    "--quasi",
    "age,sex",
    "--items",
    "products",
    "--others",
    "drop",
    "--no-report",
)
VISITS = ("--k", 5, "--link", "visits.csv:person", "--quasi", "age,day", "--others", "drop", "--no-report")


@pytest.fixture
def mixed(shoal: Callable[..., object]) -> None:
    shoal("generate", "mixed", "--rows", 200, "--items", 12, "--seed", 7, "-o", "shoppers.csv")
    shoal("generate", "table", "--rows", 60, "--numbered", "--seed", 7, "-o", "patients.csv")
    shoal("generate", "visits", "--persons", 60, "--seed", 7, "-o", "visits.csv")


@pytest.mark.usefixtures("mixed")
def test_items_in_rows_are_judged_in_parts(shoal: Callable[..., object]) -> None:
    shoal("anonymize", "relational-transaction", "shoppers.csv", *SHOPPERS, "-o", "out")
    data = Path("out/release/data.csv")
    asked = ("--model", "k-km-anonymity", "--m", 2, "--quasi", "age,sex", "--items", "products")
    for call in (("verify", "out"), ("verify", data, *asked, "--k", 5), ("verify", data, *asked, "--k", 6)):
        here, there = shoal(*call), shoal(*call, "--engine", "stream")
        assert sorted(here.out.splitlines()) == sorted(
            there.out.splitlines()
        )  # equally bad places in any order
        assert (here.code, here.err) == (there.code, there.err)
        assert here.code == (6 in call)
    without_papers(data.parent)
    header, first, *rest = data.read_text().splitlines(keepends=True)
    data.write_text("".join([header, first.rstrip("\n").rpartition(",")[0] + ",caviar\n", *rest]))
    answer = shoal("verify", "out", "--engine", "stream")
    assert answer.code == 1
    assert "BROKEN  k-km-anonymity" in answer.out
    assert "with {caviar}: 1 row where 5 are promised" in answer.out


@pytest.mark.usefixtures("mixed")
def test_two_files_are_judged_in_memory_and_the_refusal_says_so(shoal: Callable[..., object]) -> None:
    apart = ("--item-step", "disassociation", "-o", "apart")
    assert shoal("anonymize", "relational-transaction", "shoppers.csv", *SHOPPERS, *apart).code == 0
    assert shoal("anonymize", "multirelational", "patients.csv", *VISITS, "-o", "joined").code == 0
    for folder in ("apart", "joined"):
        answer = shoal("verify", folder, "--engine", "stream")
        assert (answer.code, answer.out) == (2, "")
        assert "Joined tables, and items in clusters, are opened in memory: omit --engine." in answer.err
        assert shoal("verify", folder).code == 0


@pytest.mark.parametrize(
    ("method", "options", "why"),
    [
        ("relational-transaction", SHOPPERS, "each class is merged with the nearest one of all"),
        ("multirelational", VISITS, "persons with similar records are searched for among all"),
    ],
)
def test_methods_of_mixed_data_are_refused_in_parts_before_any_row_is_read(
    method: str, options: tuple[object, ...], why: str, shoal: Callable[..., object]
) -> None:
    answer = shoal("anonymize", method, "absent.csv", *options, "-o", "out", "--engine", "stream")
    assert (answer.code, answer.out) == (2, "")
    assert f"{method} does not run on stream: {why}. Run it on one machine with --engine local." in answer.err
    assert not Path("out").exists()


@pytest.fixture
def without_spark(tmp_path: Path) -> dict[str, str]:
    """An environment in which pyspark cannot be imported, whether it is installed or not."""
    absent = tmp_path / "absent" / "pyspark"
    absent.mkdir(parents=True)
    (absent / "__init__.py").write_text('raise ImportError("No module named pyspark")\n')
    return {**os.environ, "PYTHONPATH": f"{absent.parent}{os.pathsep}{os.environ.get('PYTHONPATH', '')}"}


def test_missing_extra(
    without_spark: dict[str, str],
    shoal: Callable[..., object],
    people: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Without the extra one sentence says what to install, and all else works."""
    command = ("anonymize", "mondrian", people, *ROLES, "--k", 10)
    refused = (sys.executable, "-m", "shoal", *map(str, command), "-o", "out", "--engine", "spark")
    answer = subprocess.run(refused, env=without_spark, capture_output=True, text=True, check=False)
    assert (answer.returncode, answer.stdout) == (2, "")
    assert 'pip install "shoal[spark]"' in answer.stderr
    assert len(answer.stderr.splitlines()) == 1
    assert not Path("out").exists()
    # What a module imports when it is loaded is seen by the next test; here whatever is imported later fails.
    for name in [name for name in sys.modules if name.startswith("pyspark.")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "pyspark", None)
    verified = shoal("verify", people, "--quasi", "age", "--k", 2, "--engine", "spark")
    assert (verified.code, verified.err) == (2, answer.stderr)
    for engine in ("local", "stream"):
        done = shoal(*command, "-o", engine, "--engine", engine)
        assert (done.code, done.err) == (0, "")
    assert shoal("verify", "local", "--engine", "stream").code == 0
    listed = shoal("methods")
    assert listed.code == 0
    assert "spark" in listed.out


def test_every_module_loads_without_spark(without_spark: dict[str, str]) -> None:
    program = (
        "import importlib, pkgutil, shoal\n"
        "for module in pkgutil.walk_packages(shoal.__path__, 'shoal.'):\n"
        "    if not module.name.endswith('__main__'):\n"
        "        importlib.import_module(module.name)\n"
        "shoal.engines.Spark(master='local[1]')\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], env=without_spark, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


def test_drawn_roles_are_the_same_in_parts(shoal: Callable[..., object]) -> None:
    shoal("generate", "baskets", "--rows", 400, "--items", 30, "--seed", 3, "-o", "baskets.dat")
    drawn = ("--public-share", 0.5, "--private", "bottom", "--private-below", 0.3)
    command = ("anonymize", "coherence", "baskets.dat", "--baskets", "lines", "--h", 0.8, "--k", 5, "--p", 2)
    for engine in ("local", "stream"):
        answer = shoal(*command, *drawn, "--seed", 4, "--engine", engine, "-o", engine)
        assert (answer.code, answer.err) == (0, "")
    assert text_of(Path("local")) == text_of(Path("stream"))
    facts = [(Path(engine) / "release" / "release.json").read_text() for engine in ("local", "stream")]
    assert facts[0] == facts[1]
    answer = shoal(*command, *drawn, "--engine", "stream", "-o", "out")
    assert (answer.code, "--seed" in answer.err) == (2, True)
    answer = shoal(*command, *drawn, "--seed", 4, "--engine", "stream", "-o", "told", "--explain")
    assert "minimal moles:" in answer.out


def test_a_recipe_runs_on_its_engine(people: Path, tmp_path: Path) -> None:
    """It gives a run with verdicts, whose rows stay with the engine until they are written."""
    plan = {
        "source": {"path": str(people)},
        "roles": {"quasi": ["age", "zip"], "sensitive": ["disease"], "others": "drop"},
        "method": {"name": "mondrian", "k": 5},
    }
    for engine in ("local", "stream"):
        finished = run(Recipe(**plan, running={"engine": engine}))
        assert finished.holds
        finished = finished.written(tmp_path / engine)
        assert finished.as_dict()["engine"] == engine
        assert finished.scores
        assert (finished.unmeasured is None) == (engine == "local")
        assert (tmp_path / engine / "report.html").exists()
        if finished.engine is not None:
            finished.engine.close()
    assert text_of(tmp_path / "local") == text_of(tmp_path / "stream")
    kept = [json.loads((tmp_path / name / "run.json").read_text()) for name in ("local", "stream")]
    assert kept[0].keys() == kept[1].keys()
    here, there = ({score["name"]: score for score in one["scores"]} for one in kept)
    assert {"lm", "c_avg", "entropy", "marginal_kl", "suppressed_rows"} <= set(there) <= set(here)
    for name, score in there.items():
        assert score["value"] == pytest.approx(here[name]["value"], rel=1e-12)
        assert score["parts"] == pytest.approx(here[name]["parts"], rel=1e-12)


def test_json_has_the_same_keys(shoal: Callable[..., object], people: Path) -> None:
    command = ("anonymize", "mondrian", people, *ROLES, "--k", 10, "--json")
    shown = [
        json.loads(shoal(*command, "--engine", engine, "-o", engine).out) for engine in ("local", "stream")
    ]
    assert shown[0].keys() == shown[1].keys()
    assert [one["verdicts"] for one in shown[:1]] == [one["verdicts"] for one in shown[1:]]
