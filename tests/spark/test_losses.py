"""A worker that dies costs time and nothing else; a driver that dies leaves nothing half-written."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from tests.cluster import ROOT, Cluster, wait_until
from tests.contract.parted import text_of
from tests.spark.driver import recipe_of

from shoal.datasets.people import People
from shoal.io.releases.folder import read_release
from shoal.io.tables.load import write_table
from shoal.outcome import judge
from shoal.pipeline import publish


@pytest.fixture(scope="module")
def people(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A table in part files, so that both workers have something to do."""
    folder = tmp_path_factory.mktemp("people") / "people.csv"
    folder.mkdir()
    for number in range(4):
        write_table(People(rows=2000).make(seed=number), folder / f"part-{number}.csv")
    return folder


def drive(cluster: Cluster, source: Path, folder: Path, method: str, mark: Path) -> "subprocess.Popen[bytes]":
    command = [sys.executable, "-m", "tests.spark.driver", cluster.master, source, folder, method, mark]
    with (folder.parent / "driver.log").open("wb") as log:
        return subprocess.Popen(command, env=cluster.environment(), cwd=ROOT, stdout=log, stderr=log)


def kill_a_worker(cluster: Cluster, people: Path, folder: Path, method: str) -> None:
    """Kill a worker in the middle of a task; the release must be that of an undisturbed run."""
    mark, out = folder / "mark", folder / "out"
    driver = drive(cluster, people, out, method, mark)
    try:
        wait_until(mark.exists, "a task to begin", 300)
        cluster.kill_worker()
        # Another one comes, for whoever is next, and perhaps in time to help.
        cluster.add_worker(f"after-{folder.name}")
        assert driver.wait(600) == 0, (folder / "driver.log").read_text(errors="replace")[-3000:]
    finally:
        driver.kill()
        driver.wait()
    assert all(verdict.holds for verdict in judge(read_release(out)))
    publish(recipe_of(str(people), str(folder / "local"), method))
    assert text_of(out) == text_of(folder / "local")
    assert not list(folder.glob(".out*"))


@pytest.mark.spark
@pytest.mark.slow
def test_a_worker_dies(doomed: Cluster, people: Path, tmp_path: Path) -> None:
    kill_a_worker(doomed, people, tmp_path, "samarati")


@pytest.mark.spark
@pytest.mark.slow
@pytest.mark.parametrize("method", ["samarati", "mondrian"])
@pytest.mark.parametrize("time", range(5))
def test_workers_die_again_and_again(
    doomed: Cluster, people: Path, tmp_path: Path, method: str, time: int
) -> None:
    kill_a_worker(doomed, people, tmp_path, method)


@pytest.mark.spark
@pytest.mark.slow
def test_the_driver_dies(doomed: Cluster, people: Path, tmp_path: Path) -> None:
    mark, out = tmp_path / "mark", tmp_path / "out"
    driver = drive(doomed, people, out, "samarati", mark)
    try:
        wait_until(
            lambda: list(tmp_path.glob(".out.*.partial/release/data.csv")), "the release to be written", 300
        )
        os.kill(driver.pid, signal.SIGKILL)
    finally:
        driver.kill()
        driver.wait()
    assert not out.exists()
    assert not list(tmp_path.rglob("release.json"))
