"""How large the classes of a release are: discernibility, C_AVG and plain sizes."""

from typing import ClassVar

import numpy as np

from shoal.arrays import Counts
from shoal.data.release import Release
from shoal.measures._comparison import Comparison
from shoal.measures.measure import FACT, Score, TableMeasure


class Classes(TableMeasure):
    """The sizes of the classes: rows that agree on all published quasi-identifiers.

    discernibility
        (Bayardo and Agrawal 2005): the sum of the squared sizes, and the number of original rows for each
        suppressed one: how many rows each row cannot be distinguished from, summed.
    c_avg
        (LeFevre et al. 2006): the mean size over the promised k; 1 is the best. Left out where no k is
        promised, and where the k counts persons and not rows.
    classes, smallest_class, mean_class, median_class, largest_class
        The number of classes and their sizes; sizes are left out where nothing is published.
    suppressed_rows, suppressed_share
        Rows that are left out or published as ``*`` throughout. These make no class.
    """

    name: ClassVar[str] = "classes"
    not_distributable: ClassVar[str | None] = None
    scores_named: ClassVar[tuple[str, ...]] = (
        "discernibility",
        "c_avg",
        "classes",
        "smallest_class",
        "mean_class",
        "median_class",
        "largest_class",
        "suppressed_rows",
        "suppressed_share",
    )

    def compare(self, both: Comparison) -> tuple[Score, ...]:
        """Find the classes again from the published cells, and measure them."""
        self.accept(both)
        sizes, times = both.class_sizes
        suppressed, count, rows = both.release.suppressed, int(times.sum()), int((sizes * times).sum())
        squares = int((sizes * sizes * times).sum()) + suppressed * both.rows
        found = [
            Score(
                "discernibility", squares, "Discernibility: with how many rows each row is confused, summed."
            )
        ]
        k = promised_k(both.release)
        if k is not None and count:
            meaning = f"C_AVG: mean size of a class as a multiple of k = {k}; 1 is the best."
            found.append(Score("c_avg", rows / count / k, meaning))
        found.append(Score("classes", count, "Number of classes.", FACT))
        if count:
            found += [
                Score("smallest_class", int(sizes[0]), "Rows of the smallest class.", FACT),
                Score("mean_class", rows / count, "Mean rows of a class.", FACT),
                Score("median_class", median(sizes, times), "Median rows of a class.", FACT),
                Score("largest_class", int(sizes[-1]), "Rows of the largest class.", FACT),
            ]
        return (
            *found,
            Score("suppressed_rows", suppressed, "Rows of the original that are not published."),
            Score("suppressed_share", suppressed / both.rows, "Share of the rows that are not published."),
        )


def median(sizes: Counts, times: Counts) -> float:
    """The median of ascending sizes, each of which occurs so many times.

    >>> median(np.array([3, 5]), np.array([1, 1])), median(np.array([3, 5]), np.array([1, 2]))
    (4.0, 5.0)
    """
    ends = np.cumsum(times)
    middle = np.array([(ends[-1] - 1) // 2, ends[-1] // 2])
    return float(sizes[np.searchsorted(ends, middle, side="right")].mean())


def promised_k(release: Release) -> int | None:
    """The largest number of rows that the release promises for each class."""
    promised = [
        int(promise["k"])
        for promise in release.promises
        if promise.get("model") == "k-anonymity" and promise.get("entity") is None
    ]
    return max(promised, default=None)
