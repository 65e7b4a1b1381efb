"""Find sets of columns that too few rows hold, or that reveal a secret: depth-first search over bitmaps.

A set is represented by the bitmap of the rows that hold it, and extended by the columns after its last one. Broken sets
are written to the result and not extended.
"""

from typing import NamedTuple

import numpy as np

from shoal.arrays import AnyArray, Counts, Mask
from shoal.kernels._jit import jit
from shoal.kernels.popcount import count_all_three, count_both

SIZE, SECRET, COUNT, ITEMS = 0, 1, 2, 3
"""A broken set: how many rows hold it, their most frequent secret (-1 if the rows are too few), how many rows hold that
secret, and the columns of the set."""


class Bound(NamedTuple):
    """The fewest rows of a set, and for each number of rows how many of them may hold the same secret."""

    k: int
    limits: Counts


@jit
def judge_pairs(
    columns: AnyArray, secrets: AnyArray, own: Mask, safe: Mask, bound: Bound, found: Counts
) -> tuple[int, int]:
    """Judge every pair of columns that some row holds and whose first column is wanted.

    `columns`, `secrets`: bitmaps with one bit per row of the data. `own`: which columns are wanted. `safe`: filled with
    which pairs are held and not broken; pairs that are not wanted count as such. `found`: filled with the broken pairs,
    one per row, as far as there is room. Returns the number of rows of the rarest pair, and how many pairs are broken;
    the search ends when `found` is full.
    """
    least, broken = len(bound.limits), 0
    among = np.empty(len(secrets), dtype=np.int64)
    for root in range(len(columns)):
        if not own[root]:
            safe[root] = True
            continue
        for secret in range(len(secrets)):
            among[secret] = count_both(columns[root], secrets[secret])
        for column in range(root + 1, len(columns)):
            size = count_both(columns[root], columns[column])
            if size == 0:
                continue
            least = min(least, size)
            worst, most = -1, 0
            if size >= bound.k:
                worst, most = frequent_secret(
                    columns[root], columns[column], secrets, among, bound.limits[size]
                )
                safe[root, column] = worst < 0
            if not safe[root, column]:
                if broken == len(found):
                    return least, broken
                found[broken, SIZE], found[broken, SECRET], found[broken, COUNT] = size, worst, most
                found[broken, ITEMS:] = -1
                found[broken, ITEMS], found[broken, ITEMS + 1] = root, column
                broken += 1
    return least, broken


@jit
def judge_longer(
    root: int,
    longest: int,
    columns: AnyArray,
    secrets: AnyArray,
    safe: Mask,
    bound: Bound,
    found: Counts,
) -> tuple[int, int]:
    """Judge every set of three to `longest` columns that begins with column `root` and that some row holds.

    `columns`, `secrets`: bitmaps with one bit per row of the data. `safe`: which pairs of columns are held and not
    broken. `found`: filled with the broken sets, one per row, as far as there is room. Returns the number of rows of
    the rarest set seen, and how many sets are broken; the search ends when `found` is full.
    """
    width, words = columns.shape
    least, broken, depth = len(bound.limits), 0, 0
    held = np.empty((longest, words), dtype=np.uint64)
    among = np.empty((longest, len(secrets)), dtype=np.int64)
    after = np.empty((longest, width), dtype=np.int64)
    ends, nexts = np.zeros((2, longest), dtype=np.int64)
    held[0] = columns[root]
    for column in range(root + 1, width):
        if safe[root, column]:
            after[0, ends[0]] = column
            ends[0] += 1
    for secret in range(len(secrets)):
        among[0, secret] = count_both(columns[root], secrets[secret])
    while depth >= 0 and broken < len(found):
        if nexts[depth] >= ends[depth] - 1:
            depth -= 1
            continue
        last = after[depth, nexts[depth]]
        nexts[depth] += 1
        deeper = depth + 1
        for word in range(words):
            held[deeper, word] = held[depth, word] & columns[last, word]
        for secret in range(len(secrets)):
            among[deeper, secret] = 0
            if among[depth, secret] > bound.limits[bound.k]:
                among[deeper, secret] = count_both(held[deeper], secrets[secret])
        ends[deeper], nexts[deeper] = 0, 0
        for place in range(nexts[depth], ends[depth]):
            column = after[depth, place]
            if not safe[last, column]:
                continue
            size = count_both(held[deeper], columns[column])
            if size == 0:
                continue
            least = min(least, size)
            worst, most = -1, 0
            if size >= bound.k:
                both = (held[deeper], columns[column])
                worst, most = frequent_secret(*both, secrets, among[deeper], bound.limits[size])
                if worst < 0:
                    after[deeper, ends[deeper]] = column
                    ends[deeper] += 1
                    continue
            if broken < len(found):
                entry = found[broken]
                entry[SIZE], entry[SECRET], entry[COUNT] = size, worst, most
                name(entry[ITEMS:], root, column, after, nexts[:deeper])
                broken += 1
        if deeper + 2 < longest:
            depth = deeper
    return least, broken


@jit
def name(items: Counts, root: int, column: int, after: Counts, nexts: Counts) -> None:
    """Write the columns of a set: the root, those on the path, and the last one."""
    items[:] = -1
    items[0], items[len(nexts) + 1] = root, column
    for level in range(len(nexts)):
        items[level + 1] = after[level, nexts[level] - 1]


@jit
def frequent_secret(
    held: AnyArray, column: AnyArray, secrets: AnyArray, among: Counts, limit: int
) -> tuple[int, int]:
    """The most frequent secret in the rows of a set and a column, and its count, if above the limit; else -1."""
    worst, most = -1, limit
    for secret in range(len(secrets)):
        if among[secret] <= most:
            continue
        count = count_all_three(held, column, secrets[secret])
        if count > most:
            worst, most = secret, count
    return worst, most
