"""Kernels of the search for moles against plain Python."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.basket_cases import baskets_of, sets_of, small_baskets
from tests.naive import coherence as naive

from shoal.data.baskets import Baskets
from shoal.engines.local import Local
from shoal.kernels import cohorts, popcount
from shoal.kernels.moles import group_of
from shoal.methods.coherence import _compiled as compiled
from shoal.methods.coherence._compiled import CompiledSearch, single_moles
from shoal.methods.coherence._incidence import Incidence
from shoal.methods.coherence._moles import find_moles
from shoal.methods.coherence._thresholds import Promise

ascending = st.lists(st.integers(0, 60), unique=True).map(sorted)


def incidences(baskets: Baskets) -> tuple[Incidence, Incidence]:
    supports = baskets.supports
    return (
        Incidence.of(baskets, baskets.public[supports[baskets.public] > 0], supports),
        Incidence.of(baskets, baskets.sensitive, supports),
    )


def int32(values: list[int]) -> np.ndarray:
    return np.array(values, dtype=np.int32)


@given(one=ascending, other=ascending)
def test_shared(one: list[int], other: list[int]) -> None:
    out = np.zeros(len(one), dtype=np.int32)
    count = cohorts.shared(int32(one), len(one), int32(other), out)
    assert out[:count].tolist() == sorted(set(one) & set(other))


@given(words=st.lists(st.tuples(*[st.integers(0, 2**64 - 1)] * 3), max_size=5))
def test_counts_of_bits(words: list[tuple[int, int, int]]) -> None:
    one, other, third = (np.array([word[place] for word in words], dtype=np.uint64) for place in range(3))
    assert popcount.count_both(one, other) == sum((word[0] & word[1]).bit_count() for word in words)
    assert popcount.count_all_three(one, other, third) == sum(
        (word[0] & word[1] & word[2]).bit_count() for word in words
    )
    rows = int32(list(range(0, 64 * len(words), 7)))
    assert cohorts.count_listed(one, other, rows) == sum(
        words[row // 64][0] >> row % 64 & words[row // 64][1] >> row % 64 & 1 for row in rows.tolist()
    )


@given(baskets=small_baskets())
def test_transposed_and_peaks(baskets: Baskets) -> None:
    public, private = incidences(baskets)
    indptr, rows = compiled._transposed(public.indptr, public.items, public.supports)
    sets = sets_of(baskets)
    peaks = cohorts.peaks_of_items(indptr, rows, private.indptr, private.items, len(private.codes))
    for rank, code in enumerate(public.codes.tolist()):
        item = baskets.vocabulary[code]
        holders = [row for row, basket in enumerate(sets) if item in basket]
        assert rows[indptr[rank] : indptr[rank + 1]].tolist() == holders
        secrets = [baskets.vocabulary[secret] for secret in baskets.sensitive]
        counts = [sum(secret in sets[row] for row in holders) for secret in secrets]
        assert peaks[rank] == max(counts, default=0)


@given(baskets=small_baskets(), chosen=st.lists(st.integers(0, 6), min_size=1, max_size=3, unique=True))
@pytest.mark.parametrize("share", [0, 2, 1024])
def test_cohorts(baskets: Baskets, chosen: list[int], share: int) -> None:
    public, _ = incidences(baskets)
    ranks = [rank for rank in sorted(chosen) if rank < len(public.codes)]
    if not ranks:
        return
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(compiled, "LEAST_SHARE", share)
        holders = compiled.holders_of(public)
    wanted = {baskets.vocabulary[public.codes[rank]] for rank in ranks}
    expected = [row for row, basket in enumerate(sets_of(baskets)) if wanted <= basket]
    out = np.empty(len(baskets), dtype=np.int32)
    count = cohorts.cohort_rows(holders, out, 0, int32(ranks), out)
    assert out[:count].tolist() == expected
    if ranks[0] >= holders.first_bits:
        bits = np.empty(holders.bits.shape[1], dtype=np.uint64)
        cohorts.cohort_bits(holders, int32(ranks), bits)
        assert np.flatnonzero(np.unpackbits(bits.view(np.uint8), bitorder="little")).tolist() == expected


def test_group_of() -> None:
    sets = int32([0, 1, 2, 0, 1, 4, 0, 3, 4, 2, 3, 4]).reshape(-1, 3)
    indptr = np.array([0, 2, 3, 4], dtype=np.int64)
    assert [group_of(sets, indptr, int32(pair)) for pair in ([0, 1], [0, 3], [2, 3])] == [0, 1, 2]
    assert [group_of(sets, indptr, int32(pair)) for pair in ([0, 0], [0, 2], [1, 1], [3, 0])] == [-1] * 4


@settings(max_examples=500)
@given(
    baskets=small_baskets(),
    h=st.sampled_from(["0.2", "0.333", "0.5", "0.7", "1"]),
    k=st.integers(2, 5),
    p=st.integers(1, 8),
    share=st.sampled_from([0, 2, 1024]),
    threads=st.sampled_from([1, 2]),
)
def test_moles_are_those_of_all_combinations(
    baskets: Baskets, h: str, k: int, p: int, share: int, threads: int
) -> None:
    """By lists alone, by bits alone and by both; with and without the compiler."""
    sets, text = sets_of(baskets), baskets.vocabulary
    public = [text[item] for item in baskets.public]
    private = [text[item] for item in baskets.sensitive]
    found = naive.moles(sets, public, private, Fraction(h), k, p)
    if frozenset() in found:
        return
    for patience in (0.0, 100.0):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(compiled, "LEAST_SHARE", share)
            patch.setattr(compiled, "ROOM", 1)
            moles = find_moles(baskets, Promise(Fraction(h), k, p), Local(threads), patience)
        got = [(item,) for item in moles.singles.tolist()] + list(moles.sets())
        assert got == sorted(got, key=lambda mole: (len(mole), mole))
        assert len(got) == len(set(got))
        assert {frozenset(text[item] for item in mole) for mole in got} == naive.minimal(found)
        assert sum(moles.sizes().values()) == len(got)


@pytest.mark.parametrize("patience", [0.0, 100.0])
def test_there_may_be_nothing_to_know(patience: float) -> None:
    secrets = baskets_of(["s", "", "", ""], sensitive="s", vocabulary="as")
    moles = find_moles(secrets, Promise(Fraction(1, 2), 2, 3), patience=patience)
    assert (len(moles), len(moles.singles), moles.sizes()) == (0, 0, {1: 0})


def test_a_search_can_go_on_where_another_stopped() -> None:
    """A level of integers goes on compiled."""
    rows = np.random.default_rng(3).random((300, 9)) < 0.5
    indptr = np.concatenate(([0], np.cumsum(rows.sum(axis=1))))
    baskets = Baskets(indptr, np.nonzero(rows)[1], tuple("abcdefghi"), np.array([8]), np.array([]))
    promise = Promise(Fraction("0.55"), 20, 4)
    public, private = incidences(baskets)
    assert not single_moles(public, private, promise, Local(2))[0].any()
    whole = find_moles(baskets, promise, patience=100.0)
    assert len(whole) > 5
    from shoal.methods.coherence._moles import IntegerSearch

    first = IntegerSearch(public, private, promise)
    begun = first.extend(keep_safe=True)[0]
    rest = CompiledSearch(public, private, promise, Local(2), first.level())
    third, _ = rest.extend(keep_safe=True)
    fourth, _ = rest.extend(keep_safe=False)
    got = [tuple(sorted(public.codes[mole].tolist())) for part in (begun, third, fourth) for mole in part]
    assert sorted(got) == sorted(whole.sets())
