"""The Dockerfile cannot be built everywhere; what a linter would say of it is said here."""

import json
import re
from pathlib import Path

import pytest

from shoal.cli.program import program

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def instructions() -> list[tuple[str, str]]:
    """The instructions of the file and what they say."""
    text = (ROOT / "Dockerfile").read_text(encoding="utf-8").replace("\\\n", " ")
    lines = [line for line in text.splitlines() if line and not line.startswith("#")]
    return [(line.split(" ", 1)[0], line.split(" ", 1)[1]) for line in lines]


def test_it_begins_with_a_pinned_image_and_ends_as_nobody_special(
    instructions: list[tuple[str, str]],
) -> None:
    verbs = [verb for verb, _ in instructions]
    assert set(verbs) <= {"FROM", "RUN", "COPY", "USER", "WORKDIR", "EXPOSE", "ENTRYPOINT"}
    assert verbs[0] == "FROM"
    assert re.fullmatch(r"python:3\.\d+-slim", instructions[0][1])
    users = [said for verb, said in instructions if verb == "USER"]
    assert users
    assert users[-1] not in ("root", "0")
    assert verbs.index("USER") < verbs.index("ENTRYPOINT")


def test_it_keeps_no_cache_and_installs_the_wheel_with_the_extra(instructions: list[tuple[str, str]]) -> None:
    installed = [said for verb, said in instructions if verb == "RUN" and "pip install" in said]
    assert len(installed) == 1
    assert "--no-cache-dir" in installed[0]
    assert "[studio]" in installed[0]
    assert "rm ./shoal-" in installed[0]


def test_its_command_is_one_of_ours(instructions: list[tuple[str, str]]) -> None:
    words = json.loads(dict(instructions)["ENTRYPOINT"])
    assert words[:2] == ["shoal", "studio"]
    _, bound, ignored = program(["studio"]).parse_args(words[1:], exit_on_error=False, print_error=False)
    assert not ignored
    assert bound.kwargs["allow_remote"]
    assert str(bound.kwargs["port"]) == dict(instructions)["EXPOSE"]
