"""``shoal sql`` and ``shoal run`` with other data: the query judges as `verify` does."""

import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import shoal as library
from shoal.errors import WrongUse
from shoal.models._warehouse_query import Question

sqlglot = pytest.importorskip("sqlglot", reason="the extra warehouse is not installed")
duckdb = pytest.importorskip("duckdb")

TABLES = 1000


def drawn(rng: random.Random) -> tuple[pl.DataFrame, list[str], dict[str, Any]]:
    """A small table with missing cells and stars, its quasi-identifiers, and promises."""
    rows, quasi = rng.randint(1, 25), ["a b", 'c"'][: rng.randint(1, 2)]
    cells = ["x", "y", None] + ["*"] * (rng.random() < 0.4)
    secrets = ["u", "v", "w'", None] + ["*"] * (rng.random() < 0.3)
    columns = {name: [rng.choice(cells) for _ in range(rows)] for name in quasi}
    columns["s"] = [rng.choice(secrets) for _ in range(rows)]
    asked: dict[str, Any] = {"k": rng.randint(2, 4)}
    others = {
        "l": rng.randint(2, 3),
        "alpha": rng.choice([0.2, 0.5, 0.75]),
        "t": rng.choice([0.1, 0.25, 0.5]),
    }
    asked |= {name: value for name, value in others.items() if rng.random() < 0.5}
    return pl.DataFrame(columns, schema=dict.fromkeys(columns, pl.String)), quasi, asked


@pytest.mark.parametrize("tables", [60, pytest.param(TABLES, marks=pytest.mark.slow)])
def test_the_same_verdict_as_verify(tables: int, tmp_path: Path) -> None:
    rng = random.Random(5)
    open_cases = 0
    for _ in range(tables):
        frame, quasi, asked = drawn(rng)
        with duckdb.connect() as warehouse:
            warehouse.register("release", frame.to_arrow())
            text = Question(quasi=tuple(quasi), sensitive=("s",), **asked).query()
            found = {row[0]: row[4] for row in warehouse.execute(text).fetchall()}
        frame.write_csv(tmp_path / "t.csv", quote_style="non_numeric")
        distance = {"distance": "equal"} if "t" in asked else {}
        verdicts = library.verify(tmp_path / "t.csv", quasi=quasi, sensitive="s", **asked, **distance)
        for verdict in verdicts:
            if found[verdict.model] is None:
                # Only closeness of a column with stars is left open.
                assert (verdict.model, "*" in frame["s"].to_list()) == ("t-closeness", True)
                open_cases += 1
            else:
                assert found[verdict.model] == verdict.holds, (frame.rows(), asked)
        assert found.keys() == {verdict.model for verdict in verdicts}
    assert open_cases < tables / 4


@pytest.mark.parametrize("dialect", ["duckdb", "postgres", "bigquery", "snowflake", "spark"])
def test_every_dialect_parses(dialect: str) -> None:
    text = Question(
        table="lake.release", quasi=("a b",), sensitive=("s",), k=5, l=2, alpha=0.5, t=0.2, dialect=dialect
    ).query()
    assert sqlglot.parse_one(text, read=dialect)
    assert ("`a b`" if dialect in ("bigquery", "spark") else '"a b"') in text


def test_the_command(shoal: Callable[..., Any]) -> None:
    answer = shoal("sql", "--quasi", "age,sex", "--k", 5, "--dialect", "postgres")
    assert answer.code == 0
    assert sqlglot.parse_one(answer.out, read="postgres")
    for wrong in (("--quasi", "age"), ("--quasi", "age", "--l", 2), ("--quasi", "age", "--k", 1)):
        assert shoal("sql", *wrong).code == 2
    with pytest.raises(WrongUse, match="at most 4 decimals"):
        Question(quasi=("a",), sensitive=("s",), t=0.12345).query()


def test_a_recipe_on_other_data(shoal: Callable[..., Any], folder: Path) -> None:
    for name, rows in (("old.csv", 40), ("new.csv", 60)):
        lines = [f"{20 + n % 9},{('flu', 'cold')[n % 2]}" for n in range(rows)]
        (folder / name).write_text("age,illness\n" + "\n".join(lines) + "\n")
    given = ("old.csv", "--k", 3, "--quasi", "age", "--sensitive", "illness", "--save-recipe", "r.toml")
    assert shoal("anonymize", "mondrian", *given, "-o", "out").code == 0
    answer = shoal("run", "r.toml", "--input", "new.csv", "--k", 7, "--with", "l=2", "-o", "again")
    assert answer.code == 0, answer.err
    assert "60 rows published" in answer.out
    assert "every class has at least 7 rows" in answer.out
    assert "distinct-diversity" in answer.out
    assert shoal("run", "r.toml", "--with", "l=x", "-o", "wrong").code == 2
    assert shoal("run", "r.toml", "--with", "nothing=2", "-o", "wrong").code == 2
    assert not (folder / "wrong").exists()
