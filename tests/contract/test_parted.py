"""What every method must keep on rows in parts: cut at random in memory, and in files on this machine."""

from pathlib import Path
from typing import Any

import pytest
from tests.contract.parted import check, check_refusal
from tests.parts import MemoryEngine

import shoal
from shoal import registry
from shoal.engines.stream import Stream
from shoal.errors import BadData, WrongUse

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
    """What runs on one engine with rows in parts runs on the other, because methods know nothing about engines."""
    engines = registry.load("method", name).engines
    assert ("spark" in engines) == ("stream" in engines)


@pytest.mark.parametrize("name", [name for name in registry.METHODS if name not in CUT])
def test_the_others_say_why_not(name: str, tmp_path: Path) -> None:
    check_refusal(name, Stream("1GB"), tmp_path)


def test_the_owner_hears_the_same_of_rows_in_parts(tmp_path: Path) -> None:
    """Warnings of columns that may name persons, values that look like something else, and rows that are all alike."""
    rows = [f"{1000 + row},{row % 2},2020-0{1 + row % 9}-01x,s{row % 3},p{row}" for row in range(40)]
    path = tmp_path / "people.csv"
    path.write_text("\n".join(["patient_id,sex,born,illness,remark", *rows, ""]))
    options = {"quasi": ["patient_id", "sex", "born"], "sensitive": "illness", "insensitive": "remark"}
    options["insist"] = "patient_id"
    trees = {"patient_id": "intervals:10", "sex": "suppress", "born": "suppress"}
    cases: list[tuple[str, dict[str, Any]]] = [
        ("mondrian", {"k": 2}),
        ("mondrian", {"k": 40}),
        ("samarati", {"k": 4, "missing_matches_all": True, "hierarchies": trees, "max_suppressed": 0}),
    ]
    for number, (method, more) in enumerate(cases):
        local = shoal.anonymize(path, method, **options, **more)
        parts = shoal.anonymize(path, method, engine=MemoryEngine(), **options, **more)
        assert local.warnings
        assert parts.warnings == local.warnings
        assert parts.written(tmp_path / f"{number}").warnings == local.warnings


@pytest.mark.parametrize("name", ["(rows)", "(bucket)", "(note)"])
def test_names_that_are_taken_are_refused(name: str, tmp_path: Path) -> None:
    path = tmp_path / "people.csv"
    path.write_text(f"{name},illness\n1,a\n2,b\n")
    with pytest.raises(BadData, match="distributed rows need a column of that name"):
        shoal.anonymize(path, "mondrian", k=2, quasi=name, sensitive="illness", engine=MemoryEngine())


def test_a_release_folder_elsewhere_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "people.csv"
    path.write_text("age,illness\n1,a\n2,b\n")
    run = shoal.anonymize(path, "mondrian", k=2, quasi="age", sensitive="illness", engine=MemoryEngine())
    with pytest.raises(WrongUse, match="one that all workers share"):
        run.write("hdfs://host/out")
