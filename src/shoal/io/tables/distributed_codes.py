"""From cells to codes, where the rows are, by dictionaries that were made of all distinct values."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import polars as pl

from shoal.arrays import Codes
from shoal.data._export import unnamed
from shoal.errors import BadData
from shoal.io.tables.encode import complete_rows
from shoal.io.tables.kinds import positive_zero

Missing: TypeAlias = tuple[str, ...] | None
"""The texts that mean a missing cell, where rows with one are left out; None where all rows are kept."""


def comparable(series: pl.Series) -> pl.Series:
    """A column whose equal cells are equal: no number is no cell, and zero has no sign."""
    if series.dtype.is_float():
        return positive_zero(series.fill_nan(None))
    return series


class Lookup:
    """Looks the codes of cells up, where the rows are: a work for `Parts.map`.

    Parameters
    ----------
    values, codes
        For each column its distinct values, and the code of each.
    missing
        Leave out rows with a missing cell: the texts that mean one. None keeps all rows.
    """

    def __init__(self, values: Mapping[str, pl.Series], codes: Mapping[str, Codes], missing: Missing) -> None:
        self._values, self._codes, self._missing = dict(values), dict(codes), missing
        self._dictionaries: dict[str, Dictionary] = {}

    def __call__(self, frame: pl.DataFrame) -> pl.DataFrame:
        """The codes of each row."""
        if self._missing is not None:
            frame = frame.filter(pl.Series(complete_rows(frame, self._missing)))
        if not self._dictionaries:
            self._dictionaries = {
                name: Dictionary.of(series, self._codes[name]) for name, series in self._values.items()
            }
        return pl.DataFrame(
            {
                name: found.codes(comparable(unnamed(frame[name])), name)
                for name, found in self._dictionaries.items()
            },
            schema=dict.fromkeys(self._dictionaries, pl.Int32),
        )

    def __getstate__(self) -> tuple[Any, ...]:
        return self._values, self._codes, self._missing

    def __setstate__(self, state: tuple[Any, ...]) -> None:
        self._values, self._codes, self._missing = state
        self._dictionaries = {}


@dataclass(frozen=True, slots=True, eq=False)
class Dictionary:
    """The codes of the values of a column.

    Texts are found through an enumeration, which is made once; values of other types by a join.
    """

    kind: Any
    lookup: pl.DataFrame
    by_place: Codes
    blank: int

    @staticmethod
    def of(values: pl.Series, codes: Codes) -> "Dictionary":
        """The dictionary of distinct values, among them perhaps the missing one."""
        null = values.is_null().to_numpy()
        blank = int(codes[null][0]) if null.any() else 0
        present = values.drop_nulls()
        if values.dtype == pl.String:
            return Dictionary(pl.Enum(present), pl.DataFrame(), codes[~null].astype(np.int32), blank)
        lookup = pl.DataFrame({"value": present, "code": codes[~null]}, schema_overrides={"code": pl.Int32})
        return Dictionary(None, lookup, np.empty(0, dtype=np.int32), blank)

    def codes(self, series: pl.Series, name: str) -> pl.Series:
        """The code of each cell of a column.

        Raises
        ------
        BadData
            If there is a value that was not there before: then the source gives other rows each time it is read.
        """
        if self.kind is None:
            joined = series.to_frame("value").join(self.lookup, on="value", how="left", maintain_order="left")
            found = joined["code"]
            _refuse_changed(series, found, name)
            return found.fill_null(self.blank)
        places = series.cast(self.kind, strict=False).to_physical().cast(pl.Int64)
        _refuse_changed(series, places, name)
        if not len(self.by_place):
            return pl.repeat(self.blank, len(series), dtype=pl.Int32, eager=True)
        codes = self.by_place[places.fill_null(0).to_numpy()]
        return pl.Series(np.where(places.is_null().to_numpy(), self.blank, codes).astype(np.int32))


def _refuse_changed(cells: pl.Series, found: pl.Series, name: str) -> None:
    """Refuse values that the first pass over the rows did not see."""
    if found.null_count() != cells.null_count():
        raise BadData(
            "the values are not those that were there a moment ago: the source was changed while it was read, or gives "
            "other rows each time. Write it to a file first.",
            column=name,
        )
