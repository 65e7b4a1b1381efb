"""How often each secret occurs among the baskets that hold a set."""

import numpy as np

from shoal.kernels._jit import jit
from shoal.kernels.cohorts import Array, Holders, cohort_rows


@jit
def secret_counts(sets: Array, holders: Holders, secret_indptr: Array, secrets: Array, kinds: int) -> Array:
    """Count the secrets of the baskets that hold each of some sets.

    `sets`: a row a set, ranks ascending. The baskets of a beginning that two neighbors share are looked up once.
    `holders`: the items of the sets. `secret_indptr`, `secrets`, `kinds`: the secrets of each basket, and how many
    there are. Returns a row a set, a column a secret.
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
            # Without baskets, those of the last item alone would be begun with.
            found = cohort_rows(holders, beginning, shared, items[-1:], rows) if shared else 0
        for row in rows[:found]:
            for entry in range(secret_indptr[row], secret_indptr[row + 1]):
                counts[place, secrets[entry]] += 1
    return counts
