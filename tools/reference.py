"""Write docs/reference and the stored help pages from the program itself; with --check, fail if they are out of date.

Nothing on those pages is written by hand: the command line comes from the real --help; the tables of methods, models,
measures and data come from the registry and the declared fields.
"""

import inspect
import json
import re
import sys
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any

from shoal import registry
from shoal.cli.command_generate import made_by
from shoal.cli.help_pages import STORED, Page, drawn
from shoal.cli.options import fields_of
from shoal.cli.program import page_of, pages

REFERENCE = Path(__file__).resolve().parents[1] / "docs" / "reference"
WIDTH = 100
NOTICE = "<!-- Written by `make docs` from the program; do not edit. -->"

EXIT_CODES = """\
| code | meaning |
|---|---|
| 0 | done and verified |
| 1 | the promise cannot be kept, or is not kept |
| 2 | wrong use: an unknown name, a parameter out of range, a place that cannot be written |
| 3 | bad data, with file, line and column as far as they are known |
| 70 | a fault of Shoal itself; call it again with `SHOAL_DEBUG=1` in the environment to see where |
| 130 | interrupted; nothing was written |
| 141 | the reader of a pipe has gone |"""


def reference() -> dict[str, str]:
    """The pages by file name."""
    return {
        "command-line.md": command_line(),
        "methods.md": page("Methods", METHODS_INTRODUCTION, map(method_section, registry.METHODS)),
        "models.md": page("Models", MODELS_INTRODUCTION, map(model_section, registry.MODELS)),
        "measures.md": page("Measures", MEASURES_INTRODUCTION, map(measure_section, registry.MEASURES)),
        "attacks.md": page("Attacks", ATTACKS_INTRODUCTION, map(attack_section, registry.ATTACKS)),
        "preparation.md": page("Preparation", STEPS_INTRODUCTION, map(step_section, registry.TRANSFORMS)),
        "data.md": page("Synthetic data and engines", DATA_INTRODUCTION, data_sections()),
    }


METHODS_INTRODUCTION = """\
A method turns data into a release that keeps its promises. `shoal anonymize METHOD` runs one, `shoal methods` lists
them. The parameters are options of the command line, keys of a recipe's `[method]` table, and keywords in Python."""

MODELS_INTRODUCTION = """\
A model is a promise that published data keeps or breaks. In a recipe, a promise is a table with its name under `model`:
`promises = [{model = "k-anonymity", k = 10}]`. Every model verifies published files by itself: `shoal verify`."""

MEASURES_INTRODUCTION = """\
A measure compares a release with its original. `shoal measure OUT --original INPUT --json` gives every score under its
name, and its part for a column under the name, a dot and the column."""

ATTACKS_INTRODUCTION = """\
An attack tells what others could still learn from a release. `shoal attack OUT --original INPUT --json` gives each
under its name: success, baseline, control, residual, the number of people tried, Wilson's interval and a sentence."""

STEPS_INTRODUCTION = """\
Steps before the method: `[[preparation]]` in a recipe, with a name and these parameters; the guide tells more."""

DATA_INTRODUCTION = """\
`shoal generate` makes data about people who do not exist, for trying things out. Engines are where a method works."""


def page(title: str, introduction: str, sections: Iterable[str]) -> str:
    """A page of sections."""
    return "\n\n".join([NOTICE, f"# {title}", introduction, *sections]) + "\n"


def command_line() -> str:
    """The reference of the command line: every help page as it is printed."""
    sections = [
        f"## `{f'shoal {name}'.strip()}`\n\n```text\n{help_page(page)}\n```"
        for name, page in help_pages().items()
    ]
    return page("Command line", f"Exit codes:\n\n{EXIT_CODES}", sections)


def help_page(page: Page) -> str:
    """The help page that `--help` prints, without color."""
    return "\n".join(drawn(part, WIDTH) for part in page).strip()


@cache
def help_pages() -> dict[str, Page]:
    """Every help page, by the names of its command and subcommands."""
    return {" ".join(names): page_of(names) for names in pages()}


def stored_pages() -> str:
    """The help pages in the form that the command line reads, with one line for each part of a page."""

    def lines(page: Page) -> str:
        return ",\n".join(f"  {json.dumps(part, ensure_ascii=False)}" for part in page)

    pages = (f"{json.dumps(name)}: [\n{lines(page)}\n]" for name, page in help_pages().items())
    return "{\n" + ",\n".join(pages) + "\n}\n"


