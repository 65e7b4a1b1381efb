"""Groups and clusters as JSON lines."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.naive import published_sets as naive

from shoal.errors import BadData
from shoal.io.releases.set_lines import read_clusters, read_groups, write_clusters, write_groups
from shoal.kernels._compiling import eagerly

ITEMS = st.sampled_from(["a", "b", "é", 'q"uote', "two words", "line\nbreak", "10", "9"])
SETS = st.lists(ITEMS, unique=True, max_size=4)
FILLED = st.lists(ITEMS, unique=True, min_size=1, max_size=3)
GROUP = st.fixed_dictionaries(
    {
        "baskets": st.lists(SETS, min_size=1, max_size=4),
        "sensitive": st.dictionaries(ITEMS, st.integers(1, 3), max_size=3),
    }
)
CHUNKS = st.lists(st.lists(FILLED, max_size=3), max_size=3)
SIMPLE = st.fixed_dictionaries({"size": st.integers(3, 5), "chunks": CHUNKS, "terms": SETS})
CLUSTER = st.recursive(
    SIMPLE,
    lambda parts: st.fixed_dictionaries({"joint": st.lists(parts, min_size=1, max_size=3), "shared": CHUNKS}),
    max_leaves=6,
)


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("sets") / "data.jsonl"


@given(st.lists(GROUP, min_size=1, max_size=6))
def test_groups_are_written_in_canonical_order_and_read_back(
    path: Path, groups: list[dict[str, Any]]
) -> None:
    write_groups(naive.groups_of(groups), path)
    assert path.read_text(encoding="utf-8").split("\n")[:-1] == naive.canonical_groups(groups)
    again = read_groups(path)
    assert len(again) == len(groups)
    before = path.read_bytes()
    with eagerly():  # by a kernel
        write_groups(again, path)
    assert path.read_bytes() == before


@given(st.lists(GROUP, min_size=1, max_size=6))
def test_groups_out_of_order_are_found(groups: list[dict[str, Any]]) -> None:
    made = naive.groups_of(groups)
    codes = {text: code for code, text in enumerate(made.vocabulary)}
    read = [
        (
            [[codes[item] for item in basket] for basket in group.baskets],
            [(codes[item], count) for item, count in group.sensitive.items()],
        )
        for group in made
    ]
    mixed, late = made.out_of_order()
    assert mixed.tolist() == [place for place, (sets, _) in enumerate(read) if sets != sorted(sets)]
    assert late.tolist() == [place for place in range(1, len(read)) if read[place] < read[place - 1]]


@given(st.lists(CLUSTER, min_size=1, max_size=6))
def test_clusters_are_written_in_canonical_order_and_read_back(
    path: Path, clusters: list[dict[str, Any]]
) -> None:
    write_clusters(naive.clusters_of(clusters), path)
    assert path.read_text(encoding="utf-8").split("\n")[:-1] == naive.canonical_clusters(clusters)
    again = read_clusters(path)
    assert again.sizes.sum() == naive.clusters_of(clusters).sizes.sum()
    before = path.read_bytes()
    write_clusters(again, path)
    assert path.read_bytes() == before


def test_the_form_of_groups(path: Path) -> None:
    path.write_text('{"sensitive": {"viagra": 1}, "baskets": [["wine", "meat"], []]}\n')
    groups = read_groups(path)
    assert groups.vocabulary == ("meat", "viagra", "wine")
    assert groups.sizes.tolist() == [2]
    assert groups.items.tolist() == [0, 2]
    assert groups.basket_indptr.tolist() == [0, 2, 2]
    assert groups.sensitive_items.tolist() == [1]
    write_groups(groups, path)
    assert path.read_text() == '{"baskets": [[], ["meat", "wine"]], "sensitive": {"viagra": 1}}\n'


def test_the_form_of_clusters(path: Path) -> None:
    text = (
        '{"joint": [{"size": 3, "chunks": [[["flu", "itunes"]]], "terms": ["ikea"]}, '
        '{"size": 5, "chunks": [], "terms": []}], "shared": [[["ikea", "ruby"], ["ruby"]]]}\n'
    )
    path.write_text(text)
    clusters = read_clusters(path)
    assert clusters.parents.tolist() == [-1, 0, 0]
    assert clusters.sizes.tolist() == [0, 3, 5]
    assert clusters.chunk_indptr.tolist() == [0, 1, 2, 2]
    assert clusters.record_indptr.tolist() == [0, 2, 3]
    assert clusters.term_indptr.tolist() == [0, 0, 1, 1]
    write_clusters(clusters, path)
    assert path.read_text().index('"size": 5') < path.read_text().index('"size": 3')


def test_parts_of_a_file(tmp_path: Path) -> None:
    folder = tmp_path / "data.jsonl"
    folder.mkdir()
    (folder / "part-0").write_text('{"baskets": [["b"]], "sensitive": {}}\n')
    (folder / "part-1").write_text('{"baskets": [["a"]], "sensitive": {"s": 1}}')
    groups = read_groups(folder)
    assert groups.vocabulary == ("a", "b", "s")
    assert np.array_equal(groups.items, [1, 0])
    (folder / "part-1").write_text('{"baskets": [["a"]], "sensitive": {"s": 0}}')
    with pytest.raises(BadData, match="part-1, line 1"):
        read_groups(folder)


GOOD_GROUP = '{"baskets": [["a"]], "sensitive": {}}'
GOOD_CLUSTER = '{"size": 1, "chunks": [[["a"]]], "terms": []}'


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("", "not a JSON"),
        ("{", "not a JSON"),
        ("[]", "not an object"),
        ('{"baskets": [["a"]]}', "is expected, and there is 'baskets'"),
        ('{"baskets": [["a"]], "sensitive": {}, "x": 1}', "is expected"),
        ('{"baskets": [["a"]], "sensitive": {}, "sensitive": {}}', "named twice"),
        ('{"baskets": [], "sensitive": {}}', "no baskets"),
        ('{"baskets": "a", "sensitive": {}}', "lists of texts"),
        ('{"baskets": ["a"], "sensitive": {}}', "lists of texts"),
        ('{"baskets": [[1]], "sensitive": {}}', "texts that are not empty"),
        ('{"baskets": [[""]], "sensitive": {}}', "texts that are not empty"),
        ('{"baskets": [["b"], ["c", "a", "c"]], "sensitive": {}}', "'c' stands twice"),
        ('{"baskets": [["a"]], "sensitive": []}', "items and counts"),
        (
            '{"baskets": [["a"]], "sensitive": {"s": -1}}',
            "count of 's' must be a positive whole number, not -1",
        ),
        ('{"baskets": [["a"]], "sensitive": {"s": 0}}', "positive"),
        ('{"baskets": [["a"]], "sensitive": {"s": 1.0}}', "whole"),
        ('{"baskets": [["a"]], "sensitive": {"s": true}}', "whole"),
        ('{"baskets": [["a"]], "sensitive": {"s": 1, "s": 2}}', "'s' is named twice"),
    ],
)
def test_bad_groups(tmp_path: Path, line: str, message: str) -> None:
    refuse(read_groups, tmp_path, f"{GOOD_GROUP}\n{line}\n{GOOD_GROUP}\n", message)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('{"size": 1, "chunks": []}', "is expected"),
        (
            '{"size": 1.5, "chunks": [], "terms": []}',
            "size of a cluster must be a positive whole number, not 1.5",
        ),
        ('{"size": 0, "chunks": [], "terms": []}', "positive"),
        ('{"size": "3", "chunks": [], "terms": []}', "whole number"),
        ('{"size": 1, "chunks": [[[]]], "terms": []}', "must not be empty"),
        ('{"size": 1, "chunks": [["a"]], "terms": []}', "lists of texts"),
        ('{"size": 1, "chunks": "a", "terms": []}', "must be a list"),
        ('{"size": 1, "chunks": [], "terms": "ab"}', "lists of texts"),
        ('{"size": 1, "chunks": [], "terms": ["a", "a"]}', "'a' stands twice"),
        ('{"size": 2, "chunks": [[["a", "b", "a"]]], "terms": []}', "'a' stands twice"),
        ('{"joint": [], "shared": []}', "list its parts"),
        ('{"joint": [7], "shared": []}', "is expected, and there is 7"),
        ('{"joint": [' * 100_000 + "]" * 100_000, "not a JSON"),
    ],
)
def test_bad_clusters(tmp_path: Path, line: str, message: str) -> None:
    refuse(read_clusters, tmp_path, f"{GOOD_CLUSTER}\n{line}\n{GOOD_CLUSTER}\n", message)


def refuse(read: Callable[[Path], object], tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "data.jsonl"
    path.write_text(text)
    with pytest.raises(BadData, match=message) as caught:
        read(path)
    assert caught.value.line == 2
    assert str(caught.value.path) == str(path)


@pytest.mark.parametrize(("read", "line"), [(read_groups, GOOD_GROUP), (read_clusters, GOOD_CLUSTER)])
@pytest.mark.parametrize("end", ["\n", " ", " \n"])
def test_blank_last_lines_are_refused(
    tmp_path: Path, read: Callable[[Path], object], line: str, end: str
) -> None:
    refuse(read, tmp_path, f"{line}\n{end}", "not a JSON")


def test_deep_trees_do_not_recurse(tmp_path: Path) -> None:
    cluster: dict[str, Any] = {"size": 3, "chunks": [], "terms": ["a"]}
    for _ in range(300):
        cluster = {"joint": [cluster], "shared": []}
    path = tmp_path / "data.jsonl"
    write_clusters(naive.clusters_of([cluster]), path)
    assert len(read_clusters(path)) == 301
