"""Clusters of like baskets, compared with their slow twins."""

from collections import Counter
from dataclasses import replace
from itertools import pairwise

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from tests.naive import near_clusters as naive

from shoal.data._basket_orders import distinct_baskets
from shoal.data._near_clusters import (
    GROUPS,
    clusters_of,
    even_worth,
    near_clusters,
    orders_for_clusters,
)
from shoal.kernels import near_clusters as kernel
from shoal.kernels.taking_in import Units, take_in

WIDTH = 6
some_rows = st.lists(st.frozensets(st.integers(0, WIDTH - 1)), min_size=2, max_size=16)


def ragged(rows: list[frozenset[int]]) -> tuple[np.ndarray, np.ndarray]:
    return (
        np.cumsum([0, *map(len, rows)]).astype(np.int64),
        np.array([item for row in rows for item in sorted(row)], dtype=np.int32),
    )


def narrow(indptr: np.ndarray, items: np.ndarray, worth: np.ndarray) -> kernel.Rows:
    """Rows as they are searched, in numbers for which the kernel is compiled."""
    return kernel.Rows(indptr.astype(np.uint32), items.astype(np.uint16), worth, WIDTH)


def orders_of(rows: list[frozenset[int]], seed: int) -> np.ndarray:
    random = np.random.default_rng(seed)
    return np.stack([random.permutation(len(rows)) for _ in range(3)]).astype(np.uint32)


def of_rows(rows: list[frozenset[int]], worth: np.ndarray) -> list[int]:
    """What each item of each row is worth."""
    return [int(worth[len(row)]) for row in rows]


def parted(members: np.ndarray, starts: np.ndarray) -> list[list[int]]:
    return [members[begin:end].tolist() for begin, end in pairwise(starts.tolist())]


@given(some_rows, st.integers(1, 5), st.integers(1, 4), st.integers(0, 99))
def test_gathered_like_the_naive_twin(
    rows: list[frozenset[int]], clusters: int, window: int, seed: int
) -> None:
    clusters = min(clusters, len(rows))
    indptr, items = ragged(rows)
    worth, orders = even_worth(WIDTH), orders_of(rows, seed)
    found = parted(*kernel.gather(orders, narrow(indptr, items, worth), clusters, window))
    assert found == naive.gather(orders.tolist(), rows, of_rows(rows, worth), clusters, window)


