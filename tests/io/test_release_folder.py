"""The release folder: whole or not at all, and nothing of the input in it."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.io.releases import BASKETS, CLUSTERS, GROUPS, TABLE, release_of
from tests.tables import column

from shoal.data.baskets import Baskets
from shoal.data.clusters import Clusters
from shoal.data.groups import Groups
from shoal.data.role import Role
from shoal.data.table import Table
from shoal.errors import ShoalError, WrongUse
from shoal.io.releases.folder import read_release, write_release


def cells(table: Table) -> list[tuple[str, ...]]:
    return [tuple(one.domain.labels[one.codes[row]] for one in table.columns) for row in range(table.rows)]


def facts(folder: Path) -> dict[str, Any]:
    return json.loads((folder / "release" / "release.json").read_text(encoding="utf-8"))  # type: ignore[no-any-return]


@pytest.mark.parametrize("table_format", ["csv", "parquet"])
def test_a_table(tmp_path: Path, table_format: str) -> None:
    folder = write_release(tmp_path / "a" / "out", release_of(TABLE), table_format=table_format)
    names = sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*"))
    assert names == [
        "release",
        f"release/data.{table_format}",
        "release/release.json",
    ]
    for place in (folder, folder / "release"):
        again = read_release(place)
        assert isinstance(again.data, Table)
        assert cells(again.data) == sorted(cells(TABLE))
        assert [one.role for one in again.data.columns] == [Role.QUASI, Role.SENSITIVE, Role.INSENSITIVE]
        assert (again.method, again.parameters, again.suppressed) == ("mondrian", {"k": 2}, 3)
        assert again.promises == ({"model": "k-anonymity", "k": 2},)
        assert again.details == {"levels": {"age": 1}}
    assert os.listdir(tmp_path / "a") == ["out"]


def test_the_facts_of_a_table(tmp_path: Path) -> None:
    folder = write_release(tmp_path / "out", release_of(TABLE))
    assert facts(folder) == {
        "format": 1,
        "tool": {"name": "shoal", "version": sys.modules["shoal"].__version__},
        "method": "mondrian",
        "parameters": {"k": 2},
        "promises": [{"model": "k-anonymity", "k": 2}],
        "form": "table",
        "columns": [
            {"name": "age", "role": "quasi"},
            {"name": "disease", "role": "sensitive"},
            {"name": "note", "role": "insensitive"},
        ],
        "rows": 4,
        "suppressed": 3,
        "levels": {"age": 1},
    }


def test_what_tells_of_the_input_is_left_out(tmp_path: Path) -> None:
    parameters = {"k": np.int64(2), "seed": 7, "hierarchies": "/home/ann/secret"}
    release = release_of(
        TABLE, parameters=parameters, details={"path": "/home/ann", "levels": np.array([1, 2])}
    )
    folder = write_release(tmp_path / "out", release)
    text = (folder / "release" / "release.json").read_text()
    assert "seed" not in text
    assert "ann" not in text
    assert facts(folder)["parameters"] == {"k": 2}
    assert facts(folder)["levels"] == [1, 2]


def test_a_detail_cannot_take_the_place_of_a_fact(tmp_path: Path) -> None:
    with pytest.raises(WrongUse, match="cannot be called 'rows'"):
        write_release(tmp_path / "out", release_of(TABLE, details={"rows": 5}))
    assert not os.listdir(tmp_path)


@pytest.mark.parametrize(
    ("layout", "name"),
    [
        ("lines", "data.dat"),
        ("lines:,", "data.dat"),
        ("spmf", "data.spmf"),
        ("long:basket,item", "data.csv"),
        ("matrix", "data.csv"),
        ("column:bought", "data.csv"),
    ],
)
def test_baskets(tmp_path: Path, layout: str, name: str) -> None:
    folder = write_release(tmp_path / "out", release_of(replace(BASKETS, layout=layout)))
    assert (folder / "release" / name).is_file()
    again = read_release(folder).data
    assert isinstance(again, Baskets)
    assert [again.basket(row) for row in range(4)] == [(), ("a", "b"), ("b",), ("b", "s")]
    assert again.sensitive.tolist() == [2]
    assert again.insensitive.tolist() == [0]
    assert again.layout == layout
    assert (facts(folder)["baskets"], facts(folder)["items"], facts(folder)["sensitive"]) == (4, 3, ["s"])


def test_baskets_without_any_item(tmp_path: Path) -> None:
    for number, layout in enumerate(("lines", "spmf", "long:basket,item", "matrix", "column:x")):
        baskets = replace(BASKETS.keep(np.zeros(3, dtype=np.bool_)), layout=layout)
        again = read_release(write_release(tmp_path / str(number), release_of(baskets))).data
        assert isinstance(again, Baskets)
        assert again.lengths.tolist() == [0, 0, 0, 0]


def test_names_of_items_that_are_not_published_are_not_told(tmp_path: Path) -> None:
    gone = Baskets(
        BASKETS.indptr,
        np.minimum(BASKETS.items, 1),
        ("a", "b", "secret"),
        np.array([2]),
        np.array([]),
        "matrix",
    )
    gone = replace(gone, indptr=np.array([0, 1, 1]), items=np.array([1]))
    folder = write_release(tmp_path / "out", release_of(gone))
    assert (folder / "release" / "data.csv").read_text() == "b\n0\n1\n"
    assert facts(folder)["sensitive"] == []
    assert facts(folder)["items"] == 1


def test_a_sensitive_item_that_was_removed_later_is_no_error(tmp_path: Path) -> None:
    folder = write_release(tmp_path / "out", release_of(BASKETS))
    (folder / "release" / "data.dat").write_text("a b\nb\n")
    said = facts(folder) | {"baskets": 2, "items": 2}
    (folder / "release" / "release.json").write_text(json.dumps(said))
    assert read_release(folder).data.sensitive.tolist() == []  # type: ignore[union-attr]


def test_groups_and_clusters(tmp_path: Path) -> None:
    folder = write_release(tmp_path / "groups", release_of(GROUPS))
    again = read_release(folder).data
    assert isinstance(again, Groups)
    assert again.sizes.tolist() == [1, 2]
    assert (facts(folder)["baskets"], facts(folder)["groups"], facts(folder)["items"]) == (3, 2, 3)
    folder = write_release(tmp_path / "clusters", release_of(CLUSTERS))
    again = read_release(folder).data
    assert isinstance(again, Clusters)
    assert again.parents.tolist() == [-1, -1, 1, 1]
    assert (facts(folder)["baskets"], facts(folder)["clusters"], facts(folder)["items"]) == (7, 2, 1)


def test_parts_of_a_cluster(tmp_path: Path) -> None:
    folder = write_release(tmp_path / "out", release_of(TABLE)) / "release"
    lines = (folder / "data.csv").read_bytes().split(b"\n", 2)
    (folder / "data.csv").unlink()
    (folder / "data.csv").mkdir()
    (folder / "data.csv" / "part-0.csv").write_bytes(lines[0] + b"\n" + lines[1] + b"\n")
    (folder / "data.csv" / "part-1.csv").write_bytes(lines[0] + b"\n" + lines[2])
    (folder / "data.csv" / ".part-1.csv.crc").write_bytes(b"\0")
    again = read_release(folder).data
    assert isinstance(again, Table)
    assert cells(again) == sorted(cells(TABLE))


def test_an_existing_folder_is_refused(tmp_path: Path) -> None:
    folder = write_release(tmp_path / "out", release_of(TABLE))
    before = facts(folder)
    with pytest.raises(WrongUse, match="force=True"):
        write_release(folder, release_of(BASKETS))
    assert facts(folder) == before
    (tmp_path / "file").write_text("x")
    with pytest.raises(WrongUse, match="is a file"):
        write_release(tmp_path / "file", release_of(TABLE), force=True)


def private_files(contents: dict[str, str]) -> Callable[[Path], None]:
    def write(draft: Path) -> None:
        for name, text in contents.items():
            (draft / name).write_text(text)

    return write


def test_force_replaces_ours_and_carries_over_what_is_not_ours(tmp_path: Path) -> None:
    folder = write_release(
        tmp_path / "out", release_of(TABLE), check=private_files({"report.html": "old", "run.json": "old"})
    )
    (folder / "notes.txt").write_text("mine")
    (folder / "release" / "stray.csv").write_text("not published by the new one")
    write_release(folder, release_of(BASKETS), check=private_files({"run.json": "new"}), force=True)
    assert sorted(os.listdir(folder)) == ["notes.txt", "release", "run.json"]
    assert sorted(os.listdir(folder / "release")) == ["data.dat", "release.json"]
    assert (folder / "run.json").read_text() == "new"
    assert os.listdir(tmp_path) == ["out"]


def test_force_takes_an_empty_folder_but_never_a_foreign_one(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    write_release(tmp_path / "empty", release_of(TABLE), force=True)
    (tmp_path / "photos").mkdir()
    (tmp_path / "photos" / "cat.jpg").write_text("cat")
    with pytest.raises(WrongUse, match="not replaced"):
        write_release(tmp_path / "photos", release_of(TABLE), force=True)
    assert os.listdir(tmp_path / "photos") == ["cat.jpg"]


def test_a_link_to_a_folder_stays_a_link(tmp_path: Path) -> None:
    real = write_release(tmp_path / "real", release_of(TABLE))
    link = tmp_path / "link"
    link.symlink_to(real)
    write_release(link, release_of(BASKETS), force=True)
    assert link.is_symlink()
    assert facts(real)["form"] == "baskets"


@pytest.mark.parametrize("error", [KeyboardInterrupt, OSError(28, "No space left on device"), RuntimeError])
@pytest.mark.parametrize("force", [False, True])
def test_nothing_is_left_after_a_fault(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: BaseException, force: bool
) -> None:
    if force:
        write_release(tmp_path / "out", release_of(TABLE))

    def fail(*_: object) -> str:
        raise error

    monkeypatch.setattr("shoal.io.releases.folder.facts_text", fail)
    expected = ShoalError if isinstance(error, OSError) else error
    with pytest.raises(expected) as caught:  # type: ignore[call-overload]
        write_release(tmp_path / "out", release_of(BASKETS), force=force)
    if expected is ShoalError:
        assert "No space left on device" in str(caught.value)
        assert "Make room" in str(caught.value)
    assert os.listdir(tmp_path) == (["out"] if force else [])
    if force:
        assert facts(tmp_path / "out")["form"] == "table"


def test_the_old_release_returns_if_the_new_one_cannot_take_its_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = write_release(tmp_path / "out", release_of(TABLE))
    rename = Path.rename

    def fail(self: Path, target: Path) -> Path:
        if self.name.endswith(".partial"):
            raise OSError(13, "Permission denied")
        return rename(self, target)

    monkeypatch.setattr(Path, "rename", fail)
    with pytest.raises(ShoalError, match="Permission denied"):
        write_release(folder, release_of(BASKETS), force=True)
    assert os.listdir(tmp_path) == ["out"]
    assert facts(folder)["form"] == "table"


@pytest.mark.parametrize("kind", ["table", "baskets", "private"])
def test_a_disk_that_fills_up(tmp_path: Path, kind: str) -> None:
    """A real refusal of the operating system: files may not grow beyond a limit."""
    pytest.importorskip("resource")
    program = """
