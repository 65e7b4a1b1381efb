"""Count how often each secret occurs among the baskets that hold a set of items."""

import numpy as np

from shoal.kernels._jit import jit
from shoal.kernels.cohorts import Array, Holders, cohort_rows


@jit
def secret_counts(sets: Array, holders: Holders, secret_indptr: Array, secrets: Array, kinds: int) -> Array:
    """Count the secrets of the baskets that hold each of some sets.

    `sets`: one set per row, ranks ascending; the cohort of a prefix that neighboring sets share is looked up once.
    `holders`: the baskets of the items. `secret_indptr`, `secrets`, `kinds`: the secrets of each basket, and how many
    secrets there are. Returns one row per set, one column per secret.
    """
    count, size = sets.shape
    counts = np.zeros((count, kinds), dtype=np.int64)
    beginning = np.empty(len(holders.indptr) - 1, dtype=np.int32)
    rows = np.empty(len(holders.indptr) - 1, dtype=np.int32)
    shared = 0
    for place in range(count):
        items = sets[place]
        if size == 1:
            found = cohort_rows(holders, rows, 0, items, rows)
        else:
            same = place > 0
            for column in range(size - 1):
                same = same and sets[place - 1, column] == items[column]
            if not same:
                shared = cohort_rows(holders, beginning, 0, items[:-1], beginning)
            # If no basket is left, stop here: a count of 0 would mean all baskets of the last item.
            found = cohort_rows(holders, beginning, shared, items[-1:], rows) if shared else 0
        for row in rows[:found]:
            for entry in range(secret_indptr[row], secret_indptr[row + 1]):
                counts[place, secrets[entry]] += 1
    return counts