@given(some_rows, st.integers(2, 4), st.booleans(), st.integers(0, 99))
def test_swaps_make_clusters_more_alike(
    rows: list[frozenset[int]], clusters: int, even: bool, seed: int
) -> None:
    clusters = min(clusters, len(rows))
    indptr, items = ragged(rows)
    worth = even_worth(WIDTH) if even else np.ones(WIDTH + 1, dtype=np.int64)
    orders = orders_of(rows, seed)
    starts = np.array([number * len(rows) // clusters for number in range(clusters + 1)])
    members = orders[0].copy()
    before = parted(members, starts)
    swaps = kernel.swap_rows(orders, narrow(indptr, items, worth), members, starts, 3, 2, 4)
    after = parted(members, starts)
    assert sorted(row for cluster in after for row in cluster) == list(range(len(rows)))
    gained = naive.total(rows, of_rows(rows, worth), after) - naive.total(rows, of_rows(rows, worth), before)
    # Every swap gains, and gains are even numbers.
    assert gained >= 2 * swaps
    assert (after == before) == (swaps == 0)


@given(st.lists(st.frozensets(st.integers(0, WIDTH - 1)), min_size=2, max_size=8), st.integers(0, 99))
def test_two_small_clusters_end_where_no_swap_gains(rows: list[frozenset[int]], seed: int) -> None:
    """With at most four rows, all of them are tried."""
    indptr, items = ragged(rows)
    worth, orders = even_worth(WIDTH), orders_of(rows, seed)
    starts = np.array([0, len(rows) // 2, len(rows)])
    members = orders[0].copy()
    kernel.swap_rows(orders, narrow(indptr, items, worth), members, starts, 100, len(rows), 1)
    one, other = parted(members, starts)
    assert not naive.better_swap(rows, of_rows(rows, worth), one, other)


def test_two_kinds_of_baskets_come_apart() -> None:
    rows = [frozenset((0, 1)), frozenset((3, 4))] * 6
    indptr, items = ragged(rows)
    starts = np.array([0, 6, 12])
    orders = np.arange(12, dtype=np.uint32)[None, :]
    members = np.arange(12, dtype=np.uint32)
    kind = narrow(indptr, items, np.ones(WIDTH + 1, dtype=np.int64))
    assert kernel.swap_rows(orders, kind, members, starts, 2, 2, 4) == 3
    assert {len({row % 2 for row in cluster}) for cluster in parted(members, starts)} == {1}


@given(some_rows, st.integers(1, 5), st.integers(0, 3), st.integers(0, 99))
def test_which_of_equal_rows_comes_first_decides_nothing_else(
    rows: list[frozenset[int]], clusters: int, passes: int, seed: int
) -> None:
    """Whoever has all baskets finds the same clusters of contents."""
    clusters = min(clusters, len(rows))
    found = []
    for key in (seed, seed + 1):
        indptr, items = ragged(rows)
        distinct = distinct_baskets(indptr, items, WIDTH)
        ties = np.random.default_rng(key).permutation(len(rows))
        orders = []
        for order in orders_for_clusters(distinct, 2):
            place = np.empty(len(order), dtype=np.int64)
            place[order] = np.arange(len(order))
            orders.append(ties[np.argsort(place[distinct.of_row[ties]], kind="stable")])
        search = replace(GROUPS, passes=passes)
        made = near_clusters(tuple(orders), indptr, items, WIDTH, clusters, search)
        found.append([Counter(rows[row] for row in cluster) for cluster in parted(*made)])
    assert found[0] == found[1]


@given(some_rows, st.integers(1, 5))
def test_sums_of_clusters(rows: list[frozenset[int]], clusters: int) -> None:
    clusters = min(clusters, len(rows))
    indptr, items = ragged(rows)
    members = np.arange(len(rows))[::-1].copy()
    starts = np.array([number * len(rows) // clusters for number in range(clusters + 1)])
    begins, held, counts = kernel.count_items(indptr, items, WIDTH, members, starts)
    for cluster, (begin, end) in enumerate(pairwise(begins.tolist())):
        inside = members[starts[cluster] : starts[cluster + 1]].tolist()
        expected = sorted(Counter(item for row in inside for item in rows[row]).items())
        assert list(zip(held[begin:end].tolist(), counts[begin:end].tolist(), strict=True)) == expected


def units_of(rows: list[frozenset[int]], secrets: list[set[int]], size: int) -> tuple[Units, list[list[int]]]:
    """Clusters of so many rows, as they come."""
    indptr, items = ragged(rows)
    starts = np.array([*range(0, len(rows), size), len(rows)])
    held = kernel.count_items(indptr, items, WIDTH, np.arange(len(rows)), starts)
    parts = parted(np.arange(len(rows)), starts)
    counted = [sorted(Counter(one for row in part for one in secrets[row]).items()) for part in parts]
    entries = [entry for part in counted for entry in part]
    return Units(
        *held,
        np.diff(starts),
        np.cumsum([0, *map(len, counted)]),
        np.array([secret for secret, _ in entries], dtype=np.int64),
        np.array([count for _, count in entries], dtype=np.int64),
    ), parts


@given(
    st.lists(
        st.tuples(st.frozensets(st.integers(0, WIDTH - 1)), st.sets(st.integers(0, 1))),
        min_size=4,
        max_size=30,
    ),
    st.integers(2, 4),
    st.integers(1, 3),
    st.integers(0, 99),
)
def test_clusters_are_taken_in_until_the_degree_holds(
    people: list[tuple[frozenset[int], set[int]]], p: int, window: int, seed: int
) -> None:
    rows = [row for row, _ in people]
    secrets = [held if place % 2 else set() for place, (_, held) in enumerate(people)]
    units, parts = units_of(rows, secrets, p)
    if naive.breaks(secrets, p):
        return
    orders = orders_of([frozenset()] * len(parts), seed).astype(np.int32)
    home = take_in(orders, units, WIDTH, 2, p, window).tolist()
    groups: dict[int, list[int]] = {}
    for unit, began in enumerate(home):
        groups.setdefault(began, []).append(unit)
    broken = [naive.breaks([secrets[row] for row in part], p) for part in parts]
    for began, members in groups.items():
        assert began in members
        assert broken[began] == (len(members) > 1) or len(groups) == 1
        assert not naive.breaks([secrets[row] for unit in members for row in parts[unit]], p)


def test_the_nearest_cluster_is_taken_in() -> None:
    """The first cluster has the secret twice; the third is most like it, and the second nearer in the order."""
    rows = [frozenset("ab")] * 2 + [frozenset("cd")] * 2 + [frozenset("abc")] * 2 + [frozenset("ef")] * 2
    numbered = [frozenset(ord(item) - ord("a") for item in row) for row in rows]
    units, _ = units_of(numbered, [{0}, {0}, *(set() for _ in range(6))], 2)
    orders = np.arange(4, dtype=np.int32)[None, :]
    assert take_in(orders, units, WIDTH, 1, 2, 3).tolist() == [0, 1, 0, 3]
    # Within reach of one cluster, the second is all there is.
    assert take_in(orders, units, WIDTH, 1, 2, 1).tolist() == [0, 0, 2, 3]


def test_a_cluster_without_items_takes_in_from_all_over_the_order() -> None:
    """Two of two hold the secret: ten rows are needed at p = 5. The cluster at 12 is passed over, it holds its part."""
    rows = [frozenset[int]()] * 2 + [frozenset((0,))] * 38
    secrets: list[set[int]] = [{0} if row in (0, 1, 24) else set() for row in range(40)]
    units, _ = units_of(rows, secrets, 2)
    orders = np.arange(20, dtype=np.int32)[None, :]
    home = take_in(orders, units, WIDTH, 1, 5, 3)
    assert np.flatnonzero(home == 0).tolist() == [0, 4, 9, 13, 17]


def test_rows_without_items_are_one_cluster() -> None:
    sets = [frozenset[int]()] * 5 + [frozenset((row % 3, 3 + row % 2)) for row in range(11)]
    indptr, items = ragged(sets)
    distinct = distinct_baskets(indptr, items, WIDTH)
    kinds = np.repeat(np.arange(len(distinct)), distinct.counts)
    for p, alone in ((3, True), (5, True), (6, False)):
        found = clusters_of(distinct, p)
        clusters = parted(found.rows, found.starts)
        assert sorted(row for cluster in clusters for row in cluster) == list(range(16))
        assert min(map(len, clusters)) >= p
        lengths = [set(np.diff(distinct.indptr)[kinds[cluster]].tolist()) for cluster in clusters]
        assert ({0} in lengths) == alone
        if alone:
            assert Counter(found.pair.tolist())[int(found.pair[lengths.index({0})])] == 1


def test_where_no_cluster_is_free_groups_are_taken_in() -> None:
    """Every cluster but the last one is broken, and only all of them together keep the degree."""
    rows = [frozenset((place % WIDTH,)) for place in range(8)]
    secrets = [{0}, {0}, {1}, {1}, {0}, {1}, set(), set()]
    units, parts = units_of(rows, secrets, 2)
    orders = np.arange(4, dtype=np.int32)[None, :]
    home = take_in(orders, units, WIDTH, 2, 2, 1).tolist()
    for began in set(home):
        members = [unit for unit, one in enumerate(home) if one == began]
        assert not naive.breaks([secrets[row] for unit in members for row in parts[unit]], 2)


def test_what_was_found_last_is_kept_for_the_same_baskets_alone() -> None:
    distinct = distinct_baskets(
        np.array([0, 1, 2, 4, 6, 7, 8]), np.array([0, 0, 0, 1, 0, 1, 1, 1], dtype=np.int32), 2
    )
    first = clusters_of(distinct, 2)
    assert clusters_of(distinct, 2) is first
    others = clusters_of(distinct, 3)
    assert len(others.pair) < len(first.pair)
    again = clusters_of(distinct, 2)
    assert again is not first
    assert np.array_equal(again.rows, first.rows)
    heavier = replace(distinct, counts=distinct.counts * 2)
    assert len(clusters_of(heavier, 2).rows) == 2 * len(first.rows)
