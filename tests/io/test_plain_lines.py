"""Published sets read by the kernels: the same as line by line, or given up."""

from collections.abc import Callable
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.io.test_published_sets import CLUSTER, GROUP
from tests.naive import published_sets as naive

from shoal.arrays import AnyArray
from shoal.errors import BadData
from shoal.io.baskets import numbered_texts
from shoal.io.releases import plain_lines
from shoal.io.releases.set_lines import read_clusters, read_groups, write_clusters, write_groups
from shoal.kernels import json_sets
from shoal.kernels._compiling import eagerly

READERS = {
    "groups": (read_groups, plain_lines.plain_groups),
    "clusters": (read_clusters, plain_lines.plain_clusters),
}
TEXTS = {
    "groups": '{"baskets": [["a"], [], ["a", "bb"]], "sensitive": {"s": 12, "t": 1}}\n'
    '{"baskets": [["é", "c"]], "sensitive": {}}\n',
    "clusters": '{"joint": [{"size": 3, "chunks": [[["a", "b"]], []], "terms": ["c"]}, {"joint": [{"size": 9, '
    '"chunks": [], "terms": []}], "shared": []}], "shared": [[["d", "e"], ["e"]]]}\n'
    '{"size": 5, "chunks": [], "terms": ["a"]}\n',
}


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("plain") / "data.jsonl"


def outcome(read: Callable[[Path], Any], path: Path) -> Any:
    """What is read, as plain values, or the error."""
    try:
        found = read(path)
    except BadData as error:
        return str(error)
    values = (getattr(found, one.name) for one in fields(found))
    return [value.tolist() if isinstance(value, np.ndarray) else value for value in values]


def same(kind: str, path: Path) -> None:
    read, _ = READERS[kind]
    slowly = outcome(read, path)
    with eagerly():
        assert outcome(read, path) == slowly


@given(st.lists(GROUP, min_size=1, max_size=6))
def test_groups(path: Path, groups: list[dict[str, Any]]) -> None:
    write_groups(naive.groups_of(groups), path)
    same("groups", path)


@given(st.lists(CLUSTER, min_size=1, max_size=6))
def test_clusters(path: Path, clusters: list[dict[str, Any]]) -> None:
    write_clusters(naive.clusters_of(clusters), path)
    same("clusters", path)


@pytest.mark.parametrize("kind", READERS)
def test_what_we_write_is_not_given_up(kind: str, path: Path) -> None:
    path.write_text(TEXTS[kind], encoding="utf-8")
    with eagerly():
        assert READERS[kind][1](path) is not None
    assert READERS[kind][1](path) is None, "a small file is not worth the kernels"
    same(kind, path)


@pytest.mark.parametrize("kind", READERS)
@given(st.data())
def test_a_damaged_file(path: Path, kind: str, data: st.DataObject) -> None:
    text = TEXTS[kind]
    begin = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(begin, min(begin + 3, len(text))))
    between = data.draw(st.text('"[]{},: 0159a\\\n\t', max_size=3))
    path.write_text(text[:begin] + between + text[end:], encoding="utf-8")
    same(kind, path)


@pytest.mark.parametrize(
    ("kind", "line"),
    [
        ("groups", '{"baskets": [["a", "a"]], "sensitive": {}}'),
        ("groups", '{"baskets": [["a"]], "sensitive": {"s": 1, "s": 2}}'),
        ("groups", '{"baskets": [["b", "a"]], "sensitive": {"s": 1}}'),
        ("groups", '{"sensitive": {}, "baskets": [["a"]]}'),
        ("clusters", '{"size": 1, "chunks": [[["a", "a"]]], "terms": []}'),
        ("clusters", '{"size": 1, "chunks": [[[]]], "terms": []}'),
        ("clusters", '{"size": 1, "chunks": [], "terms": ["b", "a"]}'),
    ],
)
def test_faults_are_told_by_the_other_reader(kind: str, line: str, path: Path) -> None:
    path.write_text(f"{line}\n", encoding="utf-8")
    same(kind, path)


def test_more_texts_than_room(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(numbered_texts, "ROOM", 2)
    items = ", ".join(f'"{number:03}"' for number in range(500))
    path.write_text(f'{{"baskets": [[{items}]], "sensitive": {{}}}}\n', encoding="utf-8")
    with eagerly():
        found = plain_lines.plain_groups(path)
    assert found is not None
    assert found.vocabulary == tuple(f"{number:03}" for number in range(500))
    assert found.items.tolist() == list(range(500))


@pytest.mark.parametrize("lines", [1, 4])
def test_a_last_line_without_an_end_writes_no_more_than_there_is_room(
    path: Path, monkeypatch: pytest.MonkeyPatch, lines: int
) -> None:
    margins: list[AnyArray] = []
    read = json_sets.read_groups

    def with_margins(text: Any, table: Any, baskets: Any, groups: Any, secrets: Any, counts: Any) -> int:
        wide, ends = np.full(len(groups) + 1, -7), np.full(len(secrets.ends) + 1, -7)
        margins.extend((wide[-1:], ends[-1:]))
        return read(text, table, baskets, wide[:-1], secrets._replace(ends=ends[:-1]), counts)

    monkeypatch.setattr(json_sets, "read_groups", with_margins)
    path.write_text("\n".join(['{"baskets": [["a"]], "sensitive": {"s": 1}}'] * lines), encoding="utf-8")
    with eagerly():
        assert plain_lines.plain_groups(path) is None
    assert [int(margin[0]) for margin in margins] == [-7, -7]
