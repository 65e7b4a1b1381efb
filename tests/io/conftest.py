"""Files that several tests of this folder read."""

from collections.abc import Callable
from pathlib import Path

import pytest
from tests.io.people import PEOPLE, ROLES

from shoal.data.table import Table
from shoal.io.tables.load import read_table


@pytest.fixture
def file(tmp_path: Path) -> Callable[..., Path]:
    """``file(text, name)`` writes a file of this text and gives its path."""

    def write(text: str | bytes, name: str = "hierarchy.csv") -> Path:
        path = tmp_path / name
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    return write


@pytest.fixture
def people(tmp_path: Path) -> Path:
    """A CSV file of people."""
    path = tmp_path / "people.csv"
    path.write_text(PEOPLE, encoding="utf-8")
    return path


@pytest.fixture
def table(people: Path) -> Table:
    """The table in the file of people."""
    return read_table(people, **ROLES)
