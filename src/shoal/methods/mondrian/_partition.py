"""Mondrian's partitioning of coded rows (LeFevre, DeWitt, Ramakrishnan, ICDE 2006, section 4)."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from shoal.arrays import Codes, Floats, Rows
from shoal.kernels._compiling import is_eager
from shoal.methods.mondrian._choice import Choice
from shoal.methods.mondrian._compiled import partition_compiled
from shoal.methods.mondrian._rounds import Allowed, partition_in_rounds
from shoal.methods.mondrian._space import Space

COMPILED_ROWS = 300_000
"""From here on the kernels save more than the half second that it takes to load them."""


@dataclass(frozen=True, slots=True, eq=False)
class Partition:
    """Classes of rows: class i holds the rows ``order[starts[i]:starts[i + 1]]``, in ascending order.

    Classes stand in the order of the tree's leaves: what lies left of a cut comes before what lies right of it.
    """

    order: Rows
    starts: Rows

    def __len__(self) -> int:
        return len(self.starts) - 1


def partition(
    codes: Codes,
    positions: Sequence[Floats],
    depths: Sequence[Codes],
    *,
    least: int,
    weights: Floats | None = None,
    relaxed: bool = False,
    choose: Choice = "widest",
    seed: int = 0,
    allowed: Allowed | None = None,
    threads: int = 2,
) -> Partition:
    """Cut a table in two, and its halves again, for as long as every part keeps enough rows.

    A cut parts the rows of a segment at a boundary between two codes of one dimension. It is allowable if both halves
    have at least `least` rows. Its boundary is, of the preferred ones, the allowable one next to the median: that with
    the fewest rows between it and the boundary just above the median code, and with the larger left half of two as
    near. Preferred are the boundaries of least depth within the segment: those between the children of the lowest node
    over its values, or that before the missing value. Where none of them is allowable, all boundaries are looked at.

    The result depends on nothing but the arguments; not on `threads`, nor on whether it came from kernels or from array
    operations.

    Parameters
    ----------
    codes
        One row a row, one column a dimension. Codes stand in cut order: numbers ascending, leaves of a hierarchy
        depth-first, and the missing value, if there is one, last.
    positions
        The coordinate of each code of each dimension, not decreasing. The width of a segment is the difference of its
        bounds, as a share of that of the whole domain, times the weight; missing and other values together are as wide
        as the whole domain, so that they are parted first. A dimension without width is not cut.
    depths
        The depth of the boundary after each code but the last: that of the lowest common node of the codes on both
        sides; 0 for all boundaries between numbers, -1 before the missing value.
    least
        The fewest rows of a class. Fewer rows than that make one class all the same.
    weights
        How much the width of each dimension counts, at least 0; 1 if not given.
    relaxed
        Let rows with the median code go to either side, by ascending row number, so that halves differ by at most one
        row (section 4.3). Where depths differ, or missing and other values are mixed, a preferred boundary goes first.
    choose
        The dimension that is cut: the "widest" one; that whose cut leaves the least "loss", rows times the sum of
        widths, at several times the cost; or a "random" one. Where it has no allowable cut the next one is tried. The
        first of equals goes first.
    seed
        Of the random choice.
    allowed
        May refuse cuts, many at a time: see ``Allowed``. A segment whose cut is refused tries its next dimension.
    threads
        How many to use for large tables.

    Examples
    --------
    >>> codes = np.array([[1], [2], [3], [3], [4], [5]], dtype=np.int32)
    >>> plain = [np.arange(6.0)], [np.zeros(5, dtype=np.int32)]
    >>> partition(codes, *plain, least=2).starts
    array([0, 2, 4, 6])
    >>> partition(codes, *plain, least=3, relaxed=True).starts
    array([0, 3, 6])
    """
    count, dimensions = codes.shape
    least = max(least, 1)
    if count < 2 * least or not dimensions:
        return Partition(np.arange(count, dtype=np.int64), np.array([0, count], dtype=np.int64))
    space = Space.of(positions, depths, weights)
    work = count * dimensions if choose == "loss" else count
    if allowed is None and (work >= COMPILED_ROWS or is_eager()):
        return Partition(*partition_compiled(codes, space, least, relaxed, choose, seed, max(threads, 1)))
    return Partition(*partition_in_rounds(codes, space, least, relaxed, choose, seed, allowed))
