"""Frequent itemsets before and after, against counting by hand."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.hand_made import CLUSTERS
from tests.naive import itemsets as naive
from tests.tables import table

from shoal.data.baskets import Baskets
from shoal.data.hierarchy import Hierarchy
from shoal.data.release import Published, Release
from shoal.errors import BadData, WrongUse
from shoal.io.baskets.load import read_baskets
from shoal.measures.itemsets import (
    FrequentItemsets,
    band_pairs,
    deviation,
    generalized,
    mined,
    relative_error,
)
from shoal.measures.measure import flat

baskets_of = st.lists(st.sets(st.sampled_from("abcdef"), max_size=6), min_size=1, max_size=12)
FOOD = Hierarchy(
    (("apple", "beer", "milk", "pear"), ("drink", "fruit"), ("*",)),
    (np.array([1, 0, 0, 1]), np.array([0, 0])),
)


def release_of(data: Published, **promise: int) -> Release:
    return Release(data, "by hand", {}, ({"model": "m", **promise},))


def measured(original: Baskets, data: Published, k: int = 2, **fields: object) -> dict[str, float]:
    return flat(FrequentItemsets(**fields).scores(original, release_of(data, k=k)))


@given(baskets_of, baskets_of, st.integers(1, 20))
def test_top_deviation(sets: list[set[str]], others: list[set[str]], count: int) -> None:
    before = naive.top_itemsets(sets, count)
    after = set(naive.top_itemsets(others, count))
    wanted = 1 - sum(one in after for one in before) / len(before) if before else 0
    assert deviation(*(mined(read_baskets(side), count) for side in (sets, others)), count) == wanted


@given(baskets_of, baskets_of, st.integers(1, 4))
def test_relative_error_of_pairs(sets: list[set[str]], others: list[set[str]], first: int) -> None:
    def support(data: list[set[str]], pair: set[str]) -> int:
        return sum(pair <= one for one in data)

    ranked = sorted({item for one in sets for item in one}, key=lambda item: (-support(sets, {item}), item))
    band = ranked[first - 1 : first + 2]
    errors, skipped = [], 0
    for place, one in enumerate(band):
        for other in band[:place]:
            so, sp = support(sets, {one, other}), support(others, {one, other})
            if so + sp:
                errors.append(abs(so - sp) / ((so + sp) / 2))
            else:
                skipped += 1
    scores = measured(read_baskets(sets), read_baskets(others), first_rank=first, last_rank=first + 2)
    if len(band) < 2:
        assert not {"re", "re_skipped"} & scores.keys()
    else:
        assert scores["re_skipped"] == skipped
        assert scores.get("re") == (pytest.approx(np.mean(errors)) if errors else None)


@given(baskets_of, baskets_of, st.sampled_from([0.1, 0.25, 0.5]))
def test_lost_itemsets(sets: list[set[str]], others: list[set[str]], support: float) -> None:
    least = max(1, -(-int(len(sets) * 100 * support) // 100))
    before, after = naive.frequent_itemsets(sets, least, 3), naive.frequent_itemsets(others, least, 3)
    scores = measured(read_baskets(sets), read_baskets(others), supports=(support,))
    wanted = None if not before else sum(one not in after for one in before) / len(before)
    assert scores.get("lost_itemsets") == (None if wanted is None else pytest.approx(wanted))


def test_the_original_itself_loses_nothing() -> None:
    original = replace(
        read_baskets([["apple", "beer"], ["apple", "beer"], ["milk"], ["milk", "pear"]]), hierarchy=FOOD
    )
    scores = measured(original, original, first_rank=1, last_rank=4)
    assert scores == {
        "tkd": 0,
        "tkd_ml2": 0,
        "re": 0,
        "re_skipped": 4,
        "tlost": 0,
        "tlost_items": 0,
        "lost_itemsets": 0,
        "lost_itemsets.0.01": 0,
    }


def test_generalized_items_keep_what_their_nodes_tell() -> None:
    """Items are lost, their nodes are not: an item that is published as its node counts for it."""
    original = replace(read_baskets([["apple", "beer"], ["pear", "beer"], ["milk"]]), hierarchy=FOOD)
    published = read_baskets([["beer", "fruit"], ["beer", "fruit"], ["milk"]])
    scores = measured(original, published)
    assert scores["tkd"] == pytest.approx(1 - 2 / 6)
    assert scores["tkd_ml2"] == 0
    assert (scores["tlost"], scores["tlost_items"]) == (0, 0)
    assert measured(original, published, k=1)["tlost_items"] == 2


def test_generalized() -> None:
    baskets = read_baskets([["apple", "pear", "wine"], ["fruit", "milk"], ["*", "beer"]])
    up = generalized(baskets, FOOD, 1)
    assert [up.basket(row) for row in range(3)] == [("fruit", "wine"), ("drink", "fruit"), ("*", "drink")]
    assert [generalized(baskets, FOOD, 5).basket(row) for row in range(3)] == [("*", "wine"), ("*",), ("*",)]


def test_clusters_are_measured_by_reconstructions() -> None:
    """Three baskets; item 0 in two of them, item 1 in the term chunk, item 2 nowhere."""
    original = read_baskets([["a", "b"], ["a", "b"], ["c"]])
    scores = measured(original, CLUSTERS, first_rank=1, last_rank=3, reconstructions=4)
    assert {"tkd", "tkd_mean", "re", "re_averaged", "lost_itemsets", "lost_itemsets_mean"} <= scores.keys()
    assert (scores["tlost"], scores["tlost_items"]) == (0.5, 1)
    again = measured(original, CLUSTERS, first_rank=1, last_rank=3, reconstructions=4)
    assert scores == again
    assert "tkd_mean" not in measured(original, CLUSTERS, reconstructions=1)


def test_a_relative_error_of_nothing_is_none() -> None:
    assert relative_error(np.array([0, 0]), np.array([0, 0])) == (None, 2)
    assert relative_error(np.array([4, 0]), np.array([0, 0])) == (2.0, 1)


def test_the_band_is_taken_by_support_and_text() -> None:
    baskets = read_baskets([["a", "b", "c"], ["c", "b"], ["c"], ["d"]])
    _, items = band_pairs(baskets, 2, 3)
    assert [baskets.vocabulary[item] for item in items] == ["a", "b"]


def test_too_many_itemsets_are_no_score() -> None:
    """Two equal long baskets: nobody waits for 2^40 sets."""
    baskets = read_baskets([[f"{place:03}" for place in range(400)]] * 2)
    scores = measured(baskets, baskets, supports=(0.5,), size=None)
    assert scores["tkd"] == 0
    assert "lost_itemsets" not in scores


def test_wrong_use_is_refused() -> None:
    baskets = read_baskets([["a"]])
    with pytest.raises(WrongUse, match="not table"):
        FrequentItemsets().scores(table({"age": [1]}), release_of(baskets))
    with pytest.raises(WrongUse, match="not table"):
        FrequentItemsets().scores(baskets, release_of(table({"age": [1]})))
    with pytest.raises(ValueError, match="last_rank must be above"):
        FrequentItemsets(first_rank=5, last_rank=5)
    with pytest.raises(BadData, match="no baskets"):
        FrequentItemsets().scores(baskets.take(np.empty(0, dtype=np.int64)), release_of(baskets))


def test_suppressed_items_on_public_data(public_data: Callable[[str], Path]) -> None:
    """Without the most frequent item, the sets that hold it are lost and others move up."""
    baskets = read_baskets(public_data("bms-webview-1/bms-webview-1.dat.gz"))
    kept = np.ones(len(baskets.vocabulary), dtype=bool)
    kept[int(np.argmax(baskets.supports))] = False
    scores = measured(baskets, baskets.keep(kept), k=5)
    assert 0 < scores["tkd"] < 0.2
    assert scores["tlost_items"] == 1
    assert scores["re"] == 0
