"""Messages name options on the command line, and parameters in Python."""

import ast
import os
import re
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path

import polars as pl
import pytest

import shoal
from shoal.cli import main
from shoal.io.reading import Reading
from shoal.option_names import READING, TERMINAL, as_typed, in_python, spoken

SOURCE = Path(shoal.__file__).parent


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        ("give --k, for example --k 10.", "give `k`, for example k=10."),
        ("--h 0.5 --k 5 --p 2 (coherence)", "h=0.5, k=5, p=2 (coherence)"),
        ("the other with --link visits.csv:patient.", "the other with link='visits.csv:patient'."),
        ("--link joins records to persons", "`link` joins records to persons"),
        ("the folder that `shoal anonymize … -o` made", "the folder that `Run.write` made"),
        (
            "out: `shoal convert INPUT KEPT --drop-only ITEMS`, with",
            "out: `shoal.io.baskets.conversion.convert_baskets(INPUT, KEPT, drop_only=ITEMS)`, with",
        ),
        ("--rho1 and --rho2 belong together", "`rho1` and `rho2` belong together"),
        ("or --suppression-limit 0.05", "or suppression_limit=0.05"),
        ("--private and --private-below are", "`private` and `private_below` are"),
        ("use --engine local.", "use engine=shoal.engines.Local()."),
        ("use --engine stream, because", "use engine=shoal.engines.Stream(), because"),
        ("--others drop or --others insensitive.", "others='drop' or others='insensitive'."),
        ("say --baskets long:ID,ITEM or", "say baskets='long:ID,ITEM' or"),
        ("Say which with --baskets: lines", "Say which with `baskets`: lines"),
        ("--hierarchy age=suppress or", "hierarchies={'age': 'suppress'} or"),
        ("--kind 'my day=date' for days", "reading=shoal.Reading(kinds={'my day': 'date'}) for days"),
        ('(--query "select …")', '(reading=shoal.Reading(query="select …"))'),
        ("with --force.", "with force=True."),
        ("--scope has no effect: --rules names", "`scope` has no effect: `rules` names"),
        ("with --normalize s.", "with reading=shoal.Reading(normalize=['s'])."),
        ("with --model NAME, or", "with promises=[…], or"),
        ("--model km-anonymity --k …", "promises=[{'model': 'km-anonymity'}], k=…"),
        ("what `--quick` makes", "what `quick` makes"),
        ("(`shoal inspect` suggests some)", "(`shoal.inspect(…)` suggests some)"),
        ("There is no item '--k'.", "There is no item '--k'."),
        ("the file a--b.csv -- there", "the file a--b.csv -- there"),
    ],
)
def test_options_become_parameters(typed: str, said: str) -> None:
    assert in_python(typed) == said


def texts_of(tree: ast.AST) -> Iterator[str]:
    """The texts of a module that are not docstrings, with a letter in place of each value that is filled in."""
    nodes = list(ast.walk(tree))
    inside = {id(part) for node in nodes if isinstance(node, ast.JoinedStr) for part in ast.walk(node)}
    inside |= {id(node.value) for node in nodes if isinstance(node, ast.Expr)}
    for node in nodes:
        match node:
            case ast.JoinedStr(values=parts):
                yield "".join(str(part.value) if isinstance(part, ast.Constant) else "x" for part in parts)
            case ast.Constant(value=str(text)) if id(node) not in inside:
                yield text


def test_every_message_of_the_library_has_words_for_python() -> None:
    found = []
    for path in sorted(SOURCE.rglob("*.py")):
        if path.parent.name == "cli" or path.name in (
            "option_names.py",
            "option_names.py",
            "command_line.py",
        ):
            continue
        for text in texts_of(ast.parse(path.read_text(encoding="utf-8"))):
            if " " in text and re.search(r"(?<!['\"\w-])--[a-wyz]", in_python(text)):
                found.append(f"{path.name}: {text}")
    assert not found


def test_options_of_reading_are_its_fields() -> None:
    plural = {"kind": "kinds", "date-format": "date_formats"}
    named = {plural.get(option, option).replace("-", "_") for option in READING}
    assert named == {field.name for field in fields(Reading)} - {"names", "orders"}


def test_the_command_line_says_what_is_typed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "some.csv"
    path.write_text("age,ill\n1,a\n2,b\n")
    assert main(["anonymize", "mondrian", str(path), "--k", "2", "-o", str(tmp_path / "out")]) == 2
    assert "--others drop or --others insensitive" in capsys.readouterr().err
    assert TERMINAL not in os.environ
    with pytest.raises(shoal.WrongUse) as error:
        shoal.anonymize(path, "mondrian", k=2)
    assert "others='drop' or others='insensitive'" in str(error.value)
    assert "--" not in str(error.value)


def test_words_are_those_of_whoever_reads_them() -> None:
    assert spoken("give --k") == "give `k`"
    with as_typed():
        assert spoken("give --k") == "give --k"
        with as_typed():
            pass
        assert str(shoal.WrongUse("give --k")) == "give --k"
    assert str(shoal.WrongUse("give --k")) == "give `k`"


def test_warnings_name_parameters_too() -> None:
    frame = pl.DataFrame({"age": [1, 1, 2, 2], "note": ["=1+1", "b", "=1+1", "b"]})
    with pytest.warns(shoal.ShoalWarning, match="safe_cells=True") as caught:
        run = shoal.anonymize(frame, "mondrian", k=2, quasi="age", insensitive="note")
    assert not [one for one in (*run.warnings, *(str(one.message) for one in caught)) if "--" in one]
