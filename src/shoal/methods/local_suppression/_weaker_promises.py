"""Weaker promises: stars that match every value, as sdcMicro counts them, and promises about m columns at a time."""

from collections.abc import Sequence
from itertools import combinations

import numpy as np

from shoal.arrays import Mask, Rows
from shoal.methods.local_suppression._fewest_stars import (
    Cells,
    Holds,
    Search,
    fewest,
    starred_columns,
    stars_of,
    turns,
)


def wildcard_masks(cells: Cells, k: int) -> Rows:
    """The columns to star in each row, as bits, so that every row matches k rows; only rows that do not are starred.

    A code beyond the values of a column is already a star.
    """
    from shoal.kernels.wildcard_stars import STAR, match_counts, star_rows, unstar_rows

    codes = np.where(cells.codes < np.array(cells.sizes), cells.codes, STAR)
    kinds, kind, sizes = np.unique(codes, axis=0, return_inverse=True, return_counts=True)
    counts = np.zeros(len(kinds), dtype=np.int64)
    match_counts(kinds, sizes, counts)
    few = np.flatnonzero((counts < k)[kind.ravel()])
    kept = np.flatnonzero(counts >= k)
    lines = np.concatenate([codes[few], kinds[kept]])
    weights = np.concatenate([np.ones(len(few), dtype=np.int64), sizes[kept]])
    reached = np.concatenate([counts[kind.ravel()[few]], counts[kept]])
    order = np.argsort(reached[: len(few)], kind="stable")
    original = lines.copy()
    star_rows(lines, weights, reached, order, k)
    backward = order[::-1].copy()  # contiguous, or the kernel would be compiled again for a single row
    while unstar_rows(lines, original, weights, reached, backward, k):
        pass
    masks = np.zeros(len(codes), dtype=np.int64)
    for column in range(cells.width):
        masks[few[lines[: len(few), column] == STAR]] |= 1 << column
    return masks


def combination_masks(cells: Cells, m: int, k: int, wildcard: bool) -> tuple[Rows, int]:
    """The columns to star in each row, so that each row is one of k in every choice of m columns; and a lower bound.

    The choices are protected one after another, keeping earlier stars. If a star is a value of its own, it may leave
    too few rows elsewhere, so that all choices are repeated until nothing new is starred. The stars that protect all
    columns together are tried too, and needless stars are removed.
    """
    choices = list(combinations(range(cells.width), m))
    if wildcard:
        return _one_by_one(cells, choices, k, wildcard), 0
    together = Search(cells, enough_rows(k), k, size_alone=True)
    together.run()
    found = [
        _without_needless(cells, masks, choices, k)
        for masks in (together.masks, _one_by_one(cells, choices, k, wildcard))
    ]
    bounds = {choice: _bound(cells, choice, k) for choice in choices}
    return min(found, key=lambda masks: int(stars_of(masks).sum())), _packed(bounds)


def _one_by_one(cells: Cells, choices: Sequence[tuple[int, ...]], k: int, wildcard: bool) -> Rows:
    """Protect one choice of columns after another, until all are protected."""
    masks = np.zeros(len(cells.codes), dtype=np.int64)
    changed = True
    while changed:
        changed = False
        for choice in choices:
            part = _part(cells, masks, choice, wildcard)
            if wildcard:
                stars = wildcard_masks(part, k)
            else:
                search = Search(part, enough_rows(k), k, size_alone=True)
                search.run()
                stars = search.masks
            for place, column in enumerate(choice):
                new = starred_columns(stars, place) & ~starred_columns(masks, column)
                masks[new] |= 1 << column
                changed |= bool(new.any())
    return masks


def _without_needless(cells: Cells, masks: Rows, choices: Sequence[tuple[int, ...]], k: int) -> Rows:
    """Remove stars from rows whose cells are frequent enough without them, if their groups can spare these rows."""
    masks = masks.copy()
    changed = True
    while changed:
        changed = False
        for column in range(cells.width):
            rows = np.flatnonzero(starred_columns(masks, column))
            fewer = masks.copy()
            fewer[rows] &= ~(1 << column)
            for choice in (one for one in choices if column in one):
                before, after = (_part(cells, some, choice, wildcard=False) for some in (masks, fewer))
                rows = rows[_frequent(before, after, rows, k)]
            masks[rows] &= ~(1 << column)
            changed |= len(rows) > 0
    return masks


def _frequent(before: Cells, after: Cells, rows: Rows, k: int) -> Mask:
    """Which of some rows can change groups: the new group has k rows without them, and the old one keeps k."""
    everybody = np.concatenate([before.codes, after.codes[rows]])
    group = Cells(everybody, before.sizes).groups(np.arange(len(everybody)), 0)
    sizes = np.bincount(group[: len(before.codes)], minlength=int(group.max()) + 1)
    old = group[rows]
    kept: Mask = (sizes[group[len(before.codes) :]] >= k) & (turns(old) < sizes[old] - k)
    return kept


def _part(cells: Cells, masks: Rows, choice: tuple[int, ...], wildcard: bool) -> Cells:
    """Some of the columns, with a star as an additional last value of each column."""
    columns = [
        np.where(starred_columns(masks, column), cells.sizes[column], cells.codes[:, column])
        for column in choice
    ]
    more = 0 if wildcard else 1
    return Cells(np.stack(columns, axis=1), tuple(cells.sizes[column] + more for column in choice))


def enough_rows(k: int) -> Holds:
    """The promise that a group has at least k rows."""

    def holds(rows: Rows, groups: Rows, count: int) -> Mask:
        kept: Mask = np.bincount(groups, minlength=count) >= k
        return kept

    return holds


def _bound(cells: Cells, choice: tuple[int, ...], k: int) -> int:
    """A lower bound on the stars that a choice of columns needs by itself."""
    part = Cells(cells.codes[:, choice], tuple(cells.sizes[column] for column in choice))
    group = part.groups(np.arange(len(part.codes)), 0)
    return fewest(part, (np.bincount(group) < k)[group], k)


def _packed(bounds: dict[tuple[int, ...], int]) -> int:
    """Add up the bounds of choices that share no column, taking those with the most stars first."""
    taken: set[int] = set()
    total = 0
    for choice in sorted(bounds, key=lambda one: -bounds[one]):
        if not taken & set(choice):
            taken |= set(choice)
            total += bounds[choice]
    return total
