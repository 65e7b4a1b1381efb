"""Ranges of keys, wherever they are cut."""

import numpy as np
import polars as pl
from hypothesis import given
from hypothesis import strategies as st
from tests.parts import MemoryParts

from shoal.data._range_partition import KEY, RANGE, ranges_of

keys = st.lists(st.lists(st.integers(0, 4), max_size=4), min_size=1, max_size=60)


def keyed(rows: list[list[int]]) -> pl.DataFrame:
    return pl.DataFrame({KEY: rows}, schema={KEY: pl.List(pl.Int32)})


@given(keys, st.integers(1, 20), st.integers(1, 12), st.integers(0, 99))
def test_ranges_follow_each_other_and_hold_what_is_counted(
    rows: list[list[int]], size: int, least: int, seed: int
) -> None:
    ranges = ranges_of(MemoryParts(keyed(rows), seed), len(rows), size, least)
    found = ranges.parts.collect()
    held: dict[int, list[list[int]]] = {}
    for key, number in found.select(KEY, RANGE).iter_rows():
        held.setdefault(number, []).append(key)
    assert sorted(held) == ranges.numbers.tolist()
    assert [len(held[number]) for number in ranges.numbers] == ranges.sizes.tolist()
    assert min(ranges.sizes) >= min(least, len(rows))
    assert [key for number in sorted(held) for key in sorted(held[number])] == sorted(rows)
    assert sum(len({tuple(key) for key in one}) for one in held.values()) == len({tuple(row) for row in rows})
    assert ranges.begins()[ranges.numbers].tolist() == np.cumsum([0, *ranges.sizes])[:-1].tolist()


def test_ranges_are_about_as_large_as_wanted() -> None:
    random = np.random.default_rng(3)
    rows = [sorted(set(random.integers(0, 200, 6).tolist())) for _ in range(20_000)]
    rows += [[7]] * 3_000
    ranges = ranges_of(MemoryParts(keyed(rows), 5), len(rows), 1_000)
    assert 15 <= len(ranges.sizes) <= 30
    assert sorted(ranges.sizes)[-2] < 2_000, "only the range of the frequent key may be larger"
