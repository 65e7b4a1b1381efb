"""Six people and two quasi-identifiers, promised to be alike in threes."""

import pytest
from tests.hand_made import TREE, run_of
from tests.tables import column

from shoal.data.domain import Kind
from shoal.data.role import Role
from shoal.data.table import Table
from shoal.outcome import Run


@pytest.fixture
def people() -> Table:
    return Table(
        (
            column("name", ["Ada", "Bea", "Cem", "Dora", "Emil", "Fay"], Role.IDENTIFYING),
            column("age", [20, 25, 30, 40, 41, 45]),
            column("town", ["Bonn", "Berlin", "Bonn", "Rome", "Rome", "Bonn"], hierarchy=TREE),
            column("illness", ["flu", "flu", "flu", "cold", "flu", "gout"], Role.SENSITIVE),
            column("note", ["a", "b", "c", "d", "e", "f"], Role.INSENSITIVE, Kind.NOMINAL),
        )
    )


@pytest.fixture
def run(people: Table) -> Run:
    """Two classes of three; the first one shares one illness."""
    ages = ["[20,30]"] * 3 + ["[40,45]"] * 3
    towns = ["Germany"] * 3 + ["*"] * 3
    return run_of(people, {"age": ages, "town": towns})
