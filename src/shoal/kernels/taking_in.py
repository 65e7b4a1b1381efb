"""Clusters of baskets that take in others, until all together keep a degree."""

from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from shoal.kernels._jit import jit
from shoal.kernels.near_clusters import linked, unlink

Array: TypeAlias = NDArray[Any]
Whole: TypeAlias = int | np.int64

SKIPPED = 8
"""Clusters that a search passes over, for each that it wants: it ends in a crowd of those that do not help."""


class Units(NamedTuple):
    """Clusters: how many rows of each hold each item, its rows, and how many of them hold each sensitive item."""

    indptr: Array
    items: Array
    held: Array
    sizes: Array
    secret_indptr: Array
    secrets: Array
    secret_counts: Array


@jit
def most_held(unit: Whole, units: Units, counts: Array, most: Whole) -> Any:
    """Add the sensitive items of a cluster to counts; the largest count, if it was so much before."""
    for place in range(units.secret_indptr[unit], units.secret_indptr[unit + 1]):
        secret = units.secrets[place]
        counts[secret] += units.secret_counts[place]
        most = max(most, counts[secret])
    return most


@jit
def _nearest(unit: Whole, units: Units, vector: Array, norms: Array, found: Array, count: Whole) -> Any:
    """Which of those found is most alike to a cluster, by the cosine; of equals the first."""
    for place in range(units.indptr[unit], units.indptr[unit + 1]):
        vector[units.items[place]] = units.held[place]
    best, best_likeness = found[0], -1.0
    for entry in range(count):
        other = found[entry]
        common = np.int64(0)
        for place in range(units.indptr[other], units.indptr[other + 1]):
            common += vector[units.items[place]] * units.held[place]
        likeness = common / norms[other]
        if likeness > best_likeness:
            best, best_likeness = other, likeness
    for place in range(units.indptr[unit], units.indptr[unit + 1]):
        vector[units.items[place]] = 0
    return best


@jit
def _helps(unit: Whole, units: Units, counts: Array, size: Whole, p: Whole) -> bool:
    """Whether a cluster holds less than its part of every sensitive item that a group has too many of."""
    for place in range(units.secret_indptr[unit], units.secret_indptr[unit + 1]):
        full = units.secret_counts[place] * p >= units.sizes[unit]
        if full and counts[units.secrets[place]] * p > size:
            return False
    return True


@jit
def _candidates(
    unit: Whole,
    units: Units,
    counts: Array,
    size: Whole,
    p: Whole,
    links: Array,
    window: Whole,
    listed: Array,
    stamp: Whole,
    found: Array,
    any_will_do: bool,
) -> int:
    """List free clusters near one that help its group: a window of them to each side, in each order."""
    count = 0
    listed[unit] = stamp
    for side in range(links.shape[1]):
        other, wanted, looked = links[unit, side], window, 0
        while other >= 0 and wanted > 0 and looked < SKIPPED * window:
            if listed[other] == stamp:
                wanted -= 1
            elif any_will_do or _helps(other, units, counts, size, p):
                listed[other] = stamp
                found[count] = other
                count, wanted = count + 1, wanted - 1
            other, looked = links[other, side], looked + 1
    return count


@jit
def take_in(orders: Array, units: Units, width: Whole, kinds: Whole, p: Whole, window: Whole) -> Array:
    """Let each cluster that breaks the degree take in the nearest free one, and the next, until all together keep it.

    A cluster is free as long as it was neither taken in nor took in another. The nearest is the one most alike to the
    cluster that began, among those a window away from it in one of the orders. The first is taken in whatever it
    holds; after that, one that holds its full part of what the group has too many of is passed over, unless there is no
    other. Where none is free any more, the group takes in those that were made, one after the other.

    `orders`: several orders of the clusters. `width`, `kinds`, `p`: how many items there are, how many sensitive ones,
    and the degree. Returns for each cluster the one that began its group.
    """
    clusters = len(units.sizes)
    links = linked(orders)
    home = np.arange(clusters)
    free = np.ones(clusters, dtype=np.bool_)
    norms = np.ones(clusters)
    for unit in range(clusters):
        for place in range(units.indptr[unit], units.indptr[unit + 1]):
            norms[unit] += np.float64(units.held[place]) ** 2
    norms = np.sqrt(norms)
    vector, counts = np.zeros(width, dtype=np.int64), np.zeros(kinds, dtype=np.int64)
    listed = np.full(clusters, -1, dtype=np.int64)
    found = np.empty(2 * window * len(orders), dtype=np.int64)
    group = np.empty(clusters, dtype=np.int64)
    stamp = 0
    for unit in range(clusters):
        if not free[unit]:
            continue
        group[0], taken, size = unit, 1, units.sizes[unit]
        most = most_held(unit, units, counts, 0)
        while most * p > size:
            free[unit] = False
            count = 0
            for any_will_do in (taken == 1, True):
                if count == 0:
                    count = _candidates(
                        unit, units, counts, size, p, links, window, listed, stamp, found, any_will_do
                    )
                    stamp += 1
            if count == 0:
                _close(home, unit, units, counts, most, size, p)
                return home
            nearest = _nearest(unit, units, vector, norms, found, count)
            unlink(nearest, links)
            home[nearest], free[nearest], group[taken] = unit, False, nearest
            taken += 1
            size += units.sizes[nearest]
            most = most_held(nearest, units, counts, most)
        if not free[unit]:
            unlink(unit, links)
        for entry in range(taken):
            for place in range(units.secret_indptr[group[entry]], units.secret_indptr[group[entry] + 1]):
                counts[units.secrets[place]] = 0
    return home


@jit
def _close(home: Array, last: Whole, units: Units, counts: Array, most: Whole, size: Whole, p: Whole) -> None:
    """Let the last group take in others, until it keeps the degree; all together do."""
    after = np.full(len(home), -1, dtype=np.int64)
    for unit in range(len(home)):
        if home[unit] != unit:
            after[unit] = after[home[unit]]
            after[home[unit]] = unit
    for group in range(len(home)):
        if most * p <= size:
            return
        if home[group] != group or group == last:
            continue
        unit = group
        while unit >= 0:
            size += units.sizes[unit]
            most = most_held(unit, units, counts, most)
            home[unit] = last
            unit = after[unit]
