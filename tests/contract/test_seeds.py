"""A run that drew its own seed can be repeated by its owner, and by nobody else."""

import json
from pathlib import Path
from typing import Any

import pytest
from tests.contract.parted import arguments, text_of

import shoal
from shoal import registry
from shoal.engines.protocol import Engine
from shoal.engines.stream import Stream
from shoal.pipeline import publish
from shoal.recipe import Recipe

FORMS: list[tuple[str, dict[str, Any]]] = [
    *((name, {}) for name in registry.METHODS),
    ("relational-transaction", {"item_step": "disassociation"}),
    ("cahd", {"form": "blocks"}),
    ("cahd", {"form": "pivots"}),
    ("disassociation", {"swaps": 0}),
]
CUT = [
    (name, more)
    for name, more in FORMS
    if "stream" in registry.load("method", name).engines and name in ("cahd", "disassociation")
]


def check(name: str, more: dict[str, Any], folder: Path, engine: Engine | None) -> None:
    method = registry.load("method", name)
    path, options = arguments(method, folder)
    options |= more
    drawn = shoal.anonymize(path, name, engine=engine, **options)
    splits = method(**{**method.example, **more}).splits_ties
    assert (drawn.recipe["seed"] is not None) == splits
    if not splits:
        return
    drawn.write(folder / "drawn")
    kept = json.loads((folder / "drawn/run.json").read_text())["recipe"]["seed"]
    published = [file.read_text() for file in (folder / "drawn/release").rglob("*") if file.is_file()]
    assert not any(str(kept) in text for text in published)
    again = shoal.anonymize(path, name, engine=engine, seed=kept, **options)
    again.write(folder / "again")
    assert text_of(folder / "again") == text_of(folder / "drawn")


@pytest.mark.parametrize(("name", "more"), FORMS, ids=str)
def test_in_memory(name: str, more: dict[str, Any], tmp_path: Path) -> None:
    check(name, more, tmp_path, None)


@pytest.mark.parametrize(("name", "more"), CUT, ids=str)
def test_in_parts(name: str, more: dict[str, Any], tmp_path: Path) -> None:
    check(name, more, tmp_path, Stream())


@pytest.mark.parametrize("engine", ["local", "stream"])
def test_by_a_recipe(engine: str, tmp_path: Path) -> None:
    """The recipe in run.json repeats the run."""
    path, _ = arguments(registry.load("method", "disassociation"), tmp_path)
    plain = {
        "source": {"path": str(path), "baskets": "lines"},
        "method": {"name": "disassociation", "k": 3},
        "running": {"engine": engine},
    }
    for name in ("first", "second"):
        publish(Recipe(**plain, output={"folder": str(tmp_path / name)}))
        plain = json.loads((tmp_path / name / "run.json").read_text())["recipe"]
        del plain["output"]
    assert "seed" in plain
    assert text_of(tmp_path / "first") == text_of(tmp_path / "second")
