"""Count how many files one ``anonymize mondrian`` goes through, and how often it hops between files of the spine.

    python tools/hops.py [--list]

It watches a second run, once everything is imported. A run goes through a file if it calls one of its functions on the
way of a row from its source into the release folder and through its proof; what the measures and the report call is
counted separately. The spine is what every run goes through, whatever its method: the modules at the top of the
package, the command, the engine, and the entry modules of packages. A hop is a call from one file of the spine that
arrives in another, directly or through other files. The classes of a method are one object in several files, so hops
are also counted without those between them.
"""

import argparse
import contextlib
import io
import os
import sys
import tempfile
import threading
from collections import Counter
from pathlib import Path
from types import FrameType
from typing import Any

import shoal
from shoal.cli import main

PACKAGE = Path(shoal.__file__).resolve().parent

DOORS = (
    "cli/command_anonymize.py",
    "cli/run_summary.py",
    "engines/distributed.py",
    "engines/local.py",
    "io/releases/folder.py",
    "io/tables/load.py",
    "methods/method.py",
    "methods/table_method.py",
    "methods/mondrian/method.py",
)
"""The spine beside the modules at the top of the package. An entry that does not exist or is unused counts nothing."""

ASIDE = ("measures/", "report/")
"""Packages that look at a release once it is made."""

BESIDE = (
    "__init__.py",
    "addresses.py",
    "arrays.py",
    "errors.py",
    "option_names.py",
    "parameters.py",
    "registry.py",
    "option_names.py",
)
"""Modules at the top that are vocabulary rather than steps."""


class Walk:
    """The files and hops of a run; files are counted in all threads, hops only in this one."""

    def __init__(self) -> None:
        self.files: Counter[str] = Counter()
        self.aside: Counter[str] = Counter()
        self.hops: Counter[tuple[str, str]] = Counter()
        self._stack: list[str] = []
        self._depth = 0
        self._names: dict[str, str | None] = {}
        self._main = threading.get_ident()

    def __call__(self, frame: FrameType, event: str, _: Any) -> None:
        name = self._name(frame.f_code.co_filename) if event in ("call", "return") else None
        if name is None:
            return
        mine = threading.get_ident() == self._main
        if mine and name.startswith(ASIDE):
            self._depth += 1 if event == "call" else -1
        if event == "call":
            (self.aside if self._depth or name.startswith(ASIDE) else self.files)[name] += 1
        if mine and not self._depth and _is_spine(name):
            self._step(name, event)

    def _step(self, name: str, event: str) -> None:
        if event == "return":
            if self._stack:
                self._stack.pop()
            return
        if self._stack and self._stack[-1] != name:
            self.hops[self._stack[-1], name] += 1
        self._stack.append(name)

    def _name(self, path: str) -> str | None:
        if path not in self._names:
            place = Path(path)
            ours = place.is_absolute() and place.is_relative_to(PACKAGE)
            self._names[path] = place.relative_to(PACKAGE).as_posix() if ours else None
        return self._names[path]


def _is_spine(name: str) -> bool:
    return name in DOORS or ("/" not in name and name not in BESIDE)


def walked(engine: str) -> Walk:
    """The files and hops of one run on an engine."""
    options = ["--quasi", "age,education", "--sensitive", "occupation", "--others", "drop"]
    call = ["anonymize", "mondrian", "people.csv", "--k", "10", *options, "--engine", engine, "-o"]
    walk = Walk()
    here = os.getcwd()
    with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(io.StringIO()):
        os.chdir(folder)
        try:
            _done(["generate", "table", "--rows", "2000", "--seed", "1", "-o", "people.csv"])
            _done([*call, "first"])
            threading.setprofile(walk)
            sys.setprofile(walk)
            try:
                _done([*call, "second"])
            finally:
                sys.setprofile(None)
                threading.setprofile(None)
        finally:
            os.chdir(here)
    return walk


def _done(tokens: list[str]) -> None:
    if code := main(tokens):
        raise SystemExit(f"shoal {' '.join(tokens)} ends with {code}")


def show(engine: str, walk: Walk, listed: bool) -> None:
    """Print the two numbers, and on request what they count."""
    spine = [name for name in walk.files if _is_spine(name)]
    beside = len(walk.aside.keys() - walk.files.keys())
    inside = sum(
        count for pair, count in walk.hops.items() if all(one.startswith("methods/") for one in pair)
    )
    said = f"{len(walk.files)} files, {walk.hops.total()} hops between {len(spine)} files of the spine"
    without = f"{walk.hops.total() - inside} but for those between the classes of the method"
    print(f"{engine}: {said}, {without}; {beside} more files measure and report")
    if listed:
        for name in sorted(walk.files):
            print(f"  {'*' if name in spine else ' '} {name}")
        for (one, other), count in walk.hops.most_common():
            print(f"  {count:3} {one} -> {other}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--list", action="store_true", help="name the files and hops")
    asked = parser.parse_args()
    for engine in ("local", "stream"):
        show(engine, walked(engine), asked.list)
