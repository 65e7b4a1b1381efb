"""``shoal attack`` on the command line, and `shoal.attack` in Python."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.cli.conftest import ROLES, folder, people, shoal

import shoal as library
from shoal.attacking import _read_control
from shoal.errors import WrongUse
from shoal.measuring import read_original
from shoal.progress import watched

__all__ = ["folder", "people", "shoal"]

FIGURES = {"success", "baseline", "control", "residual", "people", "interval", "sentence", "parts"}


@pytest.fixture
def released(shoal: Callable[..., Any], people: Path) -> Path:
    answer = shoal("anonymize", "mondrian", people, "--k", 5, *ROLES, "--no-report", "-o", "out")
    assert answer.code == 0, answer.err
    return people


def test_all_attacks_as_json(shoal: Callable[..., Any], released: Path) -> None:
    answer = shoal("attack", "out", "--original", released, "--json")
    assert answer.code == 0, answer.err
    plain = json.loads(answer.out)
    assert set(plain) == {"linkage", "inference", "certainty", "order", "downcoding"}
    assert all(set(one) == FIGURES for one in plain.values())
    assert plain["linkage"]["success"] <= 0.2


def test_each_attack_is_told_with_its_number(shoal: Callable[..., Any], released: Path) -> None:
    told: list[str] = []
    with watched(lambda name, _: told.append(name)):
        found = library.attack("out", released, holdout=0.2)
    parts = [name for name in told if name]
    assert parts[:2] == ["reading", "repeating the run without 20% of the people"]
    tried = [name.partition(",")[0] for name in parts[2:]]
    assert set(found) <= set(tried)
    assert parts[2:] == [f"{name}, {place} of {len(tried)}" for place, name in enumerate(tried, 1)]
    assert told[-1] == ""


def test_held_out_people_are_a_control(shoal: Callable[..., Any], released: Path) -> None:
    answer = shoal("attack", "out", "--original", released, "--holdout", 0.2)
    assert answer.code == 0, answer.err
    assert "membership" in answer.out
    assert "this is about the method" in answer.out


def test_a_control_file_and_another_release(shoal: Callable[..., Any], released: Path, folder: Path) -> None:
    lines = released.read_text().splitlines()
    (folder / "more.csv").write_text("\n".join([lines[0], *lines[5:40]]) + "\n")
    answer = shoal("anonymize", "mondrian", "more.csv", "--k", 5, *ROLES, "--no-report", "-o", "out2")
    assert answer.code == 0, answer.err
    (folder / "others.csv").write_text("\n".join(lines[:40]).replace(",1", ",2") + "\n")
    options = ("--control", "others.csv", "--other", "out2", "--attacks", "membership,intersection", "--json")
    answer = shoal("attack", "out", "--original", released, *options)
    assert answer.code == 0, answer.err
    assert set(json.loads(answer.out)) == {"membership", "intersection"}


def test_the_people_of_the_original_are_no_control(
    shoal: Callable[..., Any], released: Path, folder: Path
) -> None:
    lines = released.read_text().splitlines()
    (folder / "some.csv").write_text("\n".join([lines[0], *lines[50:90]]) + "\n")
    for control in (released, "some.csv"):
        answer = shoal("attack", "out", "--original", released, "--control", control)
        assert answer.code == 2
        assert "100% of the control are in the original" in answer.err, answer.err


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (("--attacks", "linkag"), 2, "linkage"),
        (("--attacks", "definetti"), 2, "groups"),
        (("--attacks", "membership"), 2, "--control"),
        (("--holdout", "1.5"), 2, "below 1"),
        (("--holdout", "0.1", "--control", "x.csv"), 2, "not both"),
        (("--control", "nowhere.csv"), 3, "nowhere.csv"),
        (("--other", "nowhere"), 3, "nowhere"),
    ],
)
def test_bad_use_is_explained(
    shoal: Callable[..., Any], released: Path, words: tuple[str, ...], code: int, said: str
) -> None:
    answer = shoal("attack", "out", "--original", released, *words)
    assert (answer.code, said in answer.err, answer.out) == (code, True, ""), answer.err


def test_another_original_is_refused(shoal: Callable[..., Any], released: Path, folder: Path) -> None:
    (folder / "other.csv").write_text(released.read_text().replace("baker", "pilot"))
    assert shoal("attack", "out", "--original", "other.csv").code == 3


def test_in_python(released: Path) -> None:
    found = library.attack("out", released, attacks=["linkage"], people=50)
    assert found["linkage"].people == 50
    with pytest.raises(WrongUse, match="held out"):
        library.attack("out", released, holdout=0.001)


def test_a_run_is_attacked_without_files(released: Path, folder: Path) -> None:
    """The same figures as from the folder that it writes, also beside a control: roles are those of the release."""
    options: dict[str, Any] = {
        "k": 5,
        "quasi": ["age", "education"],
        "sensitive": "occupation",
        "others": "drop",
    }
    run = library.anonymize(released, "mondrian", **options)
    run.write("again", report=False)
    lines = released.read_text().splitlines()
    others = "\n".join([lines[0], *lines[5:40]]).replace(",university,", ",college,")
    (folder / "control.csv").write_text(others.replace(",school,", ",university,") + "\n")
    for extra in ({"control": "control.csv"}, {"holdout": 0.2}):
        asked: dict[str, Any] = {"attacks": ("linkage", "membership"), **extra}
        assert library.attack(run, **asked) == library.attack("again", released, **asked)
    assert set(library.attack(run, attacks="linkage")) == {"linkage"}
    assert library.attack(run, other=run, attacks="intersection") == library.attack(
        "again", released, other="again", attacks="intersection"
    )
    with pytest.raises(WrongUse, match="omit it"):
        library.attack(run, released)
    with pytest.raises(WrongUse, match="original"):
        library.attack("again")


def test_a_control_is_prepared_like_the_original(shoal: Callable[..., Any], people: Path) -> None:
    options = ("--top", "age=60", "--no-report", "-o", "top")
    answer = shoal("anonymize", "mondrian", people, "--k", 5, *ROLES, *options)
    assert answer.code == 0, answer.err
    _, original, plan = read_original("top", people)
    ages = _read_control(people, original, plan).column("age").domain.labels
    assert ages == original.column("age").domain.labels
    assert "60+" in ages
