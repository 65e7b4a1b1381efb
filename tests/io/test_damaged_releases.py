"""Release folders that somebody has damaged or changed."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.io.releases import BASKETS, CLUSTERS, GROUPS, TABLE, release_of
from tests.parts import MemoryEngine

from shoal.data.release import Published
from shoal.errors import BadData
from shoal.io.releases.distributed import open_release
from shoal.io.releases.folder import read_release, write_release


def edit(key: str, value: object) -> Callable[[Path], None]:
    def change(folder: Path) -> None:
        path = folder / "release.json"
        entries = json.loads(path.read_text())
        if value is None:
            del entries[key]
        else:
            entries[key] = value
        path.write_text(json.dumps(entries))

    return change


def overwrite(name: str, text: str | None) -> Callable[[Path], None]:
    def change(folder: Path) -> None:
        if text is None:
            (folder / name).unlink()
        else:
            (folder / name).write_text(text)

    return change


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (overwrite("release.json", None), "there is no release.json"),
        (overwrite("release.json", ""), "is empty"),
        (
            overwrite("release.json", '{"format": 1,\n "method"'),
            "line 2: this is not JSON: it is damaged or cut off",
        ),
        (overwrite("release.json", "[]"), "not the release.json"),
        (overwrite("release.json", "{}"), "not the release.json"),
        (overwrite("data.csv", None), "the published data is not there"),
        (overwrite("data.dat", ""), "there are data.csv and data.dat"),
        (overwrite("data.csv", "age,disease\n1,flu\n"), "not those that release.json names: note"),
        (edit("format", 2), "format version 2, .*Update Shoal"),
        (edit("form", "heap"), "the form 'heap'"),
        (edit("promises", None), "'promises' is missing"),
        (edit("promises", [{}]), "names its model"),
        (edit("rows", "4"), "'rows' is missing or wrong"),
        (edit("columns", [{"name": "age", "role": "king"}]), "column 'age': .*'king'"),
        (edit("columns", ["age"]), "a name and a role"),
    ],
)
def test_damaged_releases(tmp_path: Path, change: Callable[[Path], None], message: str) -> None:
    folder = write_release(tmp_path / "out", release_of(TABLE))
    change(folder / "release")
    with pytest.raises(BadData, match=message) as caught:
        read_release(folder)
    assert str(tmp_path) in str(caught.value)


def test_damaged_roles_of_items(tmp_path: Path) -> None:
    folder = write_release(tmp_path / "out", release_of(BASKETS))
    edit("sensitive", [1])(folder / "release")
    with pytest.raises(BadData, match="list of items"):
        read_release(folder)


def test_a_folder_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(BadData, match="there is no such folder"):
        read_release(tmp_path / "out")


@pytest.mark.parametrize(
    ("data", "old", "new", "said"),
    [
        (TABLE, 'cold,"say ""x"""', None, "release.json says 4 rows, the file has 3"),
        (BASKETS, "b s", None, "release.json says 4 baskets, the file has 3"),
        (BASKETS, "b s", "b", "release.json says 3 items, the file has 2"),
        (
            GROUPS,
            '{"baskets": [["a"]], "sensitive": {}}',
            None,
            "release.json says 3 baskets, the file has 2",
        ),
        (GROUPS, '[["a"], ["b"]]', '[["a"], ["a"]]', "release.json says 3 items, the file has 2"),
        (CLUSTERS, '"size": 3', '"size": 4', "release.json says 7 baskets, the file has 8"),
    ],
)
def test_a_file_that_was_changed(
    tmp_path: Path, data: Published, old: str, new: str | None, said: str
) -> None:
    folder = write_release(tmp_path / "out", release_of(data))
    (path,) = (folder / "release").glob("data.*")
    lines = path.read_text(encoding="utf-8").splitlines()
    changed = [line for line in lines if old in line]
    assert len(changed) == 1
    rest = [line.replace(old, new or "") for line in lines if line not in changed or new is not None]
    path.write_text("\n".join(rest) + "\n", encoding="utf-8")
    with pytest.raises(BadData, match=said) as error:
        read_release(folder)
    assert "it was changed after it was made" in str(error.value)


@pytest.mark.parametrize(
    ("kept", "parts", "said"),
    [
        (False, [{"levels": {"age": 0}, "rows": 3}, {"levels": {"age": 1}, "rows": 1}], ""),
        (True, [{"levels": {"age": 0}, "rows": 1}], ""),
        (
            False,
            [{"levels": {"age": 0}, "rows": 4}, {"levels": {"age": 1}, "rows": 1}],
            "have 5 rows, and 4 are",
        ),
        (True, [{"levels": {"age": 0}, "rows": 4}], "have 4 rows, and 1 are published in parts"),
        (False, [{"levels": {"age": 0}}], "a part must be an object with levels and rows"),
        (False, [{"levels": {"age": 0}, "rows": -1}], "'rows' is missing or wrong"),
        (False, [], "have 0 rows, and 4 are"),
    ],
)
@pytest.mark.parametrize("in_parts", [False, True])
def test_the_rows_of_parts_are_those_of_the_file(
    tmp_path: Path, kept: bool, parts: list[object], said: str, in_parts: bool
) -> None:
    release = release_of(TABLE, parameters={"keep_suppressed": kept}, details={"parts": parts})
    folder = write_release(tmp_path / "out", release)

    def read() -> None:
        if in_parts:
            open_release(folder, MemoryEngine())
        else:
            read_release(folder)

    if said:
        with pytest.raises(BadData, match=said):
            read()
    else:
        read()
