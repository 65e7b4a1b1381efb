"""A release whose rows, baskets, groups or clusters were moved is told, on every engine; a moved file is none."""

import json
from pathlib import Path
from typing import Any

import pytest
from tests.contract.data import people, shopping
from tests.papers import without_papers
from tests.parts import MemoryEngine, MemoryParts

import shoal
from shoal.cli.program import main
from shoal.models._promises import Promises
from shoal.models.privacy_degree import PrivacyDegree
from shoal.verification import Asked, verify_as_asked

Captured = pytest.CaptureFixture[str]

ENGINES = {"local": [], "stream": ["--engine", "stream", "--memory", "1GB"]}

FORMS: dict[str, tuple[str, dict[str, Any]]] = {
    "table": ("mondrian", {"k": 3}),
    "baskets": ("coherence", {"h": 0.8, "k": 3, "p": 2}),
    "groups": ("cahd", {"p": 3}),
    "clusters": ("disassociation", {"k": 3, "m": 2}),
}
NOUNS = {"table": "row", "baskets": "basket", "groups": "group", "clusters": "cluster"}


def release(form: str, folder: Path, **options: Any) -> Path:
    """A release of a form; the path is that of its data file."""
    method, parameters = FORMS[form]
    shoal.anonymize(people() if form == "table" else shopping(), method, **parameters).write(
        folder, report=False, **options
    )
    return next((folder / "release").glob("data.*"))


def in_parts(data: Path, size: int) -> None:
    """Cut the lines of a file into part files of some lines each."""
    header, lines = cut(data)
    data.unlink()
    data.mkdir()
    without_papers(data.parent)
    for number, begin in enumerate(range(0, len(lines), size)):
        text = "".join([*header, *lines[begin : begin + size]])
        (data / f"part-{number:05}{data.suffix}").write_text(text)


def cut(data: Path) -> tuple[list[str], list[str]]:
    """The header of a file, where it has one, and its lines."""
    lines = data.read_text().splitlines(keepends=True)
    return (lines[:1], lines[1:]) if data.suffix == ".csv" else ([], lines)


def verified(folder: Path, engine: str, capsys: Captured) -> tuple[int, str]:
    capsys.readouterr()
    code = main(["verify", str(folder), *ENGINES[engine]])
    return code, " ".join(capsys.readouterr().out.split())


@pytest.mark.parametrize("size", [None, 3])
@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("form", FORMS)
def test_a_line_that_was_moved_is_told(
    form: str, engine: str, size: int | None, tmp_path: Path, capsys: Captured
) -> None:
    data = release(form, tmp_path / "out")
    header, lines = cut(data)
    moved = [*lines[:2], lines[-1], *lines[2:-1]]
    assert lines[-1] != lines[2]
    if size is not None:
        in_parts(data, size)
    assert verified(tmp_path / "out", engine, capsys)[0] == 0
    if size is not None:
        for file in data.iterdir():
            file.unlink()
        data.rmdir()
    data.write_text("".join([*header, *moved]))
    if size is not None:
        in_parts(data, size)
    code, shown = verified(tmp_path / "out", engine, capsys)
    assert code == 1
    # The line behind the moved one is as it should be: both are named.
    assert f"{NOUNS[form]} 4" in shown
    assert f"ahead of it, {NOUNS[form]} 3" in shown
    assert "one of the two is out of place" in shown


@pytest.mark.parametrize("engine", ENGINES)
def test_a_table_of_columns(engine: str, tmp_path: Path, capsys: Captured) -> None:
    import polars as pl

    data = release("table", tmp_path / "out", table_format="parquet")
    frame = pl.read_parquet(data)
    assert verified(tmp_path / "out", engine, capsys)[0] == 0
    frame.reverse().write_parquet(data)
    code, shown = verified(tmp_path / "out", engine, capsys)
    assert (code, "canonical-order" in shown) == (1, True)


@pytest.mark.parametrize("engine", ENGINES)
def test_what_is_asked_alone_is_judged(engine: str, tmp_path: Path, capsys: Captured) -> None:
    """The order is promised by the release: other promises than its own, and other files, say nothing of it."""
    data = release("table", tmp_path / "out")
    header, lines = cut(data)
    data.write_text("".join([*header, *reversed(lines)]))
    assert main(["verify", str(tmp_path / "out"), "--k", "3", *ENGINES[engine]]) == 0
    assert main(["verify", str(data), "--quasi", "age,city", "--k", "3", *ENGINES[engine]]) == 0
    assert main(["verify", str(tmp_path / "out"), *ENGINES[engine]]) == 1


