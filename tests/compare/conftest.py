"""Recipes on small data, and a method that misbehaves as told, in this process and in workers."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from shoal import registry

PLANTED = '''
import os, time
from typing import ClassVar, Literal
from shoal.errors import BrokenPromise, Infeasible
from shoal.methods.mondrian.method import Mondrian

class Misbehaving(Mondrian):
    """A method that does what it is told."""
    name: ClassVar[str] = "misbehaving"
    how: Literal["work", "raise", "exit", "refuse", "break", "wait"] = "work"
    pause: float = 0.0

    def anonymize(self, data, engine=None, seed=None):
        time.sleep(self.pause)
        match self.how:
            case "raise":
                raise ZeroDivisionError("division by nothing")
            case "exit":
                os.write(2, b"out of everything\\n")
                os._exit(9)
            case "refuse":
                raise Infeasible("too much is asked for.", best=7)
            case "break":
                raise BrokenPromise("it is broken.")
            case "wait":
                time.sleep(600)
        return super().anonymize(data, engine, seed)
'''

CUSTOM = """
from shoal import registry
registry.METHODS["misbehaving"] = "misbehaving:Misbehaving"
"""

DATA = """
title = "A test"
[datasets.people]
generate = "table"
rows = 60
roles = { quasi = ["age", "sex"], sensitive = ["disease"], others = "drop" }
"""


@pytest.fixture
def misbehaving(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Register the method ``misbehaving``, here and in workers; the folder of its module."""
    folder = tmp_path / "planted"
    folder.mkdir()
    (folder / "misbehaving.py").write_text(PLANTED)
    (folder / "sitecustomize.py").write_text(CUSTOM)
    source = Path(__file__).resolve().parents[2] / "src"
    monkeypatch.syspath_prepend(str(folder))
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(folder), str(source)]))
    monkeypatch.setitem(registry.METHODS, "misbehaving", "misbehaving:Misbehaving")
    return folder


@pytest.fixture
def recipe(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], Path]:
    """``recipe('[[sweep]] …')`` writes a recipe over sixty people and gives its path. No public data is at hand."""
    monkeypatch.delenv("SHOAL_DATA", raising=False)

    def write(text: str, data: str = DATA) -> Path:
        path = tmp_path / "recipe.toml"
        path.write_text(data + text)
        return path

    return write
