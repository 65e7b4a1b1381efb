"""Clusters for the tests of this folder: one for nearly all, because one takes half a minute to start."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.cluster import SETTINGS, Cluster, missing_part

if TYPE_CHECKING:
    from shoal.engines.spark import Spark


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if {"spark", "cluster"} & set(getattr(item, "fixturenames", ())):
            item.add_marker("spark")


@pytest.fixture(scope="session")
def cluster(
    tmp_path_factory: pytest.TempPathFactory, require_part: Callable[[object, str], None]
) -> Iterator[Cluster]:
    """A master and two workers."""
    yield from _running(tmp_path_factory.mktemp("cluster"), require_part)


@pytest.fixture(scope="module")
def doomed(
    tmp_path_factory: pytest.TempPathFactory, require_part: Callable[[object, str], None]
) -> Iterator[Cluster]:
    """A cluster of one's own, to be maltreated."""
    yield from _running(tmp_path_factory.mktemp("doomed"), require_part)


def _running(home: Path, require_part: Callable[[object, str], None]) -> Iterator[Cluster]:
    missing = missing_part()
    require_part(missing is None, missing or "")
    started = Cluster(home)
    try:
        yield started
    finally:
        started.stop()


@pytest.fixture(scope="session")
def spark(cluster: Cluster) -> Iterator["Spark"]:
    """The engine on the cluster."""
    from shoal.engines.spark import Spark

    engine = Spark(master=cluster.master, settings=SETTINGS)
    try:
        yield engine
    finally:
        engine.close()
