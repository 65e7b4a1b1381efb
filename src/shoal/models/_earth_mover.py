"""The earth mover's distance between groups and the whole, as whole numbers.

Li, Li and Venkatasubramanian (2007, section 4) compare the distribution of a class with that of the whole table by the
least work of turning one into the other, under three distances between values. With n rows in a group, N rows in all,
and c and C the counts of a value, all three are sums of differences of c·N and C·n, so that they can be computed and
compared without rounding:

equal
    1 between different values: half the sum of all differences, over n·N.
ordered
    the difference of the ranks, over m - 1 for m values: the sum of all differences between the cumulated
    distributions, over (m - 1)·n·N.
hierarchical
    the level of the lowest common node, over the height H: half the sum, over all levels below the root and all nodes
    of a level, of the differences between the nodes' counts, over H·n·N. (An edge between two levels of the tree is
    1/2H long, and all that a node has too much must pass the edge above it. The paper's recursion gives the same.)

Sums run over the values that a group holds, never over all values of the domain, so that a column may have a million.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from shoal.arrays import AnyArray, Codes, Counts, Indptr, Mask, Rows, owners, summed, taken
from shoal.data.group_statistics import Histogram
from shoal.errors import WrongUse
from shoal.models._equivalence_classes import Tally
from shoal.models._exact import LARGEST, ROUNDING, at_most, group_sums, times
from shoal.models._value_order import Tree, levels_of, published_ranks


@dataclass(frozen=True, slots=True, eq=False)
class Work:
    """The work of moving each group's distribution onto the whole's: ``numerators / denominators``."""

    numerators: AnyArray
    denominators: AnyArray

    def at_most(self, threshold: Fraction) -> Mask:
        """Which groups need no more work than a threshold, exactly."""
        return at_most(self.numerators, self.denominators, threshold)


def equal_work(histogram: Histogram) -> Work:
    """The work under the distance 1 between all values."""
    sizes = group_sums(histogram.indptr, histogram.counts)
    rows = int(histogram.overall.sum())
    differences = _differences(histogram.indptr, histogram.values, histogram.counts, histogram.overall, sizes)
    return Work(differences, 2 * times(sizes, rows))


def hierarchical_work(histogram: Histogram, levels: list[Rows]) -> Work:
    """The work under the distance by common nodes.

    `levels`: the node of each value, level by level: level 0 are the values themselves, the root is left out.
    """
    sizes = group_sums(histogram.indptr, histogram.counts)
    rows = int(histogram.overall.sum())
    total: AnyArray = np.zeros(len(sizes), dtype=np.int64)
    for nodes in levels:
        overall = summed(nodes, histogram.overall, int(nodes.max(initial=0)) + 1)
        indptr, values, counts = _merged(histogram.indptr, nodes[histogram.values], histogram.counts)
        total = total + _differences(indptr, values, counts, overall, sizes)
    return Work(total, 2 * len(levels) * times(sizes, rows))


def ordered_at_most(histogram: Histogram, ranks: Rows, count: int, threshold: Fraction) -> Mask:
    """Which groups need no more work than a threshold under the distance by rank, exactly.

    `ranks`: the rank of each value, 0 … count - 1; values of one rank are one value. `count`: the number of ranks: m
    in the paper.
    """
    sizes = group_sums(histogram.indptr, histogram.counts)
    rows = int(histogram.overall.sum())
    largest = int(sizes.max(initial=0)) * rows * count
    work = ordered_work(histogram, ranks, count, np.int64 if largest < LARGEST // 4 else np.float64)
    if work.numerators.dtype != np.float64:
        return work.at_most(threshold)
    # Too long for integers: floating point decides where it is certain, and Python's integers where it is not.
    limit = np.asarray(work.denominators, dtype=np.float64) * float(threshold)
    error = ROUNDING * (np.diff(histogram.indptr) + 8) * (sizes.astype(np.float64) * rows * count)
    kept: Mask = work.numerators <= limit
    unsure = np.flatnonzero(np.abs(work.numerators - limit) <= error)
    if len(unsure):
        kept[unsure] = ordered_work(_taken(histogram, unsure), ranks, count, object).at_most(threshold)
    return kept


def ordered_work(histogram: Histogram, ranks: Rows, count: int, number: type) -> Work:
    """The work under the distance by rank, in the given kind of numbers.

    Between two neighboring values of a group its cumulated share stands still while that of the whole climbs: it is
    overtaken at most once, at a place that a binary search finds, and prefix sums give the areas on both sides.
    """
    climbed = np.cumsum(summed(ranks, histogram.overall, count))
    area: AnyArray = np.concatenate(([0], np.cumsum(climbed))).astype(number)
    rows = int(climbed[-1]) if count else 0
    sizes = group_sums(histogram.indptr, histogram.counts)

    groups = owners(histogram.indptr)
    places = ranks[histogram.values]
    order = np.lexsort([places, groups])
    places, counts = places[order], histogram.counts[order]
    before = np.concatenate(([0], np.cumsum(counts)))
    reached = before[1:] - before[histogram.indptr[:-1]][groups]
    ends = np.append(places[1:], count)
    ends[histogram.indptr[1:][np.diff(histogram.indptr) > 0] - 1] = count

    here = sizes[groups]
    level = times(reached, rows)
    overtaken = np.searchsorted(climbed, np.asarray(level // here, dtype=np.int64), side="right")
    overtaken = np.clip(overtaken, places, ends)
    level, here = level.astype(number), here.astype(number)
    above = level * (overtaken - places).astype(number) - here * (area[overtaken] - area[places])
    under = here * (area[ends] - area[overtaken]) - level * (ends - overtaken).astype(number)
    total = group_sums(histogram.indptr, above + under)
    filled = np.flatnonzero(np.diff(histogram.indptr))
    total[filled] += sizes[filled].astype(number) * area[places[histogram.indptr[filled]]]
    return Work(total, times(times(sizes, rows), max(count - 1, 1)))


def _differences(indptr: Indptr, values: Codes, counts: Counts, overall: Counts, sizes: Counts) -> AnyArray:
    """The sum over all values of |c·N - C·n|, although only the values that a group holds are looked at.

    All values together have C·n summing to N·n; those that a group holds are taken out and put back as differences.
    """
    rows = int(overall.sum())
    groups = owners(indptr)
    whole = times(overall[values], sizes[groups])
    return np.asarray(times(sizes, rows) + group_sums(indptr, np.abs(times(counts, rows) - whole) - whole))


def _merged(indptr: Indptr, keys: Rows, counts: Counts) -> tuple[Indptr, Codes, Counts]:
    """Compressed rows in which entries of one group and key are added up."""
    width = int(keys.max(initial=0)) + 1
    pairs, place = np.unique(owners(indptr) * width + keys, return_inverse=True)
    sums = summed(place, counts, len(pairs))
    return np.searchsorted(pairs, np.arange(len(indptr)) * width), (pairs % width).astype(np.int32), sums


def _taken(histogram: Histogram, groups: Rows) -> Histogram:
    """The histogram of some of the groups."""
    indptr, entries = taken(histogram.indptr, groups)
    return replace(
        histogram, indptr=indptr, values=histogram.values[entries], counts=histogram.counts[entries]
    )


BLOCK = 1 << 22
"""Cells that are laid out at a time."""


def published_work(
    tally: Tally, distance: str, order: tuple[str, ...] | None, tree: Tree | None
) -> tuple[AnyArray, AnyArray]:
    """The work for each class as two whole numbers, the second of which is what it is divided by.

    Written a second time, so that a release is not judged by the code that made it: here all values of the column are
    laid out for a block of classes at a time, and earth is moved as the paper tells it.
    """
    scale = times(tally.sizes, tally.total)
    if not tally.total:
        return scale, scale
    if distance == "equal":
        return _equal(tally), scale
    if distance == "ordered":
        ranks, count = published_ranks(tally, order)
        return _ordered(tally, ranks, count), times(scale, max(count - 1, 1))
    if tree is None:
        raise WrongUse("The hierarchical distance needs the tree of the values in the promise.")
    paths = levels_of(tree, tally.column.domain.labels, np.flatnonzero(tally.overall))
    return _hierarchical(tally, paths), times(scale, max(len(paths) - 1, 1))


def _equal(tally: Tally) -> AnyArray:
    """All that a class has too much of is carried over the distance 1."""
    of_class = np.repeat(np.arange(len(tally.sizes)), np.diff(tally.indptr))
    surplus = times(tally.counts, tally.total) - times(tally.overall[tally.values], tally.sizes[of_class])
    work: AnyArray = np.zeros(len(tally.sizes), dtype=surplus.dtype)
    np.add.at(work, of_class, np.maximum(surplus, 0))
    return work


def _ordered(tally: Tally, ranks: Rows, count: int) -> AnyArray:
    """Rank by rank, whatever has piled up is carried one rank on."""
    widest = int(tally.sizes.max(initial=0)) * tally.total * max(count, 1)
    if widest >= LARGEST or len(tally.sizes) * count > BLOCK << 4:
        # Too wide to lay out: the sparse sums of the other file, which tests hold against the sums below.
        histogram = Histogram(tally.indptr, tally.values, tally.counts, tally.overall)
        return ordered_work(
            histogram, ranks, count, object if widest >= LARGEST // 4 else np.int64
        ).numerators
    overall = summed(ranks, tally.overall, count)
    work = np.zeros(len(tally.sizes), dtype=np.int64)
    for block, counts in _blocks(tally, ranks, count):
        piled = np.cumsum(counts * tally.total - overall * tally.sizes[block, None], axis=1)
        work[block] = np.abs(piled).sum(axis=1)
    return work


def _hierarchical(tally: Tally, paths: list[Rows]) -> AnyArray:
    """Level by level, the children of a node even out what they have too much and too little.

    `paths`: the node of each value on each level that counts, the values themselves first and the root last.
    """
    work = np.zeros(len(tally.sizes), dtype=np.int64)
    for block, counts in _blocks(tally, np.arange(len(tally.overall)), len(tally.overall)):
        extra = counts * tally.total - tally.overall * tally.sizes[block, None]
        for level in range(1, len(paths)):
            below, above = paths[level - 1], paths[level]
            one_leaf = np.unique(below, return_index=True)[1]
            node = above[one_leaf]
            width = int(above.max(initial=0)) + 1
            surplus, lack = np.zeros((2, len(extra), width), dtype=np.int64)
            np.add.at(surplus.T, node, np.maximum(extra, 0).T)
            np.add.at(lack.T, node, np.maximum(-extra, 0).T)
            work[block] += level * np.minimum(surplus, lack).sum(axis=1)
            extra = surplus - lack
    return work


def _blocks(tally: Tally, places: Rows, width: int) -> Iterator[tuple[slice, Counts]]:
    """Counts of classes laid out over all values, some classes at a time."""
    step = max(BLOCK // max(width, 1), 1)
    for begin in range(0, len(tally.sizes), step):
        end = min(begin + step, len(tally.sizes))
        entries = slice(int(tally.indptr[begin]), int(tally.indptr[end]))
        rows = np.repeat(np.arange(end - begin), np.diff(tally.indptr[begin : end + 1]))
        counts = np.zeros((end - begin, width), dtype=np.int64)
        np.add.at(counts, (rows, places[tally.values[entries]]), tally.counts[entries])
        yield slice(begin, end), counts
