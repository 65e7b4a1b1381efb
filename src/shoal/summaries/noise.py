"""Counts with noise: differential privacy by the discrete Laplace mechanism of OpenDP."""

from math import prod

import numpy as np

from shoal.arrays import Counts, Rows, summed
from shoal.errors import MissingExtra, WrongUse
from shoal.summaries.tabulate import Cells

JOINED = 1_000_000
"""Most combinations of values of all columns."""


def noisy_counts(counts: Counts, epsilon: float) -> Counts:
    """Counts of disjoint groups with noise; epsilon-differentially private for one row more or less.

    OpenDP draws the noise from the randomness of the operating system: there is no seed.
    """
    try:
        import opendp.prelude as dp
    except ImportError:
        raise MissingExtra("Noise", "noise") from None
    dp.enable_features("contrib")
    space = dp.vector_domain(dp.atom_domain(T="i64")), dp.l1_distance(T="i64")
    measurement = space >> dp.m.then_laplace(scale=1.0 / epsilon)
    spent = measurement.map(1)
    if spent > epsilon * (1 + 1e-9):
        raise WrongUse(
            f"OpenDP reports a privacy loss of {spent}, but {epsilon} is allowed; choose another --epsilon."
        )
    return np.array(measurement(counts.tolist()), dtype=np.int64)


def noisy_cells(cells: Cells, codes: list[Rows], epsilon: float) -> Counts:
    """The counts of all cells, summed from one noisy count for each combination of values of all columns.

    This noisy histogram is all that the release takes from the rows, so the whole folder spends epsilon once; totals
    are sums of it, so they add up and spend nothing. The lists of values are considered public.
    """
    values = [np.unique(code) for code in codes]
    joined = prod(map(len, values))
    if joined > JOINED:
        raise WrongUse(
            f"The columns have {joined:,} combinations of values together, and noise is drawn for each, at most "
            f"{JOINED:,}: count by fewer columns."
        )
    shape = tuple(map(len, values))
    row = np.ravel_multi_index(
        tuple(np.searchsorted(value, code) for value, code in zip(values, codes, strict=True)), shape
    )
    noisy = noisy_counts(np.bincount(row, minlength=joined), epsilon)
    grid = [
        value[index] for value, index in zip(values, np.unravel_index(np.arange(joined), shape), strict=True)
    ]
    counts = np.zeros(len(cells), dtype=np.int64)
    for place in cells.of_rows(grid):
        counts[place] = summed(place, noisy, len(cells))[place]
    return counts
