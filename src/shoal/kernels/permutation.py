"""Groups made by cutting baskets at one item after another: those without it, and those with it."""

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from shoal.kernels._jit import jit

Array: TypeAlias = NDArray[Any]
Whole: TypeAlias = int | np.int64


@jit
def _counts(
    rows: Array,
    indptr: Array,
    items: Array,
    secret_indptr: Array,
    secrets: Array,
    supports: Array,
    shared: Array,
    seen: Array,
    kept: Array,
) -> tuple[Whole, Whole]:
    """Count the items, the sensitive items, and the pairs of both in some rows.

    Returns how many distinct items, and how many distinct sensitive items, were seen.
    """
    found, kinds = 0, 0
    for row in rows:
        for place in range(indptr[row], indptr[row + 1]):
            item = items[place]
            if supports[item] == 0:
                seen[found] = item
                found += 1
            supports[item] += 1
        for secret_place in range(secret_indptr[row], secret_indptr[row + 1]):
            secret = secrets[secret_place]
            if shared[secret, -1] == 0:
                kept[kinds] = secret
                kinds += 1
            shared[secret, -1] += 1
            for place in range(indptr[row], indptr[row + 1]):
                shared[secret, items[place]] += 1
    return found, kinds


@jit
def _allowed(
    item: Whole, size: Whole, p: Whole, supports: Array, shared: Array, kept: Array, kinds: Whole
) -> bool:
    """Whether the rows with an item and those without it both keep the degree."""
    inside = supports[item]
    if inside < p or size - inside < p:
        return False
    for entry in range(kinds):
        together = shared[kept[entry], item]
        if together * p > inside or (shared[kept[entry], -1] - together) * p > size - inside:
            return False
    return True


@jit
def cut_groups(
    indptr: Array, items: Array, width: Whole, secret_indptr: Array, secrets: Array, kinds: Whole, p: Whole
) -> tuple[Array, Array]:
    """Cut the rows at the item that divides them most evenly, as long as both parts keep the degree p.

    Of two items that divide them equally evenly, the one with the smaller number is taken; if a cut is not allowed, the
    next item is tried.

    Returns the rows group by group, and where each group begins.
    """
    count = len(indptr) - 1
    order = np.arange(count)
    spare = np.empty(count, dtype=np.int64)
    supports = np.zeros(width, dtype=np.int64)
    shared = np.zeros((kinds, width + 1), dtype=np.int32)
    seen = np.empty(width, dtype=np.int64)
    kept = np.empty(kinds, dtype=np.int64)
    starts = np.empty(count + 1, dtype=np.int64)
    stack = np.empty((count + 1, 2), dtype=np.int64)
    stack[0, 0], stack[0, 1] = 0, count
    depth, groups = 1, 0
    while depth:
        depth -= 1
        begin, end = stack[depth, 0], stack[depth, 1]
        size = end - begin
        found, present = _counts(
            order[begin:end], indptr, items, secret_indptr, secrets, supports, shared, seen, kept
        )
        best, uneven = -1, size + 1
        for entry in range(found):
            item = seen[entry]
            odds = abs(size - 2 * supports[item])
            if (odds < uneven or (odds == uneven and item < best)) and _allowed(
                item, size, p, supports, shared, kept, present
            ):
                best, uneven = item, odds
        for entry in range(present):
            shared[kept[entry], -1] = 0
            for place in range(found):
                shared[kept[entry], seen[place]] = 0
        for entry in range(found):
            supports[seen[entry]] = 0
        if best < 0:
            starts[groups] = begin
            groups += 1
            continue
        left, right = begin, 0
        for place in range(begin, end):
            row = order[place]
            holds = False
            for entry in range(indptr[row], indptr[row + 1]):
                if items[entry] == best:
                    holds = True
                    break
            if holds:
                spare[right] = row
                right += 1
            else:
                order[left] = row
                left += 1
        for place in range(right):
            order[left + place] = spare[place]
        stack[depth, 0], stack[depth, 1] = left, end
        stack[depth + 1, 0], stack[depth + 1, 1] = begin, left
        depth += 2
    starts[groups] = count
    return order, starts[: groups + 1].copy()
