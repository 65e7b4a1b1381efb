"""An old name is an error that names the new one, on the command line, in Python and in recipes."""

from pathlib import Path
from typing import Any

import pytest

import shoal
from shoal import registry
from shoal.cli.program import main
from shoal.errors import UnknownName, WrongUse
from shoal.option_names import RENAMED
from shoal.recipe import make_measure, make_method

OPTIONS = [
    (
        ("anonymize", "km-generalization", "b.dat", "--k", "2", "--item-hierarchy", "t.csv"),
        "--hierarchy items=FILE",
    ),
    (("recommend", "b.dat", "--k", "2", "--m", "2", "--item-hierarchy", "t.csv"), "--hierarchy items=FILE"),
    (
        (
            "anonymize",
            "basket-rule-hiding",
            "b.dat",
            "--support",
            "0.1",
            "--confidence",
            "0.5",
            "--seconds",
            "3",
        ),
        "--time-limit",
    ),
    (("anonymize", "mondrian", "people.csv", "--k", "3", "--choose", "loss"), "--split"),
    (("anonymize", "lattice", "people.csv", "--k", "3", "--minimize", "ncp"), "--objective"),
    (("anonymize", "samarati", "people.csv", "--k", "3", "--choose", "entropy"), "--objective"),
    (("recommend", "people.csv", "--k", "3", "--suppression", "0.1"), "--suppression-limit"),
]
"""Command lines that end in an old option and its value, each with the new option."""

PARAMETERS = [
    ("basket-rule-hiding", {"support": 0.1, "confidence": 0.5, "seconds": 3}, "time_limit"),
    ("mondrian", {"k": 3, "choose": "loss"}, "split"),
    ("lattice", {"k": 3, "minimize": "ncp"}, "objective"),
    ("samarati", {"k": 3, "choose": "entropy"}, "objective"),
]
"""Methods whose last parameter has its old name, each with the new name."""


@pytest.mark.parametrize(("call", "new"), OPTIONS, ids=lambda part: "" if isinstance(part, str) else part[-2])
def test_an_old_option(call: tuple[str, ...], new: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(call) == 2
    said = capsys.readouterr().err
    assert said.startswith(f"shoal: {call[-2]} is now {new}. See: shoal ")


@pytest.mark.parametrize(("old", "new"), [("seconds", "time_limit"), ("suppression", "suppression_limit")])
def test_an_old_parameter_of_recommend(old: str, new: str) -> None:
    with pytest.raises(WrongUse) as caught:
        shoal.recommend("people.csv", k=5, quasi="age", **{old: 1})
    assert str(caught.value) == f"recommend: The parameter {old!r} is now {new!r}."


@pytest.mark.parametrize(("name", "parameters", "new"), PARAMETERS)
def test_an_old_parameter(name: str, parameters: dict[str, Any], new: str) -> None:
    said = f"The parameter {list(parameters)[-1]!r} is now {new!r}"
    with pytest.raises(WrongUse) as caught:
        make_method({"name": name, **parameters})
    assert str(caught.value) == f"{name}: {said}."
    with pytest.raises(ValueError, match=said):
        registry.load("method", name)(**parameters)


@pytest.mark.parametrize(("old", "news"), RENAMED["method"].items())
def test_an_old_method(old: str, news: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> None:
    (new,) = news
    assert new in registry.METHODS
    said = f"There is no method {old!r}: it is now {new!r}."
    with pytest.raises(UnknownName) as caught:
        make_method({"name": old, "confidence": 0.5})
    assert str(caught.value) == said
    assert main(("anonymize", old, "people.csv", "--confidence", "0.5")) == 2
    assert capsys.readouterr().err == f"shoal: {said}\n"
    assert main(("methods", old)) == 2
    assert f"it is now {new!r}." in capsys.readouterr().err


@pytest.mark.parametrize(("old", "news"), RENAMED["measure"].items())
def test_an_old_measure(old: str, news: tuple[str, ...]) -> None:
    (new,) = news
    assert new in registry.MEASURES
    with pytest.raises(UnknownName) as caught:
        make_measure(old)
    assert str(caught.value) == f"There is no measure {old!r}: it is now {new!r}."


SWEEP = """
title = "old names"
[datasets.people]
generate = "people"
rows = 30

[[sweep]]
name = "s"
datasets = ["people"]
methods = ["mondrian"]
grid = { k = [2, 3], split = ["loss"] }

[[chart]]
name = "c"
sweep = "s"
x = "k"
y = "lm"
"""


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (("split = ", "choose = "), "The parameter 'choose' is now 'split'"),
        (
            ('["mondrian"]', '["rule-hiding"]'),
            "There is no method 'rule-hiding': it is now 'table-rule-hiding'",
        ),
        (('y = "lm"', 'y = "generalised_occurrences"'), "it is now 'generalized_occurrences'"),
        (('x = "k"', 'x = "k"\nby = ["choose"]'), "called 'choose': it is now 'split'"),
    ],
)
def test_old_names_in_a_comparison(
    change: tuple[str, str], said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "sweep.toml").write_text(SWEEP.replace(*change))
    assert main(("compare", str(tmp_path / "sweep.toml"), "-o", str(tmp_path / "out"))) == 2
    assert said in capsys.readouterr().err


def test_an_old_parameter_of_the_first_step() -> None:
    method = make_method(
        {"name": "table-rule-hiding", "k": 3, "confidence": 0.5, "options": {"choose": "loss"}}
    )
    with pytest.raises(UnknownName, match="no parameter of mondrian 'choose': it is now 'split'"):
        method.overlapping()


def test_every_old_parameter_is_tried() -> None:
    tried = {call[-2].removeprefix("--").replace("-", "_") for call, _ in OPTIONS}
    assert tried == set(RENAMED["parameter"])
    news = {new.partition(" ")[0].removeprefix("--").replace("-", "_") for _, new in OPTIONS}
    assert news == {new.partition(" ")[0] for all_new in RENAMED["parameter"].values() for new in all_new}


@pytest.mark.parametrize("method", ["samarati", "lattice"])
def test_a_share_of_rows_has_a_name_of_its_own(method: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(("anonymize", method, "people.csv", "--k", "3", "--max-suppressed", "0.02")) == 2
    assert "'0.02' is not a whole number: for a share, use --suppression-limit." in capsys.readouterr().err
    assert main(("anonymize", method, "people.csv", "--k", "3", "--suppression-limit", "2", "-o", "out")) == 2
    assert "2 % is 0.02" in capsys.readouterr().err
