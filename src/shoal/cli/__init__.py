"""The command line: thin commands, one file each, that parse options, call the library and show the result."""

from shoal.cli.start import main

__all__ = ["main"]
