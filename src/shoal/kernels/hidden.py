"""The items that clusters and trees of clusters hide in term chunks, and where they occur."""

from typing import NamedTuple

import numpy as np

from shoal.arrays import Counts, Indptr, Items, Rows
from shoal.kernels._jit import fitting, lean


class Hidden(NamedTuple):
    """Pairs of a simple cluster and an item of its term chunk that may move."""

    items: Items
    leaves: Rows
    sizes: Counts
    supports: Counts
    """`items`, `leaves`: the item and the cluster. `sizes`, `supports`: how many baskets the cluster has, and how many
    of them hold the item."""
    row_indptr: Indptr
    rows: Rows
    """`row_indptr`, `rows`: the baskets that hold the item."""


class Roots(NamedTuple):
    """Trees of clusters, in an order in which those that may be joined follow each other."""

    nodes: Rows
    sizes: Counts
    """`nodes`, `sizes`: the number of the cluster at the top, and how many baskets it has."""
    pair_indptr: Indptr
    pairs: Rows
    """`pair_indptr`, `pairs`: the pairs that the simple clusters of a tree hide: its virtual term chunk."""
    item_indptr: Indptr
    items: Items
    """`item_indptr`, `items`: the items of all record and shared chunks of a tree; some occur several times."""


def places_of(pair_of: Rows, number: Rows, count: int) -> tuple[Indptr, Rows]:
    """The places of the occurrences of each number: where those of each number begin, and all places.

    `pair_of`: the pair of each occurrence, or a negative number. `number`: the number of each pair, negative for pairs
    that are not wanted; several pairs may have the same number. `count`: how many numbers there are.
    """
    begins, places = np.zeros(count + 1, dtype=np.int64), np.empty(len(pair_of), dtype=np.int64)
    fitting(list_places, len(pair_of))(pair_of, number, begins, np.empty(count, dtype=np.int64), places)
    return begins, places[: begins[-1]]


@lean
def list_places(pair_of: Rows, number: Rows, begins: Indptr, following: Rows, places: Rows) -> None:
    """Write where the places of each number begin, and all places."""
    for pair in pair_of:
        if pair >= 0 and number[pair] >= 0:
            begins[number[pair] + 1] += 1
    for place in range(len(following)):
        following[place] = begins[place]
        begins[place + 1] += begins[place]
    for place in range(len(pair_of)):
        pair = pair_of[place]
        if pair >= 0 and number[pair] >= 0:
            places[following[number[pair]]] = place
            following[number[pair]] += 1
