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
    for words in ("120 people", "prosecutor", "Unique in the table", "separation", "single out", "WARNING"):
        assert words in answer.out


def test_a_population_file(shoal: Callable[..., Any], folder: Path) -> None:
    (folder / "few.csv").write_text("age\n20\n21\n")
    (folder / "all.csv").write_text("age\n20\n20\n20\n20\n21\n21\n")
    answer = shoal("risk", "few.csv", "--quasi", "age", "--population", "all.csv", "--json")
    plain = json.loads(answer.out)
    assert plain["prosecutor"]["highest"] == 1.0
    assert plain["journalist"] == {"highest": 0.5, "average": 0.375, "above": 1.0}
    assert plain["marketer"]["average"] == 0.375


def test_baskets(shoal: Callable[..., Any], folder: Path) -> None:
    (folder / "shop.dat").write_text("a b\na b\na c\nb\n")
    plain = json.loads(shoal("risk", "shop.dat", "--json").out)
    assert plain["unique_by_known_items"] == {
        "1": pytest.approx(1 / 8),
        "2": pytest.approx(1 / 3),
        "3": 0.0,
        "4": 0.0,
    }
    assert "mean chance" in shoal("risk", "shop.dat").out


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (("--quasi", "agee"), 2, "age"),
        (("--sample-fraction", "2"), 2, "sample_fraction"),
        (("--population-size", "3"), 2, "smaller"),
        (("--population", "nowhere.csv"), 3, "nowhere.csv"),
    ],
)
def test_bad_use_is_explained(
    shoal: Callable[..., Any], people: Path, words: tuple[str, ...], code: int, said: str
) -> None:
    answer = shoal("risk", people, *words)
    assert (answer.code, said in answer.err, answer.out) == (code, True, ""), answer.err
