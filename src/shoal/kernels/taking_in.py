"""Merge clusters of baskets: those that break the privacy degree take in others, until the group keeps it."""

import math
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from shoal.kernels._jit import lean
from shoal.kernels.near_clusters import linked, unlink

Array: TypeAlias = NDArray[Any]
Whole: TypeAlias = int | np.int64

SKIPPED = 8
"""How many clusters a search visits at most for each one it wants, so that it ends among clusters that do not help."""

EVENLY = (math.sqrt(5) - 1) / 2
"""The fractional parts of its multiples are evenly spread between 0 and 1, however many there are."""


class Units(NamedTuple):
    """Clusters: how many rows of each hold each item, its number of rows, and how many hold each sensitive item."""

    indptr: Array
    items: Array
    held: Array
    sizes: Array
    secret_indptr: Array
    secrets: Array
    secret_counts: Array


@lean
def most_held(
    unit: Whole, secret_indptr: Array, secrets: Array, secret_counts: Array, counts: Array, most: Whole
) -> Whole:
    """Add the sensitive items of a cluster to the counts; returns the largest count, which was `most` before."""
    for place in range(secret_indptr[unit], secret_indptr[unit + 1]):
        secret = secrets[place]
        counts[secret] += secret_counts[place]
        most = max(most, counts[secret])
    return most


@lean
def _nearest(
    unit: Whole,
    indptr: Array,
    items: Array,
    held: Array,
    vector: Array,
    norms: Array,
    found: Array,
    count: Whole,
) -> int:
    """Which of the found clusters is most similar to a given one by the cosine; of equals, the first."""
    for place in range(indptr[unit], indptr[unit + 1]):
        vector[items[place]] = held[place]
    best, best_likeness = found[0], -1.0
    for entry in range(count):
        other = found[entry]
        common = np.int64(0)
        for place in range(indptr[other], indptr[other + 1]):
            common += vector[items[place]] * held[place]
        likeness = common / norms[other]
        if likeness > best_likeness:
            best, best_likeness = other, likeness
    for place in range(indptr[unit], indptr[unit + 1]):
        vector[items[place]] = 0
    return int(best)


@lean
def _helps(
    unit: Whole,
    sizes: Array,
    secret_indptr: Array,
    secrets: Array,
    secret_counts: Array,
    counts: Array,
    size: Whole,
    p: Whole,
) -> bool:
    """Whether a cluster has less than its share of every sensitive item that a group has too many of."""
    for place in range(secret_indptr[unit], secret_indptr[unit + 1]):
        full = secret_counts[place] * p >= sizes[unit]
        if full and counts[secrets[place]] * p > size:
            return False
    return True


