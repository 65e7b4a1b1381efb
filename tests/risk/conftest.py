"""The command line, as its own tests call it."""

from tests.cli.conftest import folder, people, process, roles, shoal

__all__ = ["folder", "people", "process", "roles", "shoal"]
