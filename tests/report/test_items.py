"""Items before and after."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.basket_cases import baskets_of
from tests.hand_made import BASKETS, CLUSTERS, GROUPS

from shoal.data.baskets import Baskets
from shoal.data.hierarchy import Hierarchy
from shoal.report.item_counts import BARS, SHOWN, items_of

FOODS = Hierarchy((("a", "b", "c"), ("ab", "c"), ("*",)), (np.array([0, 0, 1]), np.array([0, 0])))


def test_suppressed_items_are_counted() -> None:
    original = baskets_of(["ab", "ab", "b", "c"], sensitive=["c"])
    found = items_of(original, baskets_of(["b", "b", "b", "c"], sensitive=["c"]), {})
    assert found is not None
    assert [(item.text, item.role, item.before, item.after, item.published_as) for item in found.items] == [
        ("a", "public", 2, 0, "nothing")
    ]
    assert (found.changed, found.item_count, found.unseen) == (1, 3, 1)
    assert found.frequent is not None
    assert [(pair.label, pair.before, pair.after) for pair in found.frequent.pairs] == [
        ("b", 0.75, 0.75),
        ("a", 0.5, 0),
        ("c", 0.25, 0.25),
    ]
    assert found.lengths is not None
    assert [(pair.label, pair.before, pair.after) for pair in found.lengths.pairs] == [
        ("0", 0, 0),
        ("1", 0.5, 1),
        ("2", 0.5, 0),
    ]
    assert found.lengths.shift == 0.5


def test_baskets_of_a_node_are_shared_out_over_its_items() -> None:
    original = replace(baskets_of(["a", "a", "b", "c"]), hierarchy=FOODS)
    found = items_of(original, baskets_of([["ab"], ["ab"], ["ab"], ["c"]]), {})
    assert found is not None
    assert [(item.text, item.after, item.published_as) for item in found.items] == [
        ("a", 1.5, "ab"),
        ("b", 1.5, "ab"),
    ]
    assert [(node.text, node.leaves, node.baskets) for node in found.nodes] == [("ab", 2, 3)]
    assert found.unseen == 0


def test_clusters_count_what_their_chunks_tell() -> None:
    found = items_of(BASKETS, CLUSTERS, {})
    assert found is not None
    assert found.lengths is None
    named = {item.text: (item.before, item.after, item.published_as) for item in found.items}
    assert named == {"b": (2, 0, "a name without a count"), "c": (1, 0, "a name without a count")}


def test_groups_tell_of_their_secrets() -> None:
    found = items_of(BASKETS, GROUPS, {"c": 0.5})
    assert found is not None
    (secret,) = found.secrets
    assert (secret.text, secret.baskets, secret.groups, secret.degree, secret.divergence) == (
        "c",
        1,
        1,
        3,
        0.5,
    )
    assert not found.items


@given(st.lists(st.integers(0, 300), min_size=1, max_size=60), st.data())
def test_every_basket_has_its_bar(lengths: list[int], data: st.DataObject) -> None:
    after = [data.draw(st.integers(0, length)) for length in lengths]
    found = items_of(_sized(lengths), _sized(after), {})
    assert found is not None
    assert found.lengths is not None
    pairs = found.lengths.pairs
    assert len(pairs) <= BARS + 2
    assert sum(pair.before for pair in pairs) == pytest.approx(1)
    assert sum(pair.after for pair in pairs) == pytest.approx(1)
    for pair in pairs:
        ends = pair.label.rstrip("+").split("–")
        low, high = int(ends[0]), 10**9 if pair.label.endswith("+") else int(ends[-1])
        assert pair.before == pytest.approx(sum(low <= length <= high for length in lengths) / len(lengths))


def _sized(lengths: list[int]) -> Baskets:
    none = np.empty(0, dtype=np.int32)
    items = np.concatenate([np.arange(length) for length in lengths])
    return Baskets(
        np.concatenate(([0], np.cumsum(lengths))),
        items,
        tuple(f"{place:03}" for place in range(300)),
        none,
        none,
    )


def test_few_items_are_listed() -> None:
    names = [f"i{place:03}" for place in range(100)]
    found = items_of(baskets_of([names]), baskets_of([[]], vocabulary=names), {})
    assert found is not None
    assert (len(found.items), found.changed, found.unseen) == (SHOWN, 100, 100)
