"""The baskets that hold each item: transposes baskets in time proportional to their items."""

import numpy as np

from shoal.arrays import Counts, Indptr, Items
from shoal.kernels._jit import jit


@jit
def turned(indptr: Indptr, items: Items, ranks: Items, count: int) -> tuple[Indptr, Items, Indptr, Items]:
    """The items of each basket as ascending ranks, and the baskets of each rank, ascending.

    `ranks`: the rank of each item; `count` or more for items that are left out. Returns where each basket begins, and
    its ranks; then where each rank begins, and its baskets.
    """
    rows = len(indptr) - 1
    begin = np.zeros(rows + 1, dtype=np.int64)
    item_begin = np.zeros(count + 1, dtype=np.int64)
    for row in range(rows):
        kept = 0
        for entry in range(indptr[row], indptr[row + 1]):
            rank = ranks[items[entry]]
            if rank < count:
                item_begin[rank + 1] += 1
                kept += 1
        begin[row + 1] = begin[row] + kept
    for rank in range(count):
        item_begin[rank + 1] += item_begin[rank]
    place = item_begin[:-1].copy()
    holders = np.empty(item_begin[-1], dtype=np.int32)
    for row in range(rows):
        for entry in range(indptr[row], indptr[row + 1]):
            rank = ranks[items[entry]]
            if rank < count:
                holders[place[rank]] = row
                place[rank] += 1
    ranked = np.empty(begin[-1], dtype=np.int32)
    place_of = begin[:-1].copy()
    for rank in range(count):
        for entry in range(item_begin[rank], item_begin[rank + 1]):
            row = holders[entry]
            ranked[place_of[row]] = rank
            place_of[row] += 1
    return begin, ranked, item_begin, holders


@jit
def pair_supports(indptr: Indptr, items: Items, ranks: Items, count: int) -> Counts:
    """How many baskets hold each pair of items: a flat matrix by rank, with the smaller rank as its row."""
    found = np.zeros(count * count, dtype=np.int64)
    longest = 0
    for row in range(len(indptr) - 1):
        longest = max(longest, indptr[row + 1] - indptr[row])
    held = np.empty(longest, dtype=np.int64)
    for row in range(len(indptr) - 1):
        kept = 0
        for entry in range(indptr[row], indptr[row + 1]):
            rank = ranks[items[entry]]
            if rank < count:
                held[kept] = rank
                kept += 1
        for one in range(kept):
            for other in range(one):
                low, high = min(held[one], held[other]), max(held[one], held[other])
                found[low * count + high] += 1
    return found


@jit
def common_in_groups(
    group_indptr: Indptr, basket_indptr: Indptr, items: Items, width: int
) -> tuple[Counts, Counts]:
    """For each basket, how many items it shares with others of its group, summed over these; and how many with none."""
    common = np.zeros(len(basket_indptr) - 1, dtype=np.int64)
    own = np.zeros(len(common), dtype=np.int64)
    counts = np.zeros(width, dtype=np.int64)
    for group in range(len(group_indptr) - 1):
        begin, end = group_indptr[group], group_indptr[group + 1]
        held = items[basket_indptr[begin] : basket_indptr[end]]
        for item in held:
            counts[item] += 1
        for basket in range(begin, end):
            for entry in range(basket_indptr[basket], basket_indptr[basket + 1]):
                common[basket] += counts[items[entry]] - 1
                own[basket] += counts[items[entry]] == 1
        for item in held:
            counts[item] = 0
    return common, own
