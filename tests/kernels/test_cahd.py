"""Orders, groups and halves, compared with their slow twins."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.naive import cahd as naive

from shoal.data._basket_orders import Distinct, distinct_baskets, orders_of, spread_of
from shoal.kernels.band import binned, placed
from shoal.kernels.cahd import form_groups, half_of, halve
from shoal.kernels.pivots import denser_halves
from shoal.kernels.ragged import rank_rows
from shoal.kernels.swaps import swap_rows

WIDTH = 6
SECRETS = 3
rows_of_items = st.lists(st.frozensets(st.integers(0, WIDTH - 1)), min_size=1, max_size=14)


def ragged(rows: list[frozenset[int]]) -> tuple[np.ndarray, np.ndarray]:
    return (
        np.cumsum([0, *map(len, rows)]).astype(np.int64),
        np.array([item for row in rows for item in sorted(row)], dtype=np.int32),
    )


def distinct_of(rows: list[frozenset[int]]) -> Distinct:
    return distinct_baskets(*ragged(rows), WIDTH)


def plain(distinct: Distinct) -> list[tuple[int, ...]]:
    return [
        tuple(distinct.items[distinct.indptr[row] : distinct.indptr[row + 1]].tolist())
        for row in range(len(distinct))
    ]


@given(rows_of_items)
def test_distinct_baskets_are_canonical(rows: list[frozenset[int]]) -> None:
    distinct = distinct_of(rows)
    baskets = plain(distinct)
    assert baskets == sorted({tuple(sorted(row)) for row in rows})
    assert [baskets[number] for number in distinct.of_row] == [tuple(sorted(row)) for row in rows]
    assert distinct.counts.tolist() == [rows.count(frozenset(basket)) for basket in baskets]


@given(rows_of_items)
def test_orders_are_those_of_the_definitions(rows: list[frozenset[int]]) -> None:
    distinct = distinct_of(rows)
    baskets, counts = plain(distinct), distinct.counts.tolist()
    assert orders_of("rcm", distinct)[0].tolist() == naive.rcm(baskets, counts)
    assert orders_of("bipartite", distinct)[0].tolist() == naive.bipartite(baskets, WIDTH)
    assert orders_of("lexicographic", distinct)[0].tolist() == naive.lexicographic(baskets, counts, WIDTH)
    assert orders_of("gray", distinct)[0].tolist() == naive.gray(baskets, counts, WIDTH)


@given(st.lists(st.frozensets(st.integers(0, 99), max_size=60), max_size=5), st.permutations(range(100)))
def test_items_are_ranked_in_short_and_long_rows(rows: list[frozenset[int]], number: list[int]) -> None:
    ranked = rank_rows(*ragged(rows), np.array(number, dtype=np.int32)).tolist()
    assert ranked == [rank for row in rows for rank in sorted(number[item] for item in row)]


@pytest.mark.parametrize("name", ["nearest", "sum"])
@given(rows=rows_of_items)
def test_other_orders_lose_no_basket(name: str, rows: list[frozenset[int]]) -> None:
    distinct = distinct_of(rows)
    for order in orders_of(name, distinct):
        assert sorted(order.tolist()) == list(range(len(distinct)))


def test_neighbors_in_gray_code_differ_in_one_item() -> None:
    """All sets of four items, each once: the Gray code walks through them by single steps."""
    rows = [frozenset(item for item in range(4) if number >> item & 1) for number in range(16)]
    distinct = distinct_of(rows)
    baskets = [set(plain(distinct)[number]) for number in orders_of("gray", distinct)[0]]
    assert all(len(one ^ other) == 1 for one, other in pairwise(baskets))


@given(rows_of_items)
def test_the_band_is_that_of_the_graph(rows: list[frozenset[int]]) -> None:
    """Equal rows need not be stored twice."""
    distinct = distinct_of(rows)
    band, means = spread_of(distinct, placed(distinct.of_row, len(distinct)))
    assert (band.bandwidth, band.profile) == naive.band([sorted(row) for row in rows])
    for item in range(WIDTH):
        places = [place for place, row in enumerate(rows) if item in row]
        assert means[item] == (sum(places) / len(places) if places else 0)


@given(rows_of_items, st.integers(1, 5), st.integers(1, 5), st.permutations(range(WIDTH)))
def test_a_picture_counts_every_entry_once(
    rows: list[frozenset[int]], high: int, wide: int, column: list[int]
) -> None:
    distinct = distinct_of(rows)
    order = placed(distinct.of_row, len(distinct))
    cells = binned(distinct.indptr, distinct.items, order, np.array(column, dtype=np.int32), high, wide)
    expected = np.zeros((high, wide), dtype=int)
    for place, row in enumerate(rows):
        for item in row:
            expected[place * high // len(rows), column[item] * wide // WIDTH] += 1
    assert cells.tolist() == expected.tolist()


@st.composite
def secret_rows(draw: st.DrawFn) -> tuple[list[frozenset[int]], list[frozenset[int]]]:
    rows = draw(st.lists(st.frozensets(st.integers(0, WIDTH - 1)), min_size=2, max_size=24))
    secret = st.one_of(
        st.just(frozenset()), st.just(frozenset()), st.frozensets(st.integers(0, SECRETS - 1), max_size=2)
    )
    return rows, draw(st.lists(secret, min_size=len(rows), max_size=len(rows)))


def groups_of(
    rows: list[frozenset[int]], secrets: list[frozenset[int]], p: int, window: int
) -> tuple[np.ndarray, int]:
    """The groups of rows in the order in which they stand, and how many rows found none."""
    distinct = distinct_of(rows)
    return form_groups(
        np.arange(len(rows), dtype=np.int32)[None],
        distinct.of_row,
        distinct.indptr,
        distinct.items,
        WIDTH,
        *ragged(secrets),
        SECRETS,
        p,
        window,
        np.zeros(SECRETS, dtype=np.int64),
    )


@given(secret_rows(), st.integers(2, 4), st.integers(1, 3))
def test_groups_are_those_of_the_paper(
    data: tuple[list[frozenset[int]], list[frozenset[int]]], p: int, alpha: int
) -> None:
    rows, secrets = data
    window = min(alpha * p, len(rows))
    groups, _ = groups_of(rows, secrets, p, window)
    assert groups.tolist() == naive.form_groups(
        list(zip(map(set, rows), map(set, secrets), strict=True)), p, window
    )


@given(
    st.lists(st.tuples(st.integers(1, 5), st.lists(st.integers(0, 2), max_size=2)), min_size=1, max_size=16),
    st.integers(2, 4),
)
def test_halves_are_those_of_the_definition(runs: list[tuple[int, list[int]]], p: int) -> None:
    sizes, secrets = [size for size, _ in runs], [held for _, held in runs]
    ends = np.cumsum([0, *sizes]).astype(np.int64)
    indptr = np.cumsum([0, *map(len, secrets)]).astype(np.int64)
    items = np.array([item for held in secrets for item in held], dtype=np.int32)
    assert halve(ends, indptr, items, 3, p).tolist() == [*naive.halve(sizes, secrets, p), len(sizes)]


def test_a_crowd_of_conflicting_rows_is_no_trap() -> None:
    """A thousand rows with one secret before three thousand without: all of them find company, and soon."""
    secret = [frozenset({0})] * 1000 + [frozenset()] * 3000
    groups, given_up = groups_of([frozenset()] * 4000, secret, 4, 12)
    assert given_up == 0
    assert len(set(groups[:1000].tolist())) == 1000
    assert (np.bincount(groups) == 4).all()


@given(
    st.integers(1, 9),
    st.integers(1, 9),
    st.lists(st.integers(1, 4), min_size=1, max_size=3),
    st.integers(2, 4),
)
def test_the_denser_half_is_found_by_counting(left: int, right: int, counts: list[int], p: int) -> None:
    counts = [min(count, left + right) for count in counts]
    ends = np.array([0, left, left + right], dtype=np.int64)
    secrets = np.array([0, len(counts)], dtype=np.int64), np.array(counts, dtype=np.int64)
    for one in secrets:  # those of a release are frozen too, and the kernel is compiled for such
        one.setflags(write=False)
    first, places = np.array([0, 2], dtype=np.int64), np.zeros(1, dtype=np.int64)
    cuts, side = denser_halves(ends, first, p, places, *secrets)
    assert cuts[0] == half_of(ends, 0, 2, p)
    if cuts[0] < 0:
        assert side[0] == 0
        return
    mean = naive.inside_mean(left, right, counts, p)
    if mean is None:
        assert side[0] == 0
        return
    difference = mean / left - (sum(counts) - mean) / right
    assert side[0] == (0 if abs(difference) < 1e-7 else -1 if difference > 0 else 1)


def test_a_swap_brings_the_estimate_closer() -> None:
    """The sensitive row holds 0; its group's other row does not, but a row of the next group does."""
    baskets = [frozenset({0}), frozenset({1}), frozenset({0}), frozenset({1})]
    distinct = distinct_of(baskets)
    groups = np.array([0, 0, 1, 1], dtype=np.int64)
    truth, estimates = np.zeros((1, WIDTH)), np.zeros((1, WIDTH))
    truth[0, 0], estimates[0, :2] = 1, 0.5
    swaps, gained = swap_rows(
        groups,
        np.array([True, False, False, False]),
        distinct.of_row,
        distinct.indptr,
        distinct.items,
        np.array([0, 1, 1]),
        np.array([0]),
        np.array([0.5]),
        truth,
        estimates,
        4,
    )
    assert swaps == 1
    assert groups.tolist() == [0, 1, 0, 1]
    assert estimates[0, :2].tolist() == [1, 0]
    assert gained == pytest.approx(np.log(2))
