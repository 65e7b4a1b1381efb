"""Small baskets for tests, from plain Python."""

from collections.abc import Collection, Sequence

import numpy as np

from shoal.data.baskets import Baskets
from shoal.data.groups import Groups


def baskets_of(sets: Sequence[Collection[str]], sensitive: Collection[str] = ()) -> Baskets:
    """Baskets of texts; the vocabulary holds the sensitive items too, whether they occur or not."""
    vocabulary = tuple(sorted({item for one in sets for item in one} | set(sensitive)))
    codes = {item: code for code, item in enumerate(vocabulary)}
    items = [code for one in sets for code in sorted(codes[item] for item in one)]
    return Baskets(
        indptr=np.cumsum([0, *map(len, sets)]),
        items=np.array(items, dtype=np.int32),
        vocabulary=vocabulary,
        sensitive=np.array(sorted(codes[item] for item in sensitive), dtype=np.int32),
        insensitive=np.empty(0, dtype=np.int32),
    )


def sets_of(groups: Groups) -> list[tuple[list[list[str]], dict[str, int]]]:
    """Published groups as a reader of the file sees them: baskets, and counts of sensitive items."""
    read = []
    for group in range(len(groups)):
        places = range(groups.group_indptr[group], groups.group_indptr[group + 1])
        baskets = [
            [
                groups.vocabulary[item]
                for item in groups.items[groups.basket_indptr[b] : groups.basket_indptr[b + 1]]
            ]
            for b in places
        ]
        part = slice(groups.sensitive_indptr[group], groups.sensitive_indptr[group + 1])
        summary = {
            groups.vocabulary[item]: int(count)
            for item, count in zip(groups.sensitive_items[part], groups.sensitive_counts[part], strict=True)
        }
        read.append((baskets, summary))
    return read
