"""A transformer for scikit-learn that makes the columns of a table k-anonymous.

::

    make_pipeline(Anonymizer(k=10), LogisticRegression()).fit(X, y)

Its output is for the owner's own models. Rows keep their order, so the output is not a release: to publish data, call
`shoal.anonymize`.
"""

import warnings
from typing import Any

import numpy as np
import polars as pl

from shoal.errors import Infeasible, MissingExtra
from shoal.io.reading import Reading
from shoal.methods.mondrian.method import Mondrian
from shoal.pipeline import anonymize

try:
    from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
    from sklearn.utils.validation import check_is_fitted, validate_data
except ImportError as error:
    raise MissingExtra("A transformer for scikit-learn", "learning") from error

BLOCK = 1 << 22
"""How many distances are computed at a time."""


class Anonymizer(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Replace the numbers of each row by the means of its class of at least k rows.

    `fit` forms the classes with Mondrian, with all columns as quasi-identifiers. `transform` gives every row the means
    of the class that its numbers lie in, or of the nearest one. So every row of the table that it was fitted on gets
    the same numbers as at least k - 1 others.

    Parameters
    ----------
    k
        Least number of rows of a class.
    parameters
        Further parameters of the method, such as ``{"split": "loss"}``.

    Attributes
    ----------
    low_, high_, means_
        Smallest and largest number and the mean of each class in each column.
    sizes_
        Number of rows in each class, of the table that it was fitted on.
    """

    def __init__(self, k: int = 10, parameters: dict[str, Any] | None = None) -> None:
        self.k = k
        self.parameters = parameters

    def fit(self, X: Any, y: Any = None) -> "Anonymizer":
        """Form the classes of the rows of a table; `y` is ignored."""
        numbers = validate_data(self, X, dtype=np.float64)
        if len(numbers) < self.k:
            raise Infeasible(
                f"n_samples={len(numbers)} is below k={self.k}: no class of k rows can be formed."
            )
        names = [f"x{place}" for place in range(numbers.shape[1])]
        frame = pl.DataFrame({name: numbers[:, place] for place, name in enumerate(names)})
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # they are about a release, and this is none
            run = anonymize(
                frame,
                Mondrian(k=self.k, **(self.parameters or {})),
                quasi=names,
                insist=names,
                reading=Reading(kinds=dict.fromkeys(names, "numeric")),
            )
        cells = run.release.to_polars(ranges="text").select(names)
        number = np.empty(len(numbers), dtype=np.int64)
        number[run.trace.rows] = cells.select(pl.struct(names).rank("dense")).to_series().to_numpy() - 1
        self.sizes_ = np.bincount(number)
        self.low_ = np.full((len(self.sizes_), numbers.shape[1]), np.inf)
        self.high_ = -self.low_
        np.minimum.at(self.low_, number, numbers)
        np.maximum.at(self.high_, number, numbers)
        sums = np.zeros_like(self.low_)
        np.add.at(sums, number, numbers)
        self.means_ = np.clip(sums / self.sizes_[:, None], self.low_, self.high_)
        spread = numbers.max(axis=0) - numbers.min(axis=0)
        self._scale = np.where(spread > 0, spread, 1.0)
        return self

    def transform(self, X: Any) -> Any:
        """Replace each row by the means of the class that it lies in, or of the nearest one."""
        check_is_fitted(self)
        numbers = validate_data(self, X, dtype=np.float64, reset=False)
        found = np.empty(len(numbers), dtype=np.int64)
        step = max(BLOCK // max(len(self.sizes_), 1), 1)
        for begin in range(0, len(numbers), step):
            some = numbers[begin : begin + step, None, :]
            outside = np.maximum(self.low_ - some, some - self.high_).clip(0) / self._scale
            found[begin : begin + step] = outside.sum(axis=2).argmin(axis=1)
        return self.means_[found]
