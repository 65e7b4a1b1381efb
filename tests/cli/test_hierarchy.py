"""Hierarchies built, checked and converted."""

import inspect
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from shoal.cli import command_hierarchy
from shoal.data._hierarchy_builders import BUILDERS


@pytest.fixture
def data(folder: Path) -> Path:
    path = folder / "data.csv"
    path.write_text("age,size,born\n3,small,1990-01-02\n7,large,1990-02-03\n12,medium,2001-05-06\n")
    return path


def test_build(shoal: Callable[..., object], data: Path, folder: Path) -> None:
    assert shoal("hierarchy", "build", data, "age=intervals:5,10", "-o", "age.csv").code == 0
    rows = sorted((folder / "age.csv").read_text().splitlines())
    assert rows == ["12;[10,15);[10,20);*", "3;[0,5);[0,10);*", "7;[5,10);[0,10);*"]
    assert shoal("hierarchy", "check", "age.csv", data).code == 0
    call = (
        "hierarchy",
        "build",
        data,
        "size=order:2",
        "--order",
        "size=small,medium,large",
        "-o",
        "size.csv",
    )
    assert shoal(*call).code == 0
    assert "{medium|small}" in (folder / "size.csv").read_text()


def test_a_file_is_not_overwritten(shoal: Callable[..., object], data: Path, folder: Path) -> None:
    call = ("hierarchy", "build", data, "age=suppress", "-o", "age.csv")
    assert shoal(*call).code == 0
    assert shoal(*call).code == 2
    assert shoal(*call, "--force").code == 0


def test_check_lists_everything(shoal: Callable[..., object], data: Path, folder: Path) -> None:
    (folder / "people_hierarchy_size.csv").write_text("small;s;x;*\nlarge;s;y;*\n")
    answer = shoal("hierarchy", "check", "people_hierarchy_size.csv", data)
    assert answer.code == 3
    assert "'medium'" in answer.out
    assert "line" in answer.out
    shown = json.loads(shoal("hierarchy", "check", "people_hierarchy_size.csv", data, "--json").out)
    assert shown["missed"] == ["medium"]
    assert {finding["fault"] for finding in shown["found"]} >= {"missed", "nesting"}


def test_check_without_data(shoal: Callable[..., object], folder: Path) -> None:
    (folder / "good.csv").write_text("a;x;*\nb;x;*\n")
    answer = shoal("hierarchy", "check", "good.csv")
    assert answer.code == 0
    assert answer.out == "OK      2 values on 3 levels.\n"


def test_long_lists_are_counted(shoal: Callable[..., object], folder: Path) -> None:
    (folder / "tree.csv").write_text("a;x;*\n")
    (folder / "data.csv").write_text("tree\n" + "".join(f"v{row}\n" for row in range(80)))
    lines = shoal("hierarchy", "check", "tree.csv", "data.csv").out.splitlines()
    assert len(lines) == 52
    assert "30 more" in lines[-1]


@pytest.mark.parametrize("form", ["arx", "edges", "amnesia", "amnesia-json"])
def test_convert_there_and_back(form: str, shoal: Callable[..., object], folder: Path) -> None:
    (folder / "tree.csv").write_text("a;x;*\nb;x;*\nc;y;*\n")
    assert shoal("hierarchy", "convert", "tree.csv", "other.txt", "--format", form).code == 0
    assert shoal("hierarchy", "convert", "other.txt", "back.csv").code == 0
    assert sorted((folder / "back.csv").read_text().splitlines()) == ["a;x;*", "b;x;*", "c;y;*"]


def test_all_builders_are_named_in_the_help() -> None:
    for name in BUILDERS:
        assert name in (inspect.getdoc(command_hierarchy.build) or "")
