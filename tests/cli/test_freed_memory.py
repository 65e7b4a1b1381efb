"""Memory that arrays leave behind."""

import ctypes
import sys

import pytest

from shoal.cli import freed_memory


def test_other_systems_do_as_they_always_do(monkeypatch: pytest.MonkeyPatch) -> None:
    class Without:
        """A C library that has no such options."""

    asked = []
    monkeypatch.setattr(ctypes, "CDLL", lambda name: asked.append(name) or Without())
    monkeypatch.setattr(sys, "platform", "linux")
    freed_memory.keep_freed_memory()
    assert asked == [None]
    monkeypatch.setattr(sys, "platform", "darwin")
    freed_memory.keep_freed_memory()
    assert asked == [None]
