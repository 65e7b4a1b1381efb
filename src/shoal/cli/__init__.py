"""The command line: thin commands, one file a family. Each parses, calls the library, and shows what came of it."""

from shoal.cli.program import main

__all__ = ["main"]
