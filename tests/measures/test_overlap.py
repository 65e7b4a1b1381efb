"""Itemsets, rules and pairs that are left, against a count basket by basket."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.naive import overlap as naive
from tests.tables import table

from shoal.data._hierarchy_builders import build
from shoal.data._reconstruct import reconstruct_groups
from shoal.data.baskets import Baskets
from shoal.data.domain import nominal
from shoal.data.groups import Groups
from shoal.data.release import Release
from shoal.errors import BadData, WrongUse
from shoal.io.baskets.load import read_baskets
from shoal.measures.measure import flat
from shoal.measures.overlap import Overlap
from shoal.measures.pair_supports import (
    PairSupports,
    drawn_pairs,
    expected_of_groups,
    expected_of_nodes,
)
from shoal.methods.cahd.method import Cahd
from shoal.methods.disassociation.method import Disassociation

SETS = st.lists(st.sets(st.sampled_from("abcde"), max_size=4), min_size=3, max_size=25).filter(any)


def plain(baskets: Baskets) -> list[frozenset[str]]:
    return [frozenset(baskets.basket(row)) for row in range(len(baskets))]


def made(data: object) -> Release:
    return Release(data, "by hand", {}, ())


def shop(count: int = 300, seed: int = 5) -> Baskets:
    """Baskets of a few habits, with two sensitive items."""
    generator = np.random.default_rng(seed)
    habits = [["beer", "nuts", "wine"], ["milk", "bread", "eggs"], ["fish", "rice", "soy"]]
    sets = []
    for row in range(count):
        habit = habits[generator.integers(3)]
        items = {item for item in habit if generator.random() < 0.8}
        items |= {f"x{generator.integers(12)}"}
        if row % 17 == 0:
            items |= {"pill" if row % 2 else "test"}
        sets.append(sorted(items))
    return read_baskets(sets, sensitive=["pill", "test"])


@given(SETS, SETS, st.integers(1, 3), st.sampled_from([0.3, 0.5, 0.8]))
def test_set_by_set(one: list[set[str]], other: list[set[str]], least: int, confidence: float) -> None:
    before, after = (read_baskets([sorted(basket) for basket in sets]) for sets in (one, other))
    least = min(least, len(before))
    support = (least - 0.5) / len(before)
    scores = flat(Overlap(support=support, confidence=confidence, size=3).scores(before, made(after)))
    sides = [naive.frequent(plain(side), least, 3) for side in (before, after)]
    several = [{found for found in side if len(found) > 1} for side in sides]
    rules = [naive.rules(side, confidence) for side in sides]
    for what, (left, right) in (("itemset", several), ("rule", rules)):
        if left:
            expected = naive.shares(left, right)
            shown = tuple(scores[f"{what}_{end}"] for end in ("precision", "recall", "jaccard"))
            assert shown == pytest.approx(expected)
        else:
            assert f"{what}_recall" not in scores


def test_the_original_has_everything() -> None:
    baskets = shop()
    assert set(flat(Overlap().scores(baskets, made(baskets))).values()) == {1.0}
    assert flat(PairSupports().scores(baskets, made(baskets)))["pair_error"] == 0


@pytest.mark.parametrize("method", [Cahd(p=4), Disassociation(k=3, m=2)])
def test_groups_and_clusters_are_measured_by_reconstructions(method) -> None:
    baskets = shop()
    release, _ = method.anonymize(baskets)
    scores = flat(Overlap(top=200).scores(baskets, release))
    assert 0.5 < scores["itemset_recall"] <= 1
    assert scores == flat(Overlap(top=200).scores(baskets, release))
    error = flat(PairSupports().scores(baskets, release))
    assert 0 < error["pair_error"] < 2


def test_reconstructed_groups_are_consistent() -> None:
    baskets = shop()
    release, _ = Cahd(p=4).anonymize(baskets)
    groups = release.data
    assert isinstance(groups, Groups)
    drawn = reconstruct_groups(groups, 1)
    assert len(drawn) == len(baskets)
    for item in ("pill", "test"):
        assert drawn.supports[drawn.code(item)] == baskets.supports[baskets.code(item)]
    for group in range(len(groups)):
        rows = range(groups.group_indptr[group], groups.group_indptr[group + 1])
        part = slice(groups.sensitive_indptr[group], groups.sensitive_indptr[group + 1])
        for item, count in zip(groups.sensitive_items[part], groups.sensitive_counts[part], strict=True):
            held = sum(groups.vocabulary[item] in drawn.basket(row) for row in rows)
            assert held == count
    broken = Groups(
        np.array([0, 1]),
        np.array([0, 0]),
        np.array([]),
        np.array([0, 1]),
        np.array([0]),
        np.array([2]),
        ("a",),
    )
    with pytest.raises(BadData, match="more often than its group"):
        reconstruct_groups(broken, 1)


def test_pairs_are_of_one_basket_and_of_the_right_kind() -> None:
    baskets = shop()
    secret = np.zeros(len(baskets.vocabulary), dtype=bool)
    secret[baskets.sensitive] = True
    sets = plain(baskets)
    for telling in (False, True):
        pairs = drawn_pairs(baskets, secret, telling, 200, np.random.default_rng(1))
        assert len(pairs) > 5
        assert len(np.unique(pairs, axis=0)) == len(pairs)
        for one, other in pairs.tolist():
            names = {baskets.vocabulary[one], baskets.vocabulary[other]}
            assert any(names <= basket for basket in sets)
            assert bool(names & {"pill", "test"}) == telling


def test_pairs_of_groups_are_spread_evenly() -> None:
    baskets = shop()
    release, _ = Cahd(p=4).anonymize(baskets)
    groups = release.data
    pairs = np.array(
        [[baskets.code("pill"), baskets.code("beer")], [baskets.code("beer"), baskets.code("nuts")]]
    )
    pairs = np.sort(pairs, axis=1).astype(np.int32)
    expected = 0.0
    for group in range(len(groups)):
        rows = range(groups.group_indptr[group], groups.group_indptr[group + 1])
        holds = 0
        for row in rows:
            items = groups.items[groups.basket_indptr[row] : groups.basket_indptr[row + 1]]
            holds += "beer" in {groups.vocabulary[item] for item in items}
        part = slice(groups.sensitive_indptr[group], groups.sensitive_indptr[group + 1])
        for item, count in zip(groups.sensitive_items[part], groups.sensitive_counts[part], strict=True):
            if groups.vocabulary[item] == "pill":
                expected += count * holds / len(rows)
    found = expected_of_groups(baskets, groups, pairs)
    assert found[0] == pytest.approx(expected)
    assert found[1] == sum({"beer", "nuts"} <= basket for basket in plain(baskets))


def test_pairs_of_nodes_have_an_even_share() -> None:
    sets = [["a", "c"], ["b", "c"], ["a", "d"], ["a", "b"]]
    baskets = read_baskets(sets)
    tree = build("balanced:2", nominal(baskets.vocabulary), "items")
    baskets = replace(baskets, hierarchy=tree)
    node = tree.texts_at(1)[0]
    published = read_baskets([[node, "c"], [node, "c"], [node, "d"], [node]])
    pairs = np.array([[0, 2], [0, 1], [2, 3]], dtype=np.int32)
    found = expected_of_nodes(baskets, published, {node: 2}, pairs)
    assert found.tolist() == [
        1.0,
        0.0,
        0.0,
    ]  # a+c: 2 baskets of {a|b}+c, an even half; a+b below one node; c+d never


def test_pairs_that_are_gone_have_the_largest_error() -> None:
    baskets = read_baskets([["a", "b"]] * 4 + [["c", "d"]] * 4)
    published = read_baskets([["a"]] * 4 + [["c", "d"]] * 4)
    scores = flat(PairSupports().scores(baskets, made(published)))
    assert scores == {"pair_error": 1.0}  # one of two pairs is right, the other is never seen
    error = naive.pair_error([("a", "b"), ("c", "d")], plain(baskets), [0, 4])
    assert scores["pair_error"] == pytest.approx(error)


def test_tables_and_nothing_are_refused() -> None:
    small = table({"age": [1, 2]})
    for measure in (Overlap(), PairSupports()):
        with pytest.raises(WrongUse, match="not tables"):
            measure.scores(small, made(small))
        with pytest.raises(BadData, match="no baskets"):
            measure.scores(read_baskets([]), made(read_baskets([])))
