"""Which cells must be hidden, and how well a hidden one must not be estimated."""

from dataclasses import dataclass

import numpy as np

from shoal.arrays import Floats, Mask
from shoal.summaries.protection import Protection
from shoal.summaries.tabulate import Tallied

SLACK = 1.001
"""Sums are kept a little wider than promised, so that the last digit of a linear program decides nothing."""


@dataclass(frozen=True, slots=True, eq=False)
class Needs:
    """How far a hidden cell must be able to lie from the truth, for each cell."""

    up: Floats
    down: Floats
    """`up`, `down`: how much more, and how much less, it must be able to be."""
    width: Floats  # how much must lie between the least and the most that it can be


def sensitive_cells(tallied: Tallied, protection: Protection) -> Mask:
    """Cells that the rules hide.

    A count below the threshold. A sum of fewer amounts than the threshold; a sum whose second largest contributor could
    tell the largest amount to within p percent; one that the largest amounts dominate; and a sum of 0, which tells what
    each of its rows has.
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
    """How open the cells must stay for somebody who has a part of them.

    `own`: what the one who looks at them has of each cell: nothing, or what it is that she knows already.
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
