"""Which cells must be hidden, and how uncertain hidden cells must stay."""

from dataclasses import dataclass

import numpy as np

from shoal.arrays import Floats, Mask
from shoal.summaries.protection import Protection
from shoal.summaries.tabulate import Tallied

SLACK = 1.001
"""Sums are kept a little more uncertain than promised, so that rounding in a linear program does not matter."""


@dataclass(frozen=True, slots=True, eq=False)
class Needs:
    """How uncertain each cell must stay if it is hidden."""

    up: Floats
    down: Floats
    """`up`, `down`: how far above and below its value it must be possible for the cell to be."""
    width: Floats  # how far apart the lowest and the highest possible value must be


def sensitive_cells(tallied: Tallied, protection: Protection) -> Mask:
    """Cells that the rules hide.

    These are counts below the threshold, and sums of fewer amounts than the threshold; sums whose second largest
    contributor could estimate the largest amount to within p percent; sums that the largest amounts dominate; and sums
    of 0, which give away the amount of each of their rows.
    """
    few: Mask = (tallied.contributors > 0) & (tallied.contributors < protection.threshold)
    if tallied.name == "count":
        return few
    values, largest = tallied.values.astype(np.float64), tallied.largest.astype(np.float64)
    rest = values - largest[:, 0] - largest[:, 1]
    estimable: Mask = rest < protection.p / 100 * largest[:, 0]
    found: Mask = few | estimable | (values == 0)
    if protection.dominance is not None:
        n, k = protection.dominance
        found |= largest[:, :n].sum(axis=1) > k / 100 * values
    return found & (tallied.contributors > 0)


def needs_of(tallied: Tallied, protection: Protection, own: Floats | float = 0.0) -> Needs:
    """How uncertain the cells must stay for somebody who contributes to them.

    `own`: what she contributes to each cell, and so knows; 0 for an outsider.
    """
    size = len(tallied.values)
    if tallied.name == "count":
        width = np.full(size, float(protection.threshold))
        return Needs(np.zeros(size), np.zeros(size), width)
    share = SLACK * protection.percent / 100
    others = tallied.values - own
    return Needs(
        np.maximum(share * others, SLACK * tallied.unit), np.minimum(share * others, others), np.zeros(size)
    )
