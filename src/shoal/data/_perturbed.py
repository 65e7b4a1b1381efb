"""Estimate the original counts of perturbed columns without bias, by inverting the published matrix."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from shoal.arrays import Floats
from shoal.data._equal_rows import row_classes
from shoal.data.table import Column, Table
from shoal.errors import UnknownName, WrongUse

if TYPE_CHECKING:
    import polars


def matrix_of(promises: Sequence[Mapping[str, Any]], column: str) -> Mapping[str, Sequence[int]] | None:
    """The published matrix of a column, by value; None if the column is not perturbed."""
    found = (one["matrix"] for one in promises if one.get("matrix") and one.get("column") == column)
    return next(found, None)


def chances(matrix: Mapping[str, Sequence[int]]) -> Floats:
    """The probability that each value (rows) is published as each value (columns)."""
    weights = np.array([[float(one) for one in line] for line in matrix.values()])
    return np.asarray(weights / weights.sum(axis=1, keepdims=True))


def speaking(matrix: Mapping[str, Sequence[int]]) -> Floats:
    """The inverse of `chances`: what each published value (columns) adds to the estimated count of each value (rows).

    Summed over the published rows, it gives the original counts on average over the random draws.

    Raises `WrongUse` if the matrix cannot be inverted.
    """
    try:
        return np.asarray(np.linalg.inv(chances(matrix).T))
    except np.linalg.LinAlgError:
        raise WrongUse("The published matrix has no inverse, so counts cannot be estimated.") from None


def weights_of(column: Column, matrix: Mapping[str, Sequence[int]]) -> Floats:
    """What each code of a published column (columns) adds to the estimated count of each value of the matrix (rows)."""
    inverse = speaking(matrix)
    places = {value: place for place, value in enumerate(matrix)}
    used = [places.get(label, -1) for label in column.domain.labels]
    return np.where(np.array(used) >= 0, inverse[:, used], 0.0)


def estimated(
    data: Table, promises: Sequence[Mapping[str, Any]], column: str, by: Sequence[str] = ()
) -> "polars.DataFrame":
    """The published and estimated counts of each value of a perturbed column, with standard deviations."""
    import polars as pl

    from shoal.data._frames import to_series

    matrix = matrix_of(promises, column)
    if matrix is None:
        known = [str(one["column"]) for one in promises if one.get("matrix")]
        raise UnknownName("perturbed column", column, known)
    held, own = data.select(by), data.column(column)
    classes = row_classes(held, data.rows)
    size = len(own.domain)
    counts = np.bincount(classes.number * size + own.codes, minlength=len(classes) * size)
    counts = counts.reshape(len(classes), size)
    weights = weights_of(own, matrix)
    estimates = counts @ weights.T
    spread = np.sqrt(np.maximum(counts @ (weights**2).T - estimates, 0.0))
    places = {label: code for code, label in enumerate(own.domain.labels)}
    shown = np.array([[line[places[value]] if value in places else 0 for value in matrix] for line in counts])
    values = len(matrix)
    heads = [to_series(one.take(np.repeat(classes.first, values))) for one in held]
    return pl.DataFrame(
        [
            *heads,
            pl.Series(column, list(matrix) * len(classes), dtype=pl.String),
            pl.Series("published", shown.ravel(), dtype=pl.Int64),
            pl.Series("estimate", estimates.ravel()),
            pl.Series("deviation", spread.ravel()),
        ]
    )
