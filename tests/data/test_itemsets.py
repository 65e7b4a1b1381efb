"""The miner against trying every set."""

from collections.abc import Callable, Iterator
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.naive import itemsets as naive

from shoal.data.baskets import Baskets
from shoal.errors import WrongUse
from shoal.io.baskets.load import read_baskets
from shoal.mining import frequent_itemsets as frequent
from shoal.mining.association_rules import AssociationRules, association_rules
from shoal.mining.frequent_itemsets import Itemsets, frequent_itemsets, least_count, supports_of, top_itemsets

baskets_of = st.lists(st.sets(st.sampled_from("abcdefg"), max_size=7), min_size=1, max_size=14)


@pytest.fixture(scope="module", autouse=True, params=[-1, frequent.SMALL], ids=["kernels", "plain"])
def small(request: pytest.FixtureRequest) -> Iterator[None]:
    """Kernels find all sets, or plain Python those of small baskets."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(frequent, "SMALL", request.param)
        yield


def read(sets: list[set[str]]) -> Baskets:
    """Baskets with all letters in the vocabulary, also those that nobody holds."""
    vocabulary = tuple("abcdefg")
    items = [np.array(sorted(vocabulary.index(item) for item in one), dtype=np.int32) for one in sets]
    indptr = np.concatenate(([0], np.cumsum([len(one) for one in items])))
    none = np.empty(0, dtype=np.int32)
    return Baskets(indptr, np.concatenate([*items, none]), vocabulary, none, none)


def plain(baskets: Baskets, found: Itemsets) -> naive.Sets:
    texts = found.texts(baskets.vocabulary)
    assert len(set(texts)) == len(texts)
    return dict(zip(texts, found.supports.tolist(), strict=True))


def plain_rules(baskets: Baskets, rules: AssociationRules) -> dict[naive.Rule, float]:
    return dict(zip(rules.texts(baskets.vocabulary), rules.confidences.tolist(), strict=True))


dense = st.sampled_from([0, frequent.DENSE, 1 << 40])
"""All baskets by their items, some, or all by bits."""


@given(baskets_of, st.integers(1, 5), st.one_of(st.none(), st.integers(1, 7)), st.integers(1, 2), dense)
def test_frequent_itemsets(
    sets: list[set[str]], least: int, size: int | None, threads: int, dense: int
) -> None:
    baskets = read(sets)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(frequent, "DENSE", dense)
        found = frequent_itemsets(baskets, least, size, threads=threads)
    assert plain(baskets, found) == naive.frequent_itemsets(sets, least, size)
    assert [len(text) for text in found.texts(baskets.vocabulary)] == found.sizes.tolist()


@given(baskets_of, st.integers(1, 40), st.one_of(st.none(), st.integers(1, 3)), dense)
def test_top_itemsets(sets: list[set[str]], count: int, size: int | None, dense: int) -> None:
    baskets = read(sets)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(frequent, "DENSE", dense)
        found = top_itemsets(baskets, count, size)
    assert found.texts(baskets.vocabulary) == naive.top_itemsets(sets, count, size)


@given(baskets_of, baskets_of, st.integers(1, 3))
def test_supports_and_places(sets: list[set[str]], others: list[set[str]], least: int) -> None:
    baskets, other = read(sets), read(others)
    found, there = frequent_itemsets(baskets, least), frequent_itemsets(other, least)
    indptr, items = found.members()
    every = naive.frequent_itemsets(others, 1)
    texts = found.texts(baskets.vocabulary)
    assert supports_of(other, indptr, items).tolist() == [every.get(text, 0) for text in texts]
    places = there.places_of(indptr, items)
    names = there.texts(other.vocabulary)
    for text, place in zip(texts, places.tolist(), strict=True):
        assert (names[place] == text) if place >= 0 else (text not in names)


@given(
    baskets_of,
    st.integers(1, 4),
    st.sampled_from(["0.2", "0.5", "0.6", "1"]),
    st.one_of(st.none(), st.integers(1, 3)),
)
def test_rules(sets: list[set[str]], least: int, confidence: str, consequent: int | None) -> None:
    baskets = read(sets)
    rules = association_rules(frequent_itemsets(baskets, least), float(confidence), consequent=consequent)
    wanted = naive.association_rules(naive.frequent_itemsets(sets, least), Fraction(confidence), consequent)
    assert plain_rules(baskets, rules) == {rule: float(share) for rule, share in wanted.items()}


@given(baskets_of, baskets_of)
def test_rules_found_again(sets: list[set[str]], others: list[set[str]]) -> None:
    baskets, other = read(sets), read(others)
    rules = association_rules(frequent_itemsets(baskets, 2), 0.5)
    after = association_rules(frequent_itemsets(other, 2), 0.5)
    there = set(after.texts(other.vocabulary))
    assert rules.found_in(after).tolist() == [rule in there for rule in rules.texts(baskets.vocabulary)]


@given(baskets_of, st.randoms())
def test_the_order_of_baskets_does_not_matter(sets: list[set[str]], random: "np.random.Generator") -> None:
    mixed = sets.copy()
    random.shuffle(mixed)
    one, other = frequent_itemsets(read(sets), 2), frequent_itemsets(read(mixed), 2)
    assert one.lasts.tolist() == other.lasts.tolist()
    assert one.parents.tolist() == other.parents.tolist()


@pytest.mark.parametrize("dense", [0, 1 << 40])
def test_many_baskets_need_more_than_a_word(dense: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows of several words, and rows that are numbered anew on the way down."""
    random = np.random.default_rng(3)
    held = random.random((3000, 7)) < np.array([0.9, 0.8, 0.5, 0.3, 0.1, 0.05, 0.02])
    sets = [{"abcdefg"[item] for item in np.flatnonzero(row)} for row in held]
    baskets = read(sets)
    monkeypatch.setattr(frequent, "DENSE", dense)
    assert plain(baskets, frequent_itemsets(baskets, 1)) == naive.frequent_itemsets(sets, 1)


