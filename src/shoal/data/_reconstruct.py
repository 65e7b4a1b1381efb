"""Draw datasets from which a release in clusters or groups could have been made."""

import numpy as np

from shoal.arrays import Counts, Items, Mask, Rows, ascending, distinct, indptr_of, owners
from shoal.data.baskets import Baskets, baskets_of_pairs
from shoal.data.clusters import Clusters
from shoal.data.groups import Groups
from shoal.errors import BadData, WrongUse


def reconstructed(data: object, count: int, seed: int) -> tuple[Baskets, ...]:
    """Draw several datasets that are consistent with published clusters or groups, each in canonical order."""
    if not isinstance(data, Clusters | Groups):
        raise WrongUse("Only clusters and groups are reconstructed; other releases can be used as they are.")
    if count < 1 or seed < 0:
        raise WrongUse(f"`count` must be at least 1 and `seed` at least 0, not {count} and {seed}.")
    drawn = (
        reconstruct(data, one) if isinstance(data, Clusters) else reconstruct_groups(data, one)
        for one in range(seed, seed + count)
    )
    return tuple(baskets.take(baskets.canonical_order()) for baskets in drawn)


def reconstruct(clusters: Clusters, seed: int) -> Baskets:
    """Draw one of the datasets that are consistent with a disassociated release.

    The sub-records of a chunk are assigned to different baskets of its cluster, with all choices equally likely and
    independent between chunks. A shared chunk skips those parts of its joint cluster that publish one of its items in a
    chunk of their own. Each term of a term chunk is assigned to one basket of its cluster, since its count is not
    published. No basket stays empty if that can be avoided: terms go to empty baskets first and may then be repeated;
    in a cluster without terms, sub-records are moved from baskets that hold several.

    `clusters`: the published clusters. `seed`: the same seed draws the same dataset. Draw several, and average what is
    computed from them. Raises `BadData` if a chunk has more sub-records than its cluster has baskets: no dataset is
    consistent with that.
    """
    random = np.random.default_rng(seed)
    first, counts = clusters.spans
    owner = clusters.owners
    records = np.diff(clusters.record_indptr)
    if (records > counts[owner]).any():
        raise BadData("a chunk has more sub-records than its cluster has baskets; `shoal verify` names it.")
    rows = first[owner].repeat(records) + _placed(clusters, first, counts, random)
    simple = np.flatnonzero(clusters.sizes > 0)
    by_row = simple[np.argsort(first[simple])]
    cluster_of_row = np.repeat(by_row, clusters.sizes[by_row])
    own = np.repeat(clusters.sizes[owner] > 0, records)
    bare = np.diff(clusters.term_indptr) == 0
    rows = _spread(rows, own, cluster_of_row, bare, random)
    term_rows, terms = _terms(clusters, first, rows, cluster_of_row, random)
    return baskets_of_pairs(
        np.concatenate((np.repeat(rows, np.diff(clusters.item_indptr)), term_rows)),
        np.concatenate((clusters.items, terms)),
        len(cluster_of_row),
        clusters.vocabulary,
    )


def reconstruct_groups(groups: Groups, seed: int) -> Baskets:
    """Draw one of the datasets that are consistent with a release in groups.

    Public items are published basket by basket. The occurrences of a sensitive item are assigned to different baskets
    of its group, with all choices equally likely and independent of the other sensitive items.

    Raises `BadData` if a sensitive item occurs more often than its group has baskets: no dataset is consistent with
    that.
    """
    owner = owners(groups.sensitive_indptr)
    counts = groups.sensitive_counts
    if (counts > groups.sizes[owner]).any():
        raise BadData("an item occurs more often than its group has baskets; `shoal verify` names it.")
    places = draw_distinct(groups.sizes[owner], counts, np.random.default_rng(seed))
    rows = np.repeat(groups.group_indptr[owner], counts) + places
    baskets = len(groups.basket_indptr) - 1
    public = owners(groups.basket_indptr)
    return baskets_of_pairs(
        np.concatenate((public, rows)),
        np.concatenate((groups.items, np.repeat(groups.sensitive_items, counts))),
        baskets,
        groups.vocabulary,
    )


def _placed(clusters: Clusters, first: Rows, counts: Counts, random: np.random.Generator) -> Rows:
    """Draw a place for each sub-record among the baskets of its cluster."""
    records = np.diff(clusters.record_indptr)
    totals = counts[clusters.owners]
    chunk, cluster = _barred(clusters, first, counts)
    barred = np.bincount(chunk, weights=counts[cluster], minlength=len(records)).astype(np.int64)
    # A release made by other software may leave too little room; then no part is skipped.
    room = totals - barred >= records
    chunk, cluster = chunk[room[chunk]], cluster[room[chunk]]
    drawn = draw_distinct(np.where(room, totals - barred, totals), records, random)
    if not len(chunk):
        return drawn
    lengths = counts[cluster]
    passed = indptr_of(lengths)
    begin = np.searchsorted(chunk, np.arange(len(records)))
    open_before = first[cluster] - first[clusters.owners[chunk]] - (passed[:-1] - passed[begin[chunk]])
    width = int(totals.max()) + 1
    of_record = np.repeat(np.arange(len(records)), records)
    met = np.searchsorted(chunk * width + open_before, of_record * width + drawn, side="right")
    return drawn + passed[np.maximum(met, begin[of_record])] - passed[begin[of_record]]


