"""Local suppression with stars that match every value: which cells to star, and which stars are needless."""

import numpy as np

from shoal.arrays import AnyArray, Counts
from shoal.kernels._jit import jit

STAR = -1
"""The code of a cell that matches every other."""


@jit
def differing(codes: AnyArray, one: int, other: int) -> int:
    """The columns in which two rows do not match, as bits."""
    mask = 0
    for column in range(codes.shape[1]):
        a, b = codes[one, column], codes[other, column]
        if a != b and a >= 0 and b >= 0:
            mask |= 1 << column
    return mask


@jit
def match_counts(codes: AnyArray, weights: Counts, counts: Counts) -> None:
    """Count how many rows match each row."""
    for one in range(len(codes)):
        found = 0
        for other in range(len(codes)):
            if differing(codes, one, other) == 0:
                found += weights[other]
        counts[one] = found


@jit
def star_rows(codes: AnyArray, weights: Counts, counts: Counts, order: AnyArray, k: int) -> None:
    """Star cells of rows that match fewer than k rows, in the given order.

    As few cells as possible are starred in each row; of several choices, the one that helps the most other rows is
    taken.

    `codes`: one line per row, one column per quasi-identifier; starred cells become `STAR`. `weights`: how many rows a
    line stands for; 1 for each line in the order. `counts`: how many rows match each line; kept up to date.
    """
    width = codes.shape[1]
    masks = np.empty(len(codes), dtype=np.int64)
    matching = np.empty(1 << width, dtype=np.int64)
    helped = np.empty(1 << width, dtype=np.int64)
    for one in order:
        if counts[one] >= k:
            continue
        matching[:] = 0
        helped[:] = 0
        for other in range(len(codes)):
            mask = differing(codes, one, other)
            masks[other] = mask
            matching[mask] += weights[other]
            if mask and counts[other] < k:
                helped[mask] += weights[other]
        for column in range(width):
            for mask in range(1 << width):
                if mask >> column & 1:
                    matching[mask] += matching[mask ^ (1 << column)]
                    helped[mask] += helped[mask ^ (1 << column)]
        best, stars = 0, width + 1
        for mask in range(1 << width):
            if matching[mask] < k:
                continue
            number = 0
            for column in range(width):
                number += mask >> column & 1
            if number < stars or (number == stars and helped[mask] > helped[best]):
                best, stars = mask, number
        for column in range(width):
            if best >> column & 1:
                codes[one, column] = STAR
        counts[one] = matching[best]
        for other in range(len(codes)):
            if masks[other] and masks[other] & ~best == 0:
                counts[other] += weights[one]


@jit
def unstar_rows(
    codes: AnyArray, original: AnyArray, weights: Counts, counts: Counts, order: AnyArray, k: int
) -> int:
    """Remove stars as long as everybody still matches k rows; returns how many were removed."""
    width = codes.shape[1]
    lost = np.empty(len(codes), dtype=np.int64)
    done = 0
    for one in order:
        for column in range(width):
            if codes[one, column] != STAR or original[one, column] == STAR:
                continue
            codes[one, column] = original[one, column]
            number, rows, needed = 0, 0, False
            for other in range(len(codes)):
                if differing(codes, one, other) == 1 << column:
                    lost[number] = other
                    number += 1
                    rows += weights[other]
                    if counts[other] - weights[one] < k:
                        needed = True
                        break
            if needed or counts[one] - rows < k:
                codes[one, column] = STAR
                continue
            counts[one] -= rows
            for place in range(number):
                counts[lost[place]] -= weights[one]
            done += 1
    return done
