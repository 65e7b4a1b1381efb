"""Date parts: dates become months, quarters, years or decades."""

from typing import TYPE_CHECKING, ClassVar, Literal

from pydantic import Field

from shoal.data._calendar import part_texts
from shoal.data._cell_kinds import coordinates
from shoal.data._promise_words import joined
from shoal.data.domain import Kind
from shoal.preparation.transform import ColumnStep, Values

if TYPE_CHECKING:
    import polars


class DatePart(ColumnStep):
    """Publish a part of the calendar instead of dates: ``2024-02``, ``2024-Q1``, ``2024`` or ``2020s``.

    Months and quarters remain dates, with hierarchies and ranges of dates; years become numbers, and decades names.
    """

    name: ClassVar[str] = "date-part"
    metavar: ClassVar[str] = "COLUMN=PART"
    public: ClassVar[str] = "days as parts of the calendar"
    help: ClassVar[str] = "publish the month, quarter, year or decade of days: visit=month"
    by_column: ClassVar[str] = "parts"

    parts: dict[str, Literal["month", "quarter", "year", "decade"]] = Field(
        min_length=1, description="column to part of the calendar"
    )

    def sentence(self) -> str:
        """The columns and their parts, in words."""
        return f"dates: {joined([f'{name} as {part}s' for name, part in self.parts.items()])}"

    def apply(self, values: Values) -> "tuple[polars.Series, Kind]":
        """Replace dates by the parts."""
        import numpy as np
        import polars as pl

        values.refuse_unless(Kind.DATE, "a part of the calendar (--date-part)")
        part = self.parts[values.name]
        days = coordinates(values.texts, Kind.DATE)
        present = days.is_not_null()
        known = np.floor(days.filter(present).to_numpy()).astype(np.int64).astype("datetime64[D]")
        texts = pl.Series([None] * len(days), dtype=pl.String)
        texts = texts.scatter(present.arg_true(), pl.Series(part_texts(known, part), dtype=pl.String))
        kinds = {"year": Kind.NUMERIC, "decade": Kind.NOMINAL}
        return texts, kinds.get(part, Kind.DATE)
