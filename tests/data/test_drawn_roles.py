"""Roles of items by chance."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.basket_cases import baskets_of, sets_of, small_baskets
from tests.parts import parted_baskets

from shoal.data._random_roles import draw_roles
from shoal.data.baskets import Baskets
from shoal.errors import WrongUse

seeds = st.integers(0, 5)


def texts(baskets: Baskets, items: np.ndarray) -> set[str]:
    return {baskets.vocabulary[item] for item in items}


@given(baskets=small_baskets(), share=st.sampled_from([0, 0.2, 0.5, 0.9, 1]), seed=seeds)
def test_every_item_has_one_role_and_named_ones_keep_theirs(
    baskets: Baskets, share: float, seed: int
) -> None:
    for private in ("none", "top", "bottom", "rest"):
        drawn = draw_roles(baskets, share, seed, private)
        assert set(baskets.sensitive) <= set(drawn.sensitive)
        assert set(baskets.insensitive) <= set(drawn.insensitive)
        assert not set(drawn.sensitive) & set(drawn.insensitive)
        wanted = int(share * len(baskets.vocabulary) + 0.5)
        assert len(drawn.public) == min(wanted, len(baskets.public))
        assert (drawn.items == baskets.items).all()


@given(baskets=small_baskets(), share=st.sampled_from([0.2, 0.5]), seed=seeds)
def test_the_private_items_are_those_of_the_rule(baskets: Baskets, share: float, seed: int) -> None:
    support = dict(zip(baskets.vocabulary, baskets.supports.tolist(), strict=True))
    for below in (None, 0.5):
        drawn = draw_roles(baskets, share, seed, "rest", below)
        named = texts(baskets, baskets.sensitive) | texts(baskets, baskets.insensitive)
        others = set(baskets.vocabulary) - texts(drawn, drawn.public) - named
        able = {item for item in others if below is None or support[item] <= below * len(baskets)}
        left = [sorted(basket & able) for basket in sets_of(baskets) if basket & able]
        expected = {
            "none": set(),
            "top": {min(basket, key=lambda item: (-support[item], item)) for basket in left},
            "bottom": {min(basket, key=lambda item: (support[item], item)) for basket in left},
            "rest": able,
        }
        for private, items in expected.items():
            secret = texts(drawn, draw_roles(baskets, share, seed, private, below).sensitive)
            assert secret - texts(baskets, baskets.sensitive) == items


@given(baskets=small_baskets(), seed=seeds)
def test_the_draw_knows_nothing_of_the_order_of_the_baskets(baskets: Baskets, seed: int) -> None:
    turned = baskets.take(np.arange(len(baskets))[::-1])
    one, other = (draw_roles(data, 0.5, seed, "top") for data in (baskets, turned))
    assert one.public.tolist() == other.public.tolist()
    assert one.sensitive.tolist() == other.sensitive.tolist()


def test_seeds_draw_differently() -> None:
    baskets = baskets_of([[f"i{place}" for place in range(40)]])
    assert len({tuple(draw_roles(baskets, 0.5, seed).public.tolist()) for seed in range(10)}) == 10


@pytest.mark.parametrize("wrong", [{"share": 1.5}, {"share": 0.5, "below": -0.1}])
def test_shares_lie_between_0_and_1(wrong: dict[str, float]) -> None:
    with pytest.raises(WrongUse, match="between 0 and 1"):
        draw_roles(baskets_of(["a"]), seed=1, **wrong)


@given(baskets=small_baskets(), share=st.sampled_from([0, 0.3, 0.5]), seed=seeds)
def test_baskets_in_parts_draw_the_same(baskets: Baskets, share: float, seed: int) -> None:
    there = parted_baskets(baskets, seed)
    for private in ("none", "top", "bottom", "rest"):
        for below in (None, 0.4):
            here = draw_roles(baskets, share, seed, private, below)
            drawn = draw_roles(there, share, seed, private, below).schema
            assert drawn.sensitive.tolist() == here.sensitive.tolist()
            assert drawn.insensitive.tolist() == here.insensitive.tolist()
