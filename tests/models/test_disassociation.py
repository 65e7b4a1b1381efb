"""The promise of disassociation: its conditions, and the guarantee that they give."""

import copy
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.naive import disassociation as naive
from tests.naive.published_sets import clusters_of

from shoal.cli.program import main
from shoal.data.release import Release
from shoal.io.releases.folder import write_release
from shoal.io.releases.set_lines import canonical_clusters, read_clusters
from shoal.models.disassociation import Disassociated

FIRST = {
    "size": 5,
    "chunks": [
        [["audi a4", "sony tv"]] * 3,
        [["flu", "itunes"], ["flu", "itunes", "madonna"], ["flu", "itunes", "madonna"], ["flu", "madonna"]]
        + [["itunes", "madonna"]],
    ],
    "terms": ["ikea", "ruby", "viagra"],
}
SECOND = {
    "size": 5,
    "chunks": [
        [["digital camera", "iphone sdk"]]
        + [["digital camera", "iphone sdk", "madonna"]] * 2
        + [["digital camera", "madonna"], ["iphone sdk", "madonna"]]
    ],
    "terms": ["ikea", "panic disorder", "playboy", "ruby"],
}
"""The two clusters of the dissertation's figure 6."""


def holds(trees: list[dict[str, Any]], k: int, m: int, **more: Any) -> bool:
    return Disassociated(k=k, m=m, **more).verify(canonical_clusters(clusters_of(trees))).holds


def test_the_clusters_of_the_dissertation() -> None:
    assert holds([FIRST, SECOND], 3, 2)
    assert not holds([FIRST, SECOND], 5, 2)
    assert not holds([FIRST, SECOND], 3, 3)
    assert Disassociated(k=3, m=2).verify(clusters_of([FIRST, SECOND])).value == 3


def without_terms(cluster: dict[str, Any]) -> None:
    cluster["terms"] = []
    cluster["chunks"][1] = [["flu"]] * 3


def test_sensitive_items_stand_in_term_chunks_alone() -> None:
    """Also in shared chunks: there they go with other items too."""
    assert holds([FIRST, SECOND], 3, 2, sensitive=("viagra", "panic disorder", "nowhere"))
    verdict = Disassociated(k=3, m=2, sensitive=("sony tv",)).verify(clusters_of([FIRST, SECOND]))
    assert not verdict.holds
    assert [(one.where, one.why) for one in verdict.offenders] == [
        ("chunk 1 of cluster 1: {sony tv}", "the item is sensitive, and stands in 3 sub-records")
    ]
    parts = [copy.deepcopy(FIRST), copy.deepcopy(SECOND)]
    for part in parts:
        part["terms"].remove("ikea")
    joint = {"joint": parts, "shared": [[["ikea"]] * 3]}
    assert holds([joint], 3, 2, sensitive=("ruby",))
    verdict = Disassociated(k=3, m=2, sensitive=("ikea",)).verify(clusters_of([joint]))
    assert [one.where for one in verdict.offenders] == ["shared chunk 1 of cluster 1: {ikea}"]


MUTATIONS = {
    "a rare combination": (
        lambda one: one["chunks"][1].__setitem__(0, ["flu", "itunes", "madonna", "rare"]),
        "chunk 2 of cluster 1: {rare}",
        "1 sub-record where 3 are promised",
    ),
    "a small cluster": (
        lambda one: one.update(size=2, chunks=[]),
        "cluster 1",
        "2 baskets where 3 are promised",
    ),
    "an item in two chunks": (
        lambda one: one["chunks"].__setitem__(0, [["flu", "sony tv"]] * 3),
        "chunk 2 of cluster 1: {flu}",
        "the item stands in another chunk too",
    ),
    "an item in a chunk and the terms": (
        lambda one: one["terms"].append("flu"),
        "chunk 2 of cluster 1: {flu}",
        "the item stands in another chunk too",
    ),
    "an order that tells": (
        lambda one: one["chunks"][1].reverse(),
        "chunk 2 of cluster 1",
        "the sub-records are not in ascending order",
    ),
    "too few sub-records": (
        without_terms,
        "cluster 1",
        "6 sub-records where 8 are needed, because it names no terms",
    ),
}