import resource, sys
from shoal.data.release import Release
from shoal.datasets.people import People
from shoal.datasets.shopping import Shopping
from shoal.errors import ShoalError
from shoal.io.releases.folder import write_release
kind, folder = sys.argv[1:]
data = Shopping(rows=20000).make(1) if kind == "baskets" else People(rows=5000 if kind == "table" else 1).make(1)
resource.setrlimit(resource.RLIMIT_FSIZE, (20000, 20000))
try:
    private = lambda draft: (draft / "run.json").write_text(" " * 30000)
    write_release(folder, Release(data, "x", {}, ()), check=private if kind == "private" else None)
except ShoalError as error:
    print(type(error).__name__, error)
"""
    folder = tmp_path / "out"
    done = subprocess.run(
        [sys.executable, "-c", program, kind, str(folder)],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    assert "CannotWrite" in done.stdout, done.stderr
    assert f"{folder} cannot be written: " in done.stdout
    assert os.listdir(tmp_path) == []


def test_a_check_sees_the_complete_folder_and_may_refuse_it(tmp_path: Path) -> None:
    def refuse(folder: Path) -> None:
        assert read_release(folder).method == "mondrian"
        raise WrongUse("no")

    with pytest.raises(WrongUse, match="no"):
        write_release(tmp_path / "out", release_of(TABLE), check=refuse)
    assert os.listdir(tmp_path) == []


def test_formats_that_there_are_not(tmp_path: Path) -> None:
    with pytest.raises(WrongUse, match="csv or parquet"):
        write_release(tmp_path / "out", release_of(TABLE), table_format="xlsx")


def test_numbers_of_persons_have_a_note(tmp_path: Path) -> None:
    table = Table((column("age", ["1", "1"]), column("person", ["1", "2"], Role.ENTITY)))
    promise = {"model": "k-anonymity", "k": 2, "entity": "person"}
    folder = write_release(tmp_path / "out", release_of(table, promises=(promise,)))
    note = {"name": "person", "role": "entity", "note": "numbers are valid inside a class only"}
    assert facts(folder)["columns"] == [{"name": "age", "role": "quasi"}, note]
    again = read_release(folder).data
    assert isinstance(again, Table)
    assert again.entity is not None
