"""Templates are compiled once."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from jinja2 import Environment
from jinja2.environment import Template

from shoal.report import compiled_templates
from shoal.report.compiled_templates import templates


@pytest.fixture
def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A user's cache, and templates beside which nothing can be written."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(compiled_templates.os, "access", lambda *_: False)
    templates.cache_clear()
    yield tmp_path / "shoal"
    templates.cache_clear()


def page() -> Template:
    templates.cache_clear()
    return templates("shoal.recommendation").get_template("recommendation.html.j2")


def test_what_was_compiled_is_taken_again(kept: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page()
    assert list(kept.iterdir())
    monkeypatch.setattr(Environment, "compile", None)
    page()


@pytest.mark.parametrize("damage", [b"", b"j2", b"something else"])
def test_what_is_damaged_is_compiled_again(kept: Path, damage: bytes) -> None:
    page()
    for file in kept.iterdir():
        file.write_bytes(file.read_bytes()[: -len(damage) - 1] + damage if damage else b"")
    page()


def test_where_nothing_can_be_kept(tmp_path: Path, kept: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    page()
    assert not kept.exists()