def method_section(name: str) -> str:
    """A method: what it does, on what data, its parameters and its paper."""
    kind = registry.load("method", name)
    facts = f"Data: {kind.accepts.__name__.lower()}. Engines: {', '.join(kind.engines)}. Paper: {kind.paper}."
    return "\n\n".join([f"## {name}", described(kind), facts, parameters(kind)])


def model_section(name: str) -> str:
    """A model: the promise, its parameters and where it was defined."""
    kind = registry.load("model", name)
    facts = f"{forms(kind)} Defined in: {kind.paper}."
    return "\n\n".join([f"## {name}", described(kind), facts, parameters(kind)])


def measure_section(name: str) -> str:
    """A measure: its definition, on which published forms, and the names of its scores."""
    kind = registry.load("measure", name)
    facts = f"{forms(kind)} Scores: {', '.join(f'`{score}`' for score in kind.scores_named)}."
    return "\n\n".join([f"## {name}", described(kind), facts, parameters(kind)]).rstrip()


def attack_section(name: str) -> str:
    """An attack: what it tries, on which published forms, and its parameters."""
    kind = registry.load("attack", name)
    return "\n\n".join([f"## {name}", described(kind), forms(kind), parameters(kind)])


def step_section(name: str) -> str:
    """A step of the preparation: what it does, its option and its parameters."""
    kind = registry.load("transform", name)
    facts = f"Option: `--{kind.option} {kind.metavar}`."
    return "\n\n".join([f"## {name}", described(kind), facts, parameters(kind)])


def forms(kind: Any) -> str:
    """The published forms that a model, a measure or an attack is for."""
    return f"Published forms: {', '.join(form.__name__.lower() for form in kind.accepts)}."


def data_sections() -> list[str]:
    """The generators with their parameters, and the engines."""
    generators = [
        "\n\n".join([f"## {name}", described(kind), command(kind), parameters(kind)])
        for name in registry.DATASETS
        for kind in [registry.load("dataset", name)]
    ]
    engines = [
        f"## Engine: {name}\n\n{described(registry.load('engine', name))}" for name in registry.ENGINES
    ]
    return [*generators, *engines]


def command(generator: type) -> str:
    """The command that makes such data: it is named after the form of the data, the generator after its subject."""
    form = getattr(generator, "form", made_by(generator).__name__.lower())
    return f"Command: `shoal generate {form}`."


def described(kind: type) -> str:
    """The docstring of a class in Markdown: its paragraphs, and a list of the names it defines."""
    text = inspect.getdoc(kind) or ""
    text = text.partition("\nParameters\n----------")[0].strip()
    text = re.sub(r"``(.+?)``", r"`\1`", text)
    paragraphs = []
    for part in text.split("\n\n"):
        entries = re.findall(r"^(\w[\w, ]*)\n((?: {4}.*\n?)+)", part, re.MULTILINE)
        if entries:
            part = "\n".join(f"- **{names}**: {' '.join(words.split())}" for names, words in entries)
        paragraphs.append(part)
    return "\n\n".join(paragraphs)


def parameters(kind: type) -> str:
    """The declared fields as a table."""
    if not (fields := fields_of(kind)):
        return ""
    rows = [f"| `{field.name}` | {default(field.default)} | {cell(field.help)} |" for field in fields]
    return "\n".join(["| parameter | default | meaning |", "|---|---|---|", *rows])


def default(value: Any) -> str:
    """A default value as it is shown in the table."""
    if type(value).__name__ == "PydanticUndefinedType":
        return "required"
    return "" if value in (None, (), {}) else f"`{value}`"


def cell(text: str) -> str:
    """A text, escaped so that it cannot break a table."""
    return text.replace("|", "\\|")


def main(arguments: list[str]) -> int:
    """Write the pages, or compare them with the files."""
    written = {REFERENCE / name: text for name, text in reference().items()} | {STORED: stored_pages()}
    there = {*REFERENCE.glob("*.md"), STORED}
    if arguments == ["--check"]:
        stale = sorted(path.name for path in written.keys() | there if written.get(path) != _text(path))
        print(f"stale: {', '.join(stale)}; run `make docs`" if stale else "docs/reference is up to date")
        return 1 if stale else 0
    REFERENCE.mkdir(parents=True, exist_ok=True)
    for old in there - written.keys():
        old.unlink()
    for path, text in written.items():
        path.write_text(text, encoding="utf-8")
    return 0


def _text(path: Path) -> str | None:
    """The text of a file, or None where there is none."""
    return path.read_text(encoding="utf-8") if path.exists() else None


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
