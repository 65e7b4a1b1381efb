"""The command line: thin commands, one file a family. Each parses, calls the library, and shows what came of it."""

from shoal.cli.start import main

__all__ = ["main"]
