"""What a release folder and its release.json may hold: all else is found, by the same words on every engine."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.contract.data import people, shopping
from tests.papers import without_papers
from tests.parts import MemoryEngine

import shoal as library
from shoal.errors import BadData
from shoal.verification import Asked, verify_as_asked

STREAM = ("--engine", "stream", "--memory", "1GB")
RELEASES: dict[str, tuple[Any, str, dict[str, Any]]] = {
    "table": (people, "mondrian", {"k": 3}),
    "baskets": (shopping, "coherence", {"h": 0.8, "k": 3, "p": 2}),
    "groups": (shopping, "cahd", {"p": 3}),
    "clusters": (shopping, "disassociation", {"k": 3, "m": 2}),
}


def made(form: str, folder: Path) -> Path:
    """The published folder of a release of some form."""
    data, method, parameters = RELEASES[form]
    library.anonymize(data(), method, **parameters).write(folder / "out", report=False)
    return folder / "out" / "release"


def in_parts(release: Path) -> Path:
    """The same release with a folder of part files."""
    (file,) = release.glob("data.*")
    content = file.read_bytes()
    file.unlink()
    file.mkdir()
    (file / f"part-00000{file.suffix}").write_bytes(content)
    without_papers(release)
    return file


def linked(release: Path) -> None:
    (file,) = release.glob("data.*")
    file.rename(release.parent / "elsewhere")
    file.symlink_to(release.parent / "elsewhere")


def put(name: str) -> Callable[[Path], Any]:
    def change(release: Path) -> None:
        (release / name).parent.mkdir(exist_ok=True)
        (release / name).write_text("name,illness\nAnn,gout\n")

    return change


def beside_part(name: str) -> Callable[[Path], Any]:
    return lambda release: (in_parts(release) / name).write_text("Ann\n")


@pytest.mark.parametrize("form", RELEASES)
@pytest.mark.parametrize(
    ("change", "name"),
    [
        (put("original.csv"), "original.csv"),
        (put(".data.csv.swp"), ".data.csv.swp"),
        (put("release.json~"), "release.json~"),
        (put("old/data.txt"), "old"),
        (linked, "data."),
        (beside_part(".part-00001.csv"), "/.part-00001.csv"),
        (beside_part("_part-00001.csv"), "/_part-00001.csv"),
        (beside_part("part-00001.bak"), "/part-00001.bak"),
        (beside_part("original.csv"), "/original.csv"),
        (lambda release: (in_parts(release) / "part-x").mkdir(), "/part-x"),
    ],
)
def test_what_is_no_part_of_a_release(
    form: str, change: Callable[[Path], Any], name: str, shoal: Callable[..., Any], folder: Path
) -> None:
    release = made(form, folder)
    change(release)
    local = shoal("verify", "out")
    assert (local.code, local.err) == (1, "")
    assert local.out.startswith(
        "BROKEN  release-folder: the folder holds release.json and the published data"
    )
    assert name in local.out
    assert shoal("verify", "out", *STREAM) == local
    assert shoal("verify", "out/release") == local
    shown = json.loads(shoal("verify", "out", "--json").out)
    assert (shown["holds"], shown["judged"], shown["verdicts"][0]["offender_count"]) == (False, None, 1)
    assert [one.model for one in verify_as_asked(folder / "out", Asked(), MemoryEngine())] == [
        "release-folder"
    ]
    assert not all(library.verify(folder / "out"))


@pytest.mark.parametrize("form", RELEASES)
def test_what_is_a_part_of_a_release(form: str, shoal: Callable[..., Any], folder: Path) -> None:
    release = made(form, folder)
    (release.parent / "notes.txt").write_text("of the owner, who publishes the folder release alone")
    assert shoal("verify", "out").code == 0
    in_parts(release)
    local = shoal("verify", "out")
    assert local.code == 0, local.out + local.err
    assert shoal("verify", "out", *STREAM) == local


def edited(release: Path, change: Callable[[dict[str, Any]], Any]) -> None:
    path = release / "release.json"
    facts = json.loads(path.read_text())
    change(facts)
    path.write_text(json.dumps(facts))
    without_papers(release)


def with_roles(**roles: str) -> Callable[[dict[str, Any]], Any]:
    def change(facts: dict[str, Any]) -> None:
        for column in facts["columns"]:
            column["role"] = roles.get(column["name"], column["role"])

    return change


CHANGES: dict[str, tuple[str, Callable[[dict[str, Any]], Any], str]] = {
    "no quasi": (
        "table",
        with_roles(age="insensitive", city="insensitive"),
        "no column is a quasi-identifier",
    ),
    "identifying": ("table", with_roles(age="identifying"), "column 'age': the column is identifying"),
    "an entity": ("table", with_roles(age="entity"), "by its role it is age, by the promises none"),
    "two": (
        "table",
        with_roles(age="entity", shift="entity"),
        "by its role it is age and shift, by the promises",
    ),
    "no entity": (
        "table",
        lambda facts: facts["promises"][0].update(entity="shift"),
        "by its role it is none, by the promises shift",
    ),
    "twice": (
        "table",
        lambda facts: facts["columns"].append({"name": "age", "role": "insensitive"}),
        "column 'age': the column is named twice",
    ),
    "a column less": ("table", lambda facts: facts["columns"].pop(), "release.json names: shift"),
    "a column more": (
        "table",
        lambda facts: facts["columns"].append({"name": "income", "role": "insensitive"}),
        "release.json names: income",
    ),
    "a fact of a column": ("table", lambda facts: facts["columns"][0].update(of="Ann"), "a name and a role"),
    "a note": ("table", lambda facts: facts["columns"][0].update(note="Ann"), "a name and a role"),
    "a list of columns": ("table", lambda facts: facts["columns"].append(["age"]), "a name and a role"),
    "a role": (
        "table",
        lambda facts: facts["columns"][0].update(role=["quasi"]),
        "['quasi'], which there is not",
    ),
    "suppressed": ("table", lambda facts: facts.update(suppressed=-5), "'suppressed' is missing or wrong"),
    "rows": ("table", lambda facts: facts.update(rows=True), "'rows' is missing or wrong"),
    "half": ("groups", lambda facts: facts.update(groups=2.0), "'groups' is missing or wrong"),
    "format": ("clusters", lambda facts: facts.update(format=True), "is damaged"),
    "form": ("clusters", lambda facts: facts.update(form=["table"]), "the form ['table'] of the data"),
    "other form": ("baskets", lambda facts: facts.update(layout="long"), "whose file is called data.csv"),
    "layout": ("baskets", lambda facts: facts.update(layout="heap"), "the layout is none"),
    "unknown": (
        "baskets",
        lambda facts: facts.update(source="Ann"),
        "'source' is nothing that the release.json",
    ),
    "of another form": ("groups", lambda facts: facts.update(columns=[]), "'columns' is nothing that"),
    "detail": ("table", lambda facts: facts.update(levels=["Ann"]), "'levels' is missing or wrong"),
    "method": (
        "table",
        lambda facts: facts.update(method=3),
        "'method' is missing or wrong: it must be a text",
    ),
    "item": (
        "baskets",
        lambda facts: facts.update(sensitive=["item8"], insensitive=["item8"]),
        "'item8' is named",
    ),
    "tool": ("table", lambda facts: facts.update(tool="shoal"), "'tool' is missing or wrong"),
}


@pytest.mark.parametrize("name", CHANGES)
def test_what_release_json_may_not_say(name: str, shoal: Callable[..., Any], folder: Path) -> None:
    form, change, said = CHANGES[name]
    edited(made(form, folder), change)
    local = shoal("verify", "out")
    assert (local.code, local.out) == (3, "")
    assert said in local.err
    assert shoal("verify", "out", *STREAM) == local
    with pytest.raises(BadData):
        verify_as_asked(folder / "out", Asked(), MemoryEngine())


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('"suppressed": 0', '"suppressed": 0, "suppressed": 1', "'suppressed' is named twice"),
        ('"k": 3', '"k": 3, "k": 30', "'k' is named twice"),
        ('"suppressed": 0', '"suppressed": NaN', "NaN is not a JSON number"),
        ('"suppressed": 0', '"suppressed": 0, "levels": -Infinity', "-Infinity is not a JSON number"),
    ],
)
def test_json_that_says_two_things(
    old: str, new: str, said: str, shoal: Callable[..., Any], folder: Path
) -> None:
    path = made("table", folder) / "release.json"
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))
    local = shoal("verify", "out")
    assert (local.code, said in local.err) == (3, True)
    assert shoal("verify", "out", *STREAM) == local
