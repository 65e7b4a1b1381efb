"""A comparison keeps no password of its recipe."""

from collections.abc import Callable
from pathlib import Path

from shoal.comparison.runner import compare

ADDRESS = "postgresql://ann:s3cret@127.0.0.1:1/x?table=y&password=s3cret"
SWEEP = f"""
[[sweep]]
name = "s"
datasets = ["people"]
methods = ["mondrian"]
parameters = {{ k_map = 3, population = "{ADDRESS}" }}
"""


def test_no_file_of_a_comparison_holds_a_password(recipe: Callable[..., Path], tmp_path: Path) -> None:
    found = compare(recipe(SWEEP), tmp_path / "out", jobs=1)
    assert len(found.rows) == 1
    assert "postgresql://ann@127.0.0.1:1/x" in (tmp_path / "out" / "recipe.toml").read_text()
    for file in (tmp_path / "out").rglob("*"):
        assert file.is_dir() or b"s3cret" not in file.read_bytes(), file
    assert compare(recipe(SWEEP), tmp_path / "out", jobs=1).folder == tmp_path / "out"
