"""How large the classes of a release are: discernibility, C_AVG and plain sizes."""

from typing import ClassVar

import numpy as np

from shoal.arrays import Counts, Mask, Rows
from shoal.data.baskets import Baskets
from shoal.data.published_syntax import SUPPRESSED
from shoal.data.release import Release
from shoal.data.table import Column, Table
from shoal.errors import BadData
from shoal.measures.measure import FACT, Score, TableMeasure

KEYS = 2**62
"""Mixed keys stay below this, so that they fit 63 bits."""


class Classes(TableMeasure):
    """The sizes of the classes: rows that agree on all published quasi-identifiers.

    discernibility
        (Bayardo and Agrawal 2005): the sum of the squared sizes, and the number of original rows for each
        suppressed one: how many rows each row cannot be told from, summed.
    c_avg
        (LeFevre et al. 2006): the mean size over the promised k; 1 is the best. Left out where no k is
        promised, and where the k counts persons and not rows.
    classes, smallest_class, mean_class, median_class, largest_class
        The number of classes and their sizes; sizes are left out where nothing is published.
    suppressed_rows, suppressed_share
        Rows that are left out or published as ``*`` throughout. These make no class.
    """

    name: ClassVar[str] = "classes"
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

    def scores(self, original: Table | Baskets, release: Release) -> tuple[Score, ...]:
        """Find the classes again from the published cells, and measure them."""
        before, after = self.tables(original, release)
        sizes = class_sizes(after, kept_suppressed(before, after, release))
        suppressed = release.suppressed
        squares = int(np.dot(sizes, sizes)) + suppressed * before.rows
        found = [
            Score(
                "discernibility", squares, "Discernibility: with how many rows each row is confused, summed."
            )
        ]
        k = promised_k(release)
        if k is not None and len(sizes):
            meaning = f"C_AVG: mean size of a class as a multiple of k = {k}; 1 is the best."
            found.append(Score("c_avg", int(sizes.sum()) / len(sizes) / k, meaning))
        found.append(Score("classes", len(sizes), "Number of classes.", FACT))
        if len(sizes):
            found += [
                Score("smallest_class", int(sizes.min()), "Rows of the smallest class.", FACT),
                Score("mean_class", float(sizes.mean()), "Mean rows of a class.", FACT),
                Score("median_class", float(np.median(sizes)), "Median rows of a class.", FACT),
                Score("largest_class", int(sizes.max()), "Rows of the largest class.", FACT),
            ]
        return (
            *found,
            Score("suppressed_rows", suppressed, "Rows of the original that are not published."),
            Score("suppressed_share", suppressed / before.rows, "Share of the rows that are not published."),
        )


def promised_k(release: Release) -> int | None:
    """The largest number of rows that the release promises for each class."""
    promised = [
        int(promise["k"])
        for promise in release.promises
        if promise.get("model") == "k-anonymity" and promise.get("entity") is None
    ]
    return max(promised, default=None)


def kept_suppressed(original: Table, published: Table, release: Release) -> int:
    """How many suppressed rows stand in the published table, as ``*`` throughout.

    Rows of ``*`` beyond that number were generalized so far, and are a class.
    """
    kept = published.rows + release.suppressed - original.rows
    blank = int(_blank(published.quasi, published.rows).sum()) if kept else 0
    if kept > blank:
        raise BadData(
            f"the release says that {kept} suppressed rows are published, but only {blank} rows are * in all "
            "quasi-identifiers; give the original that the release was made from."
        )
    return kept


def class_sizes(published: Table, kept: int) -> Counts:
    """The sizes of the classes of a published table, without its kept suppressed rows."""
    keys, bound = _keys(published.quasi, published.rows)
    if kept:
        blank = _blank(published.quasi, published.rows)
        keys = np.concatenate((keys[~blank], keys[blank][kept:]))
    if bound <= 4 * len(keys):
        sizes = np.bincount(keys)
        return sizes[sizes > 0].astype(np.int64)
    keys.sort()
    starts = (
        np.flatnonzero(np.concatenate(([True], keys[1:] != keys[:-1])))
        if len(keys)
        else np.empty(0, np.int64)
    )
    return np.diff(np.append(starts, len(keys))).astype(np.int64)


def _blank(columns: tuple[Column, ...], rows: int) -> Mask:
    """The rows that are ``*`` in all columns."""
    blank = np.ones(rows, dtype=np.bool_)
    for column in columns:
        labels = column.domain.labels
        blank &= column.codes == (labels.index(SUPPRESSED) if SUPPRESSED in labels else -1)
    return blank


def _keys(columns: tuple[Column, ...], rows: int) -> tuple[Rows, int]:
    """One number a row, the same for rows that agree on all columns, and a bound above all numbers."""
    keys = np.zeros(rows, dtype=np.int64)
    bound = 1
    for column in columns:
        used = np.bincount(column.codes, minlength=len(column.domain)) > 0
        size = max(int(used.sum()), 1)
        if bound * size >= KEYS:
            distinct, keys = np.unique(keys, return_inverse=True)
            bound = len(distinct)
        keys *= size
        keys += (np.cumsum(used) - 1)[column.codes]
        bound *= size
    return keys, bound
