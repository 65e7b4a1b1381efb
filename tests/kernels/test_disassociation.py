"""The kernels of disassociation against their naive twins."""

from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.methods.test_disassociation import baskets_of, some_sets
from tests.naive import disassociation as naive

from shoal.data.baskets import Baskets
from shoal.engines.local import Local
from shoal.kernels import horpart as kernel
from shoal.methods.disassociation._horpart import Parts, horpart, split
from shoal.methods.disassociation._verpart import verpart


def ignoring(baskets: Baskets, names: str) -> Any:
    return np.array([item in names for item in baskets.vocabulary], dtype=np.bool_)


def sets_of(baskets: Baskets, order: Any, starts: Any) -> list[list[tuple[str, ...]]]:
    return [[baskets.basket(row) for row in order[begin:end]] for begin, end in pairwise(starts)]


@given(some_sets(1, 30), st.integers(2, 9), st.sampled_from(["", "a", "bd"]), st.integers(1, 3))
def test_split(sets: list[Any], limit: int, ignored: str, threads: int) -> None:
    """However many segments are divided side by side."""
    baskets = baskets_of(sorted(sets))
    parts = split(baskets, ignoring(baskets, ignored), limit, Local(threads))
    found = sets_of(baskets, parts.order, parts.starts)
    assert found == naive.split(sorted(sets), frozenset(ignored), limit)


@given(some_sets(2, 30), st.integers(2, 6), st.integers(2, 12), st.data())
def test_absorb(sets: list[Any], k: int, limit: int, data: st.DataObject) -> None:
    """Parts of all sizes, not only those that divisions leave."""
    baskets = baskets_of(sets)
    cuts = data.draw(st.sets(st.integers(1, len(sets) - 1)))
    starts = np.array([0, *sorted(cuts), len(sets)])
    order = np.arange(len(sets))
    gone = kernel.absorb(
        baskets.indptr, baskets.items, ignoring(baskets, "c"), order, starts.copy(), k, limit
    )
    parts = sets_of(baskets, order, starts)
    assert sets_of(baskets, order, starts[~gone]) == naive.absorb(parts, frozenset("c"), k, limit)


@given(some_sets(6, 40), st.integers(2, 5), st.integers(0, 5), st.sampled_from(["merge", "pool"]))
def test_clusters_are_large_enough_and_not_too_large(sets: list[Any], k: int, more: int, small: Any) -> None:
    baskets = baskets_of(sorted(sets))
    parts = horpart(baskets, ignoring(baskets, ""), k, k + more, small, Local(2))
    assert sorted(parts.order.tolist()) == list(range(len(sets)))
    assert parts.sizes.min() >= k
    # Each neighbor on either side may bring fewer than k.
    assert parts.sizes.max() <= max(k + more, 2 * k - 1) + 2 * (k - 1)


@given(some_sets(2, 12), st.integers(2, 4), st.integers(1, 4), st.sampled_from(["", "ag"]), st.integers(1, 9))
@settings(max_examples=100)
def test_partition(sets: list[Any], k: int, m: int, ignored: str, copies: int) -> None:
    """Also clusters of more than 64 baskets, whose bits need several words."""
    sets = sets * copies
    baskets = baskets_of(sets)
    half = len(sets) // 2
    parts = Parts(np.arange(len(sets)), np.array([0, half, len(sets)]))
    chunks = verpart(baskets, ignoring(baskets, ignored), parts, k, m, Fraction(1), Local(threads=2))
    for cluster, part in enumerate((sets[:half], sets[half:])):
        expected, terms = naive.verpart(part, frozenset(ignored), k, m)
        pairs = slice(chunks.indptr[cluster], chunks.indptr[cluster + 1])
        found: dict[int, set[str]] = {}
        for item, chunk in zip(chunks.items[pairs], chunks.chunks[pairs], strict=True):
            found.setdefault(int(chunk), set()).add(baskets.vocabulary[item])
        assert found.pop(-1, set()) == terms
        assert list(found.values()) == expected or sorted(map(sorted, found.values())) == sorted(
            map(sorted, expected)
        )
        assert chunks.covers[cluster] == sum(len(naive.projected(part, chunk)) for chunk in expected)
