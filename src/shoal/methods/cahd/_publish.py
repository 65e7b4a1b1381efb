"""Publish groups: in canonical order, with counts of their sensitive items."""

from dataclasses import replace

import numpy as np

from shoal.arrays import Counts, Rows, ascending, indptr_by, taken
from shoal.data.baskets import Baskets, ragged_ranks
from shoal.data.groups import Groups
from shoal.methods.cahd._split_baskets import Sheet


def publish(baskets: Baskets, sheet: Sheet, rows: Rows, groups: Rows) -> tuple[Groups, Rows]:
    """Make the published groups: baskets of public items in canonical order, and counts of the sensitive ones.

    `rows`, `groups`: all rows in any order, and the group of each. Returns the groups in canonical order, and the row
    of each published basket. Neither the place of a basket in its group nor the place of a group reveals who holds a
    sensitive item, since both follow from the published sets.
    """
    published, members = grouped(baskets, sheet, rows, groups)
    published = without_unused(published)
    object.__setattr__(published, "canonical", True)
    published.kept["distinct"] = replace(sheet.distinct, of_row=sheet.distinct.of_row[members])
    return published, members


def grouped(baskets: Baskets, sheet: Sheet, rows: Rows, groups: Rows) -> tuple[Groups, Rows]:
    """Make the groups as `publish` does, but with the whole vocabulary of the baskets."""
    from shoal.kernels.ragged import take_rows

    count = int(groups.max()) + 1
    # The distinct baskets are numbered in canonical order, and rows that tie are published identically.
    baskets_of = sheet.distinct.of_row[rows]
    order = ascending(groups, baskets_of)
    indptr = indptr_by(groups, count)
    secret_indptr, secrets = sheet.secrets_of(rows[order])
    kinds = max(len(sheet.sensitive), 1)
    held = np.repeat(groups[order], np.diff(secret_indptr)) * kinds + secrets
    pairs, counts = np.unique(held, return_counts=True)
    summary = np.searchsorted(pairs, np.arange(count + 1) * kinds)
    summary_pairs = np.empty(2 * len(pairs), dtype=np.int64)
    summary_pairs[0::2], summary_pairs[1::2] = pairs % kinds, counts
    by_content = ascending(ragged_ranks(indptr, baskets_of[order]), ragged_ranks(2 * summary, summary_pairs))
    group_indptr, members = taken(indptr, by_content)
    summary_indptr, entries = taken(summary, by_content)
    published = order[members]
    basket_indptr, items = take_rows(sheet.distinct.indptr, sheet.distinct.items, baskets_of[published])
    sensitive = sheet.sensitive[(pairs % kinds)[entries]]
    return (
        Groups(
            group_indptr,
            basket_indptr,
            sheet.public[items],
            summary_indptr,
            sensitive,
            counts[entries],
            baskets.vocabulary,
        ),
        rows[published],
    )


def empty_groups(baskets: Baskets, supports: Counts) -> Groups:
    """Groups without any group; the vocabulary has the items that occur."""
    none = np.empty(0, dtype=np.int32)
    begin = np.zeros(1, dtype=np.int64)
    vocabulary = tuple(baskets.vocabulary[item] for item in np.flatnonzero(supports).tolist())
    return Groups(begin, begin, none, begin, none, np.empty(0, dtype=np.int64), vocabulary)


def without_unused(groups: Groups) -> Groups:
    """The same groups, with unused items dropped from the vocabulary."""
    used = np.zeros(len(groups.vocabulary), dtype=np.bool_)
    used[groups.items], used[groups.sensitive_items] = True, True
    number = (np.cumsum(used) - 1).astype(np.int32)
    return replace(
        groups,
        items=number[groups.items],
        sensitive_items=number[groups.sensitive_items],
        vocabulary=tuple(groups.vocabulary[item] for item in np.flatnonzero(used).tolist()),
    )
