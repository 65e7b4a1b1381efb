"""Secrets among the baskets that hold a set, against sets of Python."""

from itertools import combinations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from shoal.kernels.secret_counts import secret_counts
from shoal.methods.coherence._compiled import holders_of
from shoal.methods.coherence._incidence import Incidence

WIDTH, KINDS = 5, 3


@given(
    st.lists(
        st.tuples(st.frozensets(st.integers(0, WIDTH - 1)), st.frozensets(st.integers(0, KINDS - 1))),
        min_size=1,
        max_size=70,
    ),
    st.integers(1, 3),
)
def test_secrets_are_counted(rows: list[tuple[frozenset[int], frozenset[int]]], size: int) -> None:
    public, private = ([sorted(row[side]) for row in rows] for side in (0, 1))
    items = np.array([item for row in public for item in row], dtype=np.int32)
    supports = np.bincount(items, minlength=WIDTH).astype(np.int64)
    incidence = Incidence(
        np.arange(WIDTH, dtype=np.int32), supports, np.cumsum([0, *map(len, public)]), items
    )
    sets = list(combinations(range(WIDTH), size))
    counts = secret_counts(
        np.array(sets, dtype=np.int32),
        holders_of(incidence),
        np.cumsum([0, *map(len, private)]),
        np.array([item for row in private for item in row], dtype=np.int32),
        KINDS,
    )
    assert counts.tolist() == [
        [sum(set(one) <= known and secret in held for known, held in rows) for secret in range(KINDS)]
        for one in sets
    ]
