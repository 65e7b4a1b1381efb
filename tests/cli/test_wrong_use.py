"""Mistakes of use: what is said, and whether it leads to what was meant."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

OUT = ("--no-report", "-o", "out")


@pytest.fixture
def anonymize(shoal: Callable[..., Any], people: Path, roles: tuple[str, ...]) -> Callable[..., Any]:
    def call(method: str, *options: object) -> Any:
        return shoal("anonymize", method, people, *roles, *options, *OUT)

    return call


@pytest.mark.parametrize(
    ("method", "option", "meant"),
    [
        ("lattice", "--max-suppressed", "Did you mean --suppression-limit (largest share of the rows"),
        ("samarati", "--suppression-limit", "Did you mean --max-suppressed (the most rows"),
        ("samarati", "--suppression-limit=0.1", "Unknown option: --suppression-limit."),
        ("mondrian", "--max-suppressed", "It is an option of samarati."),
        ("mondrian", "--kk", "Did you mean --k?"),
    ],
)
def test_an_unknown_option(method: str, option: str, meant: str, anonymize: Callable[..., Any]) -> None:
    answer = anonymize(method, "--k", 3, option, *([] if "=" in option else [3]))
    assert (answer.code, answer.out) == (2, "")
    assert meant in answer.err
    assert answer.err.endswith(f"See: shoal anonymize {method} --help\n")


def test_a_rule_that_is_none(shoal: Callable[..., Any], folder: Path) -> None:
    (folder / "b.dat").write_text("a b\nb\n")
    call = ("anonymize", "hide-rules", "b.dat", "--support", 0.1, "--confidence", 0.5, *OUT)
    answer = shoal(*call, "--rules", "a -> b")
    assert answer.code == 2
    assert answer.err == (
        "shoal: hide-rules: rules: A rule is written with spaces as 'beer + nuts => wine', not 'a -> b'.\n"
    )


def test_a_size_without_effect(anonymize: Callable[..., Any]) -> None:
    call = ("rule-hiding", "--k", 3, "--confidence", 0.5, "--size", 2)
    answer = anonymize(*call)
    assert answer.code == 2
    assert "add --antecedent any" in answer.err
    assert "parameters" not in answer.err
    assert anonymize(*call, "--antecedent", "any").code == 0


def test_every_column_without_a_hierarchy_is_named(anonymize: Callable[..., Any]) -> None:
    answer = anonymize("lattice", "--k", 3, "--hierarchy", "age=suppress")
    assert answer.code == 2
    assert "The columns 'education', 'zip' have no hierarchy" in answer.err
    answer = anonymize("samarati", "--k", 3, "--hierarchy", "age=suppress", "--hierarchy", "zip=mask")
    assert "The column 'education' has no hierarchy" in answer.err


def test_options_of_step_one_as_on_the_command_line(anonymize: Callable[..., Any], folder: Path) -> None:
    trees = (
        "--hierarchy",
        "age=suppress",
        "--hierarchy",
        "zip=suppress",
        "--hierarchy",
        "education=suppress",
    )
    call = ("rule-hiding", "--k", 3, "--confidence", 0.5, "--anonymize-with", "samarati", *trees)
    assert anonymize(*call, "--option", "max-suppressed=3").code == 0
    answer = anonymize(*call, "--option", "max-suppresed=3", "--force")
    assert answer.code == 2
    assert "'max_suppressed'" in answer.err


HEADLESS = "39,State-gov,baker\n" + "".join(f"{20 + row % 5},Private,smith\n" for row in range(20))


def test_a_file_without_a_header(shoal: Callable[..., Any], folder: Path) -> None:
    (folder / "raw.csv").write_text(HEADLESS)
    call = ("anonymize", "mondrian", "raw.csv", "--k", 2, *OUT)
    hint = "The first line looks like data ('39'): if there is no header, name the columns with --names."
    assert hint in shoal(*call, "--quasi", "age").err
    assert hint in shoal(*call, "--quasi", "State-gov").err
    assert hint in shoal("inspect", "raw.csv").out
    assert hint in shoal("verify", "raw.csv", "--quasi", "age", "--k", 2).err
    names = ("--names", "age,work,job", "--quasi", "age", "--others", "drop")
    assert shoal(*call, *names).code == 0
    assert hint not in shoal(*call, "--names", "age,work,job", "--quasi", "agee").err
    (folder / "twice.csv").write_text("1,1\n2,3\n")
    assert "if there is no header" in shoal("inspect", "twice.csv").err


def test_a_header_with_a_wrong_name_is_no_missing_header(shoal: Callable[..., Any], people: Path) -> None:
    answer = shoal("anonymize", "mondrian", people, "--k", 2, "--quasi", "agee", *OUT)
    assert "'age'" in answer.err
    assert "--names" not in answer.err
