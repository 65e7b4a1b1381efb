"""`shoal.verify` is the same call wherever the files are read."""

from pathlib import Path

import pytest
from tests.contract.parted import arguments
from tests.parts import MemoryEngine

import shoal
from shoal import registry
from shoal.errors import WrongUse

CUT = [name for name in registry.METHODS if "stream" in registry.load("method", name).engines]


@pytest.mark.parametrize("name", CUT)
def test_releases(name: str, tmp_path: Path) -> None:
    """In memory and by an engine, of a folder and of a release that has no folder yet."""
    path, options = arguments(registry.load("method", name), tmp_path)
    run = shoal.anonymize(path, name, seed=3, engine=MemoryEngine(), **options)
    folder = run.write(tmp_path / "out")
    here = shoal.verify(folder)
    assert all(here)
    for source in (folder, folder / "release", run.release):
        there = shoal.verify(source, engine=MemoryEngine())
        assert [one.as_dict() for one in there] == [one.as_dict() for one in here]
    assert shoal.verify(folder, engine=MemoryEngine()).judged == here.judged


def test_promises_that_are_asked_for(tmp_path: Path) -> None:
    path, options = arguments(registry.load("method", "mondrian"), tmp_path)
    folder = shoal.anonymize(path, "mondrian", **options).write(tmp_path / "out", report=False)
    data = folder / "release" / "data.csv"
    for engine in (None, MemoryEngine()):
        (kept,) = shoal.verify(folder, k=2, engine=engine)
        (broken,) = shoal.verify(data, k=1000, quasi=["age", "city"], engine=engine)
        assert (kept.holds, broken.holds) == (True, False)
        with pytest.raises(WrongUse, match="No column is a quasi-identifier"):
            shoal.verify(data, k=2, engine=engine)
        with pytest.raises(WrongUse, match="Nothing to prove"):
            shoal.verify(data, engine=engine)


def test_other_roles_are_judged_by_the_release_itself(tmp_path: Path) -> None:
    """A release that is given other roles but no promises is judged by its own promises, never by none."""
    path, options = arguments(registry.load("method", "mondrian"), tmp_path)
    folder = shoal.anonymize(path, "mondrian", **options).write(tmp_path / "out", report=False)
    found = [shoal.verify(folder, quasi="city", engine=engine) for engine in (None, MemoryEngine())]
    assert found[0]
    assert [one.model for one in found[0]] == [one.model for one in found[1]]
    assert [one.holds for one in found[0]] == [one.holds for one in found[1]]


def test_a_release_is_judged_where_its_rows_are(tmp_path: Path) -> None:
    path, options = arguments(registry.load("method", "mondrian"), tmp_path)
    for engine in (None, MemoryEngine()):
        run = shoal.anonymize(path, "mondrian", engine=engine, **options)
        with pytest.raises(WrongUse, match="judged where its rows are"):
            shoal.verify(run.release, engine=MemoryEngine() if engine is None else None)
