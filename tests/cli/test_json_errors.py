"""With ``--json`` a failure is JSON too, with the same exit code and the same sentence."""

import json
from pathlib import Path

import pytest

from shoal.cli.program import COMMANDS, main, pages, program

CALLS = {
    ("inspect",): ["gone.csv"],
    ("anonymize", "mondrian"): ["gone.csv", "--k", "2", "-o", "out"],
    ("anonymize", "disassociation"): ["gone.dat", "--k", "2", "-o", "out"],
    ("run",): ["gone.toml"],
    ("verify",): ["gone"],
    ("measure",): ["gone", "--original", "gone.csv"],
    ("compare",): ["gone.toml"],
    ("recommend",): ["gone.csv", "--k", "2", "--quasi", "age"],
    ("methods",): ["gone"],
    ("risk",): ["gone.csv", "--quasi", "age"],
    ("summarize",): ["gone.csv", "--by", "age", "-o", "out"],
    ("attack",): ["gone", "--original", "gone.csv"],
    ("find",): ["gone.csv"],
    ("hierarchy", "check"): ["gone.csv"],
    ("warm-up",): ["gone"],
}
"""A call that fails, of every command that has ``--json``."""


def with_json() -> set[tuple[str, ...]]:
    found = set()
    for names in pages():
        app = program(names)
        for name in names:
            app = app[name]
        if names and app.default_command is not None:
            options = app.assemble_argument_collection(default_parameter=None)
            found |= {names} if any("--json" in one.names for one in options) else set()
    return found


def test_every_command_with_json_is_called() -> None:
    one_of_each = {names[:1] if names[0] == "anonymize" else names for names in with_json()}
    assert one_of_each == {names[:1] if names[0] == "anonymize" else names for names in CALLS}
    assert {names[0] for names in CALLS} <= set(COMMANDS)


@pytest.mark.parametrize("names", CALLS, ids=" ".join)
def test_a_failure_is_json(
    names: tuple[str, ...],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    plain = main([*names, *CALLS[names]])
    sentence = capsys.readouterr()
    assert plain in (2, 3)
    assert sentence.out == ""
    assert main([*names, *CALLS[names], "--json"]) == plain
    answer = capsys.readouterr()
    error = json.loads(answer.out)["error"]
    assert error["exit_code"] == plain
    assert f"shoal: {error['message']}\n" == answer.err == sentence.err
    assert error["kind"] in ("BadData", "WrongUse", "UnknownName")


def test_where_it_is_wrong_is_told_apart(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "some.csv"
    path.write_text("age,ill\n1,a\n2\n")
    words = ["anonymize", "mondrian", str(path), "--k", "2", "--quasi", "age", "--sensitive", "ill", "--json"]
    assert main([*words, "-o", str(tmp_path / "out")]) == 3
    error = json.loads(capsys.readouterr().out)["error"]
    assert (error["kind"], error["path"], error["line"]) == ("BadData", str(path), 3)


def test_an_infeasible_promise_tells_the_best(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "some.csv"
    path.write_text("age,ill\n1,a\n2,b\n")
    words = ["anonymize", "mondrian", str(path), "--k", "3", "--quasi", "age", "--sensitive", "ill", "--json"]
    assert main([*words, "-o", str(tmp_path / "out")]) == 1
    error = json.loads(capsys.readouterr().out)["error"]
    assert (error["kind"], error["best"]) == ("Infeasible", 2)


def test_a_mistyped_option_is_wrong_use(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["verify", "out", "--jsn", "--json"]) == 2
    assert json.loads(capsys.readouterr().out)["error"]["kind"] == "WrongUse"
