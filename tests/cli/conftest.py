"""Calls of the command line, in this process and in one of their own, in a folder of their own."""

import math
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from shoal.cli import main, show

COMPILING = "shoal: compiling once"

SOURCE = Path(__file__).resolve().parents[2] / "src"


@dataclass(frozen=True)
class Answer:
    code: int
    out: str
    err: str


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder to work in."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def shoal(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> Callable[..., Answer]:
    """``shoal("verify", "out")`` gives the exit code and what was printed, but for a line about compiling.

    That one depends on which tests ran before.
    """
    monkeypatch.setattr(show, "MOMENT", math.inf)

    def call(*arguments: object) -> Answer:
        capsys.readouterr()
        code = main([str(argument) for argument in arguments])
        printed = capsys.readouterr()
        # Whether a kernel is compiled depends on which test came first.
        err = "".join(line for line in printed.err.splitlines(keepends=True) if COMPILING not in line)
        return Answer(code, printed.out, err)

    return call


@pytest.fixture
def process(folder: Path) -> Iterator[Callable[..., "subprocess.Popen[bytes]"]]:
    """The program in a process of its own, which does not outlive the test."""
    started: list[subprocess.Popen[bytes]] = []

    def start(*arguments: object) -> "subprocess.Popen[bytes]":
        command = [sys.executable, "-m", "shoal", *map(str, arguments)]
        pipe = subprocess.PIPE
        environment = {**os.environ, "PYTHONPATH": str(SOURCE)}
        started.append(subprocess.Popen(command, env=environment, stdin=pipe, stdout=pipe, stderr=pipe))
        return started[-1]

    yield start
    for one in started:
        one.kill()
        one.communicate()


@pytest.fixture
def people(folder: Path) -> Path:
    """120 people: names, ages, schools and zip codes that an adversary may know, and an occupation."""
    rows = [
        f"person {row},{18 + row * 7 % 60},{('school', 'college', 'university')[row % 3]},"
        f"{10000 + row * 37 % 400},{('baker', 'smith', 'clerk', 'nurse')[row * 5 % 4 if row % 9 else 0]}"
        for row in range(120)
    ]
    path = folder / "people.csv"
    path.write_text("\n".join(["name,age,education,zip,occupation", *rows]) + "\n")
    return path


ROLES = ("--quasi", "age,education,zip", "--sensitive", "occupation", "--others", "drop")


@pytest.fixture
def roles() -> tuple[str, ...]:
    """Who is who among the people."""
    return ROLES
