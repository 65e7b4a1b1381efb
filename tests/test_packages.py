"""Other packages add methods, models and measures; a broken package does not harm the others."""

import json
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.wheels import installed

from shoal import registry
from shoal.cli import main
from shoal.errors import BrokenPackage, LeftOut, UnknownName
from shoal.measures._chosen import default_measures

ROOT = Path(__file__).resolve().parents[1]
CHAPTER = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")

DATA = """
shoal generate table --rows 200 --seed 7 -o people.csv
shoal generate baskets --rows 200 --seed 7 -o baskets.dat
"""

ONE_PROCESS = """
import io, json, sys
from contextlib import redirect_stdout
from shoal.cli import main
told = []
for words in json.loads(sys.argv[1]):
    with redirect_stdout(io.StringIO()) as out:
        assert main(words) == 0, words
    told.append(out.getvalue())
print(json.dumps(told))
"""

Call = Callable[..., str]


def blocks(kind: str) -> list[str]:
    found = re.findall(r"^```(\w*)\n(.*?)^```$", CHAPTER, re.DOTALL | re.MULTILINE)
    return [text for said, text in found if said == kind]


@pytest.fixture(scope="module")
def call(tmp_path_factory: pytest.TempPathFactory) -> Call:
    """Run Python where the package of CONTRIBUTING.md is installed beside Shoal, in a folder with data."""
    project = tmp_path_factory.mktemp("project")
    (project / "shoal_one_class.py").write_text("\n".join(blocks("python")), encoding="utf-8")
    (description,) = blocks("toml")
    (project / "pyproject.toml").write_text(description, encoding="utf-8")
    site, folder = installed(project, project), tmp_path_factory.mktemp("work")
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(site), str(ROOT / "src")])}

    def called(*words: str) -> str:
        command = [sys.executable, *words]
        done = subprocess.run(
            command, cwd=folder, env=environment, capture_output=True, text=True, check=False
        )
        assert (done.returncode, done.stderr) == (0, "")
        return done.stdout

    told_by(called, DATA.strip())
    return called


def told_by(call: Call, lines: str) -> list[str]:
    """What commands print, called one after another in one process, because each loads the same libraries."""
    commands = [shlex.split(line) for line in lines.splitlines()]
    assert all(program == "shoal" for program, *_ in commands)
    return json.loads(call("-c", ONE_PROCESS, json.dumps([words for _, *words in commands])))


def test_what_the_chapter_shows_runs(call: Call) -> None:
    (commands,) = (block for block in blocks("") if "one-class" in block)
    publish, others = commands.split("\n", 1)
    assert "OK      k-anonymity" in call("-m", *shlex.split(publish), "--save-recipe", "recipe.toml")
    others += "shoal verify out\nshoal run recipe.toml --force\n"
    measured, attacked, verified, again, repeated = told_by(call, others)
    assert "stars" in measured
    assert "best-guess" in attacked
    assert "OK      short-baskets" in verified
    assert "OK      k-anonymity" in again
    assert "OK      k-anonymity" in repeated


def test_it_is_listed_and_explained(call: Call) -> None:
    listed, explained = told_by(call, "shoal methods --json\nshoal anonymize one-class --help")
    told = json.loads(listed)
    for family, name in (
        ("methods", "one-class"),
        ("models", "short-baskets"),
        ("measures", "stars"),
        ("attacks", "best-guess"),
    ):
        assert name in [entry["name"] for entry in told[family]]
    assert "Suppress every quasi-identifier" in explained


def test_python_knows_it_by_its_name(call: Call) -> None:
    program = (
        "import warnings; warnings.simplefilter('ignore');"
        "import shoal; roles = {'quasi': 'age', 'sensitive': 'disease', 'others': 'drop'};"
        "run = shoal.anonymize('people.csv', 'one-class', k=3, **roles);"
        "print(run.holds, {score.name: score.value for score in run.scores}['stars'])"
    )
    assert call("-c", program) == "True 1.0\n"


def test_python_knows_its_classes_where_ours_are(call: Call) -> None:
    program = (
        "import shoal; print(shoal.methods.OneClass(k=3).name, shoal.models.ShortBaskets(items=4).name,"
        "shoal.measures.Stars().name, shoal.attacks.BestGuess().name, 'OneClass' in dir(shoal.methods))"
    )
    assert call("-c", program) == "one-class short-baskets stars best-guess True\n"


def test_it_is_recommended_where_it_is_best(call: Call) -> None:
    """It never is better than Mondrian, but it is tried and proved all the same."""
    program = (
        "import shoal, shoal.recommendation.propose as p; every, p.BEST = p.candidates, 0\n"
        "p.candidates = lambda *a, **n: [c for c in every(*a, **n) if c.label in ('mondrian', 'one-class')]\n"
        "roles = {'quasi': ['age', 'sex'], 'sensitive': 'disease', 'others': 'drop'}\n"
        "found = shoal.recommend('people.csv', k=3, time_limit=100, jobs=1, **roles)\n"
        "print([(one.label, one.status, one.loss == 1) for one in found.tried], found.proposal.label)"
    )
    assert call("-c", program) == "[('mondrian', 'done', False), ('one-class', 'done', True)] mondrian\n"


