"""What tests of the studio share: small data, and a studio that is really started."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.studio.serving import Served, serve

from shoal.datasets.people import People
from shoal.io.tables.load import write_table


@pytest.fixture(scope="session")
def nicegui(require_part: Callable[[object, str], None]) -> None:
    try:
        import nicegui as found
    except ImportError:
        found = None
    require_part(found, 'The extra "studio" is not installed (pip install "shoal[studio]").')


@pytest.fixture(scope="session")
def people(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small table of people."""
    path = tmp_path_factory.mktemp("data") / "people.csv"
    write_table(People(rows=300).make(3), path)
    return path


@pytest.fixture(scope="session")
def baskets(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A few baskets of a shop, with a secret in some of them."""
    path = tmp_path_factory.mktemp("data") / "shop.dat"
    lines = [
        " ".join(["bread"] + [f"item{n}" for n in range(6) if (row >> n) % 2] + ["secret"] * (row % 9 == 0))
        for row in range(256)
    ]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


@pytest.fixture(scope="session")
def served(nicegui: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """One studio for all tests of a worker."""
    found = serve(tmp_path_factory.mktemp("studio") / "kept", "--upload-limit", "0.002")
    yield found
    found.close()
