"""Swap baskets between groups, so that all groups together show which public items go with sensitive ones."""

import numpy as np

from shoal.arrays import owners, taken
from shoal.errors import WrongUse
from shoal.methods.cahd._formation import Grouping
from shoal.methods.cahd._split_baskets import Sheet

PAIRS = 50_000_000
"""The most pairs of a sensitive and a public item; each takes twice eight bytes, for truth and estimate."""


def improve(sheet: Sheet, grouping: Grouping, window: int) -> tuple[Grouping, int, float]:
    """Let baskets without sensitive items trade places, as long as the loss falls.

    The size and the counts of sensitive items of every group stay the same, and so does the degree. The loss is that of
    `swap_rows`: how far the estimated numbers of baskets with a sensitive and a public item are from the truth.

    Returns the new grouping, the number of swaps, and by how much the loss fell. Raises `WrongUse` if there are too
    many pairs of a sensitive and a public item.
    """
    from shoal.kernels.swaps import swap_rows

    kinds, width = len(sheet.sensitive), sheet.distinct.width
    if kinds * width > PAIRS:
        raise WrongUse(
            f"--improve looks at every pair of a sensitive and a public item: {kinds} × {width} of them are more than "
            f"{PAIRS}; omit it."
        )
    rows, groups = grouping.rows, grouping.groups.astype(np.int64).copy()
    secret_indptr, secrets = sheet.secrets_of(rows)
    basket = sheet.distinct.of_row[rows]
    indptr, places = taken(sheet.distinct.indptr, basket)
    items = sheet.distinct.items[places].astype(np.int64)
    sizes = np.bincount(groups)
    held = np.repeat(groups, np.diff(secret_indptr)) * kinds + secrets
    pairs, counts = np.unique(held, return_counts=True)
    summary_indptr = np.searchsorted(pairs, np.arange(len(sizes) + 1) * kinds)
    rates = counts / sizes[pairs // kinds]

    # True counts pair the items of a row with its own secrets, estimates with all secrets of its group.
    owner = owners(secret_indptr)
    truth_begin, own = taken(indptr, owner)
    truth = np.bincount(
        np.repeat(secrets, np.diff(truth_begin)) * width + items[own], minlength=kinds * width
    )
    begin, entries = taken(summary_indptr, groups)
    estimates = np.zeros(kinds * width)
    owner = owners(begin)
    told_begin, entries_of = taken(indptr, owner)
    lengths = np.diff(told_begin)
    keys = np.repeat((pairs % kinds)[entries], lengths) * width + items[entries_of]
    estimates += np.bincount(keys, np.repeat(rates[entries], lengths), kinds * width)
    swaps, gained = swap_rows(
        groups,
        np.diff(secret_indptr) > 0,
        basket,
        sheet.distinct.indptr,
        sheet.distinct.items,
        summary_indptr,
        pairs % kinds,
        rates,
        truth.astype(np.float64).reshape(kinds, width),
        estimates.reshape(kinds, width),
        window,
    )
    return Grouping(rows, groups, grouping.given_up), int(swaps), float(gained)
