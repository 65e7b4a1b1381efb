"""A cluster that loses what it has computed publishes the same as one that loses nothing."""

from pathlib import Path
from typing import Any

import polars as pl
import pytest
from tests.contract.parted import arguments, text_of
from tests.parts import MemoryEngine
from tests.retried import RetriedEngine

import shoal
from shoal import registry
from shoal.errors import WrongUse
from shoal.methods.mondrian import _distributed as mondrian_parts
from shoal.methods.table_rule_hiding import _distributed as hiding_parts
from shoal.models import _distributed as in_parts
from shoal.models import _distributed_baskets as baskets_in_parts

CUT = [name for name in registry.METHODS if "spark" in registry.load("method", name).engines]
CASES = [(name, {}) for name in CUT] + [
    ("cahd", {"form": "blocks"}),
    ("cahd", {"form": "pivots"}),
    ("table-rule-hiding", {"strategy": "decoy"}),
]


@pytest.mark.parametrize(("name", "more"), CASES, ids=lambda one: str(one))
@pytest.mark.parametrize("memory", [6_000, 12_000])
def test_whatever_is_lost(
    name: str, more: dict[str, Any], memory: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module, size in (
        (mondrian_parts, "SMALL_PART"),
        (hiding_parts, "SMALL_PART"),
        (in_parts, "SMALL_PART"),
        (baskets_in_parts, "SMALL_SHARE"),
    ):
        monkeypatch.setattr(module, size, 7)
    path, options = arguments(registry.load("method", name), tmp_path)
    for engine in (MemoryEngine(memory), RetriedEngine(memory)):
        run = shoal.anonymize(path, name, seed=3, engine=engine, **options, **more)
        assert run.written(tmp_path / engine.name).holds
    assert text_of(tmp_path / "retried") == text_of(tmp_path / "memory")
    facts = [(tmp_path / one / "release" / "release.json").read_text() for one in ("memory", "retried")]
    assert facts[0] == facts[1]


def test_cells_with_line_breaks_are_no_lines_of_text(tmp_path: Path) -> None:
    """An engine that splits text at line ends publishes such cells as columns, not as text."""
    people = pl.DataFrame({"age": ["1", "1", "2", "2"], "note": ["x\n1,x", "y", "x\n1,x", "z"]})
    run = shoal.anonymize(people, "mondrian", k=2, quasi=["age"], sensitive=["note"], engine=RetriedEngine())
    with pytest.raises(WrongUse, match=r"Cells of note hold line breaks.*table_format='parquet'"):
        run.write(tmp_path / "out")
    assert not (tmp_path / "out").exists()
    assert run.written(tmp_path / "out", table_format="parquet").holds
