"""Everything is documented; every example on a help page runs; the reference is what the program says."""

import re
import shlex
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType

import pytest

from shoal import registry
from shoal.cli import main
from shoal.cli.program import COMMANDS, pages, program
from shoal.data.table import Table
from shoal.models._matrices import MatrixModel
from shoal.models.model import TableModel

ROOT = Path(__file__).resolve().parents[1]
REFERENCE = ROOT / "docs" / "reference"
FAMILY_PAGES = {
    "method": "methods.md",
    "model": "models.md",
    "measure": "measures.md",
    "attack": "attacks.md",
    "transform": "preparation.md",
    "dataset": "data.md",
    "engine": "data.md",
}

SERVES = {"studio"}
"""Commands that run until they are interrupted; the tests of the studio start it."""


@pytest.fixture(scope="module")
def tool() -> ModuleType:
    spec = spec_from_file_location("reference", ROOT / "tools" / "reference.py")
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def reference(tool: ModuleType) -> dict[str, str]:
    """The pages as the program writes them now, made once because that takes seconds."""
    return tool.reference()


def examples(names: tuple[str, ...]) -> list[list[str]]:
    """The command lines at the end of a help page."""
    app = program(names)
    for name in names:
        app = app[name]
    head, _, lines = app.help_epilogue.partition("\n")
    assert head == "Example:"
    return [shlex.split(line) for line in lines.replace("\\\n", " ").splitlines()]


@pytest.mark.parametrize("names", pages(), ids=" ".join)
def test_every_help_ends_in_an_example_that_runs(
    names: tuple[str, ...],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main([*names, "--help"]) == 0
    printed = capsys.readouterr().out
    assert "Example:" in printed
    lines = examples(names)
    assert lines
    if names == ("warm-up",):
        # All methods are run by `make test` before any test is.
        quick, every = registry.load("method", "permutation-mondrian"), registry.load_all
        monkeypatch.setattr(
            registry,
            "load_all",
            lambda family, *without: {quick.name: quick} if family == "method" else every(family, *without),
        )
    assert printed.replace("\\\n", " ").split()[-len(lines[-1]) :] == lines[-1]
    for program_name, *arguments in lines:
        assert program_name == "shoal"
        if arguments[0] in SERVES:
            continue
        assert main(arguments) == 0, capsys.readouterr().err


@pytest.mark.parametrize("names", pages(), ids=" ".join)
def test_an_example_is_printed_as_it_must_be_typed(
    names: tuple[str, ...], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    assert main([*names, "--help"]) == 0
    _, _, printed = capsys.readouterr().out.rpartition("\nExample:\n")
    joined = [shlex.split(line) for line in printed.replace("\\\n", " ").splitlines() if line.strip()]
    assert joined == examples(names)


@pytest.mark.parametrize("names", [names for names in pages() if names], ids=" ".join)
def test_the_last_line_of_an_example_is_of_its_command(names: tuple[str, ...]) -> None:
    assert tuple(examples(names)[-1][1 : 1 + len(names)]) == names


@pytest.mark.parametrize(
    ("family", "name"), [(family, name) for family, names in registry.FAMILIES.items() for name in names]
)
def test_everything_registered_is_documented(family: str, name: str, reference: dict[str, str]) -> None:
    text = reference[FAMILY_PAGES[family]]
    heading = f"## Engine: {name}" if family == "engine" else f"## {name}"
    assert f"{heading}\n" in text
    kind = registry.load(family, name)
    for field in getattr(kind, "model_fields", {}):
        assert f"| `{field}` |" in text
    for score in getattr(kind, "scores_named", ()):
        assert f"`{score}`" in text


@pytest.mark.parametrize("name", registry.MEASURES)
def test_every_score_is_explained(name: str) -> None:
    text = (ROOT / "docs" / "concepts" / "measures.md").read_text(encoding="utf-8")
    missing = [score for score in registry.load("measure", name).scores_named if f"`{score}`" not in text]
    assert not missing, f"explain them in docs/concepts/measures.md: {missing}"


TABLE_MEASURES = [name for name, kind in registry.load_all("measure").items() if Table in kind.accepts]


@pytest.mark.parametrize("name", TABLE_MEASURES)
def test_every_measure_of_tables_has_a_row(name: str) -> None:
    text = (ROOT / "docs" / "concepts" / "measures.md").read_text(encoding="utf-8")
    row = re.compile(rf"^\| `.*` \| `{name}`", re.MULTILINE)
    assert row.search(text), f"docs/concepts/measures.md: add a row for {name} to the table of scores"


TABLE_MODELS = {
    name: kind for name, kind in registry.load_all("model").items() if issubclass(kind, TableModel)
}


@pytest.mark.parametrize("name", TABLE_MODELS)
def test_every_model_of_tables_is_explained(name: str) -> None:
    """A section for each; and a row with what the class says of itself, unless it judges no classes but a matrix."""
    text = (ROOT / "docs" / "concepts" / "models.md").read_text(encoding="utf-8")
    assert f"\n## {name}\n" in text, f"docs/concepts/models.md: add a section ## {name}"
    kind = TABLE_MODELS[name]
    if issubclass(kind, MatrixModel):
        return
    facts = (
        "yes" if kind.monotone else "no",
        "yes" if kind.absorbs else "no",
        "yes" if kind.relative else "",
    )
    cells = re.search(rf"^\| \[{name}\]\(#{name}\) \|[^|]*\|(.*)\|$", text, re.MULTILINE)
    found = cells and tuple(cell.strip() for cell in cells[1].split("|"))
    row = f"| [{name}](#{name}) | short form | {' | '.join(facts)} |"
    assert found == facts, f"docs/concepts/models.md: the row of its table must be: {row}"


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_is_documented(name: str, reference: dict[str, str]) -> None:
    assert f"## `shoal {name}`\n" in reference["command-line.md"]


def test_the_reference_is_up_to_date(
    tool: ModuleType,
    reference: dict[str, str],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(tool, "reference", lambda: reference)
    assert tool.main(["--check"]) == 0, capsys.readouterr().out


def test_a_stale_reference_is_found(
    tool: ModuleType,
    reference: dict[str, str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(tool, "REFERENCE", tmp_path)
    monkeypatch.setattr(tool, "STORED", tmp_path / "pages.json")
    monkeypatch.setattr(tool, "reference", lambda: reference)
    assert tool.main([]) == 0
    assert tool.main(["--check"]) == 0
    (tmp_path / "models.md").write_text("old")
    (tmp_path / "gone.md").write_text("left over")
    (tmp_path / "pages.json").write_text("{}")
    assert tool.main(["--check"]) == 1
    assert "gone.md, models.md, pages.json" in capsys.readouterr().out


@pytest.mark.parametrize("folder", ["guide", "concepts", "reference"])
def test_readers_need_no_program_that_came_before(folder: str) -> None:
    """The works that this one grew from are named only on their page, and in results that compare with them."""
    pages = {path.name: path.read_text() for path in (ROOT / "docs" / folder).glob("*.md")}
    assert pages
    assert [name for name, text in pages.items() if re.search(r"\bseeds? \d{3}\b", text)] == []


def test_a_reference_page_has_every_registered_family() -> None:
    assert set(FAMILY_PAGES) == set(registry.FAMILIES)
