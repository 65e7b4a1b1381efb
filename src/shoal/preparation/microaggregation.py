"""Microaggregation: numbers become the mean of a group of rows."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from pydantic import Field

from shoal.arrays import Counts, Floats, Rows
from shoal.data._cell_kinds import Distinct, coordinates, plain_number
from shoal.data._promise_words import joined
from shoal.data.domain import Kind
from shoal.errors import BadData, WrongUse
from shoal.preparation.transform import Transform, Values

if TYPE_CHECKING:
    import polars


class Microaggregation(Transform):
    """Publish the mean of a group of at least `size` rows instead of numbers.

    A single column is grouped with the least possible squared error (Hansen and Mukherjee, 2003); several columns are
    grouped together by MDAV (Domingo-Ferrer and Torra, 2005), on standardized values, with all rows in memory. Equal
    rows stay in one group, so that no group depends on the order of the rows. In a single column, missing numbers stay
    missing; several columns must have none.
    """

    name: ClassVar[str] = "microaggregation"
    metavar: ClassVar[str] = "COLUMN,…=SIZE"
    public: ClassVar[str] = "means of groups of rows"
    help: ClassVar[str] = (
        "publish means of groups of at least so many rows: income=5, or height,weight=5 together"
    )
    counts_rows: ClassVar[bool] = True

    columns: tuple[str, ...] = Field(min_length=1, description="columns of numbers, grouped together")
    size: int = Field(ge=2, description="smallest number of rows in a group")
    decimals: int | None = Field(
        default=None, ge=0, le=12, description="decimals of the means; by default, as many as the column has"
    )

    @property
    def by_rows(self) -> bool:  # type: ignore[override]
        """Whether several cells of a row are grouped together."""
        return len(self.columns) > 1

    @property
    def whole_table(self) -> bool:  # type: ignore[override]
        """Whether all rows are needed in memory, as for several columns."""
        return len(self.columns) > 1

    @classmethod
    def typed(cls, texts: Sequence[str], shared: Mapping[str, Any]) -> list[dict[str, Any]]:
        """One step for each group of columns."""
        steps = []
        for text in texts:
            names, sign, size = text.rpartition("=")
            if not sign or not names.strip() or not size.strip().isdecimal():
                raise WrongUse(f"--microaggregate takes COLUMN,…=SIZE, not {text!r}.")
            columns = [name.strip() for name in names.split(",")]
            steps.append({"name": cls.name, "columns": columns, "size": int(size)})
        return steps

    @property
    def columns_changed(self) -> tuple[str, ...]:
        """The columns of the step."""
        return self.columns

    def sentence(self) -> str:
        """The columns and the size of groups, in words."""
        how = "together" if len(self.columns) > 1 else "alone"
        return f"means of at least {self.size} rows: {joined(self.columns)} {how}"

    def apply(self, values: Values) -> "tuple[polars.Series, Kind]":
        """Replace the numbers of a single column by means."""
        import polars as pl

        from shoal.kernels.near_points import best_groups

        values.refuse_unless(Kind.NUMERIC, "microaggregation (--microaggregate)")
        numbers = coordinates(values.texts, Kind.NUMERIC).to_numpy()
        known = ~np.isnan(numbers) & (values.counts > 0)
        points, place = np.unique(numbers[known], return_inverse=True)
        weights: Counts = np.zeros(len(points), dtype=np.int64)
        np.add.at(weights, place, values.counts[known])
        self._refuse_few(int(weights.sum()))
        groups = best_groups(points, weights, self.size)
        means = self._means(values.texts, groups, points, weights)
        texts: list[str | None] = [None] * len(numbers)
        for at, mean in zip(np.flatnonzero(known).tolist(), means[place].tolist(), strict=True):
            texts[at] = mean
        return pl.Series(texts, dtype=pl.String), Kind.NUMERIC

    def apply_to_rows(self, cells: Mapping[str, Distinct]) -> dict[str, Distinct]:
        """Replace the numbers of several columns by means."""
        import polars as pl

        from shoal.kernels.near_points import mdav

        numbers = [coordinates(cells[name].texts, Kind.NUMERIC) for name in self.columns]
        for name, found in zip(self.columns, numbers, strict=True):
            if found.has_nulls():
                raise BadData(
                    "microaggregation of several columns (--microaggregate) is for numbers without missing ones: "
                    "leave incomplete rows out with --drop-missing, or omit the column.",
                    column=name,
                )
        rows = np.column_stack(
            [found.to_numpy()[cells[name].places] for name, found in zip(self.columns, numbers, strict=True)]
        )
        self._refuse_few(len(rows))
        points, place, weights = np.unique(rows, axis=0, return_inverse=True, return_counts=True)
        groups = mdav(_standardized(points, weights), weights.astype(np.int64), self.size)
        changed = {}
        for at, name in enumerate(self.columns):
            means = self._means(cells[name].texts, groups, points[:, at], weights)
            changed[name] = Distinct(
                pl.Series(means.tolist(), dtype=pl.String), place.reshape(-1).astype(np.int32)
            )
        return changed

    def _refuse_few(self, rows: int) -> None:
        if rows < self.size:
            raise WrongUse(
                f"There are {rows} rows with numbers, and a group needs {self.size} (--microaggregate)."
            )

    def _means(self, texts: "polars.Series", groups: Rows, points: Floats, weights: Counts) -> Any:
        """For each point, the mean of its group as text."""
        decimals = self.decimals
        if decimals is None:
            parts = texts.drop_nulls().str.extract(r"\.([0-9]+)$").fill_null("")
            decimals = min(int(parts.str.len_chars().to_numpy().max(initial=0)), 12)
        sums = np.bincount(groups, weights=points * weights)
        means = sums / np.bincount(groups, weights=weights)
        written = np.array([plain_number(round(mean, decimals)) for mean in means.tolist()], dtype=object)
        return written[groups]


def _standardized(points: Floats, weights: Counts) -> Floats:
    """Standardize points to mean 0 and standard deviation 1 in each column; a constant column becomes 0."""
    mean = np.average(points, axis=0, weights=weights)
    spread = np.sqrt(np.average((points - mean) ** 2, axis=0, weights=weights))
    return np.ascontiguousarray((points - mean) / np.where(spread > 0, spread, 1.0))
