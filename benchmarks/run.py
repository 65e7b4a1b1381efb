"""Run all benchmarks, or the named ones: ``python benchmarks/run.py mondrian lattice``."""

import importlib
import pkgutil
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks import suite
from benchmarks.case import machine


def main(wanted: list[str]) -> None:
    """Print the machine, the command and a table for each benchmark."""
    print(f"Machine: {machine()}\nCommand: python benchmarks/run.py {' '.join(wanted)}".rstrip())
    for module in sorted(pkgutil.iter_modules(suite.__path__), key=lambda found: found.name):
        if not wanted or module.name in wanted:
            importlib.import_module(f"{suite.__name__}.{module.name}").run()


if __name__ == "__main__":
    main(sys.argv[1:])
