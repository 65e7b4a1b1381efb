"""Dropping values: cells that hold them are published as missing."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from pydantic import Field

from shoal.data._cell_kinds import find_kind
from shoal.data.domain import Kind
from shoal.preparation.recode import refuse_absent
from shoal.preparation.transform import Transform, Values, listed, pairs

if TYPE_CHECKING:
    import polars


class DropValues(Transform):
    """Publish cells that hold one of some values as missing."""

    name: ClassVar[str] = "drop-values"
    metavar: ClassVar[str] = "COLUMN=VALUE,…"
    public: ClassVar[str] = "some values as missing"
    help: ClassVar[str] = "publish cells with these values as missing: job=priest,mayor"

    values: dict[str, tuple[str, ...]] = Field(
        min_length=1, description="column to the values that are dropped"
    )

    @classmethod
    def typed(cls, texts: Sequence[str], shared: Mapping[str, Any]) -> list[dict[str, Any]]:
        """One step for all columns."""
        found = {
            name: [value.strip() for value in text.split(",")]
            for name, text in pairs(texts, cls.option).items()
        }
        return [{"name": cls.name, "values": found}] if found else []

    @property
    def columns_changed(self) -> tuple[str, ...]:
        """The columns of which values are dropped."""
        return tuple(self.values)

    def sentence(self) -> str:
        """The values."""
        said = [f"{', '.join(values)} of {name}" for name, values in self.values.items()]
        return f"published as missing: {listed(said)}"

    def apply(self, values: Values) -> "tuple[polars.Series, Kind]":
        """The other values."""
        dropped = self.values[values.name]
        refuse_absent(dropped, values)
        texts = values.texts.set(values.texts.is_in(list(dropped)).fill_null(False), None)
        return texts, values.kind if values.kind is not Kind.NOMINAL else find_kind(texts)
