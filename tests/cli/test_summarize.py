"""`shoal summarize` as it is typed."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

ROWS = "sex,age,pay\n" + "".join(f"{'fm'[n % 2]},{20 + n % 5},{100 + n % 7}\n" for n in range(60))


@pytest.fixture
def people(folder: Path) -> Path:
    (folder / "people.csv").write_text(ROWS)
    return folder


def test_it_publishes_and_proves(people: Path, shoal: Callable[..., Any]) -> None:
    call = ("summarize", "people.csv", "--by", "sex,age", "--count", "--sum", "pay", "--threshold", 7)
    answer = shoal(*call, "-o", "out")
    assert (answer.code, answer.err) == (0, "")
    assert "18 cells published in out/release" in answer.out
    assert "OK      protected-sums: no hidden sum of pay can be estimated to within 10 percent" in answer.out
    assert shoal("verify", "out").code == 0
    assert shoal("verify", "out", "--model", "protected-counts", "--threshold", 60).code == 1
    again = shoal(*call, "-o", "out")
    assert again.code == 2
    assert "--force" in again.err
    told = json.loads(shoal(*call, "-o", "out", "--force", "--json", "--no-report").out)
    assert told["cells"] == 18
    assert told["verdicts"][0]["holds"]
    assert not (people / "out" / "report.html").exists()


def test_several_tables(people: Path, shoal: Callable[..., Any]) -> None:
    answer = shoal("summarize", "people.csv", "--by", "sex", "--by", "age", "-o", "out")
    assert answer.code == 0
    facts = json.loads((people / "out" / "release" / "release.json").read_text())
    assert facts["tables"] == [["sex"], ["age"]]


@pytest.mark.parametrize(
    ("options", "code", "said"),
    [
        (("--by", "sx"), 2, "'sex'"),
        (("--by", "sex", "--dominance", "1,80"), 2, "there are none"),
        (("--by", "sex", "--dominance", "many"), 2, "dominance"),
        (("--by", "sex", "--dominance", "1,80,3"), 2, "dominance"),
        (("--by", "sex", "--sum", "age", "--epsilon", 1), 2, "--epsilon is for counts"),
        (("--by", "sex,age", "--threshold", 100), 1, "Every cell of count would be hidden"),
    ],
)
def test_what_is_refused(
    options: tuple[object, ...], code: int, said: str, people: Path, shoal: Callable[..., Any]
) -> None:
    answer = shoal("summarize", "people.csv", *options, "-o", "out")
    assert answer.code == code
    assert said in answer.err
    assert not (people / "out").exists()
