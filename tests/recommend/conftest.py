"""Small data in files, and a method that misbehaves as told."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.compare.conftest import misbehaving  # noqa: F401

from shoal.datasets.people import People
from shoal.io.tables.load import write_table
from shoal.methods._candidates import Candidate
from shoal.recipe import Roles
from shoal.recommendation import propose as recommendation

ROLES = Roles(quasi=("age", "education", "sex"), sensitive=("disease",), others="drop")


@pytest.fixture
def roles() -> Roles:
    """Who is who among the people."""
    return ROLES


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    """Try only the first candidate of each method, and one of them with stronger promises: quick enough for a test."""
    every = recommendation.candidates

    def first_ones(*given: Any, **named: Any) -> list[Candidate]:
        chosen: dict[str, Candidate] = {}
        for one in every(*given, **named):
            chosen.setdefault(one.method["name"] + str(one.method.get("strategy")), one)
        return list(chosen.values())

    monkeypatch.setattr(recommendation, "candidates", first_ones)
    monkeypatch.setattr(recommendation, "BEST", 1)


@pytest.fixture
def one_ladder(monkeypatch: pytest.MonkeyPatch) -> None:
    """Try every candidate, and stronger promises of the best one alone: for data that takes seconds a run."""
    monkeypatch.setattr(recommendation, "BEST", 1)


@pytest.fixture
def people(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A table of 400 people in a folder of its own."""
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "my people.csv"
    write_table(People(rows=400).make(7), path)
    return path


@pytest.fixture
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A file of 400 baskets with habits, and a rare item 99."""
    monkeypatch.chdir(tmp_path)
    generator = np.random.default_rng(2)
    lines = []
    for row in range(400):
        habit = generator.integers(4)
        items = {10 * habit + place for place in range(4) if generator.random() < 0.7} | {habit * 10}
        if row % 25 == 0:
            items |= {99}
        lines.append(" ".join(map(str, sorted(items))))
    path = tmp_path / "shop.dat"
    path.write_text("\n".join(lines) + "\n")
    return path
