"""Three ways to group baskets: near clusters by public items alone, pivots around sensitive baskets, halved blocks."""

from dataclasses import dataclass, replace

import numpy as np

from shoal.arrays import Counts, Rows, ascending, indptr_of, owners
from shoal.data._near_clusters import WINDOW, Pairs, clusters_of, cores, orders_of_units
from shoal.methods.cahd._split_baskets import Sheet


@dataclass(frozen=True, slots=True, eq=False)
class Grouping:
    """Which rows belong together.

    `rows`: the rows in their order. `groups`: the group of each of these rows, counted from 0. `given_up`: for how many
    sensitive rows no group was formed; such a row joined the remaining rows.
    """

    rows: Rows
    groups: Rows
    given_up: int = 0


def pivots(sheet: Sheet, orders: tuple[Rows, ...], ties: Rows, p: int, alpha: int) -> Grouping:
    """Group each sensitive row with the p - 1 rows near it that share the most items with it.

    The remaining rows are one group.
    """
    elsewhere = np.zeros(len(sheet.sensitive), dtype=np.int64)
    grouping = around_pivots(sheet, orders, ties, p, alpha, elsewhere)
    groups = grouping.groups.copy()
    groups[groups < 0] = groups.max(initial=-1) + 1
    return replace(grouping, groups=groups)


def around_pivots(
    sheet: Sheet, orders: tuple[Rows, ...], ties: Rows, p: int, alpha: int, elsewhere: Counts
) -> Grouping:
    """Group rows as `pivots` does, but leave the remaining rows in group -1.

    `ties`: the order of rows with equal baskets, which must tell nothing about their sensitive items. `elsewhere`: for
    each sensitive item, how many more rows with it the remaining rows must be able to absorb; see the kernel.
    """
    from shoal.kernels.cahd import form_groups

    rows = sheet.arranged(orders[0], ties)
    place = np.empty(len(rows), dtype=np.int64)
    place[rows] = np.arange(len(rows))
    tables = [np.arange(len(rows)), *(place[sheet.arranged(order, ties)] for order in orders[1:])]
    secret_indptr, secrets = sheet.secrets_of(rows)
    groups, given_up = form_groups(
        np.stack(tables).astype(np.int32),
        sheet.distinct.of_row[rows],
        sheet.distinct.indptr,
        sheet.distinct.items,
        sheet.distinct.width,
        secret_indptr,
        secrets,
        len(sheet.sensitive),
        p,
        min(alpha * p, len(rows)),
        elsewhere,
    )
    return Grouping(rows, groups, int(given_up))


def blocks(sheet: Sheet, order: Rows, ties: Rows, p: int) -> Grouping:
    """Cut the ordered rows in half, and the halves again, as long as both keep the degree.

    Rows with the same basket stay together. Public items alone decide where to cut; sensitive ones can only forbid a
    cut.
    """
    from shoal.kernels.cahd import halve

    rows = sheet.arranged(order, ties)
    sizes = sheet.distinct.counts[order]
    ends = indptr_of(sizes)
    secret_indptr, secrets = sheet.secrets_of(rows)
    first = halve(ends, secret_indptr[ends], secrets, len(sheet.sensitive), p)
    groups = owners(ends[first])
    return Grouping(rows, groups)


def near(sheet: Sheet, ties: Rows, p: int, supports: Counts | None = None) -> Grouping:
    """Group rows in clusters of p similar ones, found by public items alone and merged where the degree requires it.

    Clusters come in pairs. If one of a pair breaks the degree, both become one group, so that it cannot be seen which
    one broke it. A pair that breaks the degree takes in other pairs; see the kernel.

    `ties`: the order of rows with equal baskets, which must tell nothing about their sensitive items. `supports`: how
    many of all rows hold each public item, if these rows are only a part of them.
    """
    found = clustered(sheet, ties, p, supports)
    cluster = found.cluster_of
    pair = found.pair[cluster]
    by_pair = ascending(pair)
    home = _homes(sheet, found.rows[by_pair], pair[by_pair], p)
    broken, _, counts = _secret_counts(sheet, found.rows, cluster)
    broken = broken[counts * p > np.diff(found.starts)[broken]]
    joined = home != np.arange(len(home))
    joined[home[joined]] = True
    joined[found.pair[broken]] = True
    group = np.where(joined[pair], home[pair], len(home) + cluster)
    return Grouping(found.rows, np.unique(group, return_inverse=True)[1])


def clustered(sheet: Sheet, ties: Rows, p: int, supports: Counts | None) -> Pairs:
    """The paired clusters; `ties` decides which of several equal rows goes where."""
    found = clusters_of(sheet.distinct, p, supports)
    return replace(found, rows=sheet.arranged(np.arange(len(sheet.distinct)), ties)[found.rows])


def _homes(sheet: Sheet, rows: Rows, pairs: Rows, p: int) -> Rows:
    """For each pair of clusters, the pair that started its group.

    `rows`, `pairs`: all rows pair by pair, and the pair of each.
    """
    from shoal.kernels.taking_in import Units, take_in

    distinct, width = sheet.distinct, sheet.distinct.width
    sizes = np.bincount(pairs)
    starts = indptr_of(sizes)
    core_indptr, core, summed = cores(distinct.indptr, distinct.items, width, distinct.of_row[rows], starts)
    owner, secrets, counts = _secret_counts(sheet, rows, pairs)
    begins = np.searchsorted(owner, np.arange(len(sizes) + 1))
    units = Units(*summed, sizes, begins, secrets, counts)
    tables = np.stack(orders_of_units(core_indptr, core, width)).astype(np.int32)
    home: Rows = take_in(tables, units, width, len(sheet.sensitive), p, WINDOW)
    return home


def _secret_counts(sheet: Sheet, rows: Rows, group: Rows) -> tuple[Rows, Rows, Counts]:
    """The sensitive items that occur in each group: entries of group, item and count."""
    kinds = len(sheet.sensitive)
    indptr, secrets = sheet.secrets_of(rows)
    held, counts = np.unique(np.repeat(group, np.diff(indptr)) * kinds + secrets, return_counts=True)
    return held // kinds, held % kinds, counts