def test_packages_are_looked_for_only_when_needed() -> None:
    program = (
        "from shoal import registry; registry.load('method', 'mondrian'); 'loss' in registry.MEASURES;"
        "print([table._looked for table in (registry.METHODS, registry.MODELS, registry.MEASURES)]);"
        "list(registry.MODELS); print(registry.MODELS._looked)"
    )
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    answer = subprocess.run(
        [sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True
    )
    assert answer.stdout == "[False, False, False]\nTrue\n"


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """``package("name", "code", method="x = module:X")`` is a package that is installed for one test."""

    def install(name: str, code: str = "", **points: str) -> None:
        module = name.replace("-", "_")
        monkeypatch.delitem(sys.modules, module, raising=False)
        (tmp_path / f"{module}.py").write_text(code, encoding="utf-8")
        facts = tmp_path / f"{module}-1.0.dist-info"
        facts.mkdir()
        (facts / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
        lines = [f"[shoal.{family}s]\n{point}\n" for family, point in points.items()]
        (facts / "entry_points.txt").write_text("\n".join(lines))

    monkeypatch.syspath_prepend(str(tmp_path))
    for table in registry.FAMILIES.values():
        monkeypatch.setattr(table, "data", dict(table.data))
        monkeypatch.setattr(table, "packages", {})
        monkeypatch.setattr(table, "_looked", not table.family)
    return install


def test_a_name_of_ours_is_refused(package: Callable[..., None], capsys: pytest.CaptureFixture[str]) -> None:
    package("shoal-usurper", method="mondrian = shoal_usurper:Mondrian")
    assert registry.load("method", "mondrian").__module__.startswith("shoal.")
    for _ in range(2):
        assert main(["methods"]) == 2
        assert capsys.readouterr().err == (
            "shoal: The package shoal-usurper: its method 'mondrian' cannot be used (Shoal has one of that name). "
            "Update or uninstall the package.\n"
        )


def test_two_packages_with_one_name_are_refused(package: Callable[..., None]) -> None:
    package("shoal-a", model="same = shoal_a:Same")
    package("shoal-b", model="same = shoal_b:Same")
    with pytest.raises(BrokenPackage, match=r"shoal-[ab]: its model 'same' .* \(shoal-[ab] has one of that"):
        list(registry.MODELS)


MEASURE = "from shoal.measures.measure import TableMeasure\nclass Odd(TableMeasure):\n    "

FAULTS = {
    "raises": ("1 / 0", "ZeroDivisionError: division by zero"),
    "lacks": ("", "AttributeError: module 'shoal_odd' has no attribute 'Odd'"),
    "no class": ("Odd = 7", "it does not derive from shoal.measures.measure.Measure"),
    "no fact": (f"{MEASURE}name = 'odd'", "its class does not define scores_named"),
    "other name": (f"{MEASURE}name, scores_named = 'even', ()", "its class has the name 'even'"),
}


@pytest.mark.parametrize(("code", "why"), FAULTS.values(), ids=FAULTS)
def test_what_is_broken_is_left_out_and_named(package: Callable[..., None], code: str, why: str) -> None:
    package("shoal-odd", code, measure="odd = shoal_odd:Odd")
    sentence = (
        f"The package shoal-odd: its measure 'odd' cannot be used ({why}). Update or uninstall the package."
    )
    with pytest.warns(LeftOut, match=re.escape(sentence)):
        assert "odd" not in [measure.name for measure in default_measures()]
    with pytest.raises(BrokenPackage, match=re.escape(sentence)):
        registry.load("measure", "odd")
    with pytest.raises(UnknownName):
        registry.load("measure", "even")


@pytest.mark.filterwarnings("default::shoal.errors.LeftOut")
def test_the_terminal_says_one_sentence_and_goes_on(
    package: Callable[..., None], capsys: pytest.CaptureFixture[str]
) -> None:
    package("shoal-odd", "1 / 0", method="odd = shoal_odd:Odd", model="odd = shoal_odd:Odd")
    sentence = (
        "shoal: The package shoal-odd: its {} 'odd' cannot be used (ZeroDivisionError: division by zero). "
        "Update or uninstall the package.\n"
    )
    method, model = sentence.format("method"), sentence.format("model")
    for words, code, said in (
        (["methods"], 0, method + model),
        (["anonymize", "--help"], 0, method),
        (["anonymize", "odd", "--help"], 2, method),
        (["verify", "--model", "odd", "--help"], 2, model),
    ):
        assert main(words) == code
        assert capsys.readouterr().err == said
    assert main(["anonymize", "mondrian", "--help"]) == 0
    assert capsys.readouterr().err == ""
