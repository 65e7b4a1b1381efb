"""Clusters for the tests of this folder: one for nearly all, because one takes long to start."""

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import pytest
from tests.cluster import SETTINGS, Cluster, missing_part

if TYPE_CHECKING:
    from shoal.engines.spark import Spark


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if "java" in getattr(item, "fixturenames", ()):
            item.add_marker("spark")


@pytest.fixture(scope="session")
def java(require_part: Callable[[object, str], None]) -> None:
    """What a cluster needs."""
    missing = missing_part()
    require_part(missing is None, missing or "")


@pytest.fixture(scope="module")
def doomed(java: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """A cluster whose master and workers are processes of their own, to be maltreated."""
    started = Cluster(tmp_path_factory.mktemp("doomed"))
    try:
        yield started
    finally:
        started.stop()


@pytest.fixture(scope="session")
def spark(java: None) -> Iterator["Spark"]:
    """The engine on a cluster of two executors, which are processes of their own; the driver's process hires them."""
    from shoal.engines.spark import Spark

    engine = Spark(master="local-cluster[2,1,768]", settings=SETTINGS)
    try:
        yield engine
    finally:
        engine.close()