@lean
def _candidates(
    unit: Whole,
    sizes: Array,
    secret_indptr: Array,
    secrets: Array,
    secret_counts: Array,
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
    """List free clusters near one that help its group, or any if none does: a window to each side in each order.

    `stamp`: neither this number nor the next one may occur in `listed`.
    """
    count = 0
    for mark in range(stamp + any_will_do, stamp + 2):
        listed[unit] = mark
        for side in range(links.shape[1]):
            other, wanted, looked = links[unit, side], window, 0
            while other >= 0 and wanted > 0 and looked < SKIPPED * window:
                if listed[other] == mark:
                    wanted -= 1
                elif mark > stamp or _helps(
                    other, sizes, secret_indptr, secrets, secret_counts, counts, size, p
                ):
                    listed[other] = mark
                    found[count] = other
                    count, wanted = count + 1, wanted - 1
                other, looked = links[other, side], looked + 1
        if count:
            break
    return count


@lean
def _anywhere(
    sizes: Array,
    secret_indptr: Array,
    secrets: Array,
    secret_counts: Array,
    counts: Array,
    size: Whole,
    p: Whole,
    order: Array,
    begin: Whole,
    window: Whole,
    free: Array,
    found: Array,
) -> int:
    """List the first free cluster that helps a group, from a place in an order; none if it is too far away."""
    for step in range(SKIPPED * window):
        other = order[(begin + step) % len(order)]
        if free[other] and _helps(other, sizes, secret_indptr, secrets, secret_counts, counts, size, p):
            found[0] = other
            return 1
    return 0


def take_in(orders: Array, units: Units, width: Whole, kinds: Whole, p: Whole, window: Whole) -> Array:
    """Let each cluster that breaks the degree take in the nearest free ones, until they keep it together.

    A cluster is free as long as it was neither taken in nor took in another. The nearest is the one most similar to the
    cluster that started the group, among those at most a window away from it in one of the orders. The first one is
    taken in whatever it holds. After that, a cluster with its full share of what the group has too many of is skipped,
    unless there is no other. A cluster without items is similar to none: it takes in those that help, spread evenly
    over the first order. If no cluster is free any more, the group takes in existing groups, one after another.

    `orders`: several orders of the clusters. `width`, `kinds`, `p`: how many items there are, how many sensitive ones,
    and the degree. Returns for each cluster the one that started its group.
    """
    clusters, tables = len(units.sizes), len(orders)
    squares = np.concatenate(([0], np.cumsum(np.square(units.held, dtype=np.int64))))
    # A little more than the length of each vector, so that none is zero.
    norms = np.sqrt(1 + np.diff(squares[units.indptr]))
    home: Array = np.arange(clusters)
    _take_in(
        units.indptr,
        units.items,
        units.held,
        units.sizes,
        units.secret_indptr,
        units.secrets,
        units.secret_counts,
        orders[0],
        linked(orders),
        norms,
        np.ones(clusters, dtype=np.bool_),
        np.zeros(width, dtype=np.int64),
        np.zeros(kinds, dtype=np.int64),
        np.full(clusters, -1, dtype=np.int64),
        np.empty(2 * window * tables, dtype=np.int64),
        np.empty(clusters, dtype=np.int64),
        np.empty(clusters, dtype=np.int64),
        p,
        window,
        home,
    )
    return home


@lean
def _take_in(
    indptr: Array,
    items: Array,
    held: Array,
    sizes: Array,
    begins: Array,
    kinds: Array,
    times: Array,
    order: Array,
    links: Array,
    norms: Array,
    free: Array,
    vector: Array,
    sums: Array,
    seen: Array,
    found: Array,
    group: Array,
    after: Array,
    p: Whole,
    window: Whole,
    home: Array,
) -> None:
    """Do the work of `take_in`, with arrays made by it.

    `links`: see `linked` of `near_clusters`. `norms`: the length of each cluster's vector. `home`: filled with the
    result. `group`, `after`, `found`: working arrays, for clusters and for those near one.
    """
    clusters = len(sizes)
    stamp = 0
    for unit in range(clusters):
        if not free[unit]:
            continue
        group[0], taken, size = unit, 1, sizes[unit]
        most = most_held(unit, begins, kinds, times, sums, 0)
        while most * p > size:
            free[unit] = False
            count = 0
            if indptr[unit] == indptr[unit + 1]:
                begin = np.int64(taken * EVENLY % 1.0 * clusters)
                count = _anywhere(
                    sizes, begins, kinds, times, sums, size, p, order, begin, window, free, found
                )
            if count == 0:
                alone = taken == 1
                count = _candidates(
                    unit, sizes, begins, kinds, times, sums, size, p, links, window, seen, stamp, found, alone
                )
                stamp += 2
            if count == 0:
                _close(home, unit, sizes, begins, kinds, times, sums, most, size, p, after)
                return
            nearest = _nearest(unit, indptr, items, held, vector, norms, found, count)
            unlink(nearest, links)
            home[nearest], free[nearest], group[taken] = unit, False, nearest
            taken += 1
            size += sizes[nearest]
            most = most_held(nearest, begins, kinds, times, sums, most)
        if not free[unit]:
            unlink(unit, links)
        for entry in range(taken):
            for place in range(begins[group[entry]], begins[group[entry] + 1]):
                sums[kinds[place]] = 0


@lean
def _close(
    home: Array,
    last: Whole,
    sizes: Array,
    secret_indptr: Array,
    secrets: Array,
    secret_counts: Array,
    counts: Array,
    most: Whole,
    size: Whole,
    p: Whole,
    after: Array,
) -> None:
    """Let the last group take in other groups until it keeps the degree, as all clusters together do."""
    for unit in range(len(home)):
        after[unit] = -1
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
            size += sizes[unit]
            most = most_held(unit, secret_indptr, secrets, secret_counts, counts, most)
            home[unit] = last
            unit = after[unit]
