"""Hierarchies that are written, as files and as plain data, and read again."""

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.io.hierarchy_texts import Files, rows
from tests.naive import hierarchy as naive

from shoal.data._hierarchy_builders import build
from shoal.data.domain import Domain, Kind, nominal
from shoal.data.hierarchy import MISSING_MARKS
from shoal.data.published_syntax import looks_published
from shoal.errors import BadData, CannotWrite, WrongUse
from shoal.io.hierarchies.load import (
    hierarchy_as_data,
    hierarchy_from_data,
    read_hierarchy,
    write_hierarchy,
)

texts = (
    st.text(st.sampled_from("ab ,;|\"'\t\n{é*"), min_size=1, max_size=5)
    .map(str.strip)
    .filter(lambda text: text and text not in MISSING_MARKS and not looks_published(text))
)


@st.composite
def trees(draw: st.DrawFn) -> list[tuple[str, str]]:
    """The edges of any tree, from the root down."""
    names = ["*", *draw(st.lists(texts, min_size=1, max_size=12, unique=True))]
    return [(names[node], names[draw(st.integers(0, node - 1))]) for node in range(1, len(names))]


@given(trees(), st.booleans())
def test_what_is_written_is_read_again(
    tmp_path_factory: pytest.TempPathFactory, tree: list[tuple[str, str]], missing: bool
) -> None:
    folder = tmp_path_factory.mktemp("hierarchies")
    edges = [*tree, ("", "*")] if missing else tree
    (folder / "tree.json").write_text(json.dumps({"level1": _children(edges)}))
    hierarchy = read_hierarchy(folder / "tree.json")
    assert naive.nests(rows(hierarchy))
    for format in ("arx", "edges", "amnesia-json", "amnesia"):
        if format == "amnesia" and any(len(child.split()) != 1 for child, _ in tree):
            continue
        write_hierarchy(hierarchy, folder / format, format)
        assert sorted(rows(read_hierarchy(folder / format))) == sorted(rows(hierarchy)), format
    write_hierarchy(hierarchy, folder / "arx")
    assert rows(read_hierarchy(folder / "arx")) == rows(hierarchy)


def _children(edges: list[tuple[str, str]]) -> dict[str, list[str]]:
    children: dict[str, list[str]] = {}
    for child, parent in edges:
        children.setdefault(parent, []).append(child)
    return children


@pytest.mark.parametrize(
    ("format", "expected"),
    [
        ("arx", "cat;mammal;*\ndog;mammal;*\nMoon;Moon;*\n"),
        ("edges", "cat,mammal\ndog,mammal\nMoon,*\nmammal,*\n"),
        (
            "amnesia",
            "distinct\nname out\ntype string\nheight 3\n\nmammal has cat dog \n\n* has Moon mammal \n",
        ),
    ],
)
def test_the_formats_look_as_their_readers_expect(
    tmp_path: Path, file: Files, format: str, expected: str
) -> None:
    hierarchy = read_hierarchy(file("cat,mammal\ndog,mammal\nMoon,*\nmammal,*\n"))
    write_hierarchy(hierarchy, tmp_path / "out.x", format)
    assert (tmp_path / "out.x").read_text() == expected


def test_amnesias_json_has_levels_from_the_root_down(tmp_path: Path, file: Files) -> None:
    write_hierarchy(read_hierarchy(file("a b,x\nc,x\nx,*\n")), tmp_path / "out.json", "amnesia-json")
    assert json.loads((tmp_path / "out.json").read_text()) == {
        "name": "out",
        "type": "string",
        "height": 3,
        "hierType": "distinct",
        "level1": {"*": ["x"]},
        "level2": {"x": ["a b", "c"]},
    }


def test_what_a_format_cannot_hold_is_refused_and_nothing_is_written(tmp_path: Path, file: Files) -> None:
    with pytest.raises(WrongUse, match="cannot hold 'a b'"):
        write_hierarchy(read_hierarchy(file("a b;x;*\n")), tmp_path / "out", "amnesia")
    with pytest.raises(WrongUse, match="only the format arx can hold"):
        write_hierarchy(read_hierarchy(file("a;x;a;*\nb;y;b;*\n")), tmp_path / "out", "edges")
    with pytest.raises(WrongUse, match="not as 'xml'"):
        write_hierarchy(read_hierarchy(file("a;x;*\n")), tmp_path / "out", "xml")  # type: ignore[arg-type]
    assert not (tmp_path / "out").exists()


def test_a_folder_that_cannot_be_written_to(tmp_path: Path, file: Files) -> None:
    with pytest.raises(CannotWrite, match="cannot be written"):
        write_hierarchy(read_hierarchy(file("a;*\n")), tmp_path / "none" / "out.csv")


@given(trees())
def test_plain_data_goes_both_ways(tree: list[tuple[str, str]]) -> None:
    domain = nominal(tuple(sorted({child for child, _ in tree})))
    hierarchy = build("balanced:2", domain, "x")
    again = hierarchy_from_data(json.loads(json.dumps(hierarchy_as_data(hierarchy))))
    assert rows(again) == rows(hierarchy)
    assert again.labels == hierarchy.labels
    assert again.by_width == hierarchy.by_width


def test_plain_data_keeps_that_bins_are_measured_by_width() -> None:
    domain = Domain(Kind.NUMERIC, ("1", "7"), np.array([1.0, 7.0]))
    assert hierarchy_from_data(hierarchy_as_data(build("intervals:5", domain, "x"))).by_width


@pytest.mark.parametrize(
    "data",
    [
        {},
        {"labels": [["a"], ["*"]], "parents": [[1]], "by_width": False},
        {"labels": [["a"], ["*"]], "parents": [[-1]], "by_width": False},
        {"labels": [["a"], ["*"]], "parents": [[0, 0]], "by_width": False},
        {"labels": [["a"], ["x", "y"]], "parents": [[0]], "by_width": False},
        {"labels": [["a"]], "parents": [], "by_width": False},
        {"labels": [["a"], ["*"]], "parents": [["x"]], "by_width": False},
        {"labels": 5, "parents": [], "by_width": False},
    ],
)
def test_damaged_plain_data_is_refused(data: dict[str, object]) -> None:
    with pytest.raises(BadData, match="cannot be read"):
        hierarchy_from_data(data)