@pytest.mark.parametrize("engine", ENGINES)
def test_a_model_of_another_form_is_refused(engine: str, tmp_path: Path, capsys: Captured) -> None:
    release("table", tmp_path / "out")
    asked = ["--model", "km-anonymity", "--k", "2", "--m", "2", *ENGINES[engine]]
    assert main(["verify", str(tmp_path / "out"), *asked]) == 2
    assert "km-anonymity judges baskets, not table" in capsys.readouterr().err


def test_lines_elsewhere_are_judged_without_their_order(tmp_path: Path) -> None:
    class Elsewhere(MemoryEngine):
        def lines(self, path: str) -> MemoryParts:
            return super().lines(path.removeprefix("hdfs://"))

    data = release("groups", tmp_path / "out")
    data.write_text("".join(reversed(data.read_text().splitlines(keepends=True))))
    asked = Asked(Promises(promises=(PrivacyDegree(p=3, sensitive=("item8", "item9")),)))
    (verdict,) = verify_as_asked(f"hdfs://{data}", asked, Elsewhere())
    assert verdict.holds
    assert "order of the lines was not judged" in verdict.remark
    (verdict,) = verify_as_asked(str(data), asked, Elsewhere())
    assert (verdict.holds, verdict.remark) == (False, "")


@pytest.mark.parametrize("engine", ENGINES)
def test_groups_and_clusters_have_an_order_in_any_file(engine: str, tmp_path: Path, capsys: Captured) -> None:
    data = release("groups", tmp_path / "out")
    other = tmp_path / "any.jsonl"
    other.write_text("".join(reversed(data.read_text().splitlines(keepends=True))))
    asked = ["--model", "privacy-degree", "--p", "3", *ENGINES[engine]]
    assert main(["verify", str(data), *asked]) == 0
    assert main(["verify", str(other), *asked]) == 1


LONG = {
    "the baskets": ("3,a\n3,b\n4,b\n4,c\n", "3,b\n3,c\n4,a\n4,b\n", "basket 4 {a, b}"),
    "the items": ("2,a\n2,b\n", "2,b\n2,a\n", "basket 2 {a, b}"),
    "a number that is left out": ("5,b\n5,c\n", "6,b\n6,c\n", "basket 5 {b, c}: its number"),
    "a number of the input": ("1,\n", "c17,\n", "basket 1 {}: its number"),
    "numbers that do not ascend": (
        "2,a\n2,b\n3,a\n3,b\n",
        "3,a\n3,b\n2,a\n2,b\n",
        "basket 2 {a, b}: its number",
    ),
}


@pytest.mark.parametrize("size", [None, 1, 3])
@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("what", LONG)
def test_a_long_table(what: str, engine: str, size: int | None, tmp_path: Path, capsys: Captured) -> None:
    baskets = [["c", "b"], ["a", "b"], [], ["b", "c"], ["a", "b"]]
    facts: dict[str, Any] = {"k": 2, "m": 1, "baskets": "long"}
    shoal.anonymize(baskets, "km-generalization", hierarchies={"items": "suppress"}, **facts).write(
        tmp_path / "out", report=False
    )
    data = tmp_path / "out" / "release" / "data.csv"
    old, new, where = LONG[what]
    text = data.read_text()
    assert old in text, text
    for content, expected in ((text, 0), (text.replace(old, new), 1)):
        if data.is_dir():
            for file in data.iterdir():
                file.unlink()
            data.rmdir()
        data.write_text(content)
        if size is not None:
            in_parts(data, size)
        code, shown = verified(tmp_path / "out", engine, capsys)
        assert code == expected, shown
    assert where in shown


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(
    ("promise", "shown"),
    [
        ({"model": "privacy-degree", "p": "3"}, "the promise privacy-degree: p cannot be '3'"),
        ({"model": "privacy-degree", "p": 3}, "the promise privacy-degree does not name the sensitive items"),
        ({"model": "privacy-degre", "p": 3}, "the promise privacy-degre: there is no such model"),
    ],
)
def test_a_promise_that_was_edited(
    engine: str, promise: dict[str, Any], shown: str, tmp_path: Path, capsys: Captured
) -> None:
    facts = release("groups", tmp_path / "out").parent / "release.json"
    facts.write_text(json.dumps({**json.loads(facts.read_text()), "promises": [promise]}))
    capsys.readouterr()
    assert main(["verify", str(tmp_path / "out"), *ENGINES[engine]]) == 3
    said = " ".join(capsys.readouterr().err.split())
    assert f"release.json: {shown}" in said