@pytest.mark.parametrize("mutation", MUTATIONS)
def test_a_broken_condition_is_named(
    mutation: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    change, where, why = MUTATIONS[mutation]
    broken = copy.deepcopy(FIRST)
    change(broken)
    verdict = Disassociated(k=3, m=2).verify(clusters_of([broken, SECOND]))
    assert (where, why) in [(offender.where, offender.why) for offender in verdict.offenders]
    promise = Disassociated(k=3, m=2).as_promise()
    folder = write_release(
        tmp_path / "out", Release(clusters_of([broken, SECOND]), "disassociation", {}, (promise,))
    )
    path = folder / "release" / "data.jsonl"
    path.write_text("".join(json.dumps(tree) + "\n" for tree in (broken, SECOND)))
    code = main(["verify", str(folder)])
    assert (code, where in capsys.readouterr().out) == (1, True)


def test_a_chunk_above_its_cluster() -> None:
    broken = {**FIRST, "size": 4}
    verdict = Disassociated(k=3, m=2).verify(clusters_of([broken]))
    assert [(one.where, one.why) for one in verdict.offenders] == [
        ("chunk 2 of cluster 1", "5 sub-records, and the cluster has 4 baskets")
    ]


def joint(shared: list[list[list[str]]], *parts: dict[str, Any]) -> dict[str, Any]:
    return {"joint": list(parts), "shared": shared}


def test_shared_chunks() -> None:
    first, second = copy.deepcopy(FIRST), copy.deepcopy(SECOND)
    first["terms"], second["terms"] = ["viagra"], ["panic disorder", "playboy"]
    assert holds([joint([[["ikea", "ruby"]] * 3], first, second)], 3, 2)
    assert not holds([joint([[["ikea", "ruby"]] * 2], first, second)], 3, 2)
    assert not holds([joint([[["ikea", "viagra"]] * 3], first, second)], 3, 2)
    assert not holds([joint([[["ikea"]] * 3, [["ikea"]] * 3], first, second)], 3, 2)
    assert not holds([joint([[["ikea"]] * 11], first, second)], 3, 2)


def test_shared_chunks_over_items_of_chunks_below() -> None:
    """Here k^m is not enough: an item below keeps sub-records from parts that hold it in a chunk of their own."""
    first, second = copy.deepcopy(FIRST), copy.deepcopy(SECOND)
    first["terms"], second["terms"] = ["viagra"], ["playboy"]
    assert holds([joint([[["flu"]] * 3], first, second)], 3, 2)
    mixed = [["flu"], ["flu", "ikea"], ["flu", "ikea"], ["ikea"]]
    assert not holds([joint([mixed], first, second)], 2, 2)
    assert holds([joint([[["ikea"]] * 3 + [["ruby"]] * 3], first, second)], 3, 2)
    assert not holds([joint([[["flu"]] * 3 + [["ikea"]] * 3], first, second)], 3, 2)


def test_why_shared_chunks_need_room() -> None:
    """Each sub-record stands k times, and still x and b are together once at the most: two of three baskets hold a."""
    first = {"size": 3, "chunks": [[["x"], ["x"]]], "terms": ["z"]}
    second = {"size": 2, "chunks": [[["a"], ["a"]]], "terms": ["z"]}
    tree = joint([[["a"], ["a"], ["b"], ["b"]]], second, first)
    assert naive.guarantees(tree, 2, 2) is False
    verdict = Disassociated(k=2, m=2).verify(clusters_of([tree]))
    assert [offender.where for offender in verdict.offenders] == ["shared chunk 1 of cluster 1"]


def test_a_cluster_of_empty_baskets_has_nothing_to_know() -> None:
    assert holds([{"size": 3, "chunks": [], "terms": []}], 3, 2)
    assert not holds([joint([[["a"]] * 3], {"size": 3, "chunks": [], "terms": []}, FIRST)], 3, 2)


def test_safe_bounds_the_share_of_a_cluster() -> None:
    cluster = {"size": 4, "chunks": [[["a"]] * 4], "terms": ["b"]}
    assert holds([cluster], 2, 2)
    assert not holds([cluster], 2, 2, safe=0.9)
    assert holds([{**cluster, "chunks": [[["a"]] * 3]}], 2, 2, safe=0.75)
    assert holds([{**cluster, "terms": []}], 2, 2, safe=0.5)


def records(items: str, most: int) -> st.SearchStrategy[Any]:
    one = st.sets(st.sampled_from(items), min_size=1).map(lambda some: tuple(sorted(some)))
    return st.lists(one, min_size=1, max_size=most).map(sorted)


def simple(chunks: tuple[str, ...], terms: str) -> st.SearchStrategy[Any]:
    return st.integers(2, 3).flatmap(
        lambda size: st.fixed_dictionaries(
            {
                "size": st.just(size),
                "chunks": st.tuples(*(records(items, size) for items in chunks)).flatmap(
                    lambda made: st.integers(0, len(made)).map(lambda count: list(made[:count]))
                ),
                "terms": st.sets(st.sampled_from(terms)).map(sorted),
            }
        )
    )


@given(simple(("ab", "c"), "yz"))
@settings(max_examples=100)
def test_what_is_accepted_has_k_candidates(tree: dict[str, Any]) -> None:
    """Conditions against the guarantee, over all originals of small clusters."""
    accepted = holds([tree], 2, 2)
    assert accepted == naive.keeps(tree, 2, 2)
    if accepted:
        assert naive.guarantees(tree, 2, 2) is True


@given(simple(("a", "c"), "z"), simple(("a",), "z"), records("ad", 4))
@settings(max_examples=100)
def test_what_is_accepted_of_joint_clusters_has_k_candidates(
    first: dict[str, Any], second: dict[str, Any], shared: list[Any]
) -> None:
    tree = joint([shared], first, second)
    accepted = holds([tree], 2, 2)
    assert accepted == naive.keeps(tree, 2, 2)
    if accepted:
        assert naive.guarantees(tree, 2, 2, limit=20_000) is not False


def test_reading_keeps_the_order_that_is_judged(tmp_path: Path) -> None:
    path = tmp_path / "data.jsonl"
    path.write_text(json.dumps({**FIRST, "chunks": [FIRST["chunks"][1][::-1]]}) + "\n")
    assert not Disassociated(k=3, m=2).verify(read_clusters(path))


ORDERS = {
    "items of a sub-record": (
        lambda first, second, lines: first["chunks"][1][0].reverse(),
        "part 1 of cluster 2",
        "the items of a sub-record or the terms are not in ascending order",
    ),
    "terms": (
        lambda first, second, lines: second["terms"].reverse(),
        "part 2 of cluster 2",
        "the items of a sub-record or the terms are not in ascending order",
    ),
    "sub-records": (
        lambda first, second, lines: second["chunks"][0].reverse(),
        "chunk 1 of part 2 of cluster 2",
        "the sub-records are not in ascending order",
    ),
    "chunks": (
        lambda first, second, lines: first["chunks"].reverse(),
        "chunk 2 of part 1 of cluster 2",
        "in ascending order it would come before the chunk ahead of it",
    ),
    "parts": (
        lambda first, second, lines: lines[1]["joint"].reverse(),
        "part 2 of cluster 2",
        "in ascending order it would come before the cluster ahead of it",
    ),
    "lines": (
        lambda first, second, lines: lines.reverse(),
        "cluster 2",
        "in ascending order it would come before the cluster ahead of it",
    ),
}


@pytest.mark.parametrize("what", ORDERS)
def test_any_order_but_the_canonical_one_is_named(
    what: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    first, second, alone = copy.deepcopy(FIRST), copy.deepcopy(SECOND), copy.deepcopy(SECOND)
    lines = [alone, joint([[["zoo"]] * 3], first, second)]
    promise = Disassociated(k=3, m=2).as_promise()
    release = Release(clusters_of(lines), "disassociation", {}, (promise,))
    folder = write_release(tmp_path / "out", release)
    path = folder / "release" / "data.jsonl"
    assert path.read_text() == "".join(json.dumps(tree) + "\n" for tree in lines)
    assert main(["verify", str(folder)]) == 0
    change, where, why = ORDERS[what]
    change(first, second, lines)
    path.write_text("".join(json.dumps(tree) + "\n" for tree in lines))
    capsys.readouterr()
    assert main(["verify", str(folder)]) == 1
    shown = " ".join(capsys.readouterr().out.split())
    assert where in shown
    assert why in shown
