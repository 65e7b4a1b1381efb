"""What every method keeps on rows in parts: in memory cut at random, and in files of this machine."""

from pathlib import Path

import pytest
from tests.contract.parted import check, check_refusal
from tests.parts import MemoryEngine

from shoal import registry
from shoal.engines.stream import Stream

CUT = [name for name in registry.METHODS if "spark" in registry.load("method", name).engines]


@pytest.mark.parametrize("name", CUT)
def test_cut_at_random(name: str, tmp_path: Path) -> None:
    check(name, MemoryEngine(), tmp_path)


@pytest.mark.parametrize("name", CUT)
def test_in_files(name: str, tmp_path: Path) -> None:
    engine = Stream("1GB")
    engine.memory = 20_000
    try:
        check(name, engine, tmp_path)
    finally:
        engine.close()


@pytest.mark.parametrize("name", registry.METHODS)
def test_engines_go_together(name: str) -> None:
    """What runs on one engine of parts runs on the other, because a method knows nothing of the engine."""
    engines = registry.load("method", name).engines
    assert ("spark" in engines) == ("stream" in engines)


@pytest.mark.parametrize("name", [name for name in registry.METHODS if name not in CUT])
def test_the_others_say_why_not(name: str, tmp_path: Path) -> None:
    check_refusal(name, Stream("1GB"), tmp_path)
