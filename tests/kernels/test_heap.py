"""The heap of the kernels, beside the standard library's."""

import heapq

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from shoal.kernels.heap import Heap, pop, push

ENTRIES = st.tuples(st.integers(0, 3).map(float), st.integers(0, 2), st.integers(-1, 1), st.integers(0, 1))


@given(st.lists(st.one_of(ENTRIES, st.none()), max_size=40))
def test_the_least_entry_comes_out_whatever_came_in(work: list[tuple[float, int, int, int] | None]) -> None:
    heap, size = Heap(np.empty(len(work)), np.empty((len(work), 3), dtype=np.int64)), 0
    twin: list[tuple[float, int, int, int]] = []
    for entry in work:
        if entry is not None:
            size = push(heap, size, *entry)
            heapq.heappush(twin, entry)
        elif twin:
            size = pop(heap, size)
            assert (heap.keys[size], *heap.rest[size]) == heapq.heappop(twin)
        assert size == len(twin)
