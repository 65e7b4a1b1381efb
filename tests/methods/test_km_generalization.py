"""Generalization of items against trying every cut."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.naive import km_generalization as naive

import shoal
from shoal.cli import main
from shoal.data.baskets import Baskets
from shoal.data.hierarchy import Hierarchy
from shoal.errors import BadData, Infeasible, WrongUse
from shoal.io.baskets.load import read_baskets
from shoal.io.hierarchies.load import read_hierarchy
from shoal.io.releases.folder import read_release
from shoal.measures.generalized_items import GeneralizedItems
from shoal.measures.measure import flat
from shoal.methods.km_generalization._item_tree import ItemTree
from shoal.methods.km_generalization.method import KmGeneralization
from shoal.models.km_anonymity import KmAnonymity
from shoal.outcome import judge

# a b | c d | e, and above them (a b c d) | e: the branch of e is repeated on two levels.
TREE = Hierarchy(
    (("a", "b", "c", "d", "e"), ("ab", "cd", "e"), ("abcd", "e"), ("*",)),
    (np.array([0, 0, 1, 1, 2]), np.array([0, 0, 1]), np.array([0, 0])),
)
PATHS = {item: list(path) for item, path in zip("abcde", TREE.paths(), strict=True)}
baskets_of = st.lists(st.frozensets(st.sampled_from("abcde"), max_size=5), min_size=3, max_size=12)


def read(sets: list[frozenset[str]]) -> Baskets:
    return replace(read_baskets(sets), hierarchy=TREE)


def plain(baskets: Baskets) -> list[set[str]]:
    return [set(baskets.basket(row)) for row in range(len(baskets))]


@pytest.mark.parametrize("algorithm", ["aa", "lra", "vpa"])
@settings(max_examples=40)
@given(sets=baskets_of, k=st.integers(2, 4), m=st.integers(1, 3))
def test_every_combination_is_held_by_k(algorithm: str, sets: list[frozenset[str]], k: int, m: int) -> None:
    method = KmGeneralization(k=k, m=m, algorithm=algorithm, parts=2)
    filled = sum(map(bool, sets))
    if 0 < filled < k:
        with pytest.raises(Infeasible, match=f"The largest k is {filled}") as refusal:
            method.anonymize(read(sets))
        assert refusal.value.best == filled
        return
    release, trace = method.anonymize(read(sets))
    assert isinstance(release.data, Baskets)
    published = plain(release.data)
    assert not naive.broken(published, k, m)
    assert all(judge(release)) == any(sets)
    for row, basket in zip(trace.rows.tolist(), published, strict=True):
        covered = {item for item in sets[row] if basket & set(PATHS[item])}
        assert covered == sets[row]
        assert all(any(node in PATHS[item] for item in sets[row]) for node in basket)


@settings(max_examples=40)
@given(sets=baskets_of, k=st.integers(2, 3), m=st.integers(1, 2))
def test_global_recoding_is_a_cut_and_never_cheaper_than_the_cheapest(
    sets: list[frozenset[str]], k: int, m: int
) -> None:
    sets = [*sets, frozenset("a"), frozenset("b"), frozenset("c"), frozenset("de")]
    release, trace = KmGeneralization(k=k, m=m).anonymize(read(sets))
    least = naive.least_penalty([set(one) for one in sets], PATHS, k, m)
    assert least is not None
    assert trace.notes["ncp"] >= least - 1e-12
    known = set(release.data.vocabulary)
    assert all(len(known & set(dict.fromkeys(path))) == 1 for path in PATHS.values())


@settings(max_examples=30)
@given(sets=baskets_of, k=st.integers(2, 3), m=st.integers(1, 2))
def test_lowering_never_costs(sets: list[frozenset[str]], k: int, m: int) -> None:
    sets = [*sets, frozenset("a"), frozenset("b"), frozenset("e")]
    _, high = KmGeneralization(k=k, m=m, lower=False).anonymize(read(sets))
    _, low = KmGeneralization(k=k, m=m).anonymize(read(sets))
    assert low.notes["ncp"] <= high.notes["ncp"]
    assert high.notes["lowered"] == 0


def test_a_single_rare_item_takes_the_nearest_node() -> None:
    sets = [{"a"}, {"b"}, {"b"}, {"c"}, {"c"}, {"d"}, {"d"}, {"e"}, {"e"}]
    release, trace = KmGeneralization(k=2, m=1).anonymize(read([frozenset(one) for one in sets]))
    assert release.data.vocabulary == ("ab", "c", "d", "e")
    assert release.details == {"nodes": {"ab": 2}, "leaves": 5}
    assert trace.notes["ncp"] == pytest.approx(3 * 2 / 5 / 9)
    scores = flat(GeneralizedItems().scores(read(sets), release))
    assert scores == {
        "item_ncp": pytest.approx(3 * 2 / 5 / 9),
        "generalized_occurrences": pytest.approx(1 / 3),
    }


def test_items_of_a_basket_under_one_node_become_one() -> None:
    release, _ = KmGeneralization(k=2, m=1).anonymize(
        read([frozenset("ab"), frozenset("b"), frozenset("e"), frozenset("e")])
    )
    assert plain(release.data) == [{"ab"}, {"ab"}, {"e"}, {"e"}]


def test_local_recoding_may_keep_an_item_where_it_is_frequent() -> None:
    sets = (
        [frozenset("ae")] * 6
        + [frozenset("a")] * 2
        + [frozenset("b"), frozenset("bc"), frozenset("c"), frozenset("d")]
    )
    everywhere, _ = KmGeneralization(k=2, m=2).anonymize(read(sets))
    by_parts, trace = KmGeneralization(k=2, m=2, algorithm="lra", parts=2).anonymize(read(sets))
    assert "a" in by_parts.data.vocabulary
    assert not naive.broken(plain(by_parts.data), 2, 2)
    assert len(trace.rows) == len(sets) == len(everywhere.data)


def test_roles_stay_with_items_that_are_published_as_they_are() -> None:
    sets = [["a", "b"], ["b", "e"], ["b", "e"], ["c"], ["d"], ["e"]]
    baskets = replace(read_baskets(sets, sensitive=["e", "c"], insensitive=["b"]), hierarchy=TREE)
    release, _ = KmGeneralization(k=2, m=1).anonymize(baskets)
    data = release.data
    assert [data.vocabulary[item] for item in data.sensitive] == ["e"]
    assert data.hierarchy is None


def test_nodes_of_the_same_leaves_are_one() -> None:
    tree = ItemTree.of(("a", "c", "e"), TREE)
    assert [tree.labels[node] for node in tree.chain(0)] == ["a", "ab", "abcd", "*"]
    assert [tree.labels[node] for node in tree.chain(2)] == ["e", "*"]
    assert (tree.items, tree.leaves) == (3, 5)
    assert [[int(item) for item in items] for items in tree.items_under()][-1] == [0, 1, 2]


def test_an_item_without_a_leaf_is_refused() -> None:
    with pytest.raises(BadData, match=r"misses 1 of 2 items: 'x'"):
        KmGeneralization(k=2).anonymize(read([frozenset("ax"), frozenset("ax")]))


def test_items_without_a_hierarchy_are_grouped_in_the_order_of_their_texts() -> None:
    sets = [["a"], ["b"], *([item] for item in "ccddeeffgghhii")]
    release, trace = KmGeneralization(k=2, m=1).anonymize(read_baskets(sets))
    assert [text for text in release.data.vocabulary if len(text) > 1] == ["{a|b|c|d|e}"]
    assert trace.notes["hierarchy"] == "alphabetical"
    assert "in the order of their texts" in trace.notes["summary"][0]


def test_a_given_hierarchy_needs_no_word() -> None:
    _, trace = KmGeneralization(k=2, m=1).anonymize(read([frozenset("ab"), frozenset("ab")]))
    assert trace.notes["hierarchy"] == "given"
    assert "summary" not in trace.notes
    assert "warnings" not in trace.notes


def test_sensitive_items_are_said_to_count_like_all_others() -> None:
    run = shoal.anonymize(read_baskets([["a", "s"]] * 3, sensitive=["s"]), "km-generalization", k=2)
    assert any("`sensitive` has no effect" in warning for warning in run.warnings)


def test_the_model_takes_items_beside_their_nodes_as_they_are_written() -> None:
    """Local recoding may publish an item and its node: each text is counted by itself."""
    kept = read_baskets([["a", "cd"], ["a", "cd"], ["ab", "c"], ["ab", "c"]])
    assert KmAnonymity(k=2, m=2).verify(kept)
    assert not KmAnonymity(k=2, m=2).verify(read_baskets([["a", "cd"], ["ab", "cd"], ["ab"]]))


def test_empty_baskets_stay() -> None:
    release, _ = KmGeneralization(k=2).anonymize(
        read([frozenset(), frozenset("a"), frozenset("b"), frozenset()])
    )
    assert plain(release.data) == [set(), set(), {"ab"}, {"ab"}]
    nothing, _ = KmGeneralization(k=2).anonymize(read_baskets([[], []]))
    assert plain(nothing.data) == [set(), set()]


def test_public_baskets(public_data: Callable[[str], Path]) -> None:
    """The first baskets of BMS-WebView-2 with its hierarchy, counted by brute force."""
    baskets = read_baskets(public_data("bms-webview-2/bms-webview-2.dat.gz")).take(np.arange(4000))
    hierarchy = read_hierarchy(public_data("bms-webview-2/bms-webview-2_hierarchy.csv"))
    ncp: dict[str, Any] = {}
    for algorithm in ("aa", "vpa"):
        method = KmGeneralization(k=5, m=2, algorithm=algorithm)
        release, trace = method.anonymize(replace(baskets, hierarchy=hierarchy))
        assert not naive.broken(plain(release.data), 5, 2)
        ncp[algorithm] = trace.notes["ncp"]
    assert 0 < ncp["aa"] < 0.3
    assert ncp["vpa"] < 0.3


def test_hierarchies_of_items_are_given_by_object_builder_or_file(tmp_path: Path) -> None:
    sets = [["a"], ["b"], ["c"], ["c"], ["d"], ["d"]]
    (tmp_path / "tree.csv").write_text("a;x;*\nb;x;*\nc;y;*\nd;y;*\n")
    for tree, node in ((TREE, "ab"), ("balanced:2", "{a|b}"), (str(tmp_path / "tree.csv"), "x")):
        run = shoal.anonymize(sets, "km-generalization", k=2, m=1, hierarchies={"items": tree})
        assert sorted(run.release.data.vocabulary, key=len) == ["c", "d", node]
        assert list(run.as_dict()["hierarchies"]) == ["items"]


def test_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "baskets.dat").write_text("a b\nb e\nb e\nc\nd\ne\n")
    (tmp_path / "tree.csv").write_text("".join(";".join(path) + "\n" for path in PATHS.values()))
    command = ["anonymize", "km-generalization", str(tmp_path / "baskets.dat"), "--m", "1"]
    tree = ["--hierarchy", f"items={tmp_path / 'tree.csv'}", "-o", str(tmp_path / "out"), "--force"]
    assert main([*command, "--k", "2", *tree]) == 0
    assert main(["verify", str(tmp_path / "out")]) == 0
    release = (tmp_path / "out" / "release" / "release.json").read_text()
    assert "tree.csv" not in release
    assert (tmp_path / "out" / "release" / "data.dat").read_text().split("\n")[:2] == ["ab", "ab e"]
    (tmp_path / "tree.csv").unlink()
    assert (
        main(["measure", str(tmp_path / "out"), "--original", str(tmp_path / "baskets.dat"), "--json"]) == 0
    )
    assert "tkd_ml2" in capsys.readouterr().out
    assert main([*command, "--k", "2", "--hierarchy", "age=mask", "-o", str(tmp_path / "other")]) == 2
    assert "There is no hierarchy in baskets called 'age'. There are: items." in capsys.readouterr().err
    assert main([*command, "--k", "7", "-o", str(tmp_path / "other")]) == 1
    assert "The largest k is 6" in capsys.readouterr().err
    assert main([*command, "--k", "1", "-o", str(tmp_path / "other")]) == 2


@pytest.mark.parametrize(
    ("layout", "node", "kept"),
    [
        ("lines", "low numbers", False),
        ("lines", "[1,2]", True),
        ("lines:,", "[1,2]", False),
        ("lines:,", "low numbers", True),
        ("spmf", "#low", False),
        ("matrix", "low numbers", True),
        ("long:id,item", "low, numbers", True),
        ("column:goods", "low|numbers;etc", True),
    ],
)
def test_nodes_that_the_layout_cannot_tell_apart(tmp_path: Path, layout: str, node: str, kept: bool) -> None:
    """They are published as a long table, with a word about it, and always read back as they are."""
    tree = Hierarchy((("1", "2", "3"), (node, "3"), ("*",)), (np.array([0, 0, 1]), np.array([0, 0])))
    baskets = replace(
        read_baskets([["1"], ["2"], ["3"], ["3", "1"], ["2", "3"]], baskets=layout), hierarchy=tree
    )
    run = shoal.anonymize(baskets, "km-generalization", k=2, m=2)
    assert node in run.release.data.vocabulary
    run.write(tmp_path / "out")
    read = read_release(tmp_path / "out").data
    assert isinstance(read, Baskets)
    assert plain(read) == plain(run.release.data)
    assert (read.layout == layout) is kept
    assert any(repr(node) in warning for warning in run.warnings) is not kept


def test_a_bare_file_of_nodes_is_read_without_a_word(tmp_path: Path) -> None:
    """The marks inside of braces and brackets separate nothing."""
    sets = [["1", "2", "3"], ["1", "2"], ["10", "3"], ["2", "3"], ["11", "12"], ["5", "6", "7"], ["1", "5"]]
    run = shoal.anonymize(sets, "km-generalization", k=2)
    run.write(tmp_path / "out")
    path = tmp_path / "out/release/data.dat"
    assert "|" in path.read_text()
    assert read_baskets(path).vocabulary == run.release.data.vocabulary
    assert main(["verify", str(path), "--model", "km-anonymity", "--k", "2", "--m", "2"]) == 0
    path.write_text("[1,5] {a|b}\n[6,9)\n")
    assert read_baskets(path).vocabulary == ("[1,5]", "[6,9)", "{a|b}")
    path.write_text("{a|b},{c|d}\n")
    with pytest.raises(WrongUse, match="more than one way"):
        read_baskets(path)
