"""Random small baskets with roles, for properties."""

from collections.abc import Sequence

import numpy as np
from hypothesis import strategies as st

from shoal.data.baskets import Baskets

ITEMS = "abcdefgh"


def baskets_of(
    rows: Sequence[Sequence[str] | set[str] | frozenset[str]],
    sensitive: Sequence[str] = (),
    insensitive: Sequence[str] = (),
    vocabulary: Sequence[str] | None = None,
) -> Baskets:
    """Baskets from lists of items; items of the vocabulary need not occur."""
    names = sorted({item for row in rows for item in row} if vocabulary is None else vocabulary)
    code = {name: place for place, name in enumerate(names)}
    lengths = [len(set(row)) for row in rows]
    return Baskets(
        indptr=np.concatenate(([0], np.cumsum(lengths))).astype(np.int64),
        items=np.array([code[item] for row in rows for item in sorted(set(row))], dtype=np.int32),
        vocabulary=tuple(names),
        sensitive=np.array(sorted(code[item] for item in sensitive), dtype=np.int32),
        insensitive=np.array(sorted(code[item] for item in insensitive), dtype=np.int32),
    )


def sets_of(baskets: Baskets) -> list[frozenset[str]]:
    """The baskets as sets of texts."""
    return [frozenset(baskets.basket(row)) for row in range(len(baskets))]


@st.composite
def small_baskets(draw: st.DrawFn, most_rows: int = 24, most_items: int = 7) -> Baskets:
    """Few baskets of few items, many of them equal, some empty, with up to two secrets and a harmless item."""
    count = draw(st.integers(1, most_items))
    names = list(ITEMS[:count])
    secrets = [f"s{place}" for place in range(draw(st.integers(0, 2)))]
    harmless = ["x"] * draw(st.integers(0, 1))
    width = len(names) + len(secrets) + len(harmless)
    vocabulary = sorted([*names, *secrets, *harmless])
    masks = draw(st.lists(st.integers(0, 2**width - 1), min_size=1, max_size=most_rows))
    if draw(st.booleans()):
        masks = [mask & masks[0] | masks[-1] for mask in masks]
    repeats = draw(st.integers(1, 3))
    rows = [
        {item for place, item in enumerate(vocabulary) if mask >> place & 1}
        for mask in masks
        for _ in range(repeats)
    ]
    return baskets_of(rows, secrets, harmless, vocabulary)
