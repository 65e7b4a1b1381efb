"""Insensitive columns that undo a promise are named: copies, functions, and what one more known column leaves."""

from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.parts import MemoryEngine
from tests.tables import column

import shoal
from shoal.data.role import Role
from shoal.data.table import Table
from shoal.engines.stream import Stream
from shoal.errors import BrokenPromise
from shoal.recipe import Recipe
from shoal.risks.role_guards import known_too

ROWS = 600


def people(**more: Any) -> pl.DataFrame:
    random = np.random.default_rng(5)
    frame = pl.DataFrame(
        {
            "age": random.integers(20, 80, ROWS),
            "height": random.integers(150, 200, ROWS),
            "illness": [f"i{one}" for one in random.integers(0, 4, ROWS)],
        }
    )
    return frame.with_columns(**more)


def warnings(frame: pl.DataFrame, **options: Any) -> tuple[str, ...]:
    run = shoal.anonymize(
        frame,
        "mondrian",
        k=5,
        quasi=["age", "height"],
        sensitive=["illness"],
        others="insensitive",
        **options,
    )
    return run.warnings


AGE = pl.col("age")


@pytest.mark.parametrize(
    ("made", "words"),
    [
        (AGE.alias("x"), "undoes the generalization of 'age': it gives its exact value."),
        ((AGE * 3 + 1).cast(pl.String).alias("x"), "it gives its exact value."),
        (pl.when(pl.int_range(pl.len()) % 50 == 0).then(0).otherwise(AGE).alias("x"), "in 9"),
    ],
)
@pytest.mark.filterwarnings("ignore::shoal.errors.ShoalWarning")
def test_a_copy_a_function_and_nearly_one(made: pl.Expr, words: str) -> None:
    said = [one for one in warnings(people(x=made)) if "undoes" in one]
    assert len(said) == 1
    assert "The insensitive column 'x'" in said[0]
    assert words in said[0]


@pytest.mark.filterwarnings("ignore::shoal.errors.ShoalWarning")
def test_what_determines_nothing_is_no_alarm() -> None:
    """A function of the age that does not give it back, numbers of rows, a constant, and one value nearly always."""
    frame = people(
        old=(AGE > 60).cast(pl.Int64),
        row=pl.int_range(pl.len()),
        same=pl.lit("a"),
        coin=pl.int_range(pl.len()) % 2,
    )
    assert not [one for one in warnings(frame) if "undoes" in one]
    exact = people(copy=AGE % 3, age=AGE % 3)
    run = shoal.anonymize(exact, "mondrian", k=2, quasi=["age"], others="insensitive")
    assert not [one for one in run.warnings if "undoes" in one]


@given(
    st.lists(
        st.tuples(st.integers(0, 2), st.integers(0, 2), st.integers(0, 4), st.integers(0, 1)), min_size=1
    )
)
def test_one_more_known_column_is_counted_right(rows: list[tuple[int, int, int, int]]) -> None:
    names = ("a", "b", "x", "y")
    roles = (Role.QUASI, Role.QUASI, Role.INSENSITIVE, Role.INSENSITIVE)
    columns = zip(names, zip(*rows, strict=True), roles, strict=True)
    table = Table(tuple(column(name, [f"v{one}" for one in cells], role) for name, cells, role in columns))
    for found, place in zip(known_too(table), (2, 3), strict=True):
        counts = Counter((a, b, other) for a, b, other in ((*row[:2], row[place]) for row in rows))
        assert found.unique == sum(count == 1 for count in counts.values()) / len(rows)
        assert found.smallest == min(counts.values())


@pytest.mark.filterwarnings("ignore::shoal.errors.ShoalWarning")
def test_every_engine_says_the_same(tmp_path: Path) -> None:
    people(copy=AGE, country=AGE % 7, group=pl.int_range(pl.len()) // 3).write_csv(tmp_path / "people.csv")
    options: dict[str, Any] = {
        "k": 5,
        "quasi": ["age", "height"],
        "sensitive": ["illness"],
        "others": "insensitive",
    }
    local = shoal.anonymize(tmp_path / "people.csv", "mondrian", **options)
    assert len(local.warnings) == 3
    assert "'country' is published unchanged" in local.warnings[0]
    assert "'copy'" in local.warnings[1]
    assert "with 'copy' also known" in local.warnings[2]
    assert "with 'country' also known" in local.warnings[2]
    for number, engine in enumerate((MemoryEngine(), Stream("1GB"))):
        parts = shoal.anonymize(tmp_path / "people.csv", "mondrian", engine=engine, **options)
        assert parts.written(tmp_path / f"out{number}").warnings == local.warnings
        engine.close()


@pytest.mark.filterwarnings("ignore::shoal.errors.ShoalWarning")
def test_strict_publishes_nothing_where_there_is_a_warning(tmp_path: Path) -> None:
    people(copy=AGE).write_csv(tmp_path / "people.csv")
    run = shoal.anonymize(tmp_path / "people.csv", "mondrian", k=5, quasi="age", others="insensitive")
    with pytest.raises(BrokenPromise, match=r"(?s)strict.*undoes the generalization"):
        run.write(tmp_path / "out", strict=True)
    recipe = {
        "source": {"path": str(tmp_path / "people.csv")},
        "roles": {"quasi": ["age"], "others": "insensitive"},
        "method": {"name": "mondrian", "k": 5},
        "output": {"folder": str(tmp_path / "out"), "strict": True},
    }
    from shoal.pipeline import publish

    with pytest.raises(BrokenPromise):
        publish(Recipe.model_validate(recipe))
    assert not list(tmp_path.glob("*out*"))
    recipe["roles"] = {"quasi": ["age"], "others": "drop"}
    publish(Recipe.model_validate(recipe))
    assert (tmp_path / "out" / "release").exists()
