"""Groups and clusters that were changed after they were made are refused in the same words on every engine."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.contract.data import people, shopping
from tests.parts import MemoryEngine

import shoal
from shoal.cli.program import main
from shoal.errors import BadData
from shoal.verification import Asked, verify_as_asked

Captured = pytest.CaptureFixture[str]
Line = dict[str, Any]

STREAM = ["--engine", "stream", "--memory", "1GB"]

FORMS: dict[str, tuple[str, dict[str, Any]]] = {
    "groups": ("cahd", {"p": 3}),
    "clusters": ("disassociation", {"k": 3, "m": 2}),
}


def release(form: str, folder: Path) -> Path:
    """A release of a form; the path is that of its data file."""
    method, parameters = FORMS[form]
    shoal.anonymize(shopping(), method, **parameters).write(folder, report=False)
    return folder / "release" / "data.jsonl"


def simple(line: Line) -> Line:
    """The first simple cluster of a line."""
    return simple(line["joint"][0]) if "joint" in line else line


def less(line: Line) -> None:
    simple(line)["size"] -= 1


CHANGES: dict[str, tuple[str, str, Callable[[Line], Any]]] = {
    "a basket left out": ("groups", "baskets", lambda line: line["baskets"].pop()),
    "a basket twice": ("groups", "baskets", lambda line: line["baskets"].append(line["baskets"][-1])),
    "a new item": ("groups", "items", lambda line: line["baskets"][-1].append("zzz")),
    "a new secret": ("groups", "items", lambda line: line["sensitive"].update(zzz=1)),
    "a smaller cluster": ("clusters", "baskets", less),
    "a new term": ("clusters", "items", lambda line: simple(line)["terms"].append("zzz")),
}


@pytest.mark.parametrize("name", CHANGES)
def test_other_numbers_than_those_of_release_json(name: str, tmp_path: Path, capsys: Captured) -> None:
    form, what, change = CHANGES[name]
    data = release(form, tmp_path / "out")
    lines = [json.loads(line) for line in data.read_text().splitlines()]
    assert main(["verify", str(tmp_path / "out"), *STREAM]) == 0
    change(lines[-1])
    data.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    capsys.readouterr()
    assert main(["verify", str(tmp_path / "out")]) == 3
    local = capsys.readouterr().err
    facts = json.loads((data.parent / "release.json").read_text())
    assert f"data.jsonl: release.json says {facts[what]} {what}, the file has" in " ".join(local.split())
    assert main(["verify", str(tmp_path / "out"), *STREAM]) == 3
    assert capsys.readouterr().err == local
    with pytest.raises(BadData, match=f"release.json says {facts[what]} {what}"):
        verify_as_asked(tmp_path / "out", Asked(), MemoryEngine())


@pytest.mark.parametrize("form", FORMS)
def test_a_line_less(form: str, tmp_path: Path, capsys: Captured) -> None:
    data = release(form, tmp_path / "out")
    data.write_text("".join(data.read_text().splitlines(keepends=True)[:-1]))
    assert main(["verify", str(tmp_path / "out")]) == 3
    local = capsys.readouterr().err
    assert main(["verify", str(tmp_path / "out"), *STREAM]) == 3
    assert capsys.readouterr().err == local


def test_a_row_less(tmp_path: Path, capsys: Captured) -> None:
    shoal.anonymize(people(), "mondrian", k=3).write(tmp_path / "out", report=False)
    data = tmp_path / "out" / "release" / "data.csv"
    data.write_text("".join(data.read_text().splitlines(keepends=True)[:-1]))
    assert main(["verify", str(tmp_path / "out")]) == 3
    local = capsys.readouterr().err
    assert main(["verify", str(tmp_path / "out"), *STREAM]) == 3
    assert capsys.readouterr().err == local


@pytest.mark.parametrize("name", ["nothere", "empty"])
def test_where_nothing_is_there_that_is_told(name: str, tmp_path: Path, capsys: Captured) -> None:
    (tmp_path / "empty").mkdir()
    assert main(["verify", str(tmp_path / name)]) == 3
    local = capsys.readouterr().err
    assert main(["verify", str(tmp_path / name), *STREAM]) == 3
    assert capsys.readouterr().err == local


def test_part_files_without_a_promise_are_asked_for_one(tmp_path: Path, capsys: Captured) -> None:
    (tmp_path / "data.csv").mkdir()
    (tmp_path / "data.csv" / "part-0.csv").write_text("age\n1\n")
    assert main(["verify", str(tmp_path / "data.csv"), *STREAM]) == 2
    assert "Nothing to prove" in capsys.readouterr().err


@pytest.mark.parametrize("engine", [[], STREAM], ids=["local", "stream"])
@pytest.mark.parametrize("method", ["cahd", "permutation-mondrian"])
def test_sensitive_items_put_back_into_baskets(
    method: str, engine: list[str], tmp_path: Path, capsys: Captured
) -> None:
    """No group counts them any more: only the promise says that they are sensitive."""
    shoal.anonymize(shopping(), method, p=3).write(tmp_path / "out", report=False)
    data = tmp_path / "out" / "release" / "data.jsonl"
    lines = [json.loads(line) for line in data.read_text().splitlines()]
    for line in lines:
        for item, count in line["sensitive"].items():
            for basket in line["baskets"][-count:]:
                basket.append(item)
        line["sensitive"] = {}
        line["baskets"].sort()
    lines.sort(key=lambda line: line["baskets"])
    assert main(["verify", str(tmp_path / "out"), *engine]) == 0
    data.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    assert main(["verify", str(tmp_path / "out"), *engine]) == 1
    assert "which is sensitive" in capsys.readouterr().out
