"""k^m-anonymity of baskets."""

from itertools import combinations
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.methods.test_disassociation import baskets_of, some_sets
from tests.naive.disassociation import km_anonymous

from shoal.models import km_anonymity as counting
from shoal.models.km_anonymity import KmAnonymity

CITIES = [
    ("LA",),
    ("LA", "Seattle"),
    ("West US",),
    ("West US",),
    ("LA", "Seattle", "West US"),
    ("LA", "Seattle", "West US"),
    ("LA", "Seattle", "West US"),
]
"""The 2^2-anonymous table of the dissertation (its figure 3)."""


@pytest.mark.parametrize(
    ("k", "m", "holds"), [(2, 2, True), (3, 3, True), (4, 1, True), (4, 2, False), (5, 1, False)]
)
def test_cities(k: int, m: int, holds: bool) -> None:
    assert KmAnonymity(k=k, m=m).verify(baskets_of(CITIES)).holds is holds


def test_offenders_are_named() -> None:
    verdict = KmAnonymity(k=2, m=2).verify(baskets_of([("a", "b"), ("a",), ("b",), ("b", "c"), ("c",)]))
    assert not verdict
    assert (verdict.value, verdict.threshold, verdict.offender_count) == (1, 2, 2)
    assert [offender.where for offender in verdict.offenders] == ["{a, b}", "{b, c}"]
    assert verdict.offenders[0].why == "1 basket where 2 are promised"


def test_a_rare_pair_that_no_triple_extends_is_found() -> None:
    sets = [("a", "b", "c")] * 3 + [("d", "e")] + [("d",)] * 3 + [("e",)] * 3
    assert not KmAnonymity(k=3, m=3).verify(baskets_of(sets))


def test_nothing_to_judge() -> None:
    verdict = KmAnonymity(k=2, m=2).verify(baskets_of([(), ()]))
    assert verdict
    assert verdict.value is None


@given(some_sets(0, 15), st.integers(2, 4), st.integers(1, 4), st.sampled_from([1, 7, 10**6]))
def test_like_counting_by_hand(sets: list[Any], k: int, m: int, batch: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(counting, "BATCH", batch)
        verdict = KmAnonymity(k=k, m=m).verify(baskets_of(sets))
    assert verdict.holds == km_anonymous(sets, k, m)
    occurring = {
        combination for one in sets for size in range(1, m + 1) for combination in combinations(one, size)
    }
    supports = [sum(set(combination) <= set(one) for one in sets) for combination in occurring]
    assert verdict.value == min(supports, default=None)
    assert verdict.offender_count == sum(support < k for support in supports)