def test_twins_of_a_long_basket_do_not_explode() -> None:
    """Two equal baskets of 40 items have 2^40 common sets, and only a few are asked for."""
    baskets = read_baskets([[f"{place:02}" for place in range(40)]] * 2 + [["x"]])
    found = top_itemsets(baskets, 45)
    assert found.sizes.tolist() == [1] * 40 + [2] * 5
    once = read_baskets(
        [[f"{person} {place}" for place in range(400)] for person in range(20)] + [["x"], ["x"]]
    )
    assert top_itemsets(once, 3).texts(once.vocabulary) == [("x",), ("0 0",), ("0 1",)]
    with pytest.raises(WrongUse, match="More than 1000 itemsets"):
        frequent_itemsets(baskets, 2, limit=1000)
    few = read_baskets([[f"{place:02}" for place in range(12)]] * 2)
    with pytest.raises(WrongUse, match="more than 1000 rules"):
        association_rules(frequent_itemsets(few, 2), 0.5, limit=1000)


@given(baskets_of, st.integers(1, 5), st.one_of(st.none(), st.integers(1, 7)), st.integers(0, 20))
def test_plain_python_finds_what_kernels_find_in_the_same_order(
    sets: list[set[str]], least: int, size: int | None, few: int
) -> None:
    """Also where it gives up: kernels begin anew."""
    baskets = read(sets)
    ways = []
    for small in (-1, 1 << 40):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(frequent, "SMALL", small)
            patch.setattr(frequent, "FEW", few)
            found = frequent_itemsets(baskets, least, size)
        ways.append([found.parents.tolist(), found.lasts.tolist(), found.supports.tolist()])
    assert ways[0] == ways[1]


def test_wrong_use_is_refused() -> None:
    baskets = read_baskets([["a"]])
    for call, message in [
        (lambda: frequent_itemsets(baskets, 0), "at least 1, not 0"),
        (lambda: frequent_itemsets(baskets, 1, 0), "at least 1, not 0"),
        (lambda: top_itemsets(baskets, 0), "at least 1, not 0"),
        (lambda: association_rules(frequent_itemsets(baskets, 1), 1.5), "at most 1, not 1.5"),
        (lambda: association_rules(frequent_itemsets(baskets, 1), 0), "above 0"),
    ]:
        with pytest.raises(WrongUse, match=message):
            call()


def test_a_share_is_taken_exactly() -> None:
    assert [least_count(10, share) for share in (0.1, 0.2, 0.3, 0.7)] == [1, 2, 3, 7]


def test_known_counts(public_data: Callable[[str], Path]) -> None:
    """Numbers of frequent itemsets that other programs find as well."""
    baskets = read_baskets(public_data("bms-webview-1/bms-webview-1.dat.gz"))
    assert len(frequent_itemsets(baskets, least_count(len(baskets), 0.001))) == 3991
    assert len(frequent_itemsets(baskets, least_count(len(baskets), 0.0006))) == 461_521
