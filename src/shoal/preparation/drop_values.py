"""Dropping values: cells with certain values are published as missing."""

from typing import TYPE_CHECKING, ClassVar

from pydantic import Field

from shoal.data._cell_kinds import find_kind
from shoal.data._promise_words import joined
from shoal.data.domain import Kind
from shoal.preparation.recode import refuse_absent
from shoal.preparation.transform import ColumnStep, Values

if TYPE_CHECKING:
    import polars


class DropValues(ColumnStep):
    """Publish cells with certain values as missing."""

    name: ClassVar[str] = "drop-values"
    metavar: ClassVar[str] = "COLUMN=VALUE,…"
    public: ClassVar[str] = "some values as missing"
    help: ClassVar[str] = "publish cells with these values as missing: job=priest,mayor"
    by_column: ClassVar[str] = "values"

    values: dict[str, tuple[str, ...]] = Field(
        min_length=1, description="column to the values that are dropped"
    )

    @classmethod
    def parsed(cls, column: str, text: str) -> list[str]:
        """Parse the values of a column."""
        return [value.strip() for value in text.split(",")]

    def sentence(self) -> str:
        """The columns and the dropped values, in words."""
        said = [f"{', '.join(values)} of {name}" for name, values in self.values.items()]
        return f"published as missing: {joined(said)}"

    def apply(self, values: Values) -> "tuple[polars.Series, Kind]":
        """Replace the dropped values by missing ones."""
        dropped = self.values[values.name]
        refuse_absent(dropped, values)
        texts = values.texts.set(values.texts.is_in(list(dropped)).fill_null(False), None)
        return texts, values.kind if values.kind is not Kind.NOMINAL else find_kind(texts)
