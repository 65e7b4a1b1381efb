"""``shoal risk`` on the command line."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

WORDS = "prosecutor journalist marketer sample_uniques population_uniques combinations columns records safe_harbor"


def test_a_table_as_json(shoal: Callable[..., Any], people: Path) -> None:
    answer = shoal("risk", people, "--quasi", "age,education,zip", "--sample-fraction", 0.1, "--json")
    assert answer.code == 0, answer.err
    plain = json.loads(answer.out)
    assert set(WORDS.split()) <= set(plain)
    for name in ("prosecutor", "journalist", "marketer"):
        assert set(plain[name]) == {"highest", "average", "above"}
    assert {"pitman", "zayatz", "snb", "chosen"} <= set(plain["population_uniques"])
    assert plain["population_uniques"]["population"] == 1200
    assert [one["name"] for one in plain["columns"]] == ["age", "education", "zip"]
    assert all(one["sentence"] for one in plain["columns"])
    assert plain["combinations"] == [["zip"]]
    assert [one["column"] for one in plain["safe_harbor"]] == ["name", "zip"]


def test_a_table_in_words(shoal: Callable[..., Any], people: Path) -> None:
    answer = shoal("risk", people)
    assert answer.code == 0, answer.err
    for words in ("120 persons", "prosecutor", "Unique in the table", "separation", "single out", "WARNING"):
        assert words in answer.out


def test_a_population_file(shoal: Callable[..., Any], folder: Path) -> None:
    (folder / "few.csv").write_text("age\n20\n21\n")
    (folder / "all.csv").write_text("age\n20\n20\n20\n20\n21\n21\n")
    answer = shoal("risk", "few.csv", "--quasi", "age", "--population", "all.csv", "--json")
    plain = json.loads(answer.out)
    assert plain["prosecutor"]["highest"] == 1.0
    assert plain["journalist"] == {"highest": 0.5, "average": 0.375, "above": 1.0}
    assert plain["marketer"]["average"] == 0.375
    assert plain["strangers"] == 0


def test_a_population_of_others(shoal: Callable[..., Any], folder: Path) -> None:
    (folder / "few.csv").write_text("age\n20\n20\n22\n")
    (folder / "all.csv").write_text("age\n20\n21\n21\n21\n")
    options = ("risk", "few.csv", "--quasi", "age", "--population", "all.csv")
    assert json.loads(shoal(*options, "--json").out)["strangers"] == 2
    assert "WARNING 2 persons of the table cannot be in the population" in shoal(*options).out


def test_one_row(shoal: Callable[..., Any], folder: Path) -> None:
    (folder / "one.csv").write_text("age,sex\n20,f\n")
    said = shoal("risk", "one.csv", "--quasi", "age,sex").out
    assert said.startswith("1 person; known: age, sex.\n")
    assert "One row stands alone, whatever is known of it.\n" in said


def test_baskets(shoal: Callable[..., Any], folder: Path) -> None:
    (folder / "shop.dat").write_text("a b\na b\na c\nb\n")
    plain = json.loads(shoal("risk", "shop.dat", "--json").out)
    assert plain["unique_by_known_items"] == {
        "1": pytest.approx(1 / 8),
        "2": pytest.approx(1 / 3),
        "3": 0.0,
        "4": 0.0,
    }
    said = shoal("risk", "shop.dat").out
    assert "mean chance" in said
    assert "4        0  –" in said, "no basket has four items"
    answer = shoal("risk", "shop.dat", "--quasi", "a")
    assert (answer.code, "these are baskets" in answer.err) == (2, True)


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (("--quasi", "agee"), 2, "age"),
        (("--sample-fraction", "2"), 2, "sample_fraction"),
        (("--population-size", "3"), 2, "smaller"),
        (("--population", "nowhere.csv"), 3, "nowhere.csv"),
        (("--sensitive", "occupation"), 2, "this is a table"),
    ],
)
def test_bad_use_is_explained(
    shoal: Callable[..., Any], people: Path, words: tuple[str, ...], code: int, said: str
) -> None:
    answer = shoal("risk", people, *words)
    assert (answer.code, said in answer.err, answer.out) == (code, True, ""), answer.err