def _barred(clusters: Clusters, first: Rows, counts: Counts) -> tuple[Rows, Rows]:
    """The parts that shared chunks skip: pairs of a chunk and a cluster below it, without clusters inside of others."""
    chunk, item, _ = clusters.chunk_items(clusters.parents[clusters.owners] >= 0)
    shared, place = clusters.shared_above(clusters.owners[chunk], item)
    width = max(len(clusters), 1)
    pairs = distinct(shared * width + clusters.owners[chunk[place]])
    shared, cluster = pairs // width, pairs % width
    order = np.lexsort((-counts[cluster], first[cluster], shared))
    shared, cluster = shared[order], cluster[order]
    span = int(counts.sum()) + 1
    ends = np.maximum.accumulate(shared * span + first[cluster] + counts[cluster])
    outer = np.ones(len(shared), dtype=np.bool_)
    outer[1:] = shared[1:] * span + first[cluster[1:]] >= ends[:-1]
    return shared[outer], cluster[outer]


def draw_distinct(totals: Counts, wanted: Counts, random: np.random.Generator) -> Rows:
    """For each entry, draw `wanted` different numbers below its total; all are returned in one array.

    If few of many numbers are wanted, they are drawn at random and duplicates are drawn again; otherwise all numbers
    are shuffled and the first ones are taken. Time and memory are proportional to the numbers that are wanted.
    """
    ends = np.cumsum(wanted)
    drawn = np.empty(int(ends[-1]) if len(ends) else 0, dtype=np.int64)
    entry = np.repeat(np.arange(len(totals)), wanted)
    dense = 2 * wanted >= totals
    shuffled = np.flatnonzero(dense)
    slots = np.repeat(shuffled, totals[shuffled])
    order = np.argsort(slots + random.random(len(slots)))
    begins = np.cumsum(totals[shuffled]) - totals[shuffled]
    place = np.arange(len(slots)) - np.repeat(begins, totals[shuffled])
    number = (order - np.repeat(begins, totals[shuffled]))[place < wanted[slots]]
    drawn[dense[entry]] = number
    todo = np.flatnonzero(~dense[entry])
    places = todo
    while len(todo):
        drawn[todo] = random.integers(0, totals[entry[todo]])
        todo = _repeated(entry, drawn, places)
        again = np.zeros(len(totals), dtype=np.bool_)
        again[entry[todo]] = True
        places = places[again[entry[places]]]
    return drawn


def _repeated(entry: Rows, drawn: Rows, places: Rows) -> Rows:
    """Those of the places whose numbers repeat an earlier number of the same entry."""
    order = places[ascending(entry[places], drawn[places])]
    same = (entry[order[1:]] == entry[order[:-1]]) & (drawn[order[1:]] == drawn[order[:-1]])
    return np.sort(order[1:][same])


def _spread(rows: Rows, own: Mask, cluster_of_row: Rows, bare: Mask, random: np.random.Generator) -> Rows:
    """Move sub-records from baskets that hold several to empty ones, in clusters without terms.

    `own`: whether a sub-record belongs to a record chunk; those of shared chunks are not moved.
    """
    empty = np.bincount(rows, minlength=len(cluster_of_row)) == 0
    targets = np.flatnonzero(empty & bare[cluster_of_row])
    if not len(targets):
        return rows
    order = np.argsort(random.random(len(rows)))
    order = order[ascending(rows[order], own[order])]
    later = np.concatenate(([False], rows[order[1:]] == rows[order[:-1]]))
    spare = order[later & own[order]]
    spare, targets = _matched(spare, cluster_of_row[rows[spare]], targets, cluster_of_row[targets], random)
    moved = rows.copy()
    moved[spare] = targets
    return moved


def _terms(
    clusters: Clusters, first: Rows, rows: Rows, cluster_of_row: Rows, random: np.random.Generator
) -> tuple[Rows, Items]:
    """Draw a basket for each term of each term chunk, and an additional term for each basket that is still empty."""
    owner = owners(clusters.term_indptr)
    target = first[owner] + random.integers(0, np.maximum(clusters.sizes[owner], 1))
    count = np.diff(clusters.term_indptr)
    empty = np.bincount(rows, minlength=len(cluster_of_row)) == 0
    empty_rows = np.flatnonzero(empty & (count[cluster_of_row] > 0))
    place, filled = _matched(np.arange(len(owner)), owner, empty_rows, cluster_of_row[empty_rows], random)
    target[place] = filled
    empty[target] = False
    rest = np.flatnonzero(empty & (count[cluster_of_row] > 0))
    holder = cluster_of_row[rest]
    extra = clusters.terms[clusters.term_indptr[holder] + random.integers(0, np.maximum(count[holder], 1))]
    return np.concatenate((target, rest)), np.concatenate((clusters.terms, extra))


def _matched(
    left: Rows, left_group: Rows, right: Rows, right_group: Rows, random: np.random.Generator
) -> tuple[Rows, Rows]:
    """Match left and right entries of the same group at random, as many pairs as possible."""
    groups = int(max(left_group.max(initial=-1), right_group.max(initial=-1))) + 1
    pairs = np.minimum(np.bincount(left_group, minlength=groups), np.bincount(right_group, minlength=groups))
    sides = []
    for entries, group in ((left, left_group), (right, right_group)):
        order = np.argsort(group + random.random(len(entries)))
        size = np.bincount(group, minlength=groups)
        rank = np.arange(len(entries)) - np.repeat(np.cumsum(size) - size, size)
        sides.append(entries[order][rank < pairs[group[order]]])
    return sides[0], sides[1]
