"""Groups as they are published: in canonical order, with sums of their sensitive items."""

import numpy as np

from shoal.arrays import Rows
from shoal.data.basket_orders import taken
from shoal.data.baskets import Baskets, ragged_ranks
from shoal.data.groups import Groups
from shoal.methods.cahd.sheet import Sheet


def publish(baskets: Baskets, sheet: Sheet, rows: Rows, groups: Rows) -> tuple[Groups, Rows]:
    """Put groups together: baskets of public items in canonical order, counts of the sensitive ones.

    Parameters
    ----------
    rows, groups
        All rows in any order, and the group of each.

    Returns
    -------
    The groups in canonical order, and the row of each published basket. Neither a basket's place in its group nor
    a group's place tells who holds a sensitive item: both follow from the published sets.
    """
    count = int(groups.max()) + 1
    # The distinct baskets are numbered in canonical order, and rows that tie are published alike.
    baskets_of, order = sheet.distinct.of_row[rows], np.lexsort((sheet.distinct.of_row[rows], groups))
    indptr = np.concatenate(([0], np.cumsum(np.bincount(groups, minlength=count))))
    secret_indptr, secrets = sheet.secrets_of(rows[order])
    kinds = max(len(sheet.sensitive), 1)
    held = np.repeat(groups[order], np.diff(secret_indptr)) * kinds + secrets
    pairs, counts = np.unique(held, return_counts=True)
    summary = np.searchsorted(pairs, np.arange(count + 1) * kinds)
    told = np.empty(2 * len(pairs), dtype=np.int64)
    told[0::2], told[1::2] = pairs % kinds, counts
    by_content = np.lexsort(
        (ragged_ranks(2 * summary, told), ragged_ranks(indptr, baskets_of[order].astype(np.int64)))
    )
    group_indptr, members = taken(indptr, by_content)
    summary_indptr, entries = taken(summary, by_content)
    published = order[members]
    basket_indptr, places = taken(sheet.distinct.indptr, baskets_of[published])
    items = sheet.public[sheet.distinct.items[places]]
    sensitive = sheet.sensitive[(pairs % kinds)[entries]]
    used = np.zeros(len(baskets.vocabulary), dtype=np.bool_)
    used[items], used[sensitive] = True, True
    number = (np.cumsum(used) - 1).astype(np.int32)
    return (
        Groups(
            group_indptr,
            basket_indptr,
            number[items],
            summary_indptr,
            number[sensitive],
            counts[entries],
            tuple(label for label, kept in zip(baskets.vocabulary, used.tolist(), strict=True) if kept),
        ),
        rows[published],
    )
