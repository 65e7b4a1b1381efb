"""The model of (h,k,p)-coherence against its definition."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.basket_cases import baskets_of, sets_of, small_baskets
from tests.naive import coherence as naive
from tests.tables import column

from shoal.data.baskets import Baskets
from shoal.data.table import Table
from shoal.errors import WrongUse
from shoal.models import hkp_coherence as cohort_pairs
from shoal.models.hkp_coherence import HkpCoherence


@settings(max_examples=1000)
@given(
    baskets=small_baskets(),
    h=st.sampled_from([0.2, 0.333, 0.5, 0.7, 1.0]),
    k=st.integers(2, 5),
    p=st.integers(1, 9),
    dense=st.sampled_from([0.0, 0.3, 2.0]),
    compiled=st.booleans(),
)
def test_verdicts_are_those_of_all_combinations(
    baskets: Baskets, h: float, k: int, p: int, dense: float, compiled: bool
) -> None:
    """With matrices that are all dense, all sparse, and mixed; dense ones by products, or by the compiled search."""
    sets, text = sets_of(baskets), baskets.vocabulary
    public = [text[item] for item in baskets.public]
    private = [text[item] for item in baskets.sensitive]
    moles = naive.moles(sets, public, private, Fraction(str(h)), k, p)
    expected = naive.minimal(moles)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cohort_pairs, "DENSE", dense)
        for name in ("PATIENCE", "STARTED"):
            patch.setattr(cohort_pairs, name, -1.0 if compiled else 1e9)
        verdict = HkpCoherence(h=h, k=k, p=p).verify(baskets)
        least, broken = cohort_pairs.broken_sets(baskets, Fraction(str(h)), k, p)
    assert verdict.holds == (not moles)
    assert verdict.offender_count == len(expected)
    assert {frozenset(text[item] for item in found.items) for found in broken} == expected
    for found in broken:
        items = {text[item] for item in found.items}
        assert found.cohort == naive.support(sets, items)
        if found.cohort >= k:
            assert found.count == naive.support(sets, items | {text[found.secret]})
            assert found.share > Fraction(str(h))
    if verdict.holds:
        sizes = [naive.support(sets, items) for items in occurring(sets, public, p)]
        assert verdict.value == least == min(sizes)


def occurring(sets: list[frozenset[str]], public: list[str], p: int) -> set[frozenset[str]]:
    return {
        frozenset(items)
        for basket in sets
        for size in range(p + 1)
        for items in naive.combinations(sorted(basket & set(public)), size)
    }


def test_an_offender_is_named_with_its_numbers() -> None:
    baskets = baskets_of([["a", "b"], ["a", "b", "s"], ["a", "s"], ["a"], ["a"]], sensitive=["s"])
    verdict = HkpCoherence(h=0.4, k=3, p=2).verify(baskets)
    assert not verdict.holds
    assert [(found.where, found.why) for found in verdict.offenders] == [
        ("{b}", "2 baskets where 3 are promised")
    ]
    assert (verdict.value, verdict.threshold) == (2, 3)
    verdict = HkpCoherence(h=0.4, k=2, p=1).verify(baskets)
    assert [(found.where, found.why) for found in verdict.offenders] == [
        ("{b}", "s in 1 of 2 baskets where a share of 0.4 is promised")
    ]
    assert (verdict.value, verdict.threshold) == (Fraction(1, 2), Fraction(2, 5))


def test_the_empty_set_counts() -> None:
    secret = baskets_of([["s"], ["s"], []], sensitive=["s"])
    verdict = HkpCoherence(h=0.5, k=2, p=1).verify(secret)
    assert [(found.where, found.why) for found in verdict.offenders] == [
        ("{}", "s in 2 of 3 baskets where a share of 0.5 is promised")
    ]
    assert not HkpCoherence(h=1, k=4, p=1).verify(secret).holds
    assert HkpCoherence(h=0.67, k=3, p=1).verify(secret).holds


def test_only_occurring_sets_count() -> None:
    """Two items that nobody has together single nobody out."""
    baskets = baskets_of([["a"], ["a"], ["b"], ["b"]])
    assert HkpCoherence(h=1, k=2, p=2).verify(baskets).holds


def test_insensitive_items_are_neither_known_nor_secret() -> None:
    rows = [["a", "x"], ["a"]]
    assert not HkpCoherence(h=1, k=2, p=1).verify(baskets_of(rows)).holds
    assert HkpCoherence(h=0.1, k=2, p=2).verify(baskets_of(rows, insensitive=["x"])).holds


def test_no_baskets_break_nothing() -> None:
    none = baskets_of([["a"]]).take(np.empty(0, dtype=np.int64))
    assert HkpCoherence(h=0.5, k=2, p=2).verify(none).holds


@pytest.mark.parametrize(("patience", "found"), [(-1.0, 5), (1e9, 190)])
def test_the_search_ends_where_very_much_is_broken(
    patience: float, found: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All pairs are judged at once by a product, and one by one by kernels."""
    monkeypatch.setattr(cohort_pairs, "MOST", 5)
    monkeypatch.setattr(cohort_pairs, "PATIENCE", patience)
    monkeypatch.setattr(cohort_pairs, "STARTED", patience)
    baskets = baskets_of(
        [[chr(97 + place) for place in range(20)], *[[chr(97 + row % 20)] for row in range(40)]]
    )
    verdict = HkpCoherence(h=1, k=2, p=6).verify(baskets)
    assert not verdict.holds
    assert verdict.offender_count == found


def test_tables_are_refused() -> None:
    with pytest.raises(WrongUse, match="judges baskets, not table"):
        HkpCoherence(h=0.5, k=2, p=2).verify(Table((column("age", [1, 2]),)))


@pytest.mark.parametrize("wrong", [{"h": 0}, {"h": 1.01}, {"k": 1}, {"p": 0}])
def test_wrong_parameters_are_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(ValueError, match=r"hkp-coherence: . must be"):
        HkpCoherence(**{"h": 0.5, "k": 2, "p": 2, **wrong})
